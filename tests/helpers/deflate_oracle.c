/* SPDX-License-Identifier: MIT */
#include "deflate_oracle.h"
#include "src/parallel/block_loops.h"
#include "guarded.h"
#include "random.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MORE ((size_t)1000) /* bytes that follow input that is said to be corrupt */

struct deflate_parser *deflate_parser(bool portable)
{
    static struct deflate_parser parser;
    parser.loops = portable ? &block_loops_portable : block_loops_find(NULL);
    return &parser;
}

struct parsed_run *deflate_run(size_t capacity)
{
    static struct parsed_run runs[4];
    unsigned i = 0;
    while (runs[i].literals && runs[i].literals_max != capacity)
        i++;
    if (!runs[i].literals && parsed_run_open(&runs[i], capacity, capacity) != 0)
        exit(99);
    return &runs[i];
}

struct deflate_input deflate_input_at_edge(const unsigned char *in, size_t len)
{
    static unsigned char *memory;
    if (!memory)
        memory = guarded_memory(DEFLATE_INPUT_MAX + DEFLATE_SLACK);
    return (struct deflate_input){memcpy(memory + DEFLATE_INPUT_MAX - len, in, len),
                                  8 * (uint64_t)len};
}

struct deflate_verdict inflate_by_zlib(const unsigned char *in, size_t len)
{
    static unsigned char bytes[DEFLATE_CONTENT_MAX];
    struct deflate_verdict verdict = {.made = {bytes, 0, DEFLATE_CONTENT_MAX}};
    z_stream zlib = {.next_in = (unsigned char *)in, .avail_in = (unsigned)len};
    if (inflateInit2(&zlib, -15) != Z_OK)
        exit(99);
    zlib.next_out = bytes;
    zlib.avail_out = DEFLATE_CONTENT_MAX;
    const int rc = inflate(&zlib, Z_FINISH);
    verdict.stop = rc == Z_STREAM_END   ? DEFLATE_ENDED
                   : rc == Z_DATA_ERROR ? DEFLATE_CORRUPT
                                        : DEFLATE_CUT;
    verdict.made.len = zlib.total_out;
    verdict.taken = zlib.total_in;
    inflateEnd(&zlib);
    return verdict;
}

/* Has more of the input come; false if all is there. */
static bool more_arrives(struct deflate_input *input, size_t len, size_t step)
{
    const size_t here = input->bits / 8;
    input->bits = 8 * (uint64_t)(len - here < step ? len : here + step);
    return here < len;
}

struct deflate_verdict inflate_by_runs(const unsigned char *in, size_t len,
                                       const struct deflate_course *course, const char **fault)
{
    static unsigned char bytes[DEFLATE_CONTENT_MAX];
    struct deflate_verdict verdict = {.made = {bytes, 0, DEFLATE_CONTENT_MAX}};
    struct deflate_input input = deflate_input_at_edge(in, len);
    struct deflate_position position = {0};
    struct parsed_run *run = deflate_run(course->capacity);
    bool is_too_far = false, goes_on = true;
    if (course->step)
        input.bits = 0;
    while (goes_on && !is_too_far) {
        const uint64_t before = position.bit, until = course->by_blocks ? 0 : UINT64_MAX;
        parsed_run_clear(run);
        verdict.stop =
            deflate_parse(deflate_parser(course->portable), &input, &position, until, run);
        *fault = execute_bytes(run, &verdict.made, &is_too_far);
        goes_on = verdict.stop == DEFLATE_FULL || verdict.stop == DEFLATE_REACHED;
        if (goes_on && position.bit == before)
            *fault = "a run that does not advance";
        if (verdict.stop == DEFLATE_CUT)
            goes_on = more_arrives(&input, len, course->step);
        if (*fault)
            return verdict;
    }
    if (is_too_far)
        verdict.stop = DEFLATE_CORRUPT;
    verdict.taken = (position.bit + 7) / 8;
    return verdict;
}

static bool is_same(const struct deflate_verdict *a, const struct deflate_verdict *b)
{
    return a->stop == b->stop && a->taken == b->taken && a->made.len == b->made.len &&
           memcmp(a->made.bytes, b->made.bytes, a->made.len) == 0;
}

/* True if zlib refuses the bytes whatever follows them, of which it gets a sample. */
static bool is_refused(const unsigned char *in, size_t len)
{
    static unsigned char longer[DEFLATE_INPUT_MAX + MORE];
    memcpy(longer, in, len);
    for (size_t i = 0; i < MORE; i++)
        longer[len + i] = (unsigned char)random_word();
    return inflate_by_zlib(longer, len + MORE).stop == DEFLATE_CORRUPT;
}

/* Corruption may be seen earlier than by zlib, which reads a header to its end. */
const char *deflate_compare(const unsigned char *in, size_t len,
                            const struct deflate_course *course)
{
    const char *fault = NULL;
    const struct deflate_verdict actual = inflate_by_runs(in, len, course, &fault);
    const struct deflate_verdict expected = inflate_by_zlib(in, len);
    const size_t both = actual.made.len < expected.made.len ? actual.made.len : expected.made.len;
    if (fault || expected.made.len == DEFLATE_CONTENT_MAX)
        return fault;
    if (memcmp(actual.made.bytes, expected.made.bytes, both) != 0)
        return "other content than zlib's";
    if (expected.stop == DEFLATE_ENDED && !is_same(&actual, &expected))
        return "not what zlib takes";
    if (expected.stop != DEFLATE_ENDED && actual.stop == DEFLATE_ENDED)
        return "taken, and zlib refuses it";
    if (actual.stop == DEFLATE_CORRUPT && expected.stop != DEFLATE_CORRUPT && !is_refused(in, len))
        return "called corrupt, and zlib may take it";
    return NULL;
}
