#include "source.h"
#include "codec_zstd.h"

#include <stdatomic.h>
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
    uint64_t size;         /* of all FILEs, bytes; 0: one of them is not a regular file */
    _Atomic uint64_t read; /* of these */
    _Atomic uint64_t left; /* bytes of files, compressed as far as not opened, still to be taken */

    /* The next three; held while a stream is read, or frames are cut out. The current input is also
     * its own who has an open frame of it: as long as `open` is set nobody else touches it. */
    pthread_mutex_t turn;
    size_t next_operand;
    struct open_input *current; /* NULL: the next operand must be opened */
    uint64_t sequence;          /* of the next chunk */

    pthread_mutex_t lock; /* the rest, and open_input.users */
    bool failed;
    struct reason why; /* if failed; empty: choose gave no memory */
    bool ended;
    struct reader *idle; /* who waits for something to count: the one that counted last is first */
    unsigned helpers;    /* readers that are idle, or count what others gave */
    struct chunk *given[SOURCE_GIVEN_MAX];
    unsigned given_count;
    unsigned busy;       /* readers that have frames */
    bool open;           /* one of them has an open frame, and with it the current input */
    bool zstd;           /* the current input is zstd's */
    unsigned decoders;   /* readers that keep one, */
    size_t decoder_size; /* and the most bytes that one took so far */
};

/* Decoders are kept by as many readers as their memory allows, in bytes: windows, and compressed
 * bytes. */
#define DECODERS_SIZE ((size_t)48 << 20)
#define DECODER_SIZE ((size_t)256 << 10) /* without those two */

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
    return source;
}

/* Has all idle readers look again; under the lock. */
static void wake_all(struct source *source)
{
    for (struct reader *reader = source->idle; reader; reader = reader->next_idle) {
        reader->idle = false;
        pthread_cond_signal(&reader->wake);
    }
    source->idle = NULL;
}

static int fail(struct source *source, const struct reason *why)
{
    pthread_mutex_lock(&source->lock);
    if (!source->failed)
        source->why = *why;
    source->failed = true;
    wake_all(source);
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
    if (has_failed(source))
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
    struct reason why = {"out of memory"};
    if (!opened || input_open(&opened->input, operand, &source->options, &why) != 0) {
        free(opened);
        return fail(source, &why);
    }
    use_input(source, opened);
    source->current = opened;
    if (input_parallel(&opened->input))
        atomic_fetch_add(&source->left, opened->input.size);
    pthread_mutex_lock(&source->lock);
    source->zstd = opened->input.zstd;
    pthread_mutex_unlock(&source->lock);
    return 1;
}

/* Goes on to the next operand. 0 or -1. */
static int retire(struct source *source)
{
    struct reason why;
    if (input_check_end(&source->current->input, &why) != 0)
        return fail(source, &why);
    input_settle(&source->current->input);
    leave_input(source, source->current);
    source->current = NULL;
    pthread_mutex_lock(&source->lock);
    source->zstd = false;
    wake_all(source);
    pthread_mutex_unlock(&source->lock);
    return 0;
}

/* Says where the chunk, which the current input will fill, comes from. */
static void begin_chunk(struct source *source, struct chunk *chunk)
{
    chunk->origin = (struct origin){.sequence = source->sequence++,
                                    .file = source->next_operand - 1,
                                    .name = source->current->input.name};
}

/* Where to stop filling a chunk that begins with what waited, bytes. Tokens have room of their own
 * for that, so that every chunk gets on. */
static size_t fill_limit(const struct input *input, const struct chunk *chunk, size_t waited)
{
    return chunk->cap + (input->records.size == RECORD_TOKENS ? waited : 0);
}

/* --- bytes as they are --- */

/* A piece of a regular file that was taken by this reader. */
static int read_piece(struct source *source, struct open_input *open, struct chunk *chunk,
                      size_t len, uint64_t offset)
{
    struct reason why;
    ssize_t got = input_read_piece(&open->input, chunk->data, len, offset, &chunk->len, &why);
    if (got < 0) {
        chunk->len = 0;
        fail(source, &why);
    }
    chunk->origin.bytes = got > 0 ? (size_t)got : 0;
    leave_input(source, open);
    return got < 0 ? -1 : 1;
}

