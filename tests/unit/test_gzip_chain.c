/* SPDX-License-Identifier: MIT */
/* gzip files decoded by runs that are chained, against zlib: members of many kinds, small pieces,
 * and files that are cut, changed or padded. */
#include "src/parallel/gzip_pieces.h"
#include "tests/helpers/gzip_members.h"
#include "tests/helpers/gzip_runs.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT_CAP (GUNZIPPED_MAX - 1)
#define FILE_CAP GUNZIPPED_MAX

static unsigned long cases, wrong;
static unsigned char content[CONTENT_CAP], bytes[FILE_CAP];
static struct gzip_file file = {
    .bytes = bytes, .cap = FILE_CAP, .content = content, .content_cap = CONTENT_CAP};

static void expect(bool is_right, const char *what, size_t where)
{
    cases++;
    if (!is_right && wrong++ < 20)
        printf("wrong: %s (%zu)\n", what, where);
}

/* --- files --- */

static void add_member(size_t len, enum member_content kind, int level, bool is_flushed)
{
    const struct gzip_member_settings settings = {len, kind, level, is_flushed};
    gzip_file_add(&file, &settings);
}

static void begin_file(void)
{
    file.len = file.content_len = file.members = 0;
}

/* Compares with zlib. Returns how many runs were of use, in percent. */
static unsigned compare(size_t piece, const char *what, size_t where)
{
    unsigned percent;
    const char *fault = gunzip_compare(file.bytes, file.len, piece, &percent);
    if (fault)
        printf("%s\n", fault);
    expect(!fault, what, where);
    return percent;
}

/* --- the cases --- */

/* One member of megabytes, of which nearly all must have been parsed by its runs. */
static void large_members(void)
{
    const size_t len = scale_is_small_or_slow() ? 12 << 20 : CONTENT_CAP;
    for (int level = 1; level <= 9; level += 4) {
        begin_file();
        add_member(len, MEMBER_TEXT, level, false);
        const unsigned percent = compare(GZIP_PIECE, "a large member", (size_t)level);
        expect(percent > 70, "runs that begin where they should", percent);
    }
    begin_file();
    add_member(len / 2, MEMBER_RANDOM, 6, false);
    add_member(len / 4, MEMBER_ZEROS, 6, false);
    add_member(len / 4, MEMBER_TEXT, 6, true);
    compare(GZIP_PIECE, "stored blocks, zeros and text", 0);
}

/* Any members and pieces, and zero bytes after them. */
static void drawn_files(void)
{
    for (unsigned i = scale_of(40, 300, 3000); i > 0; i--) {
        const size_t piece = GZIP_PIECE_MIN + random_below(60000);
        begin_file();
        for (unsigned members = random_below(6); members > 0; members--)
            gzip_file_add_random(&file, random_below(random_below(2) ? 1000 : 800000));
        if (random_below(3) == 0)
            gzip_file_pad(&file, 0, random_below(10000));
        if (random_below(8) == 0)
            gzip_file_pad(&file, (unsigned char)random_word(), 1);
        compare(piece, "a drawn file", i);
    }
}

/* Members that are smaller than pieces, of which runs must have nearly all. */
static void small_members(void)
{
    for (size_t len = 2000; len <= 200000; len *= 10) {
        begin_file();
        while (file.content_len + len < CONTENT_CAP / 4 && file.len < FILE_CAP / 4)
            add_member(len, MEMBER_TEXT, 6, false);
        const unsigned percent = compare(GZIP_PIECE, "small members", len);
        expect(percent > 90, "runs that begin where they should, of small members", percent);
    }
    for (unsigned i = scale_of(20, 100, 1000); i > 0; i--) {
        begin_file();
        for (unsigned members = random_below(60); members > 0; members--)
            gzip_file_add_random(&file, random_below(random_below(4) ? 3000 : 40000));
        for (unsigned changed = random_below(3); changed > 0 && file.len > 0; changed--)
            bytes[random_below((unsigned)file.len)] ^= (unsigned char)(1 << random_below(8));
        compare(GZIP_PIECE_MIN + random_below(60000), "small members, drawn", i);
    }
}

