/* SPDX-License-Identifier: MIT */
#include "key_tallies.h"
#include "histogram_spec.h"
#include "src/base/memory.h"
#include "src/base/system.h"
#include "src/bins/sums.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define COUNTS_FIRST 64

unsigned key_row_bits(size_t end)
{
    unsigned bits = 1;
    while (bits < 32 && end > (size_t)1 << bits)
        bits++;
    return bits;
}

void key_counts_close(struct key_counts *counts)
{
    free(counts->list);
    *counts = (struct key_counts){.row_bits = counts->row_bits};
}

/* Adds up equal ones of a list in order. Returns how many are left. */
static size_t add_up(struct radix_pair *list, size_t count)
{
    size_t last = 0;
    for (size_t i = 1; i < count; i++)
        if (list[i].key == list[last].key)
            list[last].value += list[i].value;
        else
            list[++last] = list[i];
    return count > 0 ? last + 1 : 0;
}

/* Merges a list in order into the entries that are sorted, behind which is room for it: from the
 * end on, so that none is overwritten that is still needed. */
static void merge(struct key_counts *counts, const struct radix_pair *list, size_t count)
{
    struct radix_pair *into = counts->list;
    size_t left = counts->sorted, at = counts->sorted + count;
    const size_t end = at;
    while (count > 0) {
        if (left > 0 && into[left - 1].key >= list[count - 1].key) {
            into[--at] = into[--left];
            if (into[at].key == list[count - 1].key)
                into[at].value += list[--count].value;
        } else {
            into[--at] = list[--count];
        }
    }
    memmove(into + left, into + at, (end - at) * sizeof into[0]);
    counts->count = counts->sorted = left + end - at;
}

bool key_counts_sort(struct key_counts *counts)
{
    const size_t count = counts->count - counts->sorted;
    if (count == 0)
        return true;
    struct radix_pair *tail = counts->list + counts->sorted;
    struct radix_pair *scratch = malloc(count * sizeof scratch[0]);
    if (!scratch)
        return false;
    if (radix_sort_pairs(tail, scratch, count) == tail)
        memcpy(scratch, tail, count * sizeof scratch[0]);
    merge(counts, scratch, add_up(scratch, count));
    free(scratch);
    return true;
}

/* Makes room for another entry: where sorting leaves less than half of it, twice as much. */
static bool make_room(struct key_counts *counts)
{
    if (!key_counts_sort(counts))
        return false;
    if (counts->count < counts->capacity - counts->capacity / 2)
        return true;
    const size_t capacity = counts->capacity > 0 ? 2 * counts->capacity : COUNTS_FIRST;
    struct radix_pair *list = realloc(counts->list, capacity * sizeof list[0]);
    if (!list)
        return false;
    counts->list = list;
    counts->capacity = capacity;
    return true;
}

bool key_counts_add(struct key_counts *counts, uint32_t key, uint32_t row, uint64_t count)
{
    if (counts->count == counts->capacity && !make_room(counts))
        return false;
    counts->list[counts->count++] =
        (struct radix_pair){key_position(key, row, counts->row_bits), count};
    return true;
}

/* --- samples --- */

bool key_pages_open(struct key_samples *samples)
{
    const unsigned bits = samples->row_bits > KEY_PAGE_BITS ? samples->row_bits : KEY_PAGE_BITS;
    if (!samples->pages && (samples->pages = calloc(1, sizeof *samples->pages)))
        samples->pages->key_bits = KEY_PLACE_BITS - (bits - KEY_PAGE_BITS);
    return samples->pages;
}

bool key_pages_take(struct key_pages *pages, uint32_t key, size_t place)
{
    if (pages->last == KEY_PAGES - 1)
        return false;
    const uint16_t page = (uint16_t)++pages->last;
    pages->page_of[place] = page;
    pages->place_of[page] = (uint32_t)place;
    pages->next[page] = pages->last_of[key];
    pages->last_of[key] = page;
    return true;
}

