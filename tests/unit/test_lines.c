/* The line of the first token that is not a number, when chunks are added in any order: it must be
 * the one that a naive loop finds, and be known as soon as all in front of it was added, no sooner.
 */
#include "src/engine/lines.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_MAX 40
#define OUT_MAX 6 /* chunks that may be out at a time */

static unsigned cases, wrong;

/* Chunks in order: newlines, then a number or a token that is none, then newlines. */
struct piece {
    struct chunk chunk;
    unsigned char data[16];
    size_t newlines;
    bool invalid, added;
};

static size_t make_pieces(struct piece pieces[CHUNKS_MAX])
{
    static const char *const files[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    size_t count = 1 + random_below(CHUNKS_MAX), file = 0;
    unsigned rarity = 1 + random_below(30);
    for (size_t i = 0; i < count; i++) {
        struct piece *piece = &pieces[i];
        unsigned before = random_below(4), after = random_below(4);
        *piece = (struct piece){.newlines = before + after, .invalid = random_below(rarity) == 0};
        snprintf((char *)piece->data, sizeof piece->data, "%.*s%s%.*s", (int)before, "\n\n\n\n",
                 piece->invalid ? "1x" : "15", (int)after, "\n\n\n\n");
        piece->chunk.data = piece->data;
        piece->chunk.len = strlen((char *)piece->data);
        file += i > 0 && file < 7 && random_below(6) == 0;
        piece->chunk.origin = (struct origin){.sequence = i, .file = file, .name = files[file]};
    }
    return count;
}

/* What is known of the pieces that were added; empty: nothing. */
static void expect(const struct piece *pieces, size_t count, struct reason *what)
{
    size_t line = 1;
    what->text[0] = '\0';
    for (size_t i = 0; i < count && pieces[i].added; i++) {
        const struct piece *piece = &pieces[i];
        if (i > 0 && piece->chunk.origin.file != piece[-1].chunk.origin.file)
            line = 1;
        if (piece->invalid) {
            line += strspn((const char *)piece->data, "\n");
            reason_set(what, "%s: line %zu: '1x' is not a number", piece->chunk.origin.name, line);
            return;
        }
        line += piece->newlines;
    }
}

static void check(struct lines *lines, const struct piece *pieces, size_t count)
{
    struct reason expected, what = {""};
    expect(pieces, count, &expected);
    bool known = lines_first(lines, &what);
    cases++;
    if (known == (expected.text[0] != '\0') && strcmp(what.text, expected.text) == 0)
        return;
    if (wrong++ < 20)
        fprintf(stderr, "FAIL: '%s' instead of '%s'\n", what.text, expected.text);
}

/* One of the first OUT_MAX pieces that are not added yet, or count. */
static size_t choose(const struct piece *pieces, size_t count)
{
    size_t out[OUT_MAX], outs = 0;
    for (size_t i = 0; i < count && outs < OUT_MAX; i++)
        if (!pieces[i].added)
            out[outs++] = i;
    return outs ? out[random_below((unsigned)outs)] : count;
}

int main(void)
{
    static struct piece pieces[CHUNKS_MAX];
    for (unsigned round = 0; round < 20000; round++) {
        size_t count = make_pieces(pieces), next;
        struct lines *lines = lines_open(OUT_MAX);
        if (!lines)
            return 99;
        while ((next = choose(pieces, count)) < count) {
            lines_add(lines, &pieces[next].chunk, pieces[next].newlines, pieces[next].invalid);
            pieces[next].added = true;
            check(lines, pieces, count);
        }
        lines_close(lines);
    }
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