/* A file of a few pieces, cut anywhere, and changed anywhere. */
static void cut_and_changed(void)
{
    begin_file();
    add_member(60000, MEMBER_TEXT, 6, false);
    add_member(3000, MEMBER_RANDOM, 0, false);
    add_member(2000, MEMBER_TEXT, 1, false);
    const size_t whole = file.len;
    const unsigned step = scale_of(97, 13, 1);
    for (size_t cut = 0; cut < whole; cut += 1 + random_below(step)) {
        file.len = cut;
        compare(GZIP_PIECE_MIN, "a cut file", cut);
    }
    file.len = whole;
    for (size_t at = 0; at < whole; at += 1 + random_below(step)) {
        const unsigned char byte = bytes[at];
        bytes[at] = (unsigned char)(byte ^ 1 << random_below(8));
        compare(GZIP_PIECE_MIN, "a changed file", at);
        bytes[at] = byte;
    }
    for (size_t at = whole - 30; at < whole; at++) {
        bytes[at] ^= 1;
        compare(GZIP_PIECE_MIN, "a changed trailer", at);
        bytes[at] ^= 1;
    }
}

/* A run was passed: those that were used say how large pieces should be, if they have that size. */
static void learn(struct gzip_cutter *cutter)
{
    const size_t before = cutter->piece;
    const bool is_full = random_below(3) == 0, is_older = random_below(2),
               was_used = random_below(4) > 0, has_room = random_below(2);
    const bool counts = was_used && !is_older;
    const struct gzip_run run = {
        .begin = 0,
        .stop = is_full ? DEFLATE_FULL : DEFLATE_REACHED,
        .piece = is_older ? 2 * before : before, /* several runs are cut before one is parsed */
        .parsed.content = has_room ? 1000 : DEFLATE_RUN_CONTENT_MAX / 2};
    size_t due = before;
    if (counts && is_full && before >= 2 * GZIP_PIECE_MIN)
        due = before / 2;
    else if (counts && !is_full && has_room && before < GZIP_PIECE)
        due = 2 * before;
    bool is_used = was_used;
    gzip_cutter_learn(cutter, &run, &is_used);
    expect(cutter->piece == due, "the size of pieces", before);
}

/* Pieces follow one another even if they become shorter. */
static void shorter_pieces(void)
{
    static struct gzip_run next;
    static struct gzip_cutter cutter;
    bool more = true;
    size_t at = 0, pieces_end = 0;
    if (gzip_run_open(&next, block_loops_find(NULL)) != 0)
        exit(99);
    begin_file();
    for (file.len = 0; file.len < 3000000; file.len++)
        bytes[file.len] = (unsigned char)random_word();
    for (cutter.piece = GZIP_PIECE; more; pieces_end += next.piece) {
        gzip_cutter_begin(&cutter, &next);
        for (unsigned passed = random_below(4); passed > 0; passed--)
            learn(&cutter);
        while (at < file.len && next.len < next.len_max)
            at += gzip_run_fill(&next, bytes + at, 1 + random_below(100000) % (file.len - at));
        more = gzip_cutter_end(&cutter, &next);
        expect(next.at == pieces_end && memcmp(next.in, bytes + pieces_end, next.len) == 0,
               "the bytes of a piece", pieces_end);
        expect(next.piece + GZIP_BEYOND(next.piece) <= next.len || !more, "a whole run", next.len);
    }
    expect(pieces_end == file.len, "the end of the last piece", pieces_end);
    gzip_run_close(&next);
}

int main(void)
{
    shorter_pieces();
    large_members();
    drawn_files();
    small_members();
    cut_and_changed();
    printf("%lu comparisons, %lu wrong\n", cases, wrong);
    return wrong > 0;
}
