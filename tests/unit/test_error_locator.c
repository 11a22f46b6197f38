/* SPDX-License-Identifier: MIT */
/* The line of the first token that is not a number, when FILEs and their segments are read side by
 * side and chunks are added in any order: it must be the one that a naive loop finds, and be known
 * as soon as all in front of it was added, no sooner. */
#include "src/input/engine.h"
#include "src/tally/histogram_spec.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_MAX 40
#define FILES_MAX 8
#define OUT_MAX 6 /* chunks that may be out at a time */
#define READERS 3

static const struct histogram_spec of_tokens = {.lines.field.kind = FIELD_NONE};

static unsigned cases, wrong;

/* Newlines, then a number or a token that is none, then newlines. */
struct piece {
    struct chunk chunk;
    unsigned char data[16];
    size_t newlines;
    bool invalid, added;
};

/* Chunks in order, by FILE, segment and index. */
struct text {
    struct piece pieces[CHUNKS_MAX];
    size_t count, files;
};

static void make_piece(struct piece *piece, struct position at, unsigned rarity)
{
    static const char *const names[FILES_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    unsigned before = random_below(4), after = random_below(4);
    *piece = (struct piece){.newlines = before + after, .invalid = random_below(rarity) == 0};
    snprintf((char *)piece->data, sizeof piece->data, "%.*s%s%.*s", (int)before, "\n\n\n\n",
             piece->invalid ? "1x" : "15", (int)after, "\n\n\n\n");
    piece->chunk.data = piece->data;
    piece->chunk.len = strlen((char *)piece->data);
    piece->chunk.origin = (struct origin){.at = at, .name = names[at.file]};
}

static void make_text(struct text *text)
{
    unsigned rarity = 1 + random_below(30);
    struct position at = {0, 0, 0};
    text->count = 1 + random_below(CHUNKS_MAX);
    for (size_t i = 0; i < text->count; i++) {
        make_piece(&text->pieces[i], at, rarity);
        enum chunk_end *end = &text->pieces[i].chunk.origin.end;
        if (i + 1 == text->count || (at.file + 1 < FILES_MAX && random_below(6) == 0))
            *end = ENDS_FILE;
        else if (random_below(4) == 0)
            *end = ENDS_SEGMENT;
        at.index++;
        if (*end == ENDS_SEGMENT)
            at = (struct position){at.file, at.segment + 1, 0};
        if (*end == ENDS_FILE)
            at = (struct position){at.file + 1, 0, 0};
    }
    text->files = at.file;
}

/* What is known of the pieces that were added; empty: nothing. */
static void expect(const struct text *text, struct error *what)
{
    size_t line = 1;
    what->text[0] = '\0';
    for (size_t i = 0; i < text->count && text->pieces[i].added; i++) {
        const struct piece *piece = &text->pieces[i];
        if (i > 0 && piece->chunk.origin.at.file != piece[-1].chunk.origin.at.file)
            line = 1;
        if (piece->invalid) {
            line += strspn((const char *)piece->data, "\n");
            error_set(what, "%s: line %zu: '1x' is not a number", piece->chunk.origin.name, line);
            return;
        }
        line += piece->newlines;
    }
}

static void check(struct error_locator *locator, const struct text *text)
{
    struct error expected, what = {""};
    expect(text, &expected);
    bool known = error_locator_first(locator, &what);
    cases++;
    if (known == (expected.text[0] != '\0') && strcmp(what.text, expected.text) == 0)
        return;
    if (wrong++ < 20)
        fprintf(stderr, "FAIL: '%s' instead of '%s'\n", what.text, expected.text);
}

/* --- readers, and what is out --- */

/* Segments in the order in which they are begun: FILEs in any order, the segments of each in
 * theirs. */
struct queue {
    size_t begin[CHUNKS_MAX]; /* of each segment, the first piece */
    size_t count, taken;
};

static void fill_queue(struct queue *queue, const struct text *text)
{
    size_t files[FILES_MAX];
    for (size_t i = 0; i < text->files; i++) {
        size_t j = random_below((unsigned)i + 1);
        files[i] = files[j];
        files[j] = i;
    }
    *queue = (struct queue){.count = 0};
    for (size_t i = 0; i < text->files; i++)
        for (size_t j = 0; j < text->count; j++)
            if (text->pieces[j].chunk.origin.at.file == files[i] &&
                text->pieces[j].chunk.origin.at.index == 0)
                queue->begin[queue->count++] = j;
}

/* The next piece that one of the readers reads, or count: none. next[i] is where each is. */
static size_t read_piece(size_t next[READERS], struct queue *queue, const struct text *text)
{
    for (size_t i = random_below(READERS), tried = 0; tried < READERS; tried++) {
        size_t *at = &next[(i + tried) % READERS];
        if (*at == text->count && queue->taken < queue->count)
            *at = queue->begin[queue->taken++];
        if (*at == text->count)
            continue;
        size_t piece = (*at)++;
        if (text->pieces[piece].chunk.origin.end != ENDS_NOTHING)
            *at = text->count;
        return piece;
    }
    return text->count;
}

/* Adds the first pieces of a FILE, divided in another way, as a GPU may that takes them back. */
static void add_in_vain(struct error_locator *locator, const struct text *text, size_t file)
{
    const unsigned max = random_below(CHUNKS_MAX);
    struct position at = {file, 0, 0};
    for (size_t i = 0; i < text->count && at.index < max; i++) {
        struct chunk chunk = text->pieces[i].chunk;
        if (chunk.origin.at.file != file)
            continue;
        chunk.origin.at = at;
        chunk.origin.end = ENDS_NOTHING;
        error_locator_add(locator, &chunk, text->pieces[i].newlines, text->pieces[i].invalid);
        at.index++;
    }
}

static void add_all(struct error_locator *locator, struct text *text)
{
    const size_t in_vain = random_below((unsigned)text->files);
    bool is_forgotten = false;
    struct queue queue;
    size_t next[READERS] = {text->count, text->count, text->count}, out[OUT_MAX], outs = 0;
    fill_queue(&queue, text);
    add_in_vain(locator, text, in_vain);
    for (;;) {
        size_t read = text->count;
        if (outs < OUT_MAX && (read = read_piece(next, &queue, text)) < text->count)
            out[outs++] = read;
        if (outs == 0)
            break;
        if (outs < OUT_MAX && read < text->count && random_below(3) > 0)
            continue;
        size_t i = random_below((unsigned)outs);
        struct piece *piece = &text->pieces[out[i]];
        out[i] = out[--outs];
        if (!is_forgotten && (piece->chunk.origin.at.file == in_vain || random_below(3) == 0)) {
            error_locator_forget(locator, in_vain);
            is_forgotten = true;
        }
        error_locator_add(locator, &piece->chunk, piece->newlines, piece->invalid);
        piece->added = true;
        if (is_forgotten)
            check(locator, text);
    }
}

/* As many gaps as there may be, each in a FILE of its own. */
static void add_around_gaps(size_t files)
{
    static const enum chunk_end ends[] = {ENDS_NOTHING, ENDS_NOTHING, ENDS_FILE};
    struct error_locator *locator = error_locator_open(&of_tokens, files, files, 1);
    struct error what;
    for (size_t i = 0; locator && i < files * 3; i++) {
        size_t index = i < files ? 0 : i < 2 * files ? 2 : 1;
        struct chunk chunk = {.origin = {.at = {i % files, 0, index}, .end = ends[index]}};
        error_locator_add(locator, &chunk, 1, false);
    }
    wrong += !locator || error_locator_first(locator, &what);
    cases++;
    error_locator_close(locator);
}

int main(void)
{
    static struct text text;
    for (unsigned round = 0; round < 40000; round++) {
        make_text(&text);
        struct error_locator *locator =
            error_locator_open(&of_tokens, text.files, OUT_MAX, READERS);
        if (!locator)
            return 99;
        add_all(locator, &text);
        error_locator_close(locator);
    }
    for (size_t files = 1; files <= 100; files++)
        add_around_gaps(files);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