/* The next bytes of a stream, or of a regular file past the size it had. */
static int read_serial(struct source *source, struct chunk *chunk)
{
    struct input *input = &source->current->input;
    struct reason why;
    ssize_t got;
    chunk->len = records_resume(&input->records, chunk->data);
    size_t limit = fill_limit(input, chunk, chunk->len);
    do {
        got = input_read(input, chunk->data + chunk->len, limit - chunk->len, &why);
        if (got < 0)
            return fail(source, &why);
        chunk->len += (size_t)got;
        atomic_fetch_add(&source->read, (size_t)got);
    } while (got > 0 && chunk->fill && chunk->len < limit);
    chunk->len = records_cut(&input->records, chunk->data, chunk->len, got == 0);
    chunk->origin.bytes = chunk->len;
    return got == 0 && retire(source) != 0 ? -1 : 1;
}

/* Takes the next piece of a regular file, and reads it outside of the turn. */
static int read_parallel(struct source *source, struct chunk *chunk)
{
    struct open_input *open = source->current;
    struct input *input = &open->input;
    uint64_t offset = input->taken, left = input->size - offset;
    size_t len = left < chunk->cap ? (size_t)left : chunk->cap;
    input->taken += len;
    atomic_fetch_sub(&source->left, len);
    atomic_fetch_add(&source->read, len);
    use_input(source, open);
    pthread_mutex_unlock(&source->turn);
    return read_piece(source, open, chunk, len, offset);
}

/* Ends the turn. */
static int read_plain(struct source *source, source_memory *choose, void *arg, struct chunk **chunk,
                      enum flow *flow)
{
    const struct input *input = &source->current->input;
    bool parallel = input_parallel(input);
    /* Behind a file's known end there is hardly ever anything: not worth waiting for a slot. */
    *flow = parallel || input->size > 0 ? FLOW_FILE : FLOW_PIPE;
    *chunk = choose(arg, *flow);
    if (*chunk)
        begin_chunk(source, *chunk);
    if (*chunk && parallel)
        return read_parallel(source, *chunk);
    int more = *chunk ? read_serial(source, *chunk) : fail(source, &(struct reason){""});
    pthread_mutex_unlock(&source->turn);
    return more;
}

/* --- zstd --- */

static void drop_decoder(struct reader *reader)
{
    zstd_stream_close(reader->zstd);
    free(reader->frames.data);
    reader->zstd = NULL;
    reader->frames = (struct raw){0};
    reader->has_decoder = false;
}

/* Whether there is nothing to read or decode for this reader now; under the lock. */
static bool must_wait(struct reader *reader)
{
    struct source *source = reader->source;
    bool crowded =
        source->decoders > 0 && (source->decoders + 1) * source->decoder_size > DECODERS_SIZE;
    return source->open || (source->ended && source->busy > 0) ||
           (source->zstd && !reader->has_decoder && crowded);
}

/* Under the lock. */
static void sleep_idly(struct reader *reader)
{
    struct source *source = reader->source;
    reader->idle = true;
    reader->next_idle = source->idle;
    source->idle = reader;
    while (reader->idle)
        pthread_cond_wait(&reader->wake, &source->lock);
}

static void wake_one(struct source *source)
{
    struct reader *reader = source->idle;
    if (!reader)
        return;
    source->idle = reader->next_idle;
    reader->idle = false;
    pthread_cond_signal(&reader->wake);
}

static void set_helps(struct reader *reader, bool helps)
{
    if (helps && !reader->helps)
        reader->source->helpers++;
    if (!helps && reader->helps)
        reader->source->helpers--;
    reader->helps = helps;
}

static void stop_helping(struct reader *reader)
{
    if (!reader->helps)
        return;
    pthread_mutex_lock(&reader->source->lock);
    set_helps(reader, false);
    pthread_mutex_unlock(&reader->source->lock);
}