int key_samples_open(struct key_samples *samples, unsigned row_bits, bool has_weights)
{
    *samples = (struct key_samples){.max = KEY_SAMPLES, .row_bits = row_bits};
    if (has_weights) {
        samples->weighted = malloc(KEY_SAMPLES * sizeof samples->weighted[0]);
        samples->weighted_scratch = malloc(KEY_SAMPLES * sizeof samples->weighted[0]);
        return samples->weighted && samples->weighted_scratch ? 0 : -1;
    }
    samples->list = malloc(KEY_SAMPLES * sizeof samples->list[0]);
    samples->scratch = malloc(KEY_SAMPLES * sizeof samples->scratch[0]);
    return samples->list && samples->scratch ? 0 : -1;
}

void key_samples_close(struct key_samples *samples)
{
    free(samples->pages);
    free(samples->list);
    free(samples->scratch);
    free(samples->weighted);
    free(samples->weighted_scratch);
    *samples = (struct key_samples){.count = 0};
}

void key_samples_sort(struct key_samples *samples)
{
    if (samples->weighted) {
        struct radix_pair *pairs =
            radix_sort_pairs(samples->weighted, samples->weighted_scratch, samples->count);
        samples->weighted_scratch =
            pairs == samples->weighted ? samples->weighted_scratch : samples->weighted;
        samples->weighted = pairs;
        return;
    }
    uint64_t *sorted = radix_sort(samples->list, samples->scratch, samples->count);
    samples->scratch = sorted == samples->list ? samples->scratch : samples->list;
    samples->list = sorted;
}

/* Keys are in tables by the highest bits of their hash, each with a lock, so that threads rarely
 * meet, and memory grows in small steps. */
#define STRIPE_BITS 6
#define STRIPES ((size_t)1 << STRIPE_BITS)

/* Threads that move at the same time begin so far from each other, instead of waiting in a row. */
#define STRIPES_APART 19

struct stripe {
    _Alignas(CACHE_LINE) pthread_mutex_t lock;
    struct key_table table;
    struct key_counts counts;
    uint64_t wide;        /* keys whose sums have moments of their own */
    size_t *counts_begin; /* of each key, once they are in order, and of the one after the last */
};

struct key_tallies {
    const struct histogram_spec *spec;
    size_t max_keys;
    uint64_t max_bytes;
    struct key_seed seed;
    unsigned row_bits;
    atomic_size_t moves;
    atomic_size_t count;         /* keys */
    atomic_uint_least64_t bytes; /* as for max_bytes */
    atomic_int state;
    pthread_rwlock_t moving; /* held for writing while keys are in order */
    bool is_sorted;
    struct key_list order;
    struct stripe stripes[STRIPES];
};

/* --- opening --- */

/* Draws a seed; if the kernel has no random bytes, of a time that is hard to guess. The 16 random
 * bytes beside the program's arguments are not for this, as the C library's own secrets are made of
 * them. */
static struct key_seed make_seed(void)
{
    struct key_seed seed;
    struct timespec now;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed)
        return seed;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct key_seed){
        {0x243f6a8885a308d3 ^ (uint64_t)now.tv_sec, 0x13198a2e03707344 ^ (uint64_t)now.tv_nsec}};
}

struct key_tallies *key_tallies_open(const struct histogram_spec *spec, size_t max_keys,
                                     uint64_t max_bytes)
{
    struct key_tallies *keys = cache_lines_open(sizeof *keys);
    if (!keys)
        return NULL;
    keys->spec = spec;
    keys->max_keys = max_keys;
    keys->max_bytes = max_bytes;
    keys->seed = make_seed();
    keys->row_bits = key_row_bits(spec->bins);
    pthread_rwlock_init(&keys->moving, NULL);
    int rc = 0;
    for (size_t i = 0; i < STRIPES; i++) {
        pthread_mutex_init(&keys->stripes[i].lock, NULL);
        rc |= key_table_open(&keys->stripes[i].table, &keys->seed, spec->has_moments);
        keys->stripes[i].counts.row_bits = keys->row_bits;
    }
    if (rc == 0)
        return keys;
    key_tallies_close(keys);
    return NULL;
}

static void forget_order(struct key_tallies *keys)
{
    for (size_t i = 0; i < STRIPES; i++) {
        free(keys->stripes[i].counts_begin);
        keys->stripes[i].counts_begin = NULL;
    }
    free(keys->order.list);
    keys->order = (struct key_list){.count = 0};
}

