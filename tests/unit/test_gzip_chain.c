/* SPDX-License-Identifier: MIT */
/* gzip files decoded by runs that are chained, against zlib: members of many kinds, small pieces,
 * and files that are cut, changed or padded. */
#include "src/blocks/gzip_run.h"
#include "tests/helpers/gzip_runs.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define CONTENT_CAP (GUNZIPPED_MAX - 1)
#define FILE_CAP GUNZIPPED_MAX

static unsigned long cases, wrong;
static unsigned char content[CONTENT_CAP], file[FILE_CAP];
static size_t content_len, file_len;

static void expect(bool is_right, const char *what, size_t where)
{
    cases++;
    if (!is_right && wrong++ < 20)
        printf("wrong: %s (%zu)\n", what, where);
}

/* --- files --- */

static void add_content(size_t len, unsigned kind)
{
    static const char *const words[] = {"GET /index.html", " 200 ", "\n10.0.", "Mozilla/5.0 "};
    for (size_t end = content_len + len; content_len < end;) {
        char text[32];
        const int text_len =
            snprintf(text, sizeof text, "%s%u", words[random_below(4)], random_below(10000));
        const size_t some = kind == 1 ? 1 : (size_t)text_len;
        if (kind == 1)
            text[0] = (char)random_word();
        if (kind == 2)
            memset(text, 0, sizeof text);
        memcpy(content + content_len, text, some < end - content_len ? some : end - content_len);
        content_len += some < end - content_len ? some : end - content_len;
    }
}

/* Adds a member to the file, of content that is added. */
static void add_member(size_t len, unsigned kind, int level, int flush)
{
    z_stream zlib = {.next_in = content + content_len};
    gz_header header = {.name = (Bytef *)(random_below(2) ? "name" : ""),
                        .hcrc = random_below(2) == 1};
    add_content(len, kind);
    zlib.next_out = file + file_len;
    zlib.avail_out = (unsigned)(FILE_CAP - file_len);
    if (deflateInit2(&zlib, level, Z_DEFLATED, 31, 8, 0) != Z_OK ||
        deflateSetHeader(&zlib, &header) != Z_OK)
        exit(99);
    for (size_t left = len, some; left > 0; left -= some) {
        some = left < 100000 ? left : 100000;
        zlib.avail_in = (unsigned)some;
        if (deflate(&zlib, flush) != Z_OK)
            exit(99);
    }
    if (deflate(&zlib, Z_FINISH) != Z_STREAM_END)
        exit(99);
    deflateEnd(&zlib);
    file_len += zlib.total_out;
}

static void begin_file(void)
{
    content_len = file_len = 0;
}

/* Compares with zlib. Returns how many runs were of use, in percent. */
static unsigned compare(size_t piece, const char *what, size_t where)
{
    unsigned percent;
    const char *fault = gunzip_compare(file, file_len, piece, &percent);
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
        add_member(len, 0, level, Z_NO_FLUSH);
        const unsigned percent = compare(GZIP_PIECE, "a large member", (size_t)level);
        expect(percent > 70, "runs that begin where they should", percent);
    }
    begin_file();
    add_member(len / 2, 1, 6, Z_NO_FLUSH);
    add_member(len / 4, 2, 6, Z_NO_FLUSH);
    add_member(len / 4, 0, 6, Z_SYNC_FLUSH);
    compare(GZIP_PIECE, "stored blocks, zeros and text", 0);
}

/* Any members and pieces, and zero bytes after them. */
static void drawn_files(void)
{
    for (unsigned i = scale_of(40, 300, 3000); i > 0; i--) {
        const size_t piece = GZIP_PIECE_LEAST + random_below(60000);
        begin_file();
        for (unsigned members = random_below(6); members > 0; members--)
            add_member(random_below(random_below(2) ? 1000 : 800000), random_below(3),
                       (int)random_below(10), random_below(2) ? Z_SYNC_FLUSH : Z_NO_FLUSH);
        if (random_below(3) == 0)
            for (unsigned zeros = random_below(10000); zeros > 0; zeros--)
                file[file_len++] = 0;
        if (random_below(8) == 0)
            file[file_len++] = (unsigned char)random_word();
        compare(piece, "a drawn file", i);
    }
}

/* A file of a few pieces, cut anywhere, and changed anywhere. */
static void cut_and_changed(void)
{
    begin_file();
    add_member(60000, 0, 6, Z_NO_FLUSH);
    add_member(3000, 1, 0, Z_NO_FLUSH);
    add_member(2000, 0, 1, Z_NO_FLUSH);
    const size_t whole = file_len;
    const unsigned step = scale_of(97, 13, 1);
    for (size_t cut = 0; cut < whole; cut += 1 + random_below(step)) {
        file_len = cut;
        compare(GZIP_PIECE_LEAST, "a cut file", cut);
    }
    file_len = whole;
    for (size_t at = 0; at < whole; at += 1 + random_below(step)) {
        const unsigned char byte = file[at];
        file[at] = (unsigned char)(byte ^ 1 << random_below(8));
        compare(GZIP_PIECE_LEAST, "a changed file", at);
        file[at] = byte;
    }
    for (size_t at = whole - 30; at < whole; at++) {
        file[at] ^= 1;
        compare(GZIP_PIECE_LEAST, "a changed trailer", at);
        file[at] ^= 1;
    }
}

/* Pieces follow one another even if they become shorter. */
static void shorter_pieces(void)
{
    static struct gzip_run run;
    static struct gzip_cutter cutter;
    bool more = true;
    size_t at = 0, pieces_end = 0;
    if (gzip_run_open(&run, block_loops_find(NULL)) != 0)
        exit(99);
    begin_file();
    for (file_len = 0; file_len < 3000000; file_len++)
        file[file_len] = (unsigned char)random_word();
    for (cutter.piece = GZIP_PIECE; more; pieces_end += run.piece) {
        const size_t before = cutter.piece;
        const bool halves = random_below(4) == 0 && before >= 2 * GZIP_PIECE_LEAST;
        run.begin = random_below(4) == 0 || halves ? 0 : DEFLATE_NONE;
        run.stop = halves ? DEFLATE_FULL : DEFLATE_REACHED;
        run.piece = cutter.piece;
        gzip_cutter_begin(&cutter, &run);
        expect(cutter.piece == (halves ? before / 2 : before), "the size of pieces", before);
        while (at < file_len && run.len < run.len_max)
            at += gzip_run_fill(&run, file + at, 1 + random_below(100000) % (file_len - at));
        more = gzip_cutter_end(&cutter, &run);
        expect(run.at == pieces_end && memcmp(run.in, file + pieces_end, run.len) == 0,
               "the bytes of a piece", pieces_end);
        expect(run.piece + GZIP_BEYOND(run.piece) == run.len || !more, "a whole run", run.len);
    }
    expect(pieces_end == file_len, "the end of the last piece", pieces_end);
    gzip_run_close(&run);
}

int main(void)
{
    shorter_pieces();
    large_members();
    drawn_files();
    cut_and_changed();
    printf("%lu comparisons, %lu wrong\n", cases, wrong);
    return wrong > 0;
}
