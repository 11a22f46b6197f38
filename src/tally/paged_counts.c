/* SPDX-License-Identifier: MIT */
#include "paged_counts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER_PAGES_MIN 16

/* Rows without a page are tried again in groups of this size. */
#define MISSED_MAX 1024

/* Prefetch distance for shared additions. The processor begins no load during an atomic
 * addition. */
#define FETCHED_AHEAD 16

/* Pages are emptied after this many shared additions for each count in them, as that costs about
 * one for each count. It gains nothing if samples are spread over all rows. */
#define SHARED_FOR_A_COUNT 4

struct paged_set {
    size_t rows, parts;  /* a part is the PAGED_ROWS rows of a page */
    uint32_t page_count; /* of each member */
    unsigned member_count;
    _Atomic uint64_t *table; /* shared, by row */
    atomic_bool used;        /* false: the table's memory was never touched */
    uint32_t *counts;        /* of all members */
    uint32_t *page_of;       /* of all members */
    struct paged_counts members[];
};

/* Gives a part a page. False if there is none left. */
static bool paged_add_page(struct paged_counts *own, size_t part)
{
    if (own->pages == own->set->page_count)
        return false;
    own->page_of[part] = 1 + (own->pages++ - (uint32_t)part) * PAGED_ROWS;
    return true;
}

/* Takes the page of the last row, which is always there. */
static void paged_begin(struct paged_counts *own)
{
    own->pages = own->counted = 0;
    own->shared = 0;
    paged_add_page(own, own->set->parts - 1);
}

struct paged_set *paged_open(size_t rows, unsigned members, size_t size)
{
    struct paged_set *set = cache_lines_open(sizeof *set + members * sizeof set->members[0]);
    if (!set)
        return NULL;
    size_t pages = size / (members * PAGED_ROWS * sizeof(uint32_t));
    pages = pages > MEMBER_PAGES_MIN ? pages : MEMBER_PAGES_MIN;
    set->page_count = (uint32_t)pages;
    set->rows = rows;
    set->parts = (rows + PAGED_ROWS - 1) / PAGED_ROWS;
    set->member_count = members;
    const size_t counts = pages * PAGED_ROWS + 1;
    set->table = calloc(rows, sizeof set->table[0]);
    set->counts = calloc(members * counts, sizeof set->counts[0]);
    set->page_of = calloc(members * set->parts, sizeof set->page_of[0]);
    if (!set->table || !set->counts || !set->page_of) {
        paged_close(set);
        return NULL;
    }
    for (unsigned i = 0; i < members; i++) {
        set->members[i] = (struct paged_counts){.set = set,
                                                .page_of = set->page_of + i * set->parts,
                                                .counts = set->counts + i * counts};
        paged_begin(&set->members[i]);
    }
    return set;
}

void paged_close(struct paged_set *set)
{
    if (!set)
        return;
    free(set->table);
    free(set->counts);
    free(set->page_of);
    free(set);
}

struct paged_counts *paged_member(struct paged_set *set, unsigned member)
{
    return &set->members[member];
}

/* Returns the counts of a part that has a page. */
static uint32_t *paged_counts_at(const struct paged_counts *own, size_t part)
{
    return own->counts + (uint32_t)(part * PAGED_ROWS + own->page_of[part]);
}

static void paged_add_shared(struct paged_set *set, size_t row, uint64_t count)
{
    atomic_fetch_add_explicit(&set->table[row], count, memory_order_relaxed);
}

static void paged_touch_table(struct paged_set *set)
{
    if (!atomic_load_explicit(&set->used, memory_order_relaxed))
        atomic_store_explicit(&set->used, true, memory_order_relaxed);
}

/* Adds all pages to the shared table. */
static void paged_empty(struct paged_counts *own)
{
    struct paged_set *set = own->set;
    paged_touch_table(set);
    own->last_once = paged_count_of_last(own);
    for (size_t part = 0; part < set->parts; part++) {
        if (own->page_of[part] == 0)
            continue;
        uint32_t *counts = paged_counts_at(own, part);
        for (size_t i = 0; i < PAGED_ROWS; i++)
            if (counts[i] != 0)
                paged_add_shared(set, part * PAGED_ROWS + i, counts[i]);
        memset(counts, 0, PAGED_ROWS * sizeof counts[0]);
        own->page_of[part] = 0;
    }
    paged_begin(own);
}