void key_tallies_close(struct key_tallies *keys)
{
    if (!keys)
        return;
    key_tallies_thaw(keys);
    for (size_t i = 0; i < STRIPES; i++) {
        key_table_close(&keys->stripes[i].table);
        key_counts_close(&keys->stripes[i].counts);
        pthread_mutex_destroy(&keys->stripes[i].lock);
    }
    pthread_rwlock_destroy(&keys->moving);
    free(keys);
}

unsigned key_tallies_parts(const struct key_tallies *keys)
{
    return keys->spec->lines.key_count > 1 ? keys->spec->lines.key_count : 1;
}

enum key_tallies_state key_tallies_state(const struct key_tallies *keys)
{
    return (enum key_tallies_state)atomic_load_explicit(&keys->state, memory_order_relaxed);
}

int key_tallies_check(const struct key_tallies *keys, struct error *error)
{
    if (!keys || key_tallies_state(keys) == KEYS_COMPLETE)
        return 0;
    if (key_tallies_state(keys) == KEYS_NO_MEMORY)
        return error_set(error, "out of memory");
    if (key_tallies_state(keys) == KEYS_TOO_LARGE)
        return error_set(error,
                         "keys and their bins take more than %" PRIu64 " MiB; use a shorter part "
                         "of the field, such as --by=1:1-8, fewer bins, or --max-keys=%" PRIu64,
                         keys->max_bytes >> 20, keys->max_bytes >> 9);
    return error_set(error,
                     "more than %zu key%s; use a shorter part of the field, such as --by=1:1-8, or "
                     "a greater --max-keys",
                     keys->max_keys, keys->max_keys == 1 ? "" : "s");
}

void key_tallies_lose(struct key_tallies *keys)
{
    atomic_store(&keys->state, KEYS_NO_MEMORY);
}

int key_tallies_open_table(const struct key_tallies *keys, struct key_table *table,
                           struct key_samples *samples)
{
    const bool has_moments = keys->spec->has_moments;
    const int rc = key_samples_open(samples, keys->row_bits, keys->spec->lines.has_weight);
    return key_table_open(table, &keys->seed, has_moments) == 0 ? rc : -1;
}

/* --- moving --- */

static size_t stripe_of(uint64_t hash)
{
    return (size_t)(hash >> (64 - STRIPE_BITS));
}

/* Records that keys are lost, unless this is known. */
static void exceed(struct key_tallies *keys, enum key_tallies_state state)
{
    int complete = KEYS_COMPLETE;
    atomic_compare_exchange_strong(&keys->state, &complete, (int)state);
}

/* Returns the bytes of a stripe, which is locked, as for max_bytes. */
static uint64_t bytes_of(const struct stripe *stripe)
{
    const struct key_table *table = &stripe->table;
    return (uint64_t)table->name_bytes +
           (uint64_t)stripe->counts.capacity * sizeof stripe->counts.list[0] +
           stripe->wide * sizeof(struct moments);
}

/* Unlocks a stripe that had so many bytes before. */
static void unlock(struct key_tallies *keys, struct stripe *stripe, uint64_t before)
{
    const uint64_t more = bytes_of(stripe) - before;
    pthread_mutex_unlock(&stripe->lock);
    if (atomic_fetch_add(&keys->bytes, more) + more > keys->max_bytes)
        exceed(keys, KEYS_TOO_LARGE);
}

/* Returns the number of a key in its stripe, which is locked; KEY_FAILED if it may not be there. */
static uint32_t find_in(struct key_tallies *keys, struct stripe *stripe, uint64_t hash,
                        const struct key_name *name, struct key_words words)
{
    struct key_table *table = &stripe->table;
    if (!name->bytes)
        return KEY_MISSING;
    const size_t before = table->count;
    const uint32_t key = key_table_find_words(table, hash, words, name->bytes, name->len);
    if (key == KEY_FAILED)
        key_tallies_lose(keys);
    if (table->count > before && atomic_fetch_add(&keys->count, 1) >= keys->max_keys)
        exceed(keys, KEYS_TOO_MANY);
    return key;
}

/* The state of a move: lists of the keys of each stripe, whose numbers are one more than indices,
 * and where the samples of each key begin. */
