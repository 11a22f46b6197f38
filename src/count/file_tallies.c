/* SPDX-License-Identifier: MIT */
#include "file_tallies.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOCKS 64        /* each guards every LOCKS-th file, so that threads rarely meet */
#define INTEGER_MAX 10  /* bytes of an integer of 64 bits */
#define PACKED_FIRST 64 /* bytes of memory for packed counts, at first */

struct file_tally {
    uint64_t samples;
    uint64_t bytes;          /* of input; 0 if the engine does not report them */
    struct moments *moments; /* for each channel; NULL: none were moved */
    unsigned char *packed;   /* counts that are not 0, in the order of rows; NULL: all are 0 */
    size_t len;              /* bytes */
};

struct file_tallies {
    struct file_tallies *also; /* by the next histogram, or NULL */
    atomic_bool lost;
    pthread_mutex_t locks[LOCKS];
    pthread_mutex_t seen_lock;
    struct row_blocks seen; /* blocks in which some file has counts; shift 0: no file yet */
    size_t count;
    struct file_tally of[];
};

static struct file_tallies *open_one(size_t files)
{
    struct file_tallies *all = calloc(1, sizeof *all + files * sizeof all->of[0]);
    if (!all)
        return NULL;
    all->count = files;
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_init(&all->locks[i], NULL);
    pthread_mutex_init(&all->seen_lock, NULL);
    return all;
}

struct file_tallies *file_tallies_open(size_t files, unsigned histograms)
{
    struct file_tallies *first = open_one(files), *last = first;
    for (unsigned i = 1; last && i < histograms; i++)
        last = last->also = open_one(files);
    if (!last) {
        file_tallies_close(first);
        return NULL;
    }
    return first;
}

struct file_tallies *file_tallies_also(const struct file_tallies *files)
{
    return files ? files->also : NULL;
}

void file_tallies_close(struct file_tallies *files)
{
    if (!files)
        return;
    file_tallies_close(files->also);
    for (size_t i = 0; i < files->count; i++) {
        free(files->of[i].packed);
        free(files->of[i].moments);
    }
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&files->locks[i]);
    pthread_mutex_destroy(&files->seen_lock);
    free(files);
}

/* --- packed counts --- */

/* Packed counts as they are written. */
struct packing {
    unsigned char *bytes; /* NULL until there are some */
    size_t len, room;
    size_t next; /* the row after the last one that was packed */
    bool failed;
};

static void put_integer(struct packing *packing, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        packing->bytes[packing->len++] = (unsigned char)(0x80 | (value & 0x7f));
    packing->bytes[packing->len++] = (unsigned char)value;
}

static uint64_t get_integer(const unsigned char **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* Makes room for a row. False if memory is short. */
static bool make_room(struct packing *packing)
{
    if (packing->room - packing->len >= 2 * INTEGER_MAX)
        return true;
    size_t room = packing->room ? 2 * packing->room : PACKED_FIRST;
    unsigned char *bytes = realloc(packing->bytes, room);
    if (!bytes) {
        packing->failed = true;
        return false;
    }
    packing->bytes = bytes;
    packing->room = room;
    return true;
}

/* Packs a count, and clears it. */
static void pack_count(struct packing *packing, uint64_t *count, size_t row)
{
    if (make_room(packing)) {
        put_integer(packing, row - packing->next);
        put_integer(packing, *count);
    }
    packing->next = row + 1;
    *count = 0;
}

#define GROUP 8 /* counts that are tested together */

/* Packs the counts of a group. Which ones are not 0 is hard to predict: a loop over a mask is
 * mispredicted less often than a branch for each count. */
static void pack_group(struct packing *packing, uint64_t counts[GROUP], size_t row)
{
    unsigned counted = 0;
    for (unsigned i = 0; i < GROUP; i++)
        counted |= (unsigned)(counts[i] != 0) << i;
    for (; counted != 0; counted &= counted - 1) {
        unsigned i = (unsigned)__builtin_ctz(counted);
        pack_count(packing, &counts[i], row + i);
    }
}

/* Packs all counts of a tally, and clears them. */
static struct packing pack_counts(struct tally *tally)
{
    struct packing packing = {.failed = false};
    uint64_t *counts = tally->counts;
    for (size_t row = 0, end; (row = tally_next_block(tally, row, &end)) < tally->bins; row = end) {
        for (; row + GROUP <= end; row += GROUP)
            pack_group(&packing, counts + row, row);
        for (; row < end; row++)
            if (counts[row] != 0)
                pack_count(&packing, &counts[row], row);
    }
    unsigned char *fitting = packing.len ? realloc(packing.bytes, packing.len) : NULL;
    packing.bytes = fitting ? fitting : packing.bytes;
    return packing;
}

/* Adds packed counts to a tally, and marks its blocks. */
static void add_packed(const struct file_tally *file, struct tally *tally)
{
    if (!file->packed)
        return;
    const unsigned char *at = file->packed, *end = at + file->len;
    for (size_t row = 0; at < end; row++) {
        row += (size_t)get_integer(&at);
        tally->counts[row] += get_integer(&at);
        row_blocks_mark(tally->blocks, row);
    }
}

/* --- which rows have counts --- */

/* Marks the blocks in which a tally has counts, and perhaps others. Files that are counted together
 * mostly have counts in the same rows. If all samples are in the blocks where other files have
 * counts, all other rows are 0, as there are no more counts than samples. */
static void mark_blocks(struct file_tallies *files, struct tally *tally, struct row_blocks *blocks)
{
    pthread_mutex_lock(&files->seen_lock);
    if (files->seen.shift == 0)
        row_blocks_clear(&files->seen, tally->bins);
    *blocks = files->seen;
    pthread_mutex_unlock(&files->seen_lock);
    tally->blocks = blocks;
    if (tally_counted(tally) == tally->samples)
        return;
    tally->blocks = NULL;
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < tally->bins;
         row = row_blocks_end(blocks, row))
        row_blocks_mark(blocks, row);
    tally->blocks = blocks;
    pthread_mutex_lock(&files->seen_lock);
    row_blocks_add(&files->seen, blocks);
    pthread_mutex_unlock(&files->seen_lock);
}

