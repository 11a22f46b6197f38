/* SPDX-License-Identifier: MIT */
#include "key_tallies.h"
#include "src/base/cache_line.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* Keys are in tables by the highest bits of their hash, each with a lock, so that threads rarely
 * meet, and memory grows in small steps. */
#define SHARE_BITS 6
#define SHARES ((size_t)1 << SHARE_BITS)

struct share {
    _Alignas(CACHE_LINE) pthread_mutex_t lock;
    struct key_table table;
    uint64_t wide;       /* keys whose sums have moments of their own */
    size_t *cells_begin; /* of each key, once they are grouped, and of the one after the last */
};

/* A key as it is sorted. */
struct place {
    uint64_t rank; /* what is compared first */
    uint32_t share, key;
};

struct key_tallies {
    const struct histogram *histogram;
    size_t max_keys;
    uint64_t max_bytes;
    struct key_seed seed;
    atomic_size_t count;         /* keys */
    atomic_uint_least64_t bytes; /* as for max_bytes */
    atomic_int state;
    pthread_rwlock_t moving; /* held for writing while keys are in order */
    bool is_sorted;
    struct place *order;
    size_t ordered;
    struct share shares[SHARES];
};

/* --- opening --- */

/* The kernel has put 16 random bytes beside the program's arguments. */
static struct key_seed make_seed(void)
{
    struct key_seed seed = {{0x243f6a8885a308d3, 0x13198a2e03707344}};
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random)
        memcpy(&seed, random, sizeof seed);
    return seed;
}

struct key_tallies *key_tallies_open(const struct histogram *histogram, size_t max_keys,
                                     uint64_t max_bytes)
{
    struct key_tallies *keys = cache_lines_open(sizeof *keys);
    if (!keys)
        return NULL;
    keys->histogram = histogram;
    keys->max_keys = max_keys;
    keys->max_bytes = max_bytes;
    keys->seed = make_seed();
    pthread_rwlock_init(&keys->moving, NULL);
    int rc = 0;
    for (size_t i = 0; i < SHARES; i++) {
        pthread_mutex_init(&keys->shares[i].lock, NULL);
        rc |= key_tallies_open_table(keys, &keys->shares[i].table);
    }
    if (rc == 0)
        return keys;
    key_tallies_close(keys);
    return NULL;
}

static void forget_order(struct key_tallies *keys)
{
    for (size_t i = 0; i < SHARES; i++) {
        free(keys->shares[i].cells_begin);
        keys->shares[i].cells_begin = NULL;
    }
    free(keys->order);
    keys->order = NULL;
}

void key_tallies_close(struct key_tallies *keys)
{
    if (!keys)
        return;
    key_tallies_thaw(keys);
    for (size_t i = 0; i < SHARES; i++) {
        key_table_close(&keys->shares[i].table);
        pthread_mutex_destroy(&keys->shares[i].lock);
    }
    pthread_rwlock_destroy(&keys->moving);
    free(keys);
}

enum key_tallies_state key_tallies_state(const struct key_tallies *keys)
{
    return (enum key_tallies_state)atomic_load_explicit(&keys->state, memory_order_relaxed);
}

int key_tallies_check(const struct key_tallies *keys, struct reason *why)
{
    if (!keys || key_tallies_state(keys) == KEYS_COMPLETE)
        return 0;
    if (key_tallies_state(keys) == KEYS_NO_MEMORY)
        return reason_set(why, "out of memory");
    if (key_tallies_state(keys) == KEYS_TOO_LARGE)
        return reason_set(why,
                          "keys and their bins take more than %" PRIu64 " MiB; use a shorter part "
                          "of the field, such as --by=1:1-8, fewer bins, or --max-keys=%" PRIu64,
                          keys->max_bytes >> 20, keys->max_bytes >> 9);
    return reason_set(why,
                      "more than %zu keys; use a shorter part of the field, such as --by=1:1-8, or "
                      "a greater --max-keys",
                      keys->max_keys);
}

void key_tallies_lose(struct key_tallies *keys)
{
    atomic_store(&keys->state, KEYS_NO_MEMORY);
}

int key_tallies_open_table(const struct key_tallies *keys, struct key_table *table)
{
    return key_table_open(table, &keys->seed, keys->histogram->has_moments);
}

/* --- moving --- */

static size_t share_of(uint64_t hash)
{
    return (size_t)(hash >> (64 - SHARE_BITS));
}

/* Records that keys are lost, unless this is known. */
static void exceed(struct key_tallies *keys, enum key_tallies_state state)
{
    int complete = KEYS_COMPLETE;
    atomic_compare_exchange_strong(&keys->state, &complete, (int)state);
}

