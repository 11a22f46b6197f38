/* SPDX-License-Identifier: MIT */
#include "file_tallies.h"
#include "tally.h"
#include "src/base/error.h"
#include "src/bins/sums.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOCKS 64          /* each guards every LOCKS-th file */
#define INTEGER_MAX 10    /* bytes of an integer of 64 bits */
#define PACKED_OWN 2048   /* bytes of packed counts for which no memory is looked for */
#define UNMARKED_MAX 1024 /* rows of a table that is searched as quickly without marks */
#define TEXT_MORE 16      /* bytes that the allocator adds to a text */

/* Counts of a block. All zeros: nothing was moved. */
struct file_tally {
    uint64_t samples;
    uint64_t bytes;          /* of input; 0 if the engine does not report them */
    struct moments *moments; /* for each channel; NULL: none were moved */
    unsigned char *packed;   /* counts that are not 0, in the order of rows; NULL: all are 0 */
    size_t len;              /* bytes */
};

struct one_file {
    struct file_tally *blocks; /* `capacity`; zeros from `count` on; NULL: none were moved */
    size_t count, capacity;
    uint64_t first;      /* bytes of content before block 0 */
    size_t first_result; /* the number of the first one, once they are numbered */
};

enum state {
    COMPLETE,
    TOO_LARGE,
    NO_MEMORY,
};

struct file_tallies {
    struct file_tallies *also; /* by the next histogram, or NULL */
    struct file_division division;
    atomic_int state;
    atomic_uint_least64_t bytes; /* as for max_bytes */
    pthread_mutex_t locks[LOCKS];
    pthread_mutex_t seen_lock;
    struct row_blocks seen; /* blocks in which some file has counts; shift 0: no file yet */
    size_t results;         /* once they are numbered */
    size_t count;
    struct one_file of[];
};

struct file_tallies *file_tallies_open(size_t files, unsigned specs, struct file_division division)
{
    struct file_tallies *first = NULL, **next = &first;
    for (unsigned spec = 0; spec < specs; spec++, next = &(*next)->also) {
        struct file_tallies *all = calloc(1, sizeof *all + files * sizeof all->of[0]);
        if (!all) {
            file_tallies_close(first);
            return NULL;
        }
        all->count = files;
        all->division = division;
        for (size_t i = 0; i < LOCKS; i++)
            pthread_mutex_init(&all->locks[i], NULL);
        pthread_mutex_init(&all->seen_lock, NULL);
        *next = all;
    }
    return first;
}

struct file_tallies *file_tallies_also(const struct file_tallies *files)
{
    return files ? files->also : NULL;
}

uint64_t file_tallies_block_size(const struct file_tallies *files)
{
    return files->division.block_size;
}

static void free_tally(struct file_tally *tally)
{
    free(tally->packed);
    free(tally->moments);
}

void file_tallies_close(struct file_tallies *files)
{
    if (!files)
        return;
    file_tallies_close(files->also);
    for (size_t i = 0; i < files->count; i++) {
        for (size_t k = 0; k < files->of[i].count; k++)
            free_tally(&files->of[i].blocks[k]);
        free(files->of[i].blocks);
    }
    for (size_t i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&files->locks[i]);
    pthread_mutex_destroy(&files->seen_lock);
    free(files);
}

/* --- what is lost --- */

/* Records that counts are lost, unless this is known. */
static void lose(struct file_tallies *files, enum state state)
{
    int complete = COMPLETE;
    atomic_compare_exchange_strong(&files->state, &complete, (int)state);
}

void file_tallies_lose(struct file_tallies *files)
{
    lose(files, NO_MEMORY);
}

int file_tallies_check(const struct file_tallies *files, struct error *error)
{
    for (; files; files = files->also) {
        const int state = atomic_load_explicit(&files->state, memory_order_relaxed);
        if (state == NO_MEMORY)
            return error_set(error, "out of memory");
        if (state == TOO_LARGE)
            return error_set(error,
                             "the counts of all blocks take more than %" PRIu64 " MiB; use larger "
                             "blocks, such as --each=%" PRIu64 ", or --skip and --length",
                             files->division.max_bytes >> 20, 4 * files->division.block_size);
    }
    return 0;
}

/* Accounts for memory of blocks. False if that is too much. */
static bool add_bytes(struct file_tallies *files, uint64_t more)
{
    if (files->division.block_size == 0 ||
        atomic_fetch_add(&files->bytes, more) + more <= files->division.max_bytes)
        return true;
    lose(files, TOO_LARGE);
    return false;
}

/* --- packed counts --- */

/* Packed counts as they are written. */
struct packing {
    unsigned char *bytes; /* `own`, or memory */
    size_t len, capacity;
    size_t next; /* the row after the last one that was packed */
    bool failed;
    unsigned char own[PACKED_OWN];
};

