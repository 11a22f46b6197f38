/* SPDX-License-Identifier: MIT */
/* gzip files that several threads decode, against zlib: with no, one or several idle workers
 * beside, in steps of any size. What zlib refuses needs the fallback, whoever notices it; then
 * ISA-L goes on from the beginning of a member, and knows how much was given of that. */
#include "src/blocks/gzip_run.h"
#include "tests/helpers/block_courses.h"
#include "tests/helpers/gzip_members.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAX ((size_t)4 << 20)
#define STORED_SIZE ((size_t)9 << 20) /* more than the chain parses alone */
#define LARGE_SIZE ((size_t)30 << 20) /* more than the window has room for */
#define CAP ((size_t)10 << 20)        /* bytes of other files, and of their content */
#define LITERALS_HELD 2               /* at most, while a code is cut that follows */
#define RUNS_MAX 24                   /* at least as many as there may be at once */

static unsigned long cases, decoded, wrong;
static struct helpers helpers;
static struct parallel_decoder *decoder;
static struct gzip_file drawn, stored, large;
static unsigned char *made, *due; /* by the decoder, and by zlib */

static void expect(bool is_right, const char *what, size_t where)
{
    cases++;
    if (!is_right && wrong++ < 20)
        printf("wrong: %s (%zu, %u helpers)\n", what, where, helpers.count);
}

static void open_file(struct gzip_file *file, size_t cap)
{
    *file = (struct gzip_file){
        .bytes = need(malloc(cap)), .cap = cap, .content = need(malloc(cap)), .content_cap = cap};
}

static void begin_file(struct gzip_file *file)
{
    file->len = file->content_len = file->members = 0;
}

static void close_file(struct gzip_file *file)
{
    free(file->bytes);
    free(file->content);
}

static void add_member(struct gzip_file *file, size_t len, enum member_content content, int level)
{
    const struct gzip_member_settings settings = {.len = len, .content = content, .level = level};
    gzip_file_add(file, &settings);
}

/* True if ISA-L can go on there: a member begins, or rubbish, and has given so much. */
static bool is_restart(const struct gzip_file *file, const struct block_result *result)
{
    const struct block_restart *restart = &result->restart;
    for (unsigned i = 0; i < file->members; i++)
        if (file->member[i].at == restart->at)
            return file->member[i].content + restart->content == result->made;
    return restart->at == file->len && restart->content == 0 && result->made == file->content_len;
}

/* Decodes the first bytes of a file. All that is given is what zlib gives; the verdict is not. */
static struct block_result decode(const struct gzip_file *file, size_t len,
                                  const struct course *course, size_t cap, const char *what)
{
    size_t due_len;
    const bool is_whole = gzip_reference(file->bytes, len, due, LARGE_SIZE + 1, &due_len);
    const struct block_result result =
        course_decode(&decoder, &helpers, &block_format_gzip, course, file->bytes, len, made, cap);
    decoded += result.outcome == DECODED;
    expect(result.made <= due_len && memcmp(made, due, result.made) == 0, what, len);
    if (result.outcome == DECODED)
        expect(is_whole && result.made == due_len, what, len);
    else
        expect(is_restart(file, &result), what, len);
    if (result.outcome == CUT || result.outcome == STALLED)
        expect(due_len - result.made <= LITERALS_HELD, what, len);
    return result;
}

/* --- the cases --- */

static void draw_file(void)
{
    begin_file(&drawn);
    for (unsigned members = 1 + random_below(5); members > 0; members--) {
        const size_t space = FILE_SIZE_MAX - drawn.content_len;
        gzip_file_add_random(&drawn, random_below(random_below(3) ? (unsigned)space : 3000));
    }
}

/* Whole, cut off, stalled, left in the middle, followed by zeros or rubbish, and with an altered
 * byte. */
static void check_drawn(void)
{
    struct course course = course_random(FILE_SIZE_MAX);
    draw_file();
    const size_t len = drawn.len, zeros = random_below(2) ? random_below(100000) : 0;
    memset(drawn.bytes + len, 0, zeros);
    const struct block_result whole = decode(&drawn, len + zeros, &course, CAP, "a whole file");
    expect(whole.outcome == DECODED, "a file that is not decoded", len);
    (void)decode(&drawn, 3 + random_below((unsigned)len - 3), &course, CAP, "cut off");
    course.stalls = true;
    (void)decode(&drawn, 3 + random_below((unsigned)len - 3), &course, CAP, "nothing comes");
    course.stalls = false;
    course.stop = random_below(FILE_SIZE_MAX);
    (void)decode(&drawn, len, &course, CAP, "stopped");
    course.stop = SIZE_MAX;
    drawn.bytes[len + zeros] = (unsigned char)random_below(256);
    (void)decode(&drawn, len + zeros + 1, &course, CAP, "followed by rubbish");
    drawn.bytes[3 + random_below((unsigned)len - 3)] ^= (unsigned char)(1 << random_below(8));
    (void)decode(&drawn, len, &course, CAP, "altered");
}