/* Waits while there is nothing to read or decode. A chunk that another reader gave, or NULL. */
static struct chunk *help(struct reader *reader)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->lock);
    set_helps(reader, true);
    while (!source->failed && source->given_count == 0 && must_wait(reader))
        sleep_idly(reader);
    struct chunk *given = source->given_count ? source->given[--source->given_count] : NULL;
    set_helps(reader, given != NULL);
    pthread_mutex_unlock(&source->lock);
    return given;
}

/* Has a helper count the chunk, if there is one: who decodes should go on with that. To wake one
 * costs a tenth of counting a chunk, so it is done for several at a time. (None is forgotten: who
 * has decoded all of its frames helps, too.) */
static bool give_away(struct source *source, struct chunk *chunk)
{
    pthread_mutex_lock(&source->lock);
    bool given = source->helpers > 0 && source->given_count < SOURCE_GIVEN_MAX;
    if (given)
        source->given[source->given_count++] = chunk;
    if (given && source->given_count >= SOURCE_GIVEN_MAX / 2)
        wake_one(source);
    pthread_mutex_unlock(&source->lock);
    return given;
}

/* Whether the reader may have frames and a decoder now, in its turn; else it should help. */
static bool admit(struct reader *reader)
{
    struct source *source = reader->source;
    pthread_mutex_lock(&source->lock);
    if (reader->has_decoder && source->decoders > 1 &&
        source->decoders * source->decoder_size > DECODERS_SIZE) {
        drop_decoder(reader);
        source->decoders--;
    }
    bool admitted = source->given_count == 0 && !must_wait(reader);
    if (admitted && !reader->has_decoder) {
        reader->has_decoder = true;
        source->decoders++;
    }
    if (admitted)
        set_helps(reader, false);
    pthread_mutex_unlock(&source->lock);
    return admitted;
}

static void begin_frames(struct reader *reader)
{
    struct source *source = reader->source;
    const struct raw *frames = &reader->frames;
    size_t size = DECODER_SIZE + frames->cap + (size_t)(frames->open ? 0 : frames->window);
    reader->busy = true;
    reader->pending = false;
    reader->name = source->current->input.name;
    pthread_mutex_lock(&source->lock);
    source->busy++;
    source->open = frames->open;
    if (size > source->decoder_size)
        source->decoder_size = size;
    pthread_mutex_unlock(&source->lock);
}

static void end_frames(struct reader *reader)
{
    struct source *source = reader->source;
    bool open = reader->frames.open;
    reader->busy = false;
    if (open) {
        /* Its window may be larger than what is allowed side by side. */
        zstd_stream_close(reader->zstd);
        reader->zstd = NULL;
        input_unread(&source->current->input, &reader->frames);
    }
    pthread_mutex_lock(&source->lock);
    source->busy--;
    if (open)
        source->open = false;
    if (open || source->ended)
        wake_all(source);
    pthread_mutex_unlock(&source->lock);
}

/* Takes the next frames of the current input, in this reader's turn, if it may. 1 or -1. */
static int take_frames(struct reader *reader)
{
    struct source *source = reader->source;
    struct reason why;
    if (!admit(reader))
        return 1;
    int more = input_frames(&source->current->input, &reader->frames, &why);
    if (more < 0)
        return fail(source, &why);
    if (more == 0)
        return retire(source) == 0 ? 1 : -1;
    begin_frames(reader);
    return 1;
}

static int fail_in_frames(struct reader *reader, const char *fault)
{
    struct reason why;
    reason_set(&why, "%s: %s, at byte %llu", reader->name, fault,
               (unsigned long long)(reader->frames.offset + reader->frames.pos));
    return fail(reader->source, &why);
}

/* Feeds a decoder that has taken all there was. 1; 0: the frames have ended; -1. */
static int feed(struct reader *reader)
{
    struct raw *frames = &reader->frames;
    struct reason why;
    ssize_t got = frames->open ? input_more(&reader->source->current->input, frames, &why) : 0;
    if (got < 0)
        return fail(reader->source, &why);
    if (got == 0 && frames->to_end && zstd_stream_complete(reader->zstd))
        return 0;
    return got > 0 ? 1 : fail_in_frames(reader, "truncated zstd data");
}

/* Decodes on, behind what is in chunk, up to limit. 1: its last byte was not the frames' last one;
 * 0: it was; -1. */
