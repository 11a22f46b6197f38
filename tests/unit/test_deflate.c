/* SPDX-License-Identifier: MIT */
/* Deflate parsed to operations, against zlib: the same content, and the same verdict on what is
 * cut, changed or made up. And beginnings of blocks that are found, against reading a header at
 * every bit. */
#include "src/parallel/block_loops.h"
#include "src/parallel/deflate.h"
#include "tests/helpers/deflate_oracle.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define CONTENT_CAP DEFLATE_CONTENT_MAX
#define INPUT_CAP DEFLATE_INPUT_MAX

static unsigned long cases, wrong;

static const struct deflate_course at_once = {.capacity = 1 << 20};
static unsigned char content[CONTENT_CAP], stream[INPUT_CAP];

static void expect(bool is_right, const char *what, size_t where)
{
    cases++;
    if (!is_right && wrong++ < 20)
        printf("wrong: %s (%zu)\n", what, where);
}

/* Compares with zlib. */
static void compare(size_t len, const struct deflate_course *course, const char *what, size_t where)
{
    const char *fault = deflate_compare(stream, len, course);
    if (fault)
        printf("%s\n", fault);
    expect(!fault, what, where);
}

/* --- streams by zlib --- */

struct recipe {
    int level, strategy, memory, flush;
    size_t flush_every; /* bytes of content; 0: never */
};

/* Compresses content[0..len) to stream; returns its length. */
static size_t deflate_by_zlib(size_t len, const struct recipe *recipe)
{
    z_stream zlib = {.next_in = content, .next_out = stream, .avail_out = INPUT_CAP};
    if (deflateInit2(&zlib, recipe->level, Z_DEFLATED, -15, recipe->memory, recipe->strategy) !=
        Z_OK)
        exit(99);
    const size_t step = recipe->flush_every ? recipe->flush_every : len;
    for (size_t left = len, some; left > 0; left -= some) {
        some = left < step ? left : step;
        zlib.avail_in = (unsigned)some;
        if (deflate(&zlib, left == some ? Z_NO_FLUSH : recipe->flush) != Z_OK)
            exit(99);
    }
    if (deflate(&zlib, Z_FINISH) != Z_STREAM_END)
        exit(99);
    deflateEnd(&zlib);
    return zlib.total_out;
}

/* --- content --- */

enum content_kind { WORDS, RANDOM, ZEROS, MIXED, KINDS };

static size_t put_words(unsigned char *at, size_t capacity)
{
    static const char *const words[] = {"GET ",   "/index.html ", "HTTP/1.1\" ", "200 ", "404 ",
                                        "- - [1", "Mozilla/5.0 ", "12:34:5",     "\n",   "10.0."};
    const char *word = words[random_below(sizeof words / sizeof *words)];
    char number[24];
    if (random_below(4) == 0)
        word = number, snprintf(number, sizeof number, "%u ", random_below(100000));
    const size_t len = strlen(word) < capacity ? strlen(word) : capacity;
    memcpy(at, word, len);
    return len;
}

static void fill_content(enum content_kind kind, size_t len)
{
    for (size_t at = 0; at < len;) {
        const enum content_kind now = kind == MIXED ? random_below(MIXED) : kind;
        const size_t until = kind == MIXED ? at + random_below(20000) : len;
        while (at < len && at <= until) {
            if (now == WORDS)
                at += put_words(content + at, len - at);
            else
                content[at++] = now == RANDOM ? (unsigned char)random_word() : 0;
        }
    }
}

/* --- whole streams --- */

static void expect_content(size_t len, size_t stream_len, const struct deflate_course *course,
                           const char *what)
{
    const char *fault;
    const struct deflate_verdict actual = inflate_by_runs(stream, stream_len, course, &fault);
    expect(!fault && actual.stop == DEFLATE_ENDED && actual.taken == stream_len &&
               actual.made.len == len && memcmp(actual.made.bytes, content, len) == 0,
           what, len);
}

