#include "source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An input in use. A reader may still be at an old one when the others have gone on to the next. */
struct open_input {
    struct input input;
    unsigned users; /* `current`, and everyone inside input_read_at; the last one closes it */
};

/* Two locks. Who holds `turn` may wait for long, in a read or for memory, and memory may come free
 * only when readers outside of it go on; so what those need is under `lock`, which is never held
 * for long and taken last. */
struct source {
    char *const *operands;
    size_t count;
    struct input_options options;

    pthread_mutex_t
        turn; /* the next four; held while a stream is read, so that readers take turns */
    size_t next_operand;
    struct open_input *current; /* NULL: the next operand must be opened */
    uint64_t later;             /* bytes in regular files that were not opened yet */
    bool ended;

    pthread_mutex_t lock; /* the rest, and open_input.users */
    bool failed;
    struct reason why; /* if failed; empty: choose gave no memory */
};

static char dash[] = "-";
static char *const standard_input[] = {dash};

static uint64_t regular_size(const char *operand)
{
    struct stat status;
    bool standard = strcmp(operand, "-") == 0;
    int rc = standard ? fstat(STDIN_FILENO, &status) : stat(operand, &status);
    return rc == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
}

struct source *source_open(char *const *operands, size_t count, const struct input_options *options)
{
    struct source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->operands = count ? operands : standard_input;
    source->count = count ? count : 1;
    source->options = *options;
    for (size_t i = 0; i < source->count; i++)
        source->later += regular_size(source->operands[i]);
    pthread_mutex_init(&source->turn, NULL);
    pthread_mutex_init(&source->lock, NULL);
    return source;
}

static int fail(struct source *source, const struct reason *why)
{
    pthread_mutex_lock(&source->lock);
    if (!source->failed)
        source->why = *why;
    source->failed = true;
    pthread_mutex_unlock(&source->lock);
    return -1;
}

static bool has_failed(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    bool failed = source->failed;
    pthread_mutex_unlock(&source->lock);
    return failed;
}

static void use_input(struct source *source, struct open_input *open)
{
    pthread_mutex_lock(&source->lock);
    open->users++;
    pthread_mutex_unlock(&source->lock);
}

static void leave_input(struct source *source, struct open_input *open)
{
    pthread_mutex_lock(&source->lock);
    bool last = --open->users == 0;
    pthread_mutex_unlock(&source->lock);
    if (!last)
        return;
    input_close(&open->input);
    free(open);
}

/* Makes `current` an open input. 1, 0 if there is none left, -1. */
static int open_current(struct source *source)
{
    if (source->current)
        return 1;
    if (source->next_operand == source->count) {
        source->ended = true;
        return 0;
    }
    const char *operand = source->operands[source->next_operand++];
    uint64_t size = regular_size(operand);
    source->later -= size < source->later ? size : source->later;
    struct open_input *opened = calloc(1, sizeof *opened);
    struct reason why = {"out of memory"};
    if (!opened || input_open(&opened->input, operand, &source->options, &why) != 0) {
        free(opened);
        return fail(source, &why);
    }
    use_input(source, opened);
    source->current = opened;
    return 1;
}

/* Goes on to the next operand. */
static void retire(struct source *source)
{
    input_settle(&source->current->input);
    leave_input(source, source->current);
    source->current = NULL;
}

/* A piece of a regular file that was taken by this reader. */
static int read_piece(struct source *source, struct open_input *open, struct chunk *chunk,
                      size_t len)
{
    struct reason why;
    ssize_t got = input_read_at(&open->input, chunk->data, len, chunk->offset, &why);
    chunk->len = got > 0 ? (size_t)got : 0;
    if (got < 0)
        fail(source, &why);
    leave_input(source, open);
    return got < 0 ? -1 : 1;
}

/* Takes the next piece, at most cap bytes. */
static size_t take_piece(struct source *source, struct chunk *chunk)
{
    struct input *input = &source->current->input;
    uint64_t left = input->size - input->taken;
    size_t len = left < chunk->cap ? (size_t)left : chunk->cap;
    chunk->offset = input->taken;
    input->taken += len;
    input->given += len;
    use_input(source, source->current);
    return len;
}

/* The next bytes of a stream, or of a regular file past the size it had. */
static int read_serial(struct source *source, struct chunk *chunk)
{
    struct input *input = &source->current->input;
    struct reason why;
    chunk->offset = input->given;
    do {
        ssize_t got = input_read(input, chunk->data + chunk->len, chunk->cap - chunk->len, &why);
        if (got < 0)
            return fail(source, &why);
        if (got == 0) {
            retire(source);
            break;
        }
        chunk->len += (size_t)got;
    } while (chunk->fill && chunk->len < chunk->cap);
    return 1;
}

int source_read(struct source *source, source_memory *choose, void *arg, struct chunk **chunk,
                bool *serial)
{
    *chunk = NULL;
    *serial = true;
    pthread_mutex_lock(&source->turn);
    int more = has_failed(source) ? -1 : source->ended ? 0 : open_current(source);
    if (more == 1) {
        *serial = !input_parallel(&source->current->input);
        *chunk = choose(arg, *serial);
        if (!*chunk)
            more = fail(source, &(struct reason){""});
    }
    if (more != 1 || *serial) {
        if (more == 1)
            more = read_serial(source, *chunk);
        pthread_mutex_unlock(&source->turn);
        return more;
    }
    struct open_input *open = source->current;
    size_t len = take_piece(source, *chunk);
    pthread_mutex_unlock(&source->turn);
    return read_piece(source, open, *chunk, len);
}

uint64_t source_left(struct source *source)
{
    pthread_mutex_lock(&source->turn);
    uint64_t left = source->later;
    if (source->current && input_parallel(&source->current->input))
        left += source->current->input.size - source->current->input.taken;
    pthread_mutex_unlock(&source->turn);
    return left;
}

const char *source_error(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    bool told = source->failed && source->why.text[0];
    pthread_mutex_unlock(&source->lock);
    return told ? source->why.text : NULL;
}

void source_close(struct source *source)
{
    if (source->current)
        leave_input(source, source->current);
    pthread_mutex_destroy(&source->turn);
    pthread_mutex_destroy(&source->lock);
    free(source);
}