/* Returns the bytes of a share, which is locked, as for max_bytes. */
static uint64_t bytes_of(const struct share *share)
{
    const struct key_table *table = &share->table;
    return (uint64_t)table->name_bytes +
           (uint64_t)table->cells.room * sizeof table->cells.cells[0] +
           share->wide * sizeof(struct moments);
}

/* Unlocks a share that had so many bytes before. */
static void unlock(struct key_tallies *keys, struct share *share, uint64_t before)
{
    const uint64_t more = bytes_of(share) - before;
    pthread_mutex_unlock(&share->lock);
    if (atomic_fetch_add(&keys->bytes, more) + more > keys->max_bytes)
        exceed(keys, KEYS_TOO_LARGE);
}

/* Returns the number of a key in its share, which is locked; KEY_FAILED if it may not be there. */
static uint32_t find_in(struct key_tallies *keys, struct share *share, uint64_t hash,
                        const struct key_name *name)
{
    struct key_table *table = &share->table;
    if (!name->bytes)
        return KEY_MISSING;
    const size_t before = table->count;
    const uint32_t key = key_table_find(table, hash, name->bytes, name->len);
    if (key == KEY_FAILED)
        key_tallies_lose(keys);
    if (table->count > before && atomic_fetch_add(&keys->count, 1) >= keys->max_keys)
        exceed(keys, KEYS_TOO_MANY);
    return key;
}

/* Moves a key's samples and sums. Returns its number in the share, which is locked. */
static uint32_t move_key(struct key_tallies *keys, struct share *share, struct key_table *from,
                         size_t i)
{
    struct key_entry *entry = &from->entries[i];
    const struct key_name name = {entry->name, entry->len};
    const uint32_t key = find_in(keys, share, entry->hash, &name);
    if (key == KEY_FAILED)
        return key;
    share->table.entries[key].samples += entry->samples;
    if (!from->sums)
        return key;
    struct key_sums *sums = &share->table.sums[key];
    share->wide -= sums->moments != NULL;
    if (!key_sums_move(sums, &from->sums[i]))
        key_tallies_lose(keys);
    share->wide += sums->moments != NULL;
    return key;
}

/* What is moved to each share: lists of keys, and of cells. Numbers are one more than indices. */
struct moving {
    uint32_t first_key[SHARES], first_cell[SHARES];
    uint32_t *next_key, *next_cell;
    uint32_t *moved; /* the number of each key in its share */
};

#define CELLS_AT_ONCE 32 /* whose memory is fetched at the same time */

/* Moves the cells of a share, which is locked, after its keys. */
static void move_cells(struct key_tallies *keys, size_t number, const struct key_table *from,
                       const struct moving *moving)
{
    struct key_cells *cells = &keys->shares[number].table.cells;
    struct key_cell some[CELLS_AT_ONCE];
    for (uint32_t i = moving->first_cell[number]; i > 0;) {
        size_t count = 0;
        for (; i > 0 && count < CELLS_AT_ONCE; i = moving->next_cell[i - 1]) {
            some[count] = from->cells.cells[i - 1];
            some[count].key = moving->moved[some[count].key];
            key_cells_prefetch(cells, some[count].key, some[count].row);
            count += some[count].key != KEY_FAILED;
        }
        for (size_t k = 0; k < count; k++)
            if (!key_cells_add(cells, some[k].key, some[k].row, some[k].count))
                key_tallies_lose(keys);
    }
}

static void move_share(struct key_tallies *keys, size_t number, struct key_table *from,
                       struct moving *moving)
{
    struct share *share = &keys->shares[number];
    if (!moving->first_key[number])
        return;
    pthread_mutex_lock(&share->lock);
    const uint64_t before = bytes_of(share);
    if (!key_cells_ungroup(&share->table.cells))
        key_tallies_lose(keys);
    for (uint32_t i = moving->first_key[number]; i > 0; i = moving->next_key[i - 1])
        moving->moved[i - 1] = move_key(keys, share, from, i - 1);
    move_cells(keys, number, from, moving);
    unlock(keys, share, before);
}

static void list_by_share(const struct key_table *from, struct moving *moving)
{
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t *first = &moving->first_key[share_of(from->entries[i].hash)];
        moving->next_key[i] = *first;
        *first = i + 1;
    }
    for (uint32_t i = 0; i < from->cells.room; i++) {
        const struct key_cell *cell = &from->cells.cells[i];
        if (cell->count == 0)
            continue;
        uint32_t *first = &moving->first_cell[share_of(from->entries[cell->key].hash)];
        moving->next_cell[i] = *first;
        *first = i + 1;
    }
}