static int decode(struct reader *reader, struct chunk *chunk, size_t limit)
{
    struct raw *frames = &reader->frames;
    while (chunk->len < limit) {
        struct reason why;
        size_t used, made;
        int more = frames->pos < frames->len || reader->pending ? 1 : feed(reader);
        if (more <= 0)
            return more;
        int rc =
            zstd_stream_decode(reader->zstd, frames->data + frames->pos, frames->len - frames->pos,
                               &used, chunk->data + chunk->len, limit - chunk->len, &made, &why);
        frames->pos += used;
        atomic_fetch_add(&reader->source->read, used);
        chunk->len += made;
        if (rc != 0)
            return fail_in_frames(reader, why.text);
        bool complete = zstd_stream_complete(reader->zstd);
        reader->pending = !complete && chunk->len == limit;
        if (complete && (frames->open ? !frames->to_end : frames->pos == frames->len))
            return 0;
    }
    return 1;
}

/* The same for one that has an open frame. Only what is read in order may cut records; and the
 * input is this reader's own. */
static int decode_in_order(struct reader *reader, struct chunk *chunk)
{
    struct input *input = &reader->source->current->input;
    begin_chunk(reader->source, chunk);
    chunk->len = records_resume(&input->records, chunk->data);
    int more = decode(reader, chunk, fill_limit(input, chunk, chunk->len));
    bool at_end = more == 0 && reader->frames.to_end;
    chunk->len = records_cut(&input->records, chunk->data, chunk->len, at_end);
    return more;
}

/* Decodes the next chunk of the reader's frames. 1 or -1. */
static int read_frames(struct reader *reader, source_memory *choose, void *arg,
                       struct chunk **chunk)
{
    struct source *source = reader->source;
    if (has_failed(source))
        return -1;
    if (!reader->zstd)
        reader->zstd = zstd_stream_open(source->options.memlimit);
    if (!reader->zstd)
        return fail_in_frames(reader, "out of memory");
    *chunk = choose(arg, FLOW_ZSTD);
    if (!*chunk)
        return fail(source, &(struct reason){""});
    int more = reader->frames.open ? decode_in_order(reader, *chunk)
                                   : decode(reader, *chunk, (*chunk)->cap);
    (*chunk)->origin.bytes = (*chunk)->len;
    if (more == 0)
        end_frames(reader);
    return more < 0 ? -1 : 1;
}

/* --- readers --- */

void reader_open(struct reader *reader, struct source *source)
{
    *reader = (struct reader){.source = source};
    pthread_cond_init(&reader->wake, NULL);
}

void reader_close(struct reader *reader)
{
    if (reader->busy)
        end_frames(reader); /* after a failure: nobody reads them any more */
    drop_decoder(reader);
    pthread_cond_destroy(&reader->wake);
}

/* Behind the last FILE. 0 once nobody has anything left to be counted, else 1. */
static int end(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    source->ended = true;
    int more = source->busy > 0 || source->given_count > 0;
    pthread_mutex_unlock(&source->lock);
    return more;
}

int source_read(struct reader *reader, source_memory *choose, void *arg, struct chunk **chunk,
                enum flow *flow)
{
    struct source *source = reader->source;
    int more = 1;
    *flow = FLOW_ZSTD;
    *chunk = NULL;
    while (more > 0) {
        if (reader->busy) {
            more = read_frames(reader, choose, arg, chunk);
            if (*chunk && (more < 0 || !(*chunk)->give || !give_away(source, *chunk)))
                break;
            *chunk = NULL;
            continue;
        }
        pthread_mutex_lock(&source->turn);
        more = open_current(source);
        if (more > 0 && !source->current->input.zstd) {
            stop_helping(reader);
            return read_plain(source, choose, arg, chunk, flow);
        }
        more = more > 0 ? take_frames(reader) : more == 0 ? end(source) : -1;
        pthread_mutex_unlock(&source->turn);
        if (more > 0 && !reader->busy && (*chunk = help(reader)))
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

void source_close(struct source *source)
{
    if (source->current)
        leave_input(source, source->current);
    pthread_mutex_destroy(&source->turn);
    pthread_mutex_destroy(&source->lock);
    free(source);
}