struct moving {
    struct key_table *from;
    const struct key_samples *samples; /* in order */
    bool all;                          /* keys, too */
    uint32_t first[STRIPES];
    uint32_t *next;
    uint32_t *begin; /* of each key, and of the one after the last */
};

/* Moves key i, or only its samples, to a stripe, which is locked. */
static void move_one(struct key_tallies *keys, struct stripe *stripe, const struct moving *moving,
                     size_t i)
{
    const struct key_samples *samples = moving->samples;
    const struct key_pages *pages = samples->pages;
    struct key_entry *entry = &moving->from->entries[i];
    const struct key_name name = {entry->name, entry->len};
    const uint32_t number =
        entry->moved ? entry->moved : find_in(keys, stripe, entry->hash, &name, entry->words);
    bool done = true;
    if (number == KEY_FAILED)
        return;
    entry->moved = number;
    for (size_t at = moving->begin[i], end = at; at < moving->begin[i + 1]; at = end) {
        const uint64_t position = key_samples_at(samples, at);
        uint64_t count = 0;
        for (; end < moving->begin[i + 1] && key_samples_at(samples, end) == position; end++)
            count += samples->weighted ? samples->weighted[end].value : 1;
        done &= key_counts_add(&stripe->counts, number, row_of_position(position, keys->row_bits),
                               count);
    }
    if (moving->all) {
        const bool has_pages = pages && i >> pages->key_bits == 0;
        for (size_t page = has_pages ? pages->last_of[i] : 0; page > 0; page = pages->next[page])
            for (uint32_t row = 0; row < 1 << KEY_PAGE_BITS; row++) {
                const uint32_t first = pages->place_of[page] >> pages->key_bits << KEY_PAGE_BITS;
                const uint32_t count = pages->counts[page][row];
                if (count > 0 && !key_counts_add(&stripe->counts, number, first + row, count))
                    done = false;
            }
        stripe->table.entries[number].samples += entry->samples;
        if (moving->from->sums) {
            struct key_sums *sums = &stripe->table.sums[number];
            stripe->wide -= sums->moments != NULL;
            done &= key_sums_move(sums, &moving->from->sums[i]);
            stripe->wide += sums->moments != NULL;
        }
    }
    if (!done)
        key_tallies_lose(keys);
}

#define KEYS_AT_ONCE 32 /* whose memory is fetched at the same time */

/* Fetches what finding the keys with these hashes is going to look at. */
static void fetch_keys(const struct key_table *table, const uint64_t *hashes, size_t count)
{
    uint32_t keys[KEYS_AT_ONCE];
    for (size_t i = 0; i < count; i++)
        key_table_prefetch(table, hashes[i]);
    for (size_t i = 0; i < count; i++)
        keys[i] = key_table_prefetch_entry(table, hashes[i]);
    for (size_t i = 0; i < count; i++)
        key_table_prefetch_name(table, keys[i]);
}

static void move_stripe(struct key_tallies *keys, size_t number, const struct moving *moving)
{
    const struct key_entry *entries = moving->from->entries;
    struct stripe *stripe = &keys->stripes[number];
    const uint32_t first = moving->first[number];
    if (!first)
        return;
    pthread_mutex_lock(&stripe->lock);
    const uint64_t before = bytes_of(stripe);
    for (uint32_t next = first; next > 0;) {
        uint32_t some[KEYS_AT_ONCE];
        uint64_t hashes[KEYS_AT_ONCE];
        size_t count = 0;
        for (; next > 0 && count < KEYS_AT_ONCE; next = moving->next[some[count++]]) {
            some[count] = next - 1;
            hashes[count] = entries[next - 1].hash;
        }
        fetch_keys(&stripe->table, hashes, count);
        for (size_t i = 0; i < count; i++)
            move_one(keys, stripe, moving, some[i]);
    }
    unlock(keys, stripe, before);
}

