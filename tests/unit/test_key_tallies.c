/* SPDX-License-Identifier: MIT */
/* Tallies of keys: tables of any content, moved by several threads, compared with plain arrays; the
 * order of names, of numbers and of counts; the limits; and keys whose hashes are equal. */
#include "src/tally/key_tallies.h"
#include "src/tally/tally.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "src/bins/sums.h"
#include "src/tally/histogram_spec.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the test if memory is short. */
static void need_that(bool there)
{
    (void)need(there ? &there : NULL);
}

#define KEYS 1500
#define ROWS_HERE 40
#define THREADS 4
#define TABLES 60 /* that each thread moves */
#define SAMPLES 400

static unsigned tried, wrong;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what is expected, and random */

static void check_that(bool holds, const char *what, size_t key)
{
    tried++;
    if (!holds && wrong++ < 20)
        printf("%s: key %zu\n", what, key);
}

/* --- what is expected --- */

struct expected {
    unsigned char name[40];
    size_t len;
    uint64_t samples, counts[ROWS_HERE];
    struct moments moments;
};

/* The first is that of records without a key. */
static struct expected expected[KEYS];

/* Names of all lengths from 0, which differ in the first, the last or some other byte. */
static void make_names(void)
{
    for (size_t i = 1; i < KEYS; i++) {
        struct expected *key = &expected[i];
        key->len = i < 3 ? i - 1 : 1 + i % (sizeof key->name - 1);
        memset(key->name, i % 3 ? 'k' : '\0', key->len);
        const size_t at = key->len > 2 ? random_below((unsigned)key->len - 1) : 0;
        if (key->len > 1) {
            key->name[at] = (unsigned char)i;
            key->name[at + 1] = (unsigned char)(i >> 8);
        } else if (key->len == 1) {
            key->name[0] = (unsigned char)i;
        }
        for (size_t k = 1; k < i; k++)
            if (expected[k].len == key->len && memcmp(expected[k].name, key->name, key->len) == 0)
                key->len = (size_t)snprintf((char *)key->name, sizeof key->name, "other %zu", i);
    }
}

/* Like those of one column: close together; a few are far away, so that key_sums has to grow. */
static double make_number(size_t key)
{
    const double number = (random_fraction() - 0.3) * 1000;
    const unsigned kind = random_below(4000);
    if (key % 7 == 0)
        return floor(number);
    return kind == 0   ? HUGE_VAL
           : kind == 1 ? -HUGE_VAL
           : kind == 2 ? number * 0x1p-1060
           : kind == 3 ? number * 0x1p900
           : kind < 30 ? number * 0x1p-30
           : kind < 60 ? number * 0x1p30
           : kind < 90 ? 0
                       : number;
}

static void add_number(struct moments *moments, double number)
{
    moments_widen(moments, number, number);
    if (isinf(number)) {
        moments->lowest += number < 0;
        moments->highest += number > 0;
        return;
    }
    exact_sum_add(&moments->sum, number);
    exact_sum_add_square(&moments->squares, number);
}

/* Adds a sample to a table and to what is expected. */
static bool add_sample(struct key_table *table, struct key_samples *samples, size_t i)
{
    struct expected *key = &expected[i];
    const uint32_t row = random_below(10) ? (uint32_t)(i % ROWS_HERE) : random_below(ROWS_HERE);
    const double number = make_number(i);
    const uint64_t hash = key_hash(&table->seed, key->name, key->len);
    const uint32_t found = i == 0 ? KEY_MISSING : key_table_find(table, hash, key->name, key->len);
    if (found == KEY_FAILED)
        return false;
    key_samples_add(samples, found, row);
    table->entries[found].samples++;
    key->samples++;
    key->counts[row]++;
    add_number(&key->moments, number);
    if (random_below(100) == 0) { /* a number of 64 bits, which no double equals */
        struct large_numbers large = {.any = false};
        const int128 id = (int128)1 << 60 | 1;
        add_number(&key->moments, (double)id);
        large_numbers_add(&large, (double)id, id);
        moments_add_large(&key->moments, &large);
        if (!key_sums_add_large(&table->sums[found], (double)id, id, 1))
            return false;
    }
    return key_sums_add(&table->sums[found], number);
}

