/* SPDX-License-Identifier: MIT */
/* Tallies of FILEs and of their blocks: tables of any sparseness, moved in any order by several
 * threads, compared with plain arrays that are added up. */
#include "src/tally/file_tallies.h"
#include "src/tally/tally.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "src/base/error.h"
#include "src/bins/sums.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES 150 /* more than there are locks */
#define BINS 5003
#define THREADS 4
#define MOVES 400 /* of each thread */

static uint64_t expected[FILES][BINS], expected_samples[FILES], expected_bytes[FILES];
static struct moments expected_moments[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards these, and random numbers */
static unsigned tried, wrong;

static void check_that(bool holds, const char *what, size_t file)
{
    tried++;
    if (!holds && wrong++ < 20)
        printf("%s: FILE %zu\n", what, file);
}

static void add_number(struct moments *moments, double number)
{
    moments_widen(moments, number, number);
    exact_sum_add(&moments->sum, number);
}

/* A table like those of engines: empty, nearly empty or full, with counts of every size. Returns
 * the FILE that it is of. The lock is held. */
static size_t make_table(struct tally *tally)
{
    static const unsigned fillings[] = {0, 1, 3, 50, BINS};
    size_t file = random_below(FILES);
    unsigned filling = fillings[random_below(5)];
    for (unsigned i = 0; i < filling; i++) {
        /* The first and the last row, too; at most 2^60, so that sums have 64 bits. */
        size_t row = filling == BINS ? i : i == 0 ? 0 : i == 1 ? BINS - 1 : random_below(BINS);
        uint64_t count = random_word() >> 12 >> random_below(52);
        tally->counts[row] += count;
        tally->samples += count;
        expected[file][row] += count;
        expected_samples[file] += count;
        double number = (double)count * random_fraction();
        add_number(tally->moments, number);
        add_number(&expected_moments[file], number);
    }
    if (random_below(4) == 0) { /* a sample in no row, as of letters */
        tally->samples++;
        expected_samples[file]++;
    }
    return file;
}

static bool is_empty(const struct tally *tally)
{
    bool empty = tally->samples == 0 && !tally->blocks && !tally->moments->any &&
                 moments_sum(tally->moments) == 0;
    for (size_t row = 0; row < BINS; row++)
        empty &= tally->counts[row] == 0;
    return empty;
}

static void *move_tables(void *arg)
{
    static __thread uint64_t counts[BINS];
    static __thread struct moments moments;
    struct tally tally = {
        .bins = BINS, .newlines = 9, .counts = counts, .moments = &moments, .channels = 1};
    for (unsigned i = 0; i < MOVES; i++) {
        pthread_mutex_lock(&lock);
        size_t file = make_table(&tally);
        tally.bytes = 3 * tally.samples + 1;
        expected_bytes[file] += tally.bytes;
        pthread_mutex_unlock(&lock);
        file_tallies_move(arg, (struct file_block){.file = file}, &tally);
        pthread_mutex_lock(&lock);
        check_that(is_empty(&tally), "not left empty", file);
        check_that(tally.bytes == 0 && tally.newlines == 9, "bytes or newlines", file);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* What tally_next_counted says of a tally that was loaded. */
static bool is_found(const struct tally *tally, const uint64_t counts[BINS])
{
    bool found = true;
    size_t next = BINS;
    for (size_t row = BINS; row-- > 0;) {
        next = counts[row] > 0 ? row : next;
        found &= tally_next_counted(tally, row) == next;
    }
    return found;
}

static bool are_same(const struct moments *a, const struct moments *b)
{
    return a->any == b->any && a->min == b->min && a->max == b->max &&
           moments_sum(a) == moments_sum(b);
}

static void compare(const struct file_tallies *files)
{
    static uint64_t counts[BINS];
    struct moments moments = {0};
    struct row_blocks blocks;
    struct tally tally = {
        .bins = BINS, .counts = counts, .moments = &moments, .channels = 1, .blocks = &blocks};
    row_blocks_clear(&blocks, BINS);
    for (unsigned i = 0; i < 2 * FILES; i++) {
        size_t file = i < FILES ? i : 2 * FILES - 1 - i;
        file_tallies_load(files, file, &tally);
        check_that(memcmp(counts, expected[file], sizeof counts) == 0, "counts", file);
        check_that(tally.samples == expected_samples[file], "samples", file);
        check_that(tally.bytes == expected_bytes[file], "bytes", file);
        check_that(are_same(&moments, &expected_moments[file]), "moments", file);
        check_that(is_found(&tally, expected[file]), "rows that are counted", file);
    }
    memset(counts, 0, sizeof counts);
}

/* --- blocks --- */

#define BLOCK_FILES 3
#define BLOCKS_MAX 700
#define BLOCK_SIZE 10
#define BLOCK_MOVES 3000 /* of each thread */

/* Counts of blocks in two rows: a block gets its number modulo 5, and one more, many times. */
static uint64_t block_counts[BLOCK_FILES][BLOCKS_MAX][2];

static size_t blocks_of(size_t file)
{
    return file == 1 ? 0 : BLOCKS_MAX - file;
}

static uint64_t first_of(size_t file)
{
    return 44 * file;
}

/* Blocks of two files, in any order; those of the second one are all empty. */
static void *move_blocks(void *arg)
{
    uint64_t counts[2] = {0};
    struct tally tally = {.bins = 2, .counts = counts, .channels = 1};
    for (unsigned i = 0; i < BLOCK_MOVES; i++) {
        pthread_mutex_lock(&lock);
        const size_t file = random_below(2) * 2, number = random_below((unsigned)blocks_of(file));
        counts[0] = random_below(3);
        counts[1] = random_below(2) ? UINT64_C(1) << random_below(40) : 0;
        for (size_t row = 0; row < 2; row++) {
            tally.samples += counts[row];
            block_counts[file][number][row] += counts[row];
        }
        pthread_mutex_unlock(&lock);
        file_tallies_move(arg, (struct file_block){file, number, first_of(file)}, &tally);
    }
    return NULL;
}

static void compare_blocks(const struct file_tallies *files)
{
    uint64_t counts[2] = {0};
    struct row_blocks blocks;
    struct tally tally = {.bins = 2, .counts = counts, .channels = 1, .blocks = &blocks};
    row_blocks_clear(&blocks, 2);
    size_t result = 0;
    for (size_t file = 0; file < BLOCK_FILES; file++)
        for (size_t number = 0; number < blocks_of(file); number++, result++) {
            const struct file_position position = file_tallies_position(files, result);
            const uint64_t *const own = block_counts[file][number];
            file_tallies_load(files, result, &tally);
            check_that(position.file == file, "the file of a block", result);
            check_that(position.offset == first_of(file) + BLOCK_SIZE * number, "its offset",
                       result);
            check_that(counts[0] == own[0] && counts[1] == own[1], "its counts", result);
            check_that(tally.samples == own[0] + own[1], "its samples", result);
        }
    check_that(file_tallies_count(files) == result, "the number of blocks", result);
}

static void check_blocks(void)
{
    pthread_t threads[THREADS];
    const struct file_division division = {BLOCK_SIZE, 1 << 20};
    struct file_tallies *files = file_tallies_open(BLOCK_FILES, 1, division);
    struct error error;
    check_that(files && file_tallies_block_size(files) == BLOCK_SIZE, "the size of a block", 0);
    file_tallies_end(files);
    check_that(file_tallies_count(files) == 0, "no blocks", 0);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, move_blocks, files) != 0)
            exit(99);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t file = 0; file < BLOCK_FILES; file += 2) { /* the last block, though it is empty */
        struct tally none = {.bins = 2, .counts = (uint64_t[2]){0}, .channels = 1};
        file_tallies_move(files, (struct file_block){file, blocks_of(file) - 1, first_of(file)},
                          &none);
    }
    file_tallies_end(files);
    check_that(file_tallies_check(files, &error) == 0, "blocks are complete", 0);
    compare_blocks(files);
    file_tallies_close(files);
}