static void whole_stream(size_t len, const struct recipe *recipe)
{
    const size_t stream_len = deflate_by_zlib(len, recipe);
    const struct deflate_course small = {.capacity = DEFLATE_CAPACITY},
                                blocks = {.capacity = 1 << 20, .by_blocks = true, .portable = true},
                                steps = {.capacity = 1 << 16, .step = 1 + random_below(5000)};
    expect_content(len, stream_len, &at_once, "a whole stream");
    expect_content(len, stream_len, &small, "small runs");
    expect_content(len, stream_len, &blocks, "a run for each block");
    expect_content(len, stream_len, &steps, "input in steps");
}

static void whole_streams(void)
{
    static const size_t sizes[] = {0, 1, 2, 100, 5000, 300000};
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE,
                                     Z_FIXED};
    static const int flushes[] = {Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK};
    for (enum content_kind kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            fill_content(kind, sizes[i]);
            for (int level = 0; level <= 9; level++)
                whole_stream(sizes[i], &(struct recipe){.level = level, .memory = 8});
            for (size_t k = 0; k < 5; k++)
                whole_stream(sizes[i], &(struct recipe){6, strategies[k], 1 + 2 * (int)k, 0, 0});
            for (size_t k = 0; k < 4; k++)
                whole_stream(sizes[i], &(struct recipe){6, 0, 9, flushes[k], sizes[i] / 7 + 1});
        }
}

/* --- small streams, cut and changed --- */

static void cut_and_changed(size_t len, const struct recipe *recipe)
{
    const struct deflate_course small = {.capacity = DEFLATE_CAPACITY, .portable = true, .step = 7};
    const size_t stream_len = deflate_by_zlib(len, recipe);
    for (size_t cut = 0; cut < stream_len; cut++)
        compare(cut, cut % 2 ? &small : &at_once, "a cut stream", cut);
    for (size_t at = 0; at < stream_len; at++) {
        const unsigned char byte = stream[at];
        for (unsigned i = 0; i < 8; i++) {
            stream[at] = (unsigned char)(byte ^ 1 << i);
            compare(stream_len, i % 2 ? &small : &at_once, "a changed bit", at);
        }
        stream[at] = (unsigned char)random_word();
        compare(stream_len, &at_once, "a changed byte", at);
        stream[at] = byte;
    }
}

static void small_streams(void)
{
    const size_t len = scale_of(600, 1200, 3000);
    for (enum content_kind kind = 0; kind < KINDS; kind++) {
        fill_content(kind, len);
        cut_and_changed(len, &(struct recipe){.level = 6, .memory = 8});
        cut_and_changed(len, &(struct recipe){6, Z_FIXED, 8, 0, 0});
        cut_and_changed(len, &(struct recipe){6, Z_HUFFMAN_ONLY, 1, Z_SYNC_FLUSH, 200});
    }
    cut_and_changed(100, &(struct recipe){.level = 0, .memory = 8});
}

/* --- streams that no compressor writes --- */

static size_t bit_count;

static void put_bits(uint32_t value, unsigned count)
{
    for (; count > 0; count--, value >>= 1, bit_count++) {
        if (bit_count % 8 == 0)
            stream[bit_count / 8] = 0;
        stream[bit_count / 8] |= (unsigned char)((value & 1) << bit_count % 8);
    }
}

/* Puts a code, which begins with its highest bit. */
static void put_code(uint32_t code, unsigned count)
{
    while (count-- > 0)
        put_bits(code >> count, 1);
}

static void put_fixed_literal(unsigned byte)
{
    put_code(byte < 144 ? 0x30 + byte : 0x190 + byte - 144, byte < 144 ? 8 : 9);
}

static size_t stream_bytes(void)
{
    return (bit_count + 7) / 8;
}

/* A block with the fixed code: literals, a match of three bytes at the distance, and the end. */
static void put_far_match(size_t literals, unsigned distance)
{
    unsigned code = 0, extra = 0, base = 1;
    while (distance >= base + (1u << extra)) {
        base += 1u << extra;
        code++;
        extra = code < 2 ? 0 : code / 2 - 1;
    }
    bit_count = 0;
    put_bits(1 | 1 << 1, 3);
    for (size_t i = 0; i < literals; i++)
        put_fixed_literal((unsigned)(i * i >> 3 & 255));
    put_code(1, 7);
    put_code(code, 5);
    put_bits(distance - base, extra);
    put_code(0, 7);
}

