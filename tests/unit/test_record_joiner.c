/* SPDX-License-Identifier: MIT */
/* The seams of characters: a text in segments of few bytes, which are decoded in any order, has the
 * characters that it has as one; and no more is kept than a character needs. */
#include "src/tally/characters.h"
#include "src/input/records.h"
#include "tests/helpers/random.h"
#include "src/input/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS 2000
#define SEGMENT_MAX 5 /* bytes */
#define KEPT_MAX 6    /* bytes of a seam: three on either side */

static unsigned char text[SEGMENTS * SEGMENT_MAX];
static size_t begins[SEGMENTS + 1]; /* of segments, in text */
static uint64_t counts[CHARACTER_ROWS];
static unsigned cases, wrong;

static void count(const unsigned char *data, size_t len, uint64_t times)
{
    uint32_t row;
    for (size_t at = 0; at < len;) {
        at += character_decode(data + at, len - at, &row);
        counts[row] += times;
    }
}

static void make_text(unsigned continuing)
{
    static const unsigned char some[] = {'a', 0xc3, 0xe2, 0xf0, 0x9f, 0xe0, 0xff, 0xbf};
    size_t len = 0;
    for (size_t i = 0; i < SEGMENTS; i++) {
        begins[i] = len;
        for (size_t n = random_below(SEGMENT_MAX + 1); n > 0; n--)
            text[len++] = random_below(100) < continuing ? 0x80 : some[random_below(sizeof some)];
    }
    begins[SEGMENTS] = len;
}

/* What a reader does with a segment: counts all but what may belong to a neighbour. */
static struct span *read_segment(size_t segment)
{
    unsigned char data[SEGMENT_MAX];
    const size_t begin = begins[segment], len = begins[segment + 1] - begin;
    struct records records = {.kind = record_characters, .cut = malloc(CHARACTER_SIZE_MAX)};
    struct span *span = span_open(segment, &record_characters, 0, false);
    if (!records.cut)
        abort();
    for (size_t at = 0, piece; span && at < len; at += piece) { /* chunks of one byte, or of all */
        piece = segment % 2 ? 1 : len;
        struct chunk chunk = {.data = data, .len = piece};
        memcpy(data, text + begin + at, piece);
        if (span_keep_head(span, &chunk) != 0)
            abort();
        unsigned char whole[SEGMENT_MAX + CHARACTER_SIZE_MAX];
        memcpy(whole, records.cut, records.cut_len);
        memcpy(whole + records.cut_len, data + chunk.begin, chunk.len - chunk.begin);
        size_t held = records.cut_len + chunk.len - chunk.begin;
        records.cut_len = held ? characters_tail(whole, held) : 0;
        memcpy(records.cut, whole + held - records.cut_len, records.cut_len);
        count(whole, held - records.cut_len, 1);
    }
    if (!span || span_keep_tail(span, &records) != 0)
        abort();
    free(records.cut);
    return span;
}

static size_t add(struct record_joiner *joiner, struct span *span)
{
    struct span *done;
    size_t longest = 0;
    if (!span || record_joiner_add(joiner, span, &done) != 0)
        abort();
    while (done) {
        struct span *next = done->next;
        longest = done->head.len > longest ? done->head.len : longest;
        if (done->head.len > 0)
            count(done->head.data, done->head.len, 1);
        span_close(done);
        done = next;
    }
    for (span = joiner->spans; span; span = span->next) {
        longest = span->head.len > longest ? span->head.len : longest;
        longest = span->tail.len > longest ? span->tail.len : longest;
    }
    return longest;
}

/* In order, backwards, or in any order. */
static size_t position(unsigned order, size_t i, const size_t *mixed)
{
    return order == 0 ? i : order == 1 ? SEGMENTS - 1 - i : mixed[i];
}

static void check(unsigned continuing, unsigned order)
{
    static size_t mixed[SEGMENTS];
    struct record_joiner joiner;
    size_t longest = 0;
    make_text(continuing);
    for (size_t i = 0; i < SEGMENTS; i++) {
        const size_t other = random_below((unsigned)i + 1);
        mixed[i] = mixed[other];
        mixed[other] = i;
    }
    memset(counts, 0, sizeof counts);
    if (record_joiner_open(&joiner, true, false) != 0)
        abort();
    for (size_t i = 0; i <= SEGMENTS; i++) {
        struct span *span = i < SEGMENTS ? read_segment(position(order, i, mixed))
                                         : span_open(SEGMENTS, &record_characters, 0, true);
        const size_t held = add(&joiner, span);
        longest = held > longest ? held : longest;
    }
    record_joiner_close(&joiner);
    count(text, begins[SEGMENTS], (uint64_t)-1);
    bool is_right = longest <= KEPT_MAX;
    for (size_t row = 0; row < CHARACTER_ROWS; row++)
        is_right &= counts[row] == 0;
    cases++;
    wrong += !is_right;
    if (!is_right)
        fprintf(stderr, "FAIL: %u %% continue, order %u: %zu bytes kept\n", continuing, order,
                longest);
}

int main(void)
{
    for (unsigned continuing = 0; continuing <= 100; continuing += 10)
        for (unsigned order = 0; order < 3; order++)
            check(continuing, order);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