static void *move_tables(void *arg)
{
    struct key_tallies *keys = arg;
    struct key_table table;
    struct key_samples samples;
    need_that(key_tallies_open_table(keys, &table, &samples) == 0);
    for (unsigned i = 0; i < TABLES; i++) {
        pthread_mutex_lock(&lock);
        const unsigned min = random_below(KEYS), few = 1 + random_below(KEYS - min);
        const bool stays = random_below(2); /* at least the keys */
        for (unsigned k = 0; k < SAMPLES; k++)
            need_that(add_sample(&table, &samples, min + random_below(few)));
        pthread_mutex_unlock(&lock);
        if (stays && i < TABLES - 1)
            key_tallies_move_samples(keys, &table, &samples);
        else
            key_tallies_move(keys, &table, &samples);
        pthread_mutex_lock(&lock);
        check_that(samples.count == 0, "samples that were moved", i);
        if (!stays || i == TABLES - 1)
            check_that(table.count == 1 && table.entries[0].samples == 0, "a table that was moved",
                       i);
        pthread_mutex_unlock(&lock);
    }
    key_table_close(&table);
    key_samples_close(&samples);
    return NULL;
}

/* --- comparing --- */

static struct histogram_spec made_spec(struct binning *binning, size_t rows)
{
    struct histogram_spec spec;
    need_that(binning_equal(binning, 0, 1, rows - 3) == BINNING_OK);
    histogram_spec_numbers(&spec, binning);
    spec.has_moments = true;
    return spec;
}

static bool are_same(const struct moments *a, const struct moments *b, uint64_t count)
{
    int128 of_a = 0, of_b = 0;
    if (a->any != b->any)
        return false;
    if (!a->any)
        return true;
    const double sums[2] = {moments_sum(a), moments_sum(b)};
    const double deviations[2] = {moments_deviation(a, count), moments_deviation(b, count)};
    return a->min == b->min && a->max == b->max &&
           (sums[0] == sums[1] || (isnan(sums[0]) && isnan(sums[1]))) &&
           (deviations[0] == deviations[1] || (isnan(deviations[0]) && isnan(deviations[1]))) &&
           moments_greatest_large(a, &of_a) == moments_greatest_large(b, &of_b) && of_a == of_b &&
           moments_sum_large(a, &of_a) == moments_sum_large(b, &of_b) && of_a == of_b;
}

/* Returns the expected key of a name. */
static size_t find_expected(struct key_name name)
{
    for (size_t i = 1; i < KEYS; i++)
        if (expected[i].len == name.len && memcmp(expected[i].name, name.bytes, name.len) == 0)
            return i;
    return 0;
}

static void compare_key(const struct key_tallies *keys, size_t i, size_t key, struct tally *tally)
{
    const struct expected *want = &expected[key];
    key_tallies_load(keys, i, tally);
    check_that(tally->samples == want->samples, "samples", key);
    check_that(key_tallies_samples(keys, i) == want->samples, "samples of a name", key);
    check_that(memcmp(tally->counts, want->counts, sizeof want->counts) == 0, "counts", key);
    check_that(are_same(tally->moments, &want->moments, want->samples + 1), "moments", key);
}

static int compare_names(struct key_name a, struct key_name b)
{
    const size_t len = a.len < b.len ? a.len : b.len;
    const int order = memcmp(a.bytes, b.bytes, len);
    return order != 0 ? order : a.len < b.len ? -1 : 1;
}

static void compare_order(const struct key_tallies *keys, enum key_order order)
{
    for (size_t i = 1; i < key_tallies_count(keys); i++) {
        const uint64_t one = key_tallies_samples(keys, i - 1), two = key_tallies_samples(keys, i);
        const bool names =
            compare_names(key_tallies_name(keys, i - 1), key_tallies_name(keys, i)) < 0;
        check_that(order == KEYS_BY_NAME ? names : one > two || (one == two && names), "order", i);
    }
}

static void compare_rest(const struct key_tallies *keys, struct tally *tally)
{
    const size_t from = key_tallies_count(keys) / 2;
    uint64_t counts[ROWS_HERE] = {0}, samples = 0;
    struct moments moments = {.any = false};
    for (size_t i = from; i < key_tallies_count(keys); i++) {
        const struct expected *key = &expected[find_expected(key_tallies_name(keys, i))];
        samples += key->samples;
        moments_merge(&moments, &key->moments);
        for (size_t row = 0; row < ROWS_HERE; row++)
            counts[row] += key->counts[row];
    }
    key_tallies_load_from(keys, from, tally);
    check_that(tally->samples == samples, "samples of the rest", from);
    check_that(memcmp(tally->counts, counts, sizeof counts) == 0, "counts of the rest", from);
    check_that(are_same(tally->moments, &moments, samples), "moments of the rest", from);
    key_tallies_load_from(keys, key_tallies_count(keys), tally);
    check_that(tally->samples == 0 && tally_counted(tally) == 0, "no rest", 0);
}