/* Distances up to the beginning of the content, and beyond it. */
static void far_matches(void)
{
    static const unsigned distances[] = {1,    2,     3,     4,     5,     24,    25,
                                         31,   32,    33,    255,   256,   257,   4096,
                                         4097, 16384, 16385, 24576, 24577, 32767, 32768};
    const struct deflate_course small = {.capacity = DEFLATE_CAPACITY};
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++)
        for (unsigned more = 0; more < 3; more++) {
            put_far_match(distances[i] - 1 + more, distances[i]);
            compare(stream_bytes(), &at_once, "a far match", distances[i]);
            compare(stream_bytes(), &small, "a far match in small runs", distances[i]);
            expect(inflate_by_zlib(stream, stream_bytes()).stop ==
                       (more ? DEFLATE_ENDED : DEFLATE_CORRUPT),
                   "how this test makes far matches", distances[i]);
        }
}

/* A block of megabytes. */
static void giant_block(void)
{
    const struct deflate_course small = {.capacity = DEFLATE_CAPACITY},
                                steps = {.capacity = 1 << 16, .step = 100000};
    bit_count = 0;
    put_bits(1 | 1 << 1, 3);
    for (size_t i = 0; i < 1500000; i++) {
        put_fixed_literal((unsigned)(i * i >> 7 & 255));
        if (i % 16 == 3)
            put_code((unsigned)(1 + i / 16 % 8), 7), put_code((unsigned)(i / 16 % 4), 5);
    }
    put_code(0, 7);
    compare(stream_bytes(), &at_once, "a giant block", 0);
    compare(stream_bytes(), &small, "a giant block in small runs", 0);
    compare(stream_bytes(), &steps, "a giant block in steps", 0);
}

/* Draws lengths of codes: mostly complete, by splitting codes at random. */
static void draw_lengths(uint8_t *lengths, unsigned count, unsigned codes)
{
    unsigned drawn = 1;
    memset(lengths, 0, count);
    lengths[0] = 0;
    if (codes == 0)
        return;
    for (lengths[0] = random_below(16) ? 0 : 1; drawn < codes; drawn++) {
        unsigned split = random_below(drawn);
        for (unsigned i = 0; i < drawn && lengths[split] >= 15; i++)
            split = (split + 1) % drawn;
        lengths[drawn] = ++lengths[split];
    }
    for (unsigned i = count - 1; i > 0; i--) {
        const unsigned other = random_below(i + 1);
        const uint8_t swapped = lengths[i];
        lengths[i] = lengths[other];
        lengths[other] = swapped;
    }
}

/* A dynamic block with lengths of codes that are drawn, written in a code of 4 bits each, and any
 * bits. */
static void put_drawn_block(void)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[288 + 32];
    const unsigned literals = random_below(20) ? 257 + random_below(30) : 288,
                   distances = random_below(20) ? 1 + random_below(30) : 32;
    draw_lengths(lengths, literals, 1 + random_below(random_below(3) ? literals : 3));
    draw_lengths(lengths + literals, distances, random_below(random_below(3) ? distances : 3));
    if (random_below(8))
        lengths[256] = lengths[256] ? lengths[256] : 1 + lengths[0] % 15;
    bit_count = 0;
    put_bits(random_below(2) | 2 << 1, 3);
    put_bits(literals - 257, 5);
    put_bits(distances - 1, 5);
    put_bits(15, 4);
    for (unsigned i = 0; i < 19; i++)
        put_bits(order[i] < 16 ? 4 : 0, 3);
    for (unsigned i = 0; i < literals + distances; i++)
        put_code(lengths[i], 4);
    for (unsigned i = 0; i < 100; i++)
        put_bits((uint32_t)random_word(), 32);
}

static void drawn_blocks(void)
{
    for (unsigned i = scale_of(3000, 30000, 300000); i > 0; i--) {
        put_drawn_block();
        compare(stream_bytes(), &at_once, "a drawn block", i);
    }
}