static void paged_count_shared(struct paged_counts *own, const uint32_t *rows, size_t n)
{
    struct paged_set *set = own->set;
    paged_touch_table(set);
    for (size_t i = 0; i < n; i++) {
        if (i + FETCHED_AHEAD < n)
            __builtin_prefetch(&set->table[rows[i + FETCHED_AHEAD]], 1);
        paged_add_shared(set, rows[i], 1);
    }
    own->shared += n;
    if (own->shared / SHARED_FOR_A_COUNT >= set->page_count * (size_t)PAGED_ROWS)
        paged_empty(own);
}

/* Counts rows whose pages were missing. Overwrites `rows`. */
static void paged_count_missed(struct paged_counts *own, uint32_t *rows, size_t n)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t row = rows[i];
        const size_t part = row / PAGED_ROWS;
        if (own->page_of[part] != 0 || paged_add_page(own, part))
            paged_counts_at(own, part)[row % PAGED_ROWS]++;
        else
            rows[left++] = row;
    }
    if (left > 0)
        paged_count_shared(own, rows, left);
}

/* Adds one. The address is computed first: if it is in one register, the processor forwards the
 * count from the last store to it much sooner when a row comes again at once. */
static inline void count_at(uint32_t *count)
{
    __asm__("" : "+r"(count));
    ++*count;
}

void paged_count(struct paged_counts *own, const uint32_t *rows, size_t n)
{
    uint32_t missed[MISSED_MAX];
    for (size_t now; n > 0; rows += now, n -= now) {
        now = n < MISSED_MAX ? n : MISSED_MAX;
        if (own->counted > UINT32_MAX - now)
            paged_empty(own);
        own->counted += (uint32_t)now;
        const uint32_t *page_of = own->page_of;
        uint32_t *counts = own->counts;
        size_t missing = 0;
        for (size_t i = 0; i < now; i++) {
            const uint32_t row = rows[i], position = page_of[row / PAGED_ROWS];
            if (position != 0)
                count_at(counts + (uint32_t)(row + position));
            else
                missed[missing++] = row;
        }
        if (missing > 0)
            paged_count_missed(own, missed, missing);
    }
}

/* At most as many at a time as fit in a count. */
void paged_count_times(struct paged_counts *own, uint32_t row, uint64_t times)
{
    const size_t part = row / PAGED_ROWS;
    while (times > 0) {
        if (own->counted == UINT32_MAX)
            paged_empty(own);
        const uint32_t space = UINT32_MAX - own->counted;
        const uint32_t now = times < space ? (uint32_t)times : space;
        if (own->page_of[part] != 0 || paged_add_page(own, part)) {
            paged_counts_at(own, part)[row % PAGED_ROWS] += now;
            own->counted += now;
        } else {
            paged_touch_table(own->set);
            paged_add_shared(own->set, row, now);
        }
        times -= now;
    }
}

uint64_t paged_count_of_last(const struct paged_counts *own)
{
    const size_t last = own->set->rows - 1;
    return own->last_once + paged_counts_at(own, last / PAGED_ROWS)[last % PAGED_ROWS];
}

void paged_add(const struct paged_set *set, uint64_t *counts)
{
    if (atomic_load(&set->used))
        for (size_t row = 0; row < set->rows; row++) {
            const uint64_t shared = atomic_load_explicit(&set->table[row], memory_order_relaxed);
            if (shared != 0)
                counts[row] += shared;
        }
    for (unsigned member = 0; member < set->member_count; member++) {
        const struct paged_counts *own = &set->members[member];
        for (size_t part = 0; part < set->parts; part++) {
            if (own->page_of[part] == 0)
                continue;
            const uint32_t *page = paged_counts_at(own, part);
            for (size_t i = 0; i < PAGED_ROWS && part * PAGED_ROWS + i < set->rows; i++)
                if (page[i] != 0)
                    counts[part * PAGED_ROWS + i] += page[i];
        }
    }
}