static void compare(struct key_tallies *keys, enum key_order order,
                    const struct histogram_spec *spec)
{
    struct tally tally;
    struct row_blocks blocks;
    size_t seen = 0;
    need_that(tally_open(&tally, spec) == 0);
    row_blocks_clear(&blocks, tally.bins);
    tally.blocks = &blocks;
    need_that(key_tallies_sort(keys, order, 1 + random_below(4)) == 0);
    for (size_t i = 1; i < KEYS; i++)
        seen += expected[i].samples > 0;
    check_that(key_tallies_count(keys) == seen, "number of keys", seen);
    for (size_t i = 0; i < key_tallies_count(keys); i++)
        compare_key(keys, i, find_expected(key_tallies_name(keys, i)), &tally);
    check_that(!key_tallies_name(keys, seen).bytes, "name of no key", 0);
    compare_key(keys, seen, 0, &tally);
    compare_order(keys, order);
    compare_rest(keys, &tally);
    key_tallies_thaw(keys);
    tally_close(&tally);
}

/* Adds tallies of keys, as tables of earlier runs have them. */
static void add_tallies(struct key_tallies *keys, const struct histogram_spec *spec)
{
    struct tally tally;
    need_that(tally_open(&tally, spec) == 0);
    for (size_t i = 0; i < KEYS; i += 100) {
        struct expected *key = &expected[i];
        const struct key_name name = {i > 0 ? key->name : NULL, key->len};
        tally_clear(&tally);
        tally.counts[i % ROWS_HERE] = tally.samples = i + 1;
        add_number(tally.moments, (double)i);
        add_number(&key->moments, (double)i);
        key->samples += i + 1;
        key->counts[i % ROWS_HERE] += i + 1;
        key_tallies_add(keys, name, &tally);
    }
    tally_close(&tally);
}

static void check_by_threads(const struct histogram_spec *spec)
{
    pthread_t threads[THREADS];
    struct key_tallies *keys = need(key_tallies_open(spec, KEYS - 1, UINT64_MAX));
    make_names();
    compare(keys, KEYS_BY_NAME, spec);
    for (unsigned i = 0; i < THREADS; i++)
        need_that(pthread_create(&threads[i], NULL, move_tables, keys) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    compare(keys, KEYS_BY_NAME, spec);
    compare(keys, KEYS_BY_COUNT, spec);
    add_tallies(keys, spec);
    compare(keys, KEYS_BY_COUNT, spec);
    check_that(key_tallies_state(keys) == KEYS_COMPLETE, "complete", 0);
    key_tallies_close(keys);
    key_tallies_close(NULL);
}

/* --- orders of numbers --- */

/* Adds names, from one of them on. */
static void add_names(struct key_tallies *keys, const char *const *names, size_t count, size_t from,
                      const struct histogram_spec *spec)
{
    struct tally tally;
    need_that(tally_open(&tally, spec) == 0);
    for (size_t i = 0; i < count; i++) {
        const char *name = names[(from + i) % count];
        key_tallies_add(keys, (struct key_name){(const unsigned char *)name, strlen(name)}, &tally);
    }
    tally_close(&tally);
}

static void check_names_from(const char *const *names, size_t count, size_t from,
                             const char *expected_names)
{
    struct histogram_spec spec;
    char text[400] = "";
    histogram_spec_lines(&spec);
    struct key_tallies *keys = need(key_tallies_open(&spec, 100, UINT64_MAX));
    add_names(keys, names, count, from, &spec);
    need_that(key_tallies_sort(keys, KEYS_BY_NAME, 2) == 0);
    for (size_t i = 0; i < key_tallies_count(keys); i++) {
        const struct key_name name = key_tallies_name(keys, i);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s ", (int)name.len,
                 (const char *)name.bytes);
    }
    check_that(strcmp(text, expected_names) == 0, text, 0);
    key_tallies_close(keys);
}

static void check_names(const char *const *names, size_t count, const char *expected_names)
{
    for (size_t from = 0; from < count; from++)
        check_names_from(names, count, from, expected_names);
}

/* Numbers that are equal, or equal as doubles, are in the order of bytes, and so always in the
 * same; those below 0 the other way round. */
static void check_equal_numbers(void)
{
    static const char *const numbers[] = {"9007199254740993",
                                          "9007199254740993.0",
                                          "+9007199254740993",
                                          "09007199254740993",
                                          "-9007199254740993",
                                          "-9007199254740993.0",
                                          "-09007199254740993",
                                          "9007199254740992",
                                          "-9007199254740992",
                                          "9007199254740994",
                                          "0",
                                          "0.0",
                                          "-0",
                                          "+0",
                                          "-0e9",
                                          "1e-400"};
    check_names(numbers, sizeof numbers / sizeof numbers[0],
                "-9007199254740993.0 -9007199254740993 -9007199254740992 -09007199254740993 "
                "+0 -0 -0e9 0 0.0 1e-400 +9007199254740993 09007199254740993 9007199254740992 "
                "9007199254740993 9007199254740993.0 9007199254740994 ");
}

