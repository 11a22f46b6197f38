/* The operands, in order; the turn; and what happened. */
#include "source_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dash[] = "-";
static char *const standard_input[] = {dash};

static bool is_regular(const char *operand, uint64_t *size)
{
    struct stat status;
    bool standard = strcmp(operand, "-") == 0;
    int rc = standard ? fstat(STDIN_FILENO, &status) : stat(operand, &status);
    bool regular = rc == 0 && S_ISREG(status.st_mode);
    off_t base = regular && standard ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    *size = regular && base >= 0 && status.st_size > base ? (uint64_t)(status.st_size - base) : 0;
    return regular;
}

struct source *source_open(char *const *operands, size_t count, const struct input_options *options)
{
    struct source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->operands = count ? operands : standard_input;
    source->count = count ? count : 1;
    source->options = *options;
    bool all_regular = true;
    for (size_t i = 0; i < source->count; i++) {
        uint64_t size;
        all_regular &= is_regular(source->operands[i], &size);
        source->left += size;
    }
    source->size = all_regular ? atomic_load(&source->left) : 0;
    pthread_mutex_init(&source->turn, NULL);
    pthread_mutex_init(&source->lock, NULL);
    helpers_open(&source->helpers);
    return source;
}

int source_fail(struct source *source, const struct reason *why)
{
    pthread_mutex_lock(&source->lock);
    if (!source->failed)
        source->why = *why;
    source->failed = true;
    pthread_mutex_unlock(&source->lock);
    helpers_tell(&source->helpers);
    return -1;
}

int source_fail_for_memory(struct source *source, const char *name)
{
    struct reason why;
    reason_of(&why, name, "out of memory");
    return source_fail(source, &why);
}

bool source_has_failed(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    bool failed = source->failed;
    pthread_mutex_unlock(&source->lock);
    return failed;
}

void source_use(struct source *source, struct open_input *open)
{
    pthread_mutex_lock(&source->lock);
    open->users++;
    pthread_mutex_unlock(&source->lock);
}

void source_leave(struct source *source, struct open_input *open)
{
    pthread_mutex_lock(&source->lock);
    bool last = --open->users == 0;
    pthread_mutex_unlock(&source->lock);
    if (!last)
        return;
    input_close(&open->input);
    free(open);
}

/* Makes `current` an open input, in turn. 1, 0 if there is none left, -1. */
static int open_current(struct source *source)
{
    if (source_has_failed(source))
        return -1;
    if (source->current)
        return 1;
    if (source->next_operand == source->count)
        return 0;
    const char *operand = source->operands[source->next_operand++];
    uint64_t size;
    (void)is_regular(operand, &size);
    uint64_t left = atomic_load(&source->left); /* changed in turn only */
    atomic_store(&source->left, left - (size < left ? size : left));
    struct open_input *opened = calloc(1, sizeof *opened);
    if (!opened)
        return source_fail_for_memory(source, operand);
    struct reason why;
    if (input_open(&opened->input, operand, &source->options, &why) != 0) {
        free(opened);
        return source_fail(source, &why);
    }
    source_use(source, opened);
    source->current = opened;
    foreign_note(&source->foreign, opened->input.foreign, opened->input.name);
    if (input_parallel(&opened->input))
        atomic_fetch_add(&source->left, opened->input.size);
    if (opened->input.codec)
        admission_set_input(source, true);
    return 1;
}

int source_retire(struct source *source)
{
    struct input *input = &source->current->input;
    struct reason why;
    if (input_check_end(input, &why) != 0)
        return source_fail(source, &why);
    input_settle(input);
    admission_set_input(source, false);
    source_leave(source, source->current);
    source->current = NULL;
    return 0;
}

void source_begin_chunk(struct source *source, struct chunk *chunk)
{
    chunk->origin = (struct origin){.sequence = source->sequence++,
                                    .file = source->next_operand - 1,
                                    .name = source->current->input.name};
}

size_t source_fill_limit(const struct input *input, const struct chunk *chunk, size_t waited)
{
    return chunk->cap + (input->records.size == RECORD_TOKENS ? waited : 0);
}

/* --- readers --- */

struct reader *reader_open(struct source *source)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->source = source;
    helper_open(&reader->helper);
    return reader;
}

void reader_close(struct reader *reader)
{
    if (!reader)
        return;
    if (reader->busy)
        admission_end(reader); /* after a failure: what is left of the batch is not read */
    helpers_leave(&reader->source->helpers, &reader->helper);
    decoding_drop(&reader->decoding);
    helper_close(&reader->helper);
    free(reader);
}

/* In turn: reads a chunk of plain bytes, which ends the turn, or takes a batch to decode. */
static int take_turn(struct reader *reader, source_memory *choose, void *arg, struct chunk **chunk,
                     enum flow *flow)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->turn);
    int more = open_current(source);
    if (more > 0 && !source->current->input.codec) {
        helpers_leave(&source->helpers, &reader->helper);
        return plain_read(source, choose, arg, chunk, flow);
    }
    if (more > 0)
        more = decoding_take(reader);
    else if (more == 0)
        more = admission_remains(source);
    pthread_mutex_unlock(&source->turn);
    return more;
}

int source_read(struct reader *reader, source_memory *choose, void *arg, struct chunk **chunk,
                enum flow *flow)
{
    struct helpers *helpers = &reader->source->helpers;
    int more = 1;
    *flow = FLOW_DECODED;
    *chunk = NULL;
    while (more > 0) {
        if (reader->busy && admission_resume(reader)) {
            more = decoding_read(reader, choose, arg, chunk);
            if (*chunk && (more < 0 || !(*chunk)->give || !helpers_give(helpers, *chunk)))
                break;
            *chunk = NULL;
            continue;
        }
        if (!reader->busy)
            more = take_turn(reader, choose, arg, chunk, flow);
        if (*chunk || *flow != FLOW_DECODED)
            break;
        if (more > 0 && (!reader->busy || reader->stalled) && (*chunk = admission_help(reader)))
            break;
    }
    return more;
}

uint64_t source_left(struct source *source)
{
    return atomic_load(&source->left);
}

double source_share(struct source *source)
{
    double share = source->size ? (double)atomic_load(&source->read) / (double)source->size : 0;
    return share < 1 ? share : 1;
}

const char *source_error(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    bool told = source->failed && source->why.text[0];
    pthread_mutex_unlock(&source->lock);
    return told ? source->why.text : NULL;
}

void source_foreign(struct source *source, struct reason *warning)
{
    foreign_warn(&source->foreign, warning);
}

void source_close(struct source *source)
{
    if (source->current)
        source_leave(source, source->current);
    helpers_close(&source->helpers);
    pthread_mutex_destroy(&source->turn);
    pthread_mutex_destroy(&source->lock);
    free(source);
}