static void move_shares(struct key_tallies *keys, struct key_table *from)
{
    struct moving moving = {.next_key = malloc(from->count * sizeof(uint32_t)),
                            .next_cell = malloc((from->cells.room + 1) * sizeof(uint32_t)),
                            .moved = malloc(from->count * sizeof(uint32_t))};
    if (moving.next_key && moving.next_cell && moving.moved) {
        list_by_share(from, &moving);
        pthread_rwlock_rdlock(&keys->moving);
        for (size_t i = 0; i < SHARES && key_tallies_state(keys) == KEYS_COMPLETE; i++)
            move_share(keys, i, from, &moving);
        pthread_rwlock_unlock(&keys->moving);
    } else {
        key_tallies_lose(keys);
    }
    free(moving.next_key);
    free(moving.next_cell);
    free(moving.moved);
}

void key_tallies_move(struct key_tallies *keys, struct key_table *from)
{
    if (key_tallies_state(keys) == KEYS_COMPLETE)
        move_shares(keys, from);
    key_table_clear(from);
}

/* Adds a tally to a key of a share, which is locked. */
static bool add_tally(const struct key_tallies *keys, struct share *share, uint32_t key,
                      const struct tally *tally)
{
    struct key_table *table = &share->table;
    bool done = true;
    table->entries[key].samples += tally->samples;
    for (size_t row = 0;
         keys->histogram->mode->is_binned && (row = tally_next_counted(tally, row)) < tally->bins;
         row++)
        done &= key_cells_add(&table->cells, key, (uint32_t)row, tally->counts[row]);
    if (!table->sums || !tally->moments)
        return done;
    share->wide -= table->sums[key].moments != NULL;
    done &= key_sums_add_moments(&table->sums[key], tally->moments);
    share->wide += table->sums[key].moments != NULL;
    return done;
}

void key_tallies_add(struct key_tallies *keys, struct key_name name, const struct tally *tally)
{
    const uint64_t hash = name.bytes ? key_hash(&keys->seed, name.bytes, name.len) : 0;
    struct share *share = &keys->shares[share_of(hash)];
    pthread_rwlock_rdlock(&keys->moving);
    pthread_mutex_lock(&share->lock);
    const uint64_t before = bytes_of(share);
    const bool done = key_cells_ungroup(&share->table.cells);
    const uint32_t key = find_in(keys, share, hash, &name);
    if (!done || (key != KEY_FAILED && !add_tally(keys, share, key, tally)))
        key_tallies_lose(keys);
    unlock(keys, share, before);
    pthread_rwlock_unlock(&keys->moving);
}

/* --- order --- */

static const struct key_entry *entry_of(const struct key_tallies *keys, const struct place *place)
{
    return &keys->shares[place->share].table.entries[place->key];
}

static int compare_bytes(const struct key_entry *a, const struct key_entry *b)
{
    const size_t len = a->len < b->len ? a->len : b->len;
    const int order = len > 0 ? memcmp(a->name, b->name, len) : 0;
    return order != 0 ? order : a->len < b->len ? -1 : a->len > b->len;
}

struct comparing {
    const struct key_tallies *keys;
    bool are_numbers;
};

static double number_of(const struct key_entry *entry)
{
    return entry->len == 0 || entry->len > NUMBER_MAX ||
                   number_token_end(entry->name, entry->name + entry->len) !=
                       entry->name + entry->len
               ? NAN
               : number_of_token(entry->name, entry->name + entry->len, entry->name + entry->len);
}

/* Whole numbers that are rounded to the same double are as long, so their digits are compared. */
static int compare_numbers(const struct key_entry *a, const struct key_entry *b)
{
    const double left = number_of(a), right = number_of(b);
    if (left != right)
        return left < right ? -1 : 1;
    return left < 0 ? compare_bytes(b, a) : compare_bytes(a, b);
}

static int compare_places(const void *a, const void *b, void *arg)
{
    const struct comparing *comparing = arg;
    const struct place *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    const struct key_entry *one = entry_of(comparing->keys, left);
    const struct key_entry *other = entry_of(comparing->keys, right);
    return comparing->are_numbers ? compare_numbers(one, other) : compare_bytes(one, other);
}

static bool are_numbers(const struct key_tallies *keys)
{
    number_prepare();
    for (size_t i = 0; i < keys->ordered; i++)
        if (isnan(number_of(entry_of(keys, &keys->order[i]))))
            return false;
    return keys->ordered > 0;
}