static void check_orders(void)
{
    static const char *const numbers[] = {
        "10", "9", "1e1", "-2", "0.5", "-3", "+9.25", "9007199254740993", "9007199254740992"};
    static const char *const few[] = {"10", "9", "x"};
    static const char *const empty[] = {"10", "9", ""};
    static const char *const spaces[] = {"10", "9", "1 "};
    check_names(numbers, sizeof numbers / sizeof numbers[0],
                "-3 -2 0.5 9 +9.25 10 1e1 9007199254740992 9007199254740993 ");
    check_names(few, 3, "10 9 x ");
    check_names(empty, 3, " 10 9 ");
    check_names(spaces, 3, "1  10 9 ");
    check_equal_numbers();
}

/* --- the limit, and hashes --- */

static void check_limit(void)
{
    struct histogram_spec spec;
    static const char *const names[] = {"a", "b", "a", "c"};
    histogram_spec_lines(&spec);
    struct key_tallies *keys = need(key_tallies_open(&spec, 2, UINT64_MAX));
    add_names(keys, names, 3, 0, &spec);
    key_tallies_add(keys, (struct key_name){NULL, 0}, &(struct tally){.samples = 1});
    check_that(key_tallies_state(keys) == KEYS_COMPLETE, "as many as allowed", 2);
    add_names(keys, names + 3, 1, 0, &spec);
    check_that(key_tallies_state(keys) == KEYS_TOO_MANY, "one more", 3);
    key_tallies_close(keys);
}

/* Adds a key of `len` bytes with `rows` rows and a number. Returns what became of all. */
static enum key_tallies_state add_large(struct key_tallies *keys, const struct histogram_spec *spec,
                                        unsigned char first, size_t len, size_t rows, double number)
{
    static unsigned char name[5000];
    struct key_table table;
    struct key_samples samples;
    name[0] = first;
    need_that(key_tallies_open_table(keys, &table, &samples) == 0);
    const uint32_t key = key_table_find(&table, key_hash(&table.seed, name, len), name, len);
    for (uint32_t row = 0; row < rows; row++)
        key_samples_add(&samples, key, row);
    if (spec->has_moments)
        need_that(key_sums_add(&table.sums[key], number));
    key_tallies_move(keys, &table, &samples);
    check_that(table.count == 1, "a table that was moved, or lost", first);
    key_table_close(&table);
    key_samples_close(&samples);
    return key_tallies_state(keys);
}

/* Names, cells, and moments of numbers that are far apart count; what equals them does not. */
static void check_bytes(void)
{
    struct binning binning;
    const struct histogram_spec spec = made_spec(&binning, 200);
    static const struct {
        const char *what;
        size_t len, rows;
        double number;
    } large[] = {{"names", 5000, 0, 0}, {"cells", 1, 200, 0}, {"moments", 1, 0, INFINITY}};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        struct key_tallies *keys = need(key_tallies_open(&spec, 100, 10000));
        enum key_tallies_state state = KEYS_COMPLETE;
        const unsigned max = i == 2 ? 10000 / sizeof(struct moments) : i == 1 ? 1 : 2;
        for (unsigned char k = 0; k < 2 * max; k++)
            state = add_large(keys, &spec, (unsigned char)(1 + k % max), large[i].len,
                              large[i].rows, large[i].number);
        check_that(state == KEYS_COMPLETE, large[i].what, max);
        for (unsigned char k = 0; k < 2; k++)
            state = add_large(keys, &spec, (unsigned char)(100 + k), large[i].len, large[i].rows,
                              large[i].number);
        check_that(state == KEYS_TOO_LARGE, large[i].what, max + 1);
        need_that(key_tallies_sort(keys, KEYS_BY_NAME, 2) == 0);
        check_that(key_tallies_count(keys) == max + 1, "none after too many bytes", i);
        key_tallies_close(keys);
    }
    binning_free(&binning);
}

static double number_of_kind(unsigned kind)
{
    const double whole_number = (double)(random_below(2001)) - 1000;
    switch (kind) {
    case 0:
        return whole_number;
    case 1:
        return whole_number / 1000;
    case 2:
        return whole_number * 0x1p-1074;
    case 3:
        return random_below(2) ? whole_number : ldexp(whole_number, (int)random_below(900) - 450);
    case 4:
        return random_below(50) ? whole_number : INFINITY;
    default:
        return 0;
    }
}