/* Moves the samples of a table's keys; `all`: the keys, too. */
static void move(struct key_tallies *keys, struct key_table *from, struct key_samples *samples,
                 bool all)
{
    struct moving moving = {.from = from,
                            .samples = samples,
                            .all = all,
                            .next = malloc(from->count * sizeof(uint32_t)),
                            .begin = malloc((from->count + 1) * sizeof(uint32_t))};
    if (moving.next && moving.begin) {
        uint32_t at = 0;
        key_samples_sort(samples);
        for (uint32_t i = 0; i < from->count; i++) {
            moving.begin[i] = at;
            while (at < samples->count &&
                   key_of_position(key_samples_at(samples, at), samples->row_bits) == i)
                at++;
            if (!all && at == moving.begin[i])
                continue;
            uint32_t *first_key = &moving.first[stripe_of(from->entries[i].hash)];
            moving.next[i] = *first_key;
            *first_key = i + 1;
        }
        moving.begin[from->count] = at;
        pthread_rwlock_rdlock(&keys->moving);
        const size_t first = atomic_fetch_add(&keys->moves, 1) * STRIPES_APART;
        for (size_t i = 0; i < STRIPES && key_tallies_state(keys) == KEYS_COMPLETE; i++)
            move_stripe(keys, (first + i) % STRIPES, &moving);
        pthread_rwlock_unlock(&keys->moving);
    } else {
        key_tallies_lose(keys);
    }
    free(moving.next);
    free(moving.begin);
}

void key_tallies_move_samples(struct key_tallies *keys, struct key_table *table,
                              struct key_samples *samples)
{
    if (key_tallies_state(keys) == KEYS_COMPLETE)
        move(keys, table, samples, false);
    samples->count = 0;
}

void key_tallies_move(struct key_tallies *keys, struct key_table *table,
                      struct key_samples *samples)
{
    if (key_tallies_state(keys) == KEYS_COMPLETE)
        move(keys, table, samples, true);
    samples->count = 0;
    struct key_pages *pages = samples->pages;
    for (; pages && pages->last > 0; pages->last--) {
        const uint32_t place = pages->place_of[pages->last];
        pages->page_of[place] = 0;
        pages->last_of[place & (((uint32_t)1 << pages->key_bits) - 1)] = 0;
        memset(pages->counts[pages->last], 0, sizeof pages->counts[0]);
    }
    key_table_clear(table);
}

/* --- samples of keys that hardly repeat --- */

#define SHARED_MAX ((size_t)1 << 13)     /* samples that are moved together */
#define SHARED_NAMES ((size_t)256 << 10) /* bytes of their names, at first */
#define SHARED_BEGIN 16                  /* bytes before these, for key_words_behind */

struct shared_sample {
    uint64_t hash;
    const unsigned char *name; /* NULL: there is no key */
    double value;
    uint32_t row, len;
    uint32_t next; /* of the same stripe: one more than an index */
};

struct key_shares {
    struct key_tallies *keys;
    unsigned char *names;
    size_t names_size, names_used;
    size_t count;
    struct shared_sample samples[SHARED_MAX];
    uint32_t first[STRIPES]; /* as `next` */
};

struct key_shares *key_shares_open(struct key_tallies *keys)
{
    struct key_shares *shares = malloc(sizeof *shares);
    unsigned char *names = malloc(SHARED_NAMES);
    if (!shares || !names) {
        free(shares);
        free(names);
        return NULL;
    }
    shares->keys = keys;
    shares->names = names;
    shares->names_size = SHARED_NAMES;
    shares->names_used = SHARED_BEGIN;
    shares->count = 0;
    memset(shares->first, 0, sizeof shares->first);
    return shares;
}

void key_shares_close(struct key_shares *shares)
{
    if (shares)
        free(shares->names);
    free(shares);
}

