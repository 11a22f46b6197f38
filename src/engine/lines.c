#include "lines.h"
#include "src/base/show.h"
#include "src/histogram/number.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 40 /* bytes of a token, at most */

/* Bytes of these as show_text writes them, "...", and the NUL. */
#define SHOWN_SIZE (4 * SHOWN + 4)

/* Chunks [begin, end), all of which were added. */
struct run {
    uint64_t begin, end;
    size_t file;       /* of the last chunk */
    uint64_t newlines; /* in the chunks of that file */
};

struct lines {
    _Atomic uint64_t invalid; /* first chunk known to have an invalid token; or UINT64_MAX */
    pthread_mutex_t lock;     /* the rest */
    struct origin origin;     /* of that chunk */
    uint64_t newlines;        /* in it, before the token */
    char token[SHOWN_SIZE];   /* its beginning, as messages show it */
    size_t count;
    struct run runs[]; /* ascending; chunks that are still out are the gaps between them */
};

struct lines *lines_open(size_t chunks)
{
    struct lines *lines = calloc(1, sizeof *lines + (chunks + 2) * sizeof lines->runs[0]);
    if (!lines)
        return NULL;
    lines->invalid = UINT64_MAX;
    pthread_mutex_init(&lines->lock, NULL);
    return lines;
}

void lines_close(struct lines *lines)
{
    if (!lines)
        return;
    pthread_mutex_destroy(&lines->lock);
    free(lines);
}

/* Writes the beginning of a token. Its end is not shown: where that of a very long token is depends
 * on how the text was cut into chunks. */
static void show_token(const unsigned char *token, size_t len, char shown[SHOWN_SIZE])
{
    size_t head = len;
    if (len > SHOWN)
        for (head = SHOWN; head > SHOWN - 3 && (token[head] & 0xc0) == 0x80;)
            head--; /* a character of UTF-8 stays whole */
    size_t length = show_text((const char *)token, head, shown, SHOWN_SIZE);
    if (head < len)
        memcpy(shown + length, "...", sizeof "...");
}

static uint64_t newlines_in(const unsigned char *text, size_t len)
{
    uint64_t newlines = 0;
    for (size_t i = 0; i < len; i++)
        newlines += text[i] == '\n';
    return newlines;
}

/* Keeps the first invalid token of the chunk, which comes before every one known so far. */
static void keep_token(struct lines *lines, const struct chunk *chunk)
{
    size_t at, len;
    if (!numbers_find_invalid(chunk->data, chunk->len, &at, &len))
        return;
    uint64_t sequence = chunk->origin.sequence;
    atomic_store(&lines->invalid, sequence);
    lines->origin = chunk->origin;
    lines->newlines = newlines_in(chunk->data, at);
    show_token(chunk->data + at, len, lines->token);
    while (lines->count > 0 && lines->runs[lines->count - 1].begin > sequence)
        lines->count--;
}

/* Joins run i with the next one if no chunk is missing between the two. */
static void join(struct lines *lines, size_t i)
{
    struct run *run = &lines->runs[i], *next = run + 1;
    if (i + 1 >= lines->count || run->end != next->begin)
        return;
    if (next->file == run->file) /* then all of the next run is from that file */
        next->newlines += run->newlines;
    next->begin = run->begin;
    lines->count--;
    memmove(run, next, (lines->count - i) * sizeof *run);
}

static void add_run(struct lines *lines, const struct run *added)
{
    size_t at = lines->count;
    while (at > 0 && lines->runs[at - 1].begin > added->begin)
        at--;
    memmove(&lines->runs[at + 1], &lines->runs[at], (lines->count - at) * sizeof *added);
    lines->runs[at] = *added;
    lines->count++;
    join(lines, at);
    if (at > 0)
        join(lines, at - 1);
}

void lines_add(struct lines *lines, const struct chunk *chunk, uint64_t newlines, bool invalid)
{
    const struct origin *origin = &chunk->origin;
    if (origin->sequence > atomic_load(&lines->invalid))
        return;
    pthread_mutex_lock(&lines->lock);
    if (origin->sequence < lines->invalid) {
        if (invalid)
            keep_token(lines, chunk);
        else
            add_run(lines, &(struct run){.begin = origin->sequence,
                                         .end = origin->sequence + 1,
                                         .file = origin->file,
                                         .newlines = newlines});
    }
    pthread_mutex_unlock(&lines->lock);
}

bool lines_first(struct lines *lines, struct reason *what)
{
    uint64_t sequence = atomic_load(&lines->invalid);
    if (sequence == UINT64_MAX)
        return false;
    pthread_mutex_lock(&lines->lock);
    sequence = lines->invalid;
    const struct run *front = &lines->runs[0];
    bool known =
        sequence == 0 || (lines->count == 1 && front->begin == 0 && front->end == sequence);
    uint64_t line = 1 + lines->newlines;
    if (known && sequence > 0 && front->file == lines->origin.file)
        line += front->newlines;
    if (known)
        reason_of(what, lines->origin.name, "line %" PRIu64 ": '%s' is not a number", line,
                  lines->token);
    pthread_mutex_unlock(&lines->lock);
    return known;
}