/* Of stored blocks no beginnings are found: ISA-L is faster alone. */
static void check_stored(void)
{
    const struct course course = course_random(FILE_SIZE_MAX);
    const struct block_result result = decode(&stored, stored.len, &course, CAP, "stored blocks");
    expect(result.outcome == FALLBACK && result.restart.at == stored.member[1].at,
           "stored blocks are left to ISA-L", result.restart.at);
}

/* What is borrowed is in the way of more. */
static void check_large(void)
{
    const struct course course = {.in_max = 600000, .out_max = FILE_SIZE_MAX, .stop = SIZE_MAX};
    const struct block_result result =
        decode(&large, large.len, &course, LARGE_SIZE + 1, "a large file");
    expect(result.outcome == DECODED, "a large file that is not decoded", result.made);
}

/* All runs are full where the file ends, and what comes first is wrong. */
static void check_full(void)
{
    const struct course course = {.in_max = 600000, .out_max = FILE_SIZE_MAX, .stop = SIZE_MAX};
    stored.bytes[stored.member[1].at] ^= 1;
    for (size_t runs = 1; runs <= RUNS_MAX; runs++)
        (void)decode(&stored, GZIP_BEYOND(GZIP_PIECE) + runs * GZIP_PIECE, &course, CAP,
                     "full where it ends");
    stored.bytes[stored.member[1].at] ^= 1;
}

/* What is counted ends with a member whose checksum is wrong: that is noticed, wherever pieces end.
 */
static void check_range(void)
{
    const struct course course = {.in_max = 131072, .out_max = FILE_SIZE_MAX, .stop = SIZE_MAX};
    for (size_t size = 1000000; size < 2000000; size += scale_of(150000, 50000, 50000)) {
        begin_file(&drawn);
        add_member(&drawn, size, MEMBER_TEXT, 1);
        drawn.bytes[drawn.len - 5] ^= 1;
        memcpy(drawn.bytes + drawn.len, stored.bytes, RUNS_MAX * GZIP_PIECE);
        const struct block_result result =
            decode(&drawn, drawn.len + RUNS_MAX * GZIP_PIECE, &course, size, "a wrong checksum");
        expect(result.outcome == FALLBACK, "a wrong checksum where the range ends", drawn.len);
    }
}

/* The same, and more zeros follow than all runs have. */
static void check_padding(void)
{
    const struct course course = {.in_max = 131072, .out_max = FILE_SIZE_MAX, .stop = SIZE_MAX};
    const size_t size = 1000000, zeros = (RUNS_MAX + 1) * GZIP_PIECE;
    begin_file(&drawn);
    add_member(&drawn, size, MEMBER_TEXT, 1);
    memset(drawn.bytes + drawn.len, 0, zeros);
    const struct block_result result =
        decode(&drawn, drawn.len + zeros, &course, size, "zeros where the range ends");
    expect(result.outcome == FULL, "zeros that are not looked through", drawn.len);
}

int main(void)
{
    static const unsigned counts[] = {0, 1, 2, HELPERS_MAX};
    struct error error;
    if (codec_gzip.load(&error) != 0) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    open_file(&drawn, CAP);
    open_file(&stored, CAP);
    open_file(&large, LARGE_SIZE);
    add_member(&large, LARGE_SIZE, MEMBER_TEXT, 1);
    add_member(&stored, 30000, MEMBER_TEXT, 6);
    add_member(&stored, STORED_SIZE, MEMBER_RANDOM, 0);
    made = need(malloc(LARGE_SIZE + 1));
    due = need(malloc(LARGE_SIZE + 1));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        helpers_start(&helpers, counts[i]);
        for (unsigned round = scale_of(6, 60, 600); round > 0; round--)
            check_drawn();
        check_stored();
        check_large();
        check_full();
        check_range();
        check_padding();
        parallel_decoder_close(decoder);
        decoder = NULL;
        helpers_end(&helpers);
    }
    close_file(&drawn);
    close_file(&stored);
    close_file(&large);
    free(made);
    free(due);
    printf("%lu cases, %lu decoded, %lu wrong\n", cases, decoded, wrong);
    return wrong > 0;
}