/* Moves the samples of a stripe. */
static void move_share(struct key_shares *shares, size_t number)
{
    struct key_tallies *keys = shares->keys;
    struct stripe *stripe = &keys->stripes[number];
    uint32_t next = shares->first[number];
    shares->first[number] = 0;
    if (!next || key_tallies_state(keys) != KEYS_COMPLETE)
        return;
    pthread_mutex_lock(&stripe->lock);
    const uint64_t before = bytes_of(stripe);
    while (next > 0) {
        const struct shared_sample *some[KEYS_AT_ONCE];
        uint64_t hashes[KEYS_AT_ONCE];
        size_t count = 0;
        for (; next > 0 && count < KEYS_AT_ONCE; next = some[count++]->next) {
            some[count] = &shares->samples[next - 1];
            hashes[count] = some[count]->hash;
        }
        fetch_keys(&stripe->table, hashes, count);
        for (size_t i = 0; i < count; i++) {
            const struct shared_sample *sample = some[i];
            const struct key_name name = {sample->name, sample->len};
            const struct key_words words =
                name.bytes ? key_words_behind(name.bytes, name.len) : (struct key_words){.last = 0};
            const uint32_t key = find_in(keys, stripe, sample->hash, &name, words);
            bool done = true;
            if (key == KEY_FAILED)
                continue;
            stripe->table.entries[key].samples++;
            if (keys->spec->mode->is_binned)
                done = key_counts_add(&stripe->counts, key, sample->row, 1);
            if (stripe->table.sums && !isnan(sample->value)) {
                struct key_sums *sums = &stripe->table.sums[key];
                stripe->wide -= sums->moments != NULL;
                done &= key_sums_add(sums, sample->value);
                stripe->wide += sums->moments != NULL;
            }
            if (!done)
                key_tallies_lose(keys);
        }
    }
    unlock(keys, stripe, before);
}

void key_shares_move(struct key_shares *shares)
{
    struct key_tallies *keys = shares->keys;
    pthread_rwlock_rdlock(&keys->moving);
    const size_t first = atomic_fetch_add(&keys->moves, 1) * STRIPES_APART;
    for (size_t i = 0; i < STRIPES; i++)
        move_share(shares, (first + i) % STRIPES);
    pthread_rwlock_unlock(&keys->moving);
    shares->count = 0;
    shares->names_used = SHARED_BEGIN;
}

void key_shares_add(struct key_shares *shares, uint64_t hash, struct key_name name, uint32_t row,
                    double value)
{
    if (shares->count == SHARED_MAX)
        key_shares_move(shares);
    const unsigned char *kept = NULL;
    if (name.bytes && shares->names_size - shares->names_used < name.len)
        key_shares_move(shares);
    if (name.bytes && shares->names_size - shares->names_used < name.len) {
        unsigned char *names = realloc(shares->names, SHARED_BEGIN + name.len);
        if (!names) {
            key_tallies_lose(shares->keys);
            return;
        }
        shares->names = names;
        shares->names_size = SHARED_BEGIN + name.len;
    }
    if (name.bytes) {
        kept = memcpy(shares->names + shares->names_used, name.bytes, name.len);
        shares->names_used += name.len;
    }
    struct shared_sample *sample = &shares->samples[shares->count++];
    uint32_t *first = &shares->first[stripe_of(hash)];
    *sample = (struct shared_sample){.hash = hash,
                                     .name = kept,
                                     .value = value,
                                     .row = row,
                                     .len = (uint32_t)name.len,
                                     .next = *first};
    *first = (uint32_t)shares->count;
}

/* Adds a tally to a key of a stripe, which is locked. */
static bool add_tally(const struct key_tallies *keys, struct stripe *stripe, uint32_t key,
                      const struct tally *tally)
{
    struct key_table *table = &stripe->table;
    bool done = true;
    table->entries[key].samples += tally->samples;
    for (size_t row = 0;
         keys->spec->mode->is_binned && (row = tally_next_counted(tally, row)) < tally->bins; row++)
        done &= key_counts_add(&stripe->counts, key, (uint32_t)row, tally->counts[row]);
    if (!table->sums || !tally->moments)
        return done;
    stripe->wide -= table->sums[key].moments != NULL;
    done &= key_sums_add_moments(&table->sums[key], tally->moments);
    stripe->wide += table->sums[key].moments != NULL;
    return done;
}

void key_tallies_add(struct key_tallies *keys, struct key_name name, const struct tally *tally)
{
    const uint64_t hash = name.bytes ? key_hash(&keys->seed, name.bytes, name.len) : 0;
    struct stripe *stripe = &keys->stripes[stripe_of(hash)];
    pthread_rwlock_rdlock(&keys->moving);
    pthread_mutex_lock(&stripe->lock);
    const uint64_t before = bytes_of(stripe);
    const uint32_t key = find_in(keys, stripe, hash, &name, key_words_of(name.bytes, name.len));
    if (key != KEY_FAILED && !add_tally(keys, stripe, key, tally))
        key_tallies_lose(keys);
    unlock(keys, stripe, before);
    pthread_rwlock_unlock(&keys->moving);
}

/* --- order --- */