/* Moments that are added, as those of tables are: the same as the numbers that they were made of,
 * and of numbers that are alike in as little memory. */
static void check_moments_added(void)
{
    for (unsigned round = 0; round < 600; round++) {
        struct moments expected_moments = {.any = false}, moments = {.any = false};
        struct key_sums sums = {.moments = NULL};
        const unsigned kind = round % 6, tables = 1 + random_below(4);
        uint64_t count = 0;
        for (unsigned table = 0; table < tables; table++) {
            struct moments some = {.any = false};
            for (unsigned i = random_below(20); i > 0; i--, count++) {
                const double number = number_of_kind(kind);
                add_number(&some, number);
                add_number(&expected_moments, number);
            }
            need_that(key_sums_add_moments(&sums, &some));
        }
        key_sums_add_to(&sums, &moments);
        check_that(are_same(&moments, &expected_moments, count), "moments added", kind);
        check_that(kind > 2 || !sums.moments, "in as little memory", kind);
        key_sums_close(&sums);
    }
}

/* Quick sums and those of the numbers that they do not take: together the moments of all. */
static void check_quick_sums(void)
{
    for (unsigned round = 0; round < 600; round++) {
        struct moments expected_moments = {.any = false}, moments = {.any = false};
        struct key_sums sums[3] = {{.moments = NULL}};
        struct quick_sums quick = {.count = 0};
        uint64_t count = 0;
        for (unsigned batch = random_below(3); batch < 4; batch++) {
            double numbers[20];
            for (unsigned i = 0; i < 20; i++)
                numbers[i] = number_of_kind(random_below(30) ? round % 6 : random_below(6));
            quick_sums_prepare(&quick, 3, 3, numbers, 20);
            for (unsigned i = 0; i < 20; i++, count++) {
                add_number(&expected_moments, numbers[i]);
                if (!quick_sums_add(&quick, 2, numbers[i]))
                    need_that(key_sums_add(&sums[2], numbers[i]));
            }
            if (random_below(2))
                need_that(quick_sums_move(&quick, sums));
        }
        need_that(quick_sums_move(&quick, sums));
        key_sums_add_to(&sums[2], &moments);
        check_that(are_same(&moments, &expected_moments, count), "quick sums", round % 6);
        check_that(!sums[1].any, "other keys", round % 6);
        key_sums_close(&sums[2]);
        free(quick.list);
    }
}

/* Keys whose hashes agree, in all bits or in those that choose the slot, must stay apart. */
static void check_equal_hashes(void)
{
    const struct key_seed seed = {{1, 2}};
    struct key_table table;
    unsigned char name[8];
    need_that(key_table_open(&table, &seed, false) == 0);
    for (unsigned round = 0; round < 3; round++)
        for (uint32_t i = 0; i < 600; i++) {
            memcpy(name, &i, sizeof i);
            memset(name + 4, 'x', 4);
            const uint64_t hash = i % 2 ? 77 : (uint64_t)i << 40;
            check_that(key_table_find(&table, hash, name, 4 + i % 5) == i + 1, "equal hashes", i);
        }
    check_that(table.count == 601, "keys of equal hashes", table.count);
    key_table_close(&table);
}

/* No two of many short names, nor of long ones that differ in a bit, have the same hash; and the
 * seed changes it. */
static void check_hashes(void)
{
    const struct key_seed seed = {{random_word(), random_word()}}, other = {{seed.words[0], 5}};
    unsigned char bytes[16 + 101], *name = bytes + 16;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)random_below(256);
    for (size_t len = 0; len < 100; len++) {
        const uint64_t hash = key_hash(&seed, name, len);
        check_that(hash == key_hash_words(&seed, key_words_behind(name, len), name, len), "words",
                   len);
        check_that(hash != key_hash(&other, name, len), "the seed", len);
        check_that(hash != key_hash(&seed, name, len + 1), "the length", len);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            name[bit / 8] ^= (unsigned char)(1 << bit % 8);
            check_that(key_hash(&seed, name, len) != hash, "a bit", bit);
            name[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
    }
}

int main(void)
{
    struct binning binning;
    const struct histogram_spec spec = made_spec(&binning, ROWS_HERE);
    check_by_threads(&spec);
    check_orders();
    check_limit();
    check_bytes();
    check_moments_added();
    check_quick_sums();
    check_equal_hashes();
    check_hashes();
    binning_free(&binning);
    printf("test_key_tallies: %u cases, %u wrong\n", tried, wrong);
    return wrong > 0;
}