/* Any bits after the beginning of a dynamic or fixed block. */
static void drawn_bits(void)
{
    for (unsigned i = scale_of(20000, 200000, 2000000); i > 0; i--) {
        bit_count = 0;
        put_bits(random_below(2) | (1 + random_below(3)) << 1, 3);
        for (unsigned k = 0; k < 40; k++)
            put_bits((uint32_t)random_word(), 32);
        compare(stream_bytes(), &at_once, "drawn bits", i);
    }
}

/* --- beginnings --- */

/* The same as deflate_find, by reading a header at every bit. */
static uint64_t find_by_definition(const struct deflate_input *input, uint64_t from, uint64_t to)
{
    for (; from < to && from < input->bits; from++) {
        struct deflate_header header;
        uint64_t end = from;
        if (deflate_read_header(input, &end, &header) == DEFLATE_ENDED &&
            header.type == DEFLATE_DYNAMIC && !header.is_last)
            return from;
    }
    return DEFLATE_NONE;
}

/* Parses from a beginning that was found up to the next one, with the window before it from zlib.
 * Returns where it ended. */
static uint64_t parse_from(const struct deflate_input *input, uint64_t from, uint64_t until,
                           struct made_content *made)
{
    struct parsed_run *run = deflate_run(1 << 20);
    struct deflate_position position = {.bit = from};
    bool is_too_far = false;
    const char *fault = NULL;
    enum deflate_stop stop = DEFLATE_FULL;
    while (stop == DEFLATE_FULL && !fault && !is_too_far) {
        parsed_run_clear(run);
        stop = deflate_parse(deflate_parser(false), input, &position, until, run);
        fault = execute_bytes(run, made, &is_too_far);
    }
    expect(!fault && !is_too_far && (stop == DEFLATE_REACHED || stop == DEFLATE_ENDED),
           fault ? fault : "runs from a beginning that was found", from);
    return position.bit;
}

/* Finds all beginnings, and parses from one to the next: an end must be a beginning unless another
 * kind of block begins there. */
static void chain(size_t len, size_t stream_len)
{
    static unsigned char made_bytes[CONTENT_CAP];
    const struct deflate_input input = deflate_input_at_edge(stream, stream_len);
    struct made_content made = {made_bytes, 0, CONTENT_CAP};
    uint64_t at = 0, next = 0, found = 0;
    for (bool ends = false; !ends; at = next) {
        if (found <= at)
            found = deflate_find(block_loops_find(NULL), &input, at + 1, input.bits, NULL);
        next = parse_from(&input, at, found, &made);
        ends = (next + 7) / 8 == stream_len && made.len == len;
        if (!ends && next != found) {
            const bool is_found = find_by_definition(&input, next, next + 1) == next;
            expect(found < next || !is_found, "a block that was not found", next);
        }
        if (made.len > len)
            break;
    }
    expect(made.len == len && memcmp(made.bytes, content, len) == 0, "a chain of runs", len);
}

static void beginnings(void)
{
    const size_t len = scale_is_small_or_slow() ? 400000 : 3000000;
    for (enum content_kind kind = 0; kind < KINDS; kind++)
        for (int level = 1; level <= 9; level += 4) {
            fill_content(kind, len);
            chain(len, deflate_by_zlib(len, &(struct recipe){.level = level, .memory = 8}));
            chain(len, deflate_by_zlib(len, &(struct recipe){level, 0, 1, Z_SYNC_FLUSH, 30000}));
        }
}

/* Compares what all loops find that run here with the definition, and what they leave of a budget
 * with each other. Returns what is found. */
static uint64_t compare_finders(const struct deflate_input *input, uint64_t from, uint64_t to,
                                int64_t budget)
{
    const uint64_t expected = find_by_definition(input, from, to);
    int64_t left = budget;
    const uint64_t affordable = deflate_find(&block_loops_portable, input, from, to, &left);
    expect(affordable == expected || (affordable == DEFLATE_NONE && left < 0), "a budget", from);
    for (const struct block_loops *const *loops = block_loops; *loops; loops++) {
        int64_t here = budget;
        if (!(*loops)->runs_here())
            continue;
        expect(deflate_find(*loops, input, from, to, NULL) == expected, (*loops)->name, from);
        expect(deflate_find(*loops, input, from, to, &here) == affordable, (*loops)->name, from);
        expect(here == left, "what is left of a budget", from);
    }
    return expected;
}