/* A limit that is exceeded by many blocks, or by one with many counts, but not by moving the same
 * ones again and again. */
static void check_too_many(void)
{
    static uint64_t counts[BINS];
    struct tally tally = {.bins = BINS, .counts = counts, .channels = 1};
    for (unsigned way = 0; way < 3; way++) {
        const struct file_division division = {1, way == 1 ? 1 << 12 : 1 << 16};
        struct file_tallies *files = file_tallies_open(1, 1, division);
        struct error error;
        for (size_t i = 0; i < 5000; i++) {
            for (size_t row = 0; row < BINS && way == 1; row++)
                counts[row] = 1;
            counts[0] = tally.samples = 1;
            file_tallies_move(files, (struct file_block){.number = way == 0 ? i : 0}, &tally);
        }
        file_tallies_end(files);
        check_that((file_tallies_check(files, &error) != 0) == (way < 2), "too many", way);
        check_that(way == 2 || strstr(error.text, "--each=4"), "a greater SIZE", way);
        file_tallies_close(files);
    }
}

int main(void)
{
    pthread_t threads[THREADS];
    struct file_tallies *files = file_tallies_open(FILES, 2, (struct file_division){0});
    if (!files)
        return 99;
    file_tallies_end(files);
    check_that(file_tallies_count(files) == FILES, "count", 0);
    compare(files);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, move_tables, files) != 0)
            return 99;
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    compare(files);
    /* Each takes as long as to unpack all FILEs. The last row is one of them. */
    const size_t step = scale_is_small_or_slow() ? 41 : 1;
    for (size_t row = 0; row < BINS; row += step) {
        uint64_t sum = 0;
        for (size_t file = 0; file < FILES; file++)
            sum += expected[file][row];
        check_that(file_tallies_count_of(files, row) == sum, "the count of all FILEs", row);
    }
    struct file_tallies *also = file_tallies_also(files);
    check_that(also && !file_tallies_also(also) && !file_tallies_also(NULL), "histograms", 0);
    check_that(file_tallies_count_of(also, 0) == 0, "another histogram", 0);
    struct error error;
    check_that(file_tallies_check(files, &error) == 0 && file_tallies_check(NULL, &error) == 0,
               "complete", 0);
    file_tallies_lose(also);
    check_that(file_tallies_check(files, &error) != 0, "incomplete", 0);
    file_tallies_close(files);
    file_tallies_close(NULL);
    check_blocks();
    check_too_many();
    printf("test_file_tallies: %u cases, %u wrong\n", tried, wrong);
    return wrong > 0;
}