/* The lowest bits of an integer: a small count, or 0 if the count follows. */
#define SMALL_BITS 2
#define SMALL_MAX ((1u << SMALL_BITS) - 1)

static inline void put_integer(struct packing *packing, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        packing->bytes[packing->len++] = (unsigned char)(0x80 | (value & 0x7f));
    packing->bytes[packing->len++] = (unsigned char)value;
}

static inline uint64_t get_integer(const unsigned char **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* Takes a count from a text, and moves *row, which is one past that of the count before, to its
 * row. */
static inline uint64_t get_count(const unsigned char **at, size_t *row)
{
    const uint64_t value = get_integer(at), small = value & SMALL_MAX;
    *row += (size_t)(value >> SMALL_BITS);
    return small > 0 ? small : get_integer(at);
}

/* Makes room for a row. False if memory is short. */
static bool make_room(struct packing *packing)
{
    if (packing->capacity - packing->len >= 2 * INTEGER_MAX)
        return true;
    const bool is_own = packing->bytes == packing->own;
    unsigned char *bytes = realloc(is_own ? NULL : packing->bytes, 2 * packing->capacity);
    if (!bytes) {
        packing->failed = true;
        return false;
    }
    if (is_own)
        memcpy(bytes, packing->own, packing->len);
    packing->bytes = bytes;
    packing->capacity *= 2;
    return true;
}

static inline void pack_count(struct packing *packing, uint64_t *count, size_t row)
{
    if (make_room(packing)) {
        const uint64_t small = *count <= SMALL_MAX ? *count : 0;
        put_integer(packing, (uint64_t)(row - packing->next) << SMALL_BITS | small);
        if (small == 0)
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

/* Packs all counts of a tally into a text of just their length, and clears them. False if memory is
 * short. */
static bool pack(struct tally *tally, struct file_tally *into)
{
    struct packing packing;
    packing.bytes = packing.own;
    packing.capacity = sizeof packing.own;
    packing.len = packing.next = 0;
    packing.failed = false;
    uint64_t *counts = tally->counts;
    for (size_t row = 0, end; (row = tally_next_block(tally, row, &end)) < tally->bins; row = end) {
        for (; row + GROUP <= end; row += GROUP)
            pack_group(&packing, counts + row, row);
        for (; row < end; row++)
            if (counts[row] != 0)
                pack_count(&packing, &counts[row], row);
    }
    const bool is_own = packing.bytes == packing.own;
    unsigned char *fitting =
        packing.len > 0 ? realloc(is_own ? NULL : packing.bytes, packing.len) : NULL;
    if (fitting && is_own)
        memcpy(fitting, packing.own, packing.len);
    if (!fitting && !is_own)
        fitting = packing.bytes;
    into->packed = fitting;
    into->len = fitting ? packing.len : 0;
    return !packing.failed && (fitting || packing.len == 0);
}

/* Adds packed counts to a tally, and marks its blocks, if it has some. */
static void add_packed(const struct file_tally *from, struct tally *tally)
{
    if (!from->packed)
        return;
    const unsigned char *at = from->packed, *end = at + from->len;
    for (size_t row = 0; at < end; row++) {
        const uint64_t count = get_count(&at, &row);
        tally->counts[row] += count;
        if (tally->blocks)
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
    for (size_t i = 0; i < ROW_BLOCKS / 64; i++)
        files->seen.marked[i] |= blocks->marked[i];
    pthread_mutex_unlock(&files->seen_lock);
}

/* --- moving --- */

/* Moves all that a tally has to memory. */
static void take_tally(struct file_tallies *files, struct tally *tally, struct file_tally *into)
{
    *into = (struct file_tally){.samples = tally->samples, .bytes = tally->bytes};
    tally->samples = tally->bytes = 0;
    bool any = false, done = pack(tally, into);
    for (unsigned i = 0; tally->moments && i < tally->channels; i++)
        any |= tally->moments[i].any;
    if (any) {
        const size_t size = tally->channels * sizeof *tally->moments;
        into->moments = malloc(size);
        if (into->moments)
            memcpy(into->moments, tally->moments, size);
        done &= into->moments != NULL;
        memset(tally->moments, 0, size);
    }
    if (!done)
        file_tallies_lose(files);
}

/* Moves it back. */
static void give_back(struct file_tally *from, struct tally *tally)
{
    tally->samples += from->samples;
    tally->bytes += from->bytes;
    add_packed(from, tally);
    for (unsigned i = 0; from->moments && i < tally->channels; i++)
        moments_merge(&tally->moments[i], &from->moments[i]);
    free_tally(from);
    *from = (struct file_tally){0};
}

static bool is_empty(const struct file_tally *tally)
{
    return tally->samples == 0 && tally->bytes == 0 && !tally->packed && !tally->moments;
}

static uint64_t memory_of(const struct file_tally *tally, unsigned channels)
{
    return (tally->packed ? tally->len + TEXT_MORE : 0) +
           (tally->moments ? channels * sizeof tally->moments[0] : 0);
}

/* Returns a block of a file, which is locked; NULL: there is no memory for it. */
static struct file_tally *find_block(struct file_tallies *files, const struct file_block *block)
{
    struct one_file *file = &files->of[block->file];
    const size_t before = file->capacity, number = (size_t)block->number;
    size_t capacity = before ? before : 1;
    file->first = block->first;
    while (capacity <= number)
        capacity *= 2;
    if (capacity > before) {
        const uint64_t more = (capacity - before) * sizeof file->blocks[0];
        struct file_tally *longer = NULL;
        if (add_bytes(files, more))
            longer = realloc(file->blocks, capacity * sizeof *longer);
        if (!longer)
            return NULL;
        memset(longer + before, 0, more);
        file->blocks = longer;
        file->capacity = capacity;
    }
    file->count = number >= file->count ? number + 1 : file->count;
    return &file->blocks[number];
}

/* Exchanges what a block has for `own`, unless both have something. */
static void exchange(struct file_tallies *files, const struct file_block *block, unsigned channels,
                     struct file_tally *own)
{
    pthread_mutex_t *lock = &files->locks[block->file % LOCKS];
    pthread_mutex_lock(lock);
    struct file_tally *there = find_block(files, block);
    if (!there) {
        file_tallies_lose(files);
        free_tally(own);
        *own = (struct file_tally){0};
    } else if (is_empty(own) || is_empty(there)) {
        const struct file_tally was = *there;
        *there = *own;
        *own = was;
        add_bytes(files, memory_of(there, channels) - memory_of(own, channels));
    }
    pthread_mutex_unlock(lock);
}

/* Takes the tally of a block out, adds to it and puts it back, so that no other thread waits
 * meanwhile. Another thread may have put one there by then. */
static void move(struct file_tallies *files, const struct file_block *block, struct tally *tally)
{
    struct file_tally own = {0};
    bool done;
    do {
        exchange(files, block, tally->channels, &own);
        give_back(&own, tally);
        take_tally(files, tally, &own);
        exchange(files, block, tally->channels, &own);
        done = is_empty(&own);
        give_back(&own, tally);
    } while (!done);
}

void file_tallies_move(struct file_tallies *files, struct file_block block, struct tally *tally)
{
    struct row_blocks blocks;
    if (tally->bins > UNMARKED_MAX)
        mark_blocks(files, tally, &blocks);
    move(files, &block, tally);
    tally->blocks = NULL;
}

/* --- reading --- */

void file_tallies_end(struct file_tallies *files)
{
    const bool has_blocks = files->division.block_size > 0;
    files->results = 0;
    for (size_t i = 0; i < files->count; i++) {
        files->of[i].first_result = files->results;
        files->results += has_blocks ? files->of[i].count : 1;
    }
    if (files->also)
        file_tallies_end(files->also);
}

size_t file_tallies_count(const struct file_tallies *files)
{
    return files->results;
}

/* Returns the file of a result: the last one that begins with it or before. */
static size_t file_of(const struct file_tallies *files, size_t result)
{
    size_t low = 0, high = files->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (files->of[middle].first_result <= result)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct file_position file_tallies_position(const struct file_tallies *files, size_t result)
{
    const size_t number = file_of(files, result);
    const struct one_file *file = &files->of[number];
    return (struct file_position){number, file->first + (result - file->first_result) *
                                                            files->division.block_size};
}

void file_tallies_load(const struct file_tallies *files, size_t result, struct tally *tally)
{
    static const struct file_tally none;
    const struct one_file *file = &files->of[file_of(files, result)];
    const size_t number = result - file->first_result;
    const struct file_tally *own = number < file->count ? &file->blocks[number] : &none;
    tally_clear_blocks(tally);
    tally->samples = own->samples;
    tally->bytes = own->bytes;
    for (unsigned i = 0; tally->moments && own->moments && i < tally->channels; i++)
        tally->moments[i] = own->moments[i];
    add_packed(own, tally);
}

uint64_t file_tallies_count_of(const struct file_tallies *files, size_t row)
{
    uint64_t sum = 0;
    for (size_t file = 0; file < files->count; file++)
        for (size_t i = 0; i < files->of[file].count; i++) {
            const struct file_tally *tally = &files->of[file].blocks[i];
            const unsigned char *at = tally->packed, *end = at + tally->len;
            for (size_t next = 0; at < end && next <= row; next++) {
                const uint64_t count = get_count(&at, &next);
                sum += next == row ? count : 0;
            }
        }
    return sum;
}

uint64_t file_tallies_samples(const struct file_tallies *files)
{
    uint64_t sum = 0;
    for (size_t file = 0; file < files->count; file++)
        for (size_t i = 0; i < files->of[file].count; i++)
            sum += files->of[file].blocks[i].samples;
    return sum;
}