/* Compares finders over a stream, at any distances from one to the next. */
static void compare_finders_over(size_t len)
{
    const struct deflate_input input = deflate_input_at_edge(stream, len);
    for (uint64_t at = 0; at < input.bits;) {
        const uint64_t to = at + random_below(random_below(2) ? 100 : 1000000),
                       found =
                           compare_finders(&input, at, to, random_below(1u << random_below(20)));
        at = found != DEFLATE_NONE ? found + 1 : to + 1;
    }
}

/* Compares finders where a block begins at each bit of a piece that vectors try at once, or ends
 * with the input, or a bit before; and the search begins and ends beside it. */
static void compare_finders_at_edges(void)
{
    enum { STEPS = 3, BITS = 2100 };
    const size_t len = deflate_by_zlib(100000, &(struct recipe){.level = 6, .memory = 2});
    const struct deflate_input block = {stream, 8 * (uint64_t)len};
    struct deflate_header header;
    uint64_t end = 0;
    unsigned char copy[BITS / 8 + 400];
    expect(deflate_read_header(&block, &end, &header) == DEFLATE_ENDED && !header.is_last &&
               header.type == DEFLATE_DYNAMIC && end < 8 * 300,
           "a block to be found", end);
    for (unsigned at = 0; at < BITS; at += scale_of(STEPS, 1, 1)) {
        const size_t bytes = (at + end + 7) / 8;
        memset(copy, 0, sizeof copy);
        for (uint64_t i = 0; i < end; i++)
            copy[(at + i) / 8] |= (unsigned char)((deflate_bits(&block, i) & 1) << (at + i) % 8);
        for (size_t cut = 0; cut < STEPS; cut++) {
            const struct deflate_input input = deflate_input_at_edge(copy, bytes - cut);
            compare_finders(&input, 0, input.bits, (int64_t)end - (int64_t)random_below(3));
            compare_finders(&input, at, at + 1, (int64_t)end);
            compare_finders(&input, 0, at, INT64_MAX);
            compare_finders(&input, at + 1, UINT64_MAX, 0);
        }
    }
}

/* Compares finders over short streams that end soon behind a piece that vectors try at once: they
 * try bits behind the end, too, where what stands before it may be found a second time. */
static void compare_finders_at_ends(void)
{
    for (unsigned i = 0; i < scale_of(100, 400, 2000); i++) {
        const size_t len = 192 * random_below(3) + random_below(40);
        for (size_t at = 0; at < len; at++)
            stream[at] = (unsigned char)random_word();
        const struct deflate_input input = deflate_input_at_edge(stream, len);
        for (uint64_t at = 0; at < input.bits; at++) /* all that are found, one after the other */
            if ((at = compare_finders(&input, at, input.bits, INT64_MAX)) == DEFLATE_NONE)
                break;
    }
}

static void finders(void)
{
    const size_t len = scale_is_small_or_slow() ? 100000 : 1000000;
    for (size_t i = 0; i < len; i++)
        stream[i] = (unsigned char)random_word();
    compare_finders_over(len);
    for (size_t i = 0; i < len; i++)
        stream[i] = (unsigned char)(random_word() & random_word());
    compare_finders_over(len);
    fill_content(WORDS, CONTENT_CAP);
    compare_finders_over(deflate_by_zlib(len * 3, &(struct recipe){.level = 6, .memory = 2}));
    compare_finders_at_edges();
    compare_finders_at_ends();
}

int main(void)
{
    whole_streams();
    small_streams();
    far_matches();
    giant_block();
    drawn_blocks();
    drawn_bits();
    beginnings();
    finders();
    printf("%lu comparisons, %lu wrong\n", cases, wrong);
    return wrong > 0;
}
