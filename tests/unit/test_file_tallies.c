/* SPDX-License-Identifier: MIT */
/* Tallies of FILEs: tables of any sparseness, moved in any order by several threads, compared with
 * plain arrays that are added up. */
#include "src/count/file_tallies.h"
#include "src/count/tally.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

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
        file_tallies_move(arg, file, &tally);
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

int main(void)
{
    pthread_t threads[THREADS];
    struct file_tallies *files = file_tallies_open(FILES, 2);
    if (!files)
        return 99;
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
    check_that(file_tallies_complete(files), "complete", 0);
    file_tallies_lose(also);
    check_that(!file_tallies_complete(files), "incomplete", 0);
    file_tallies_close(files);
    file_tallies_close(NULL);
    printf("test_file_tallies: %u cases, %u wrong\n", tried, wrong);
    return wrong > 0;
}