/* --- tallies --- */

static bool any_moments(const struct tally *tally)
{
    bool any = false;
    for (unsigned i = 0; tally->moments && i < tally->channels; i++)
        any |= tally->moments[i].any;
    return any;
}

/* Moves moments, and clears them. False if memory is short. */
static bool move_moments(struct file_tally *own, struct tally *tally)
{
    if (!any_moments(tally))
        return true;
    if (!own->moments)
        own->moments = calloc(tally->channels, sizeof *own->moments);
    for (unsigned i = 0; own->moments && i < tally->channels; i++)
        moments_merge(&own->moments[i], &tally->moments[i]);
    memset(tally->moments, 0, tally->channels * sizeof *tally->moments);
    return own->moments != NULL;
}

void file_tallies_move(struct file_tallies *files, size_t file, struct tally *tally)
{
    struct file_tally *own = &files->of[file];
    pthread_mutex_t *lock = &files->locks[file % LOCKS];
    struct row_blocks blocks;
    mark_blocks(files, tally, &blocks);
    pthread_mutex_lock(lock);
    own->samples += tally->samples;
    own->bytes += tally->bytes;
    add_packed(own, tally);
    free(own->packed);
    struct packing packing = pack_counts(tally);
    own->packed = packing.bytes;
    own->len = packing.len;
    bool has_moments = move_moments(own, tally);
    pthread_mutex_unlock(lock);
    tally->blocks = NULL;
    tally->samples = tally->bytes = 0;
    if (packing.failed || !has_moments)
        file_tallies_lose(files);
}

void file_tallies_load(const struct file_tallies *files, size_t file, struct tally *tally)
{
    const struct file_tally *own = &files->of[file];
    for (size_t row = 0, end; (row = tally_next_block(tally, row, &end)) < tally->bins; row = end)
        memset(tally->counts + row, 0, (end - row) * sizeof tally->counts[0]);
    row_blocks_clear(tally->blocks, tally->bins);
    tally->samples = own->samples;
    tally->bytes = own->bytes;
    for (unsigned i = 0; tally->moments && i < tally->channels; i++)
        tally->moments[i] = own->moments ? own->moments[i] : (struct moments){0};
    add_packed(own, tally);
}

void file_tallies_lose(struct file_tallies *files)
{
    atomic_store(&files->lost, true);
}

bool file_tallies_complete(const struct file_tallies *files)
{
    for (; files; files = files->also)
        if (atomic_load(&files->lost))
            return false;
    return true;
}

uint64_t file_tallies_count_of(const struct file_tallies *files, size_t row)
{
    uint64_t sum = 0;
    for (size_t file = 0; file < files->count; file++) {
        const unsigned char *at = files->of[file].packed, *end = at + files->of[file].len;
        for (size_t next = 0; at < end && next <= row; next++) {
            next += (size_t)get_integer(&at);
            const uint64_t count = get_integer(&at);
            sum += next == row ? count : 0;
        }
    }
    return sum;
}

uint64_t file_tallies_all_in(const struct file_tallies *files, size_t row)
{
    uint64_t sum = 0;
    for (size_t file = 0; file < files->count; file++) {
        const unsigned char *at = files->of[file].packed;
        if (files->of[file].samples == 0)
            continue;
        if (!at || get_integer(&at) != row || get_integer(&at) != files->of[file].samples)
            return 0;
        sum += files->of[file].samples;
    }
    return sum;
}

size_t file_tallies_count(const struct file_tallies *files)
{
    return files->count;
}