/* Sorts the entries of a stripe, and finds where those of each key begin. */
static void sort_stripe(void *arg, size_t number)
{
    struct key_tallies *keys = arg;
    struct stripe *stripe = &keys->stripes[number];
    const struct key_counts *counts = &stripe->counts;
    const size_t count = stripe->table.count;
    if (!key_counts_sort(&stripe->counts) ||
        !(stripe->counts_begin = malloc((count + 1) * sizeof stripe->counts_begin[0])))
        return;
    size_t at = 0;
    for (uint32_t i = 0; i <= count; i++) {
        while (at < counts->count && key_of_position(counts->list[at].key, keys->row_bits) < i)
            at++;
        stripe->counts_begin[i] = at;
    }
}

/* Sorts keys that are in order by name by their samples; `is_valid`: without those that are no
 * numbers, which the last entry of a key has. False if memory is short. */
static bool sort_by_count(struct key_tallies *keys, bool is_valid)
{
    struct key_list *order = &keys->order;
    struct radix_pair *scratch = malloc((order->count + 1) * sizeof scratch[0]);
    if (!scratch)
        return false;
    for (size_t i = 0; i < order->count; i++) {
        struct radix_pair *position = &order->list[i];
        const struct stripe *stripe = &keys->stripes[key_position_table(position)];
        const uint32_t key = key_position_key(position);
        const size_t *begin = &stripe->counts_begin[key];
        position->key = UINT64_MAX - stripe->table.entries[key].samples;
        if (!is_valid || begin[0] == begin[1])
            continue;
        const struct radix_pair *last = &stripe->counts.list[begin[1] - 1];
        if (row_of_position(last->key, keys->row_bits) == ROW_INVALID(&keys->spec->binning))
            position->key += last->value;
    }
    struct radix_pair *sorted = radix_sort_pairs(order->list, scratch, order->count);
    free(sorted == scratch ? order->list : scratch);
    order->list = sorted;
    return true;
}

int key_tallies_sort(struct key_tallies *keys, enum key_order order, unsigned threads)
{
    if (!keys->is_sorted)
        pthread_rwlock_wrlock(&keys->moving);
    keys->is_sorted = true;
    forget_order(keys);
    const struct key_table *tables[STRIPES];
    for (size_t i = 0; i < STRIPES; i++)
        tables[i] = &keys->stripes[i].table;
    if (key_list_make(&keys->order, tables, STRIPES, key_tallies_parts(keys), threads) != 0)
        return -1;
    parallel_loop(threads, STRIPES, sort_stripe, keys);
    for (size_t i = 0; i < STRIPES; i++)
        if (!keys->stripes[i].counts_begin)
            return -1;
    const bool is_valid = order == KEYS_BY_VALID && keys->spec->mode->is_binned;
    return order == KEYS_BY_NAME || sort_by_count(keys, is_valid) ? 0 : -1;
}

void key_tallies_sort_top(struct key_tallies *keys, size_t top)
{
    const struct key_table *tables[STRIPES];
    for (size_t i = 0; i < STRIPES; i++)
        tables[i] = &keys->stripes[i].table;
    key_list_sort_first(&keys->order, tables, top < keys->order.count ? top : keys->order.count);
}

int key_tallies_reorder(struct key_tallies *keys, const size_t *list)
{
    struct key_list *order = &keys->order;
    struct radix_pair *others = malloc((order->count + 1) * sizeof others[0]);
    if (!others)
        return -1;
    for (size_t i = 0; i < order->count; i++)
        others[i] = order->list[list[i]];
    free(order->list);
    order->list = others;
    return 0;
}