/* Returns a number that is less if the double is. */
static uint64_t rank_of_number(double value)
{
    uint64_t bits;
    value += 0.0; /* not -0 */
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Returns the first bytes of a name, as a number that is less if they are. */
static uint64_t rank_of_bytes(const struct key_entry *entry)
{
    uint64_t rank = 0;
    for (size_t i = 0; i < 8; i++)
        rank = rank << 8 | (i < entry->len ? entry->name[i] : 0);
    return rank;
}

/* Lists all keys. False if memory is short. */
static bool list_keys(struct key_tallies *keys)
{
    size_t count = 0;
    for (size_t i = 0; i < SHARES; i++)
        count += keys->shares[i].table.count - 1;
    keys->order = malloc((count + 1) * sizeof keys->order[0]);
    if (!keys->order)
        return false;
    keys->ordered = 0;
    for (uint32_t i = 0; i < SHARES; i++)
        for (uint32_t key = 1; key < keys->shares[i].table.count; key++)
            keys->order[keys->ordered++] = (struct place){.share = i, .key = key};
    keys->order[keys->ordered] = (struct place){.share = 0, .key = KEY_MISSING};
    return true;
}

/* Groups the cells of a share by key. False if memory is short. */
static bool group_cells(struct share *share)
{
    const struct key_cells *cells = &share->table.cells;
    const size_t count = share->table.count;
    share->cells_begin = calloc(count + 1, sizeof share->cells_begin[0]);
    if (!share->cells_begin || !key_cells_group(&share->table.cells))
        return false;
    for (size_t i = 0; i < cells->count; i++)
        share->cells_begin[cells->cells[i].key + 1] = i + 1;
    for (size_t i = 1; i <= count; i++)
        if (share->cells_begin[i] == 0)
            share->cells_begin[i] = share->cells_begin[i - 1];
    return true;
}

int key_tallies_sort(struct key_tallies *keys, enum key_order order)
{
    if (!keys->is_sorted)
        pthread_rwlock_wrlock(&keys->moving);
    keys->is_sorted = true;
    forget_order(keys);
    if (!list_keys(keys))
        return -1;
    struct comparing comparing = {keys, are_numbers(keys)};
    for (size_t i = 0; i < keys->ordered; i++) {
        const struct key_entry *entry = entry_of(keys, &keys->order[i]);
        keys->order[i].rank = order == KEYS_BY_COUNT  ? UINT64_MAX - entry->samples
                              : comparing.are_numbers ? rank_of_number(number_of(entry))
                                                      : rank_of_bytes(entry);
    }
    qsort_r(keys->order, keys->ordered, sizeof keys->order[0], compare_places, &comparing);
    for (size_t i = 0; i < SHARES; i++)
        if (!group_cells(&keys->shares[i]))
            return -1;
    return 0;
}

void key_tallies_thaw(struct key_tallies *keys)
{
    if (!keys->is_sorted)
        return;
    forget_order(keys);
    keys->is_sorted = false;
    pthread_rwlock_unlock(&keys->moving);
}

/* --- reading --- */

size_t key_tallies_count(const struct key_tallies *keys)
{
    return keys->ordered;
}

struct key_name key_tallies_name(const struct key_tallies *keys, size_t i)
{
    const struct key_entry *entry = entry_of(keys, &keys->order[i]);
    return (struct key_name){entry->name, entry->len};
}

uint64_t key_tallies_samples(const struct key_tallies *keys, size_t i)
{
    return entry_of(keys, &keys->order[i])->samples;
}

static void clear(struct tally *tally)
{
    for (size_t row = 0, end; (row = tally_next_block(tally, row, &end)) < tally->bins; row = end)
        memset(tally->counts + row, 0, (end - row) * sizeof tally->counts[0]);
    row_blocks_clear(tally->blocks, tally->bins);
    tally->samples = 0;
    if (tally->moments)
        tally->moments[0] = (struct moments){.any = false};
}

static void add_to(const struct key_tallies *keys, size_t i, struct tally *tally)
{
    const struct place *place = &keys->order[i];
    const struct share *share = &keys->shares[place->share];
    const uint64_t samples = share->table.entries[place->key].samples;
    const size_t begin = share->cells_begin[place->key], end = share->cells_begin[place->key + 1];
    tally->samples += samples;
    for (size_t at = begin; at < end; at++) {
        const struct key_cell *cell = &share->table.cells.cells[at];
        tally->counts[cell->row] += cell->count;
        row_blocks_mark(tally->blocks, cell->row);
    }
    if (!keys->histogram->mode->is_binned && samples > 0) {
        tally->counts[0] += samples;
        row_blocks_mark(tally->blocks, 0);
    }
    if (tally->moments && share->table.sums)
        key_sums_add_to(&share->table.sums[place->key], tally->moments);
}

void key_tallies_load(const struct key_tallies *keys, size_t i, struct tally *tally)
{
    clear(tally);
    add_to(keys, i, tally);
}

void key_tallies_load_from(const struct key_tallies *keys, size_t i, struct tally *tally)
{
    clear(tally);
    for (; i < keys->ordered; i++)
        add_to(keys, i, tally);
}
