/* SPDX-License-Identifier: MIT */
/* Counts in pages: several threads at once, few rows and many, close together, drifting and all
 * over, with pages for all of them and for hardly any, compared with plain arrays. */
#include "src/tally/paged_counts.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3
#define SAMPLES_MAX 400000 /* of a thread */
#define PIECE 5000         /* samples that are counted at once, at most */

enum kind { ONE_ROW, CLOSE, DRIFTING, ANYWHERE, OFTEN_LAST, KINDS };

struct subject {
    size_t rows, size; /* as paged_open */
    enum kind kind;
    unsigned samples; /* of each thread */
};

struct counting {
    struct paged_counts *own;
    const struct subject *subject;
    uint32_t *samples;
    uint64_t last; /* how many of the samples are the last row */
    bool wrong;
};

static unsigned tried, wrong;

static void check_that(bool holds, const char *what, const struct subject *subject)
{
    tried++;
    if (!holds && wrong++ < 20)
        printf("FAIL: %s: %zu rows in %zu bytes, kind %d\n", what, subject->rows, subject->size,
               (int)subject->kind);
}

static uint32_t draw_row(const struct subject *subject, unsigned i)
{
    const unsigned rows = (unsigned)subject->rows, near = rows < 3000 ? rows : 3000;
    const unsigned begin = (unsigned)((uint64_t)(rows - near) * i / subject->samples);
    switch (subject->kind) {
    case ONE_ROW:
        return rows / 2;
    case CLOSE:
        return (rows - near) / 2 + random_below(near);
    case DRIFTING:
        return begin + random_below(near);
    case OFTEN_LAST:
        return random_below(3) ? random_below(rows) : rows - 1;
    default:
        return random_below(rows);
    }
}

/* Counts the samples in pieces of different lengths. */
static void *count_samples_of_thread(void *arg)
{
    struct counting *counting = arg;
    const uint32_t *samples = counting->samples;
    const unsigned total = counting->subject->samples;
    uint64_t last = paged_count_of_last(counting->own);
    for (unsigned done = 0, now; done < total; done += now) {
        now = 1 + (done * 2654435761u >> 7) % PIECE;
        now = now < total - done ? now : total - done;
        for (unsigned i = 0; i < now; i++)
            last += samples[done + i] == counting->subject->rows - 1;
        paged_count(counting->own, samples + done, now);
        counting->wrong |= paged_count_of_last(counting->own) != last;
    }
    return NULL;
}

static void check_counts(const struct subject *subject, const struct paged_set *set,
                         const uint64_t *expected, uint64_t *counts)
{
    bool same = true;
    for (size_t row = 0; row < subject->rows; row++)
        counts[row] = row;
    paged_add(set, counts);
    for (size_t row = 0; row < subject->rows; row++)
        same &= counts[row] == row + expected[row];
    check_that(same, "counts", subject);
}

/* Has all threads count at once, and adds to what is expected. */
static void count_side_by_side(const struct subject *subject, struct paged_set *set,
                               uint64_t *expected)
{
    static uint32_t samples[THREADS][SAMPLES_MAX];
    struct counting countings[THREADS];
    pthread_t threads[THREADS];
    for (unsigned t = 0; t < THREADS; t++) {
        for (unsigned i = 0; i < subject->samples; i++)
            expected[samples[t][i] = draw_row(subject, i)]++;
        countings[t] = (struct counting){
            .own = paged_member(set, t), .subject = subject, .samples = samples[t]};
    }
    for (unsigned t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, count_samples_of_thread, &countings[t]) != 0)
            abort();
    for (unsigned t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        check_that(!countings[t].wrong, "count of the last row", subject);
    }
}

/* Has a member count as many samples as a count of 32 bits can hold, nearly all of them of the
 * middle row, if that has a page. */
static void fill_up(const struct subject *subject, struct paged_counts *own, uint64_t *expected)
{
    const uint32_t row = (uint32_t)subject->rows / 2, position = own->page_of[row / PAGED_ROWS];
    if (position == 0)
        return;
    own->counts[row + position] += UINT32_MAX - own->counted;
    expected[row] += UINT32_MAX - own->counted;
    own->counted = UINT32_MAX;
}

static void check_subject(const struct subject *subject)
{
    uint64_t *expected = calloc(subject->rows, sizeof *expected);
    uint64_t *counts = calloc(subject->rows, sizeof *counts);
    struct paged_set *set = paged_open(subject->rows, THREADS, subject->size);
    if (!expected || !counts || !set)
        abort();
    check_counts(subject, set, expected, counts);
    count_side_by_side(subject, set, expected);
    check_counts(subject, set, expected, counts);
    fill_up(subject, paged_member(set, 0), expected);
    count_side_by_side(subject, set, expected);
    check_counts(subject, set, expected, counts);
    paged_close(set);
    free(expected);
    free(counts);
}

int main(void)
{
    static const size_t rows[] = {1, 2, 511, 512, 513, 5000, 138606, 1386006};
    const unsigned samples = scale_is_slow() ? 50000 : scale_is_small() ? 100000 : SAMPLES_MAX;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (enum kind kind = 0; kind < KINDS; kind++) {
            check_subject(&(struct subject){rows[i], 0, kind, samples});
            check_subject(&(struct subject){rows[i], 100 << 10, kind, samples});
            check_subject(&(struct subject){rows[i], 16 << 20, kind, samples});
        }
    paged_close(NULL);
    printf("%u cases, %u wrong\n", tried, wrong);
    return wrong != 0;
}