bool key_tallies_are_sequence(const struct key_tallies *keys)
{
    for (size_t i = 0; i < keys->order.count; i++) {
        const struct radix_pair *position = &keys->order.list[i];
        const struct stripe *stripe = &keys->stripes[key_position_table(position)];
        if (!key_is_number_or_time(&stripe->table.entries[key_position_key(position)]))
            return false;
    }
    return true;
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

void key_tallies_add_up(const struct key_tallies *keys, uint64_t *samples, uint64_t *invalid)
{
    const bool is_binned = keys->spec->mode->is_binned;
    const size_t row = ROW_INVALID(&keys->spec->binning);
    *samples = *invalid = 0;
    for (size_t stripe = 0; stripe < STRIPES; stripe++) {
        const struct key_table *table = &keys->stripes[stripe].table;
        const struct key_counts *counts = &keys->stripes[stripe].counts;
        for (size_t i = 0; i < table->count; i++)
            *samples += table->entries[i].samples;
        for (size_t i = 0; is_binned && i < counts->count; i++)
            if (row_of_position(counts->list[i].key, keys->row_bits) == row)
                *invalid += counts->list[i].value;
    }
    if (!is_binned)
        *invalid = keys->stripes[0].table.entries[KEY_MISSING].samples;
}

struct key_seed key_tallies_seed(const struct key_tallies *keys)
{
    return keys->seed;
}

size_t key_tallies_count(const struct key_tallies *keys)
{
    return keys->order.count;
}

/* Keys whose memory is fetched before they are read: their order is not that of the tables. */
#define READ_AHEAD 16

/* The place of a key. */
struct key_at {
    const struct stripe *stripe;
    uint32_t key;
};

static struct key_at position_of(const struct key_tallies *keys, size_t i)
{
    if (i == keys->order.count)
        return (struct key_at){&keys->stripes[0], KEY_MISSING};
    const struct radix_pair *position = &keys->order.list[i];
    return (struct key_at){&keys->stripes[key_position_table(position)],
                           key_position_key(position)};
}

static const struct key_entry *entry_of(const struct key_tallies *keys, size_t i)
{
    const struct key_at found = position_of(keys, i);
    return &found.stripe->table.entries[found.key];
}

struct key_name key_tallies_name(const struct key_tallies *keys, size_t i)
{
    const struct key_entry *entry = entry_of(keys, i);
    if (i + READ_AHEAD < keys->order.count) { /* the entry of a key, the name of one before it */
        __builtin_prefetch(entry_of(keys, i + READ_AHEAD));
        __builtin_prefetch(entry_of(keys, i + READ_AHEAD / 2)->name);
    }
    return (struct key_name){entry->name, entry->len};
}

uint64_t key_tallies_samples(const struct key_tallies *keys, size_t i)
{
    return entry_of(keys, i)->samples;
}

static void add_to(const struct key_tallies *keys, size_t i, struct tally *tally)
{
    const struct key_at found = position_of(keys, i);
    const struct stripe *stripe = found.stripe;
    const uint64_t samples = stripe->table.entries[found.key].samples;
    const size_t begin = stripe->counts_begin[found.key], end = stripe->counts_begin[found.key + 1];
    tally->samples += samples;
    for (size_t at = begin; at < end; at++) {
        const struct radix_pair *entry = &stripe->counts.list[at];
        const uint32_t row = row_of_position(entry->key, keys->row_bits);
        tally->counts[row] += entry->value;
        row_blocks_mark(tally->blocks, row);
    }
    if (!keys->spec->mode->is_binned && samples > 0) {
        tally->counts[0] += samples;
        row_blocks_mark(tally->blocks, 0);
    }
    if (tally->moments && stripe->table.sums)
        key_sums_add_to(&stripe->table.sums[found.key], tally->moments);
}

void key_tallies_load(const struct key_tallies *keys, size_t i, struct tally *tally)
{
    if (i + READ_AHEAD < keys->order.count) {
        /* The sums and the place of the counts of a key, and the counts of one before it. */
        struct key_at at = position_of(keys, i + READ_AHEAD);
        if (at.stripe->table.sums) {
            __builtin_prefetch(&at.stripe->table.sums[at.key]);
            __builtin_prefetch((const char *)&at.stripe->table.sums[at.key] + 64);
        }
        __builtin_prefetch(&at.stripe->counts_begin[at.key]);
        at = position_of(keys, i + READ_AHEAD / 2);
        if (at.stripe->counts.count > 0)
            __builtin_prefetch(at.stripe->counts.list + at.stripe->counts_begin[at.key]);
    }
    tally_clear_blocks(tally);
    add_to(keys, i, tally);
}

void key_tallies_load_from(const struct key_tallies *keys, size_t i, struct tally *tally)
{
    tally_clear_blocks(tally);
    for (; i < keys->order.count; i++)
        add_to(keys, i, tally);
}
