/* SPDX-License-Identifier: MIT */
/* For libFuzzer: counts by key of all kernels that this processor can run, on any text, or one of
 * names that are written in several ways, against a list of all records. The first bytes say where
 * keys and numbers are, which records count, and how the text is cut; struct choices lists them.
 * `make fuzz` builds it. */
#include "src/cpu/count.h"
#include "src/tally/key_tallies.h"
#include "src/text/number.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/find_key.h"
#include "tests/helpers/naive_number.h"
#include "src/bins/sums.h"
#include "src/input/engine.h"
#include "src/tally/histogram_spec.h"
#include "src/tally/keyed_counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)8 << 10)
#define CHUNKS_MAX 6 /* each takes as long as a batch does */

/* Kinds of fields that options allow together, of numbers and of keys. NONE: lines are counted. */
static const struct {
    enum field_kind number, key;
} ways[] = {
    {FIELD_NONE, FIELD_BLANKS}, {FIELD_NONE, FIELD_SEPARATED},      {FIELD_NONE, FIELD_CSV},
    {FIELD_NONE, FIELD_JSON},   {FIELD_BLANKS, FIELD_BLANKS},       {FIELD_CSV, FIELD_CSV},
    {FIELD_JSON, FIELD_JSON},   {FIELD_SEPARATED, FIELD_SEPARATED}, {FIELD_BLANKS, FIELD_JSON},
    {FIELD_JSON, FIELD_BLANKS}, {FIELD_AFTER, FIELD_BLANKS},        {FIELD_AFTER, FIELD_JSON},
};

#define WAYS (sizeof ways / sizeof ways[0])
#define MODIFIERS (sizeof modifiers / sizeof modifiers[0])

/* What is done with keys, for ways from WAYS on. */
static const struct key_modifier modifiers[] = {
    {.kind = KEY_ROUTE},
    {.kind = KEY_BUCKET, .seconds = 10},
    {.kind = KEY_BUCKET, .seconds = 60},
    {.kind = KEY_BUCKET, .seconds = 3600, .is_fine = true},
    {.kind = KEY_BUCKET, .seconds = 2 * TIME_DAY, .is_fine = true},
    {.kind = KEY_CHARACTERS, .first = -5, .last = -2},
};

static const char *const paths[] = {
    ".", ".a", ".b", ".a.b", ".a[0]", ".[-1]", ".[1].a", ".a[-2]", ".\"\\u0061\\n\"", ".\"\""};

/* The first bytes, in this order. */
struct choices {
    uint8_t way; /* and from WAYS on, what is done with keys */
    uint8_t flags, separator;
    uint8_t key, number; /* a field, signed, or a path */
    uint8_t characters;  /* the first of a key in three bits, and how many follow; 0: all */
    uint8_t records;     /* of a chunk, less one; 255, or of the last one: all that are left */
    uint8_t wanted;      /* what a record must have, or from 128 on, must not; 0: anything; a
                          * newline or carriage return: conditions */
    uint8_t keys_max;    /* 0: any number */
    uint8_t repeats;     /* of the text, less one */
    uint8_t names;       /* 0: the rest is the text; otherwise each byte of it makes a record, by
                          * one of so many names at most */
};

enum flag {
    HAS_UNITS = 1,
    HAS_MOMENTS = 2,
    HAS_HEADER = 4,
    HAS_DIGITS = 8, /* as bins */
    MOVES_EACH = 16,
    SORTS_EACH = 32, /* as --interval */
    BY_COUNT = 64,
    IS_SMALL = 128, /* each table, so that it is moved before a batch */
};

static struct binning digits, equal;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    number_prepare();
    fuzz_require(binning_digits(&digits, 2, false) == BINNING_OK &&
                     binning_equal(&equal, 0, 100, 10) == BINNING_OK,
                 "no bins");
    return 0;
}

/* --- what is counted --- */

static struct field made_field(const struct choices *choices, enum field_kind kind, uint8_t which)
{
    struct field field = {.kind = kind,
                          .number = (int8_t)which ? (int8_t)which : 1,
                          .separator = choices->separator,
                          .has_header = choices->flags & HAS_HEADER,
                          .after = which % 2 ? "=" : "rt="};
    field.after_len = strlen(field.after);
    if (field.separator == '\n' || (kind == FIELD_CSV && field.separator == '"'))
        field.separator = ',';
    fuzz_require(json_path_parse(paths[which % (sizeof paths / sizeof paths[0])], &field.path),
                 "no path");
    return field;
}

static void add_modifier(struct key *key, const struct key_modifier *modifier)
{
    key->modifiers[key->modifier_count++] = *modifier;
}

/* Adds a condition on the key's field, and perhaps one on another field. */
static void add_conditions(const struct choices *choices, const struct field *key,
                           struct line_filter *filter)
{
    static const char *const values[] = {"404", "\"ab\"", "10:05", "2026-11-22T10:05:07Z"};
    const char *value = values[choices->keys_max % 4];
    struct condition condition = {
        .name = "key", .key.field = *key, .comparison = (enum comparison)(choices->repeats % 6)};
    condition.key.field.has_units = choices->flags & HAS_UNITS;
    if (choices->keys_max / 4 % 8 < MODIFIERS)
        add_modifier(&condition.key, &modifiers[choices->keys_max / 4 % 8]);
    condition_set_value(&condition, value, strlen(value));
    line_filter_add_condition(filter, &condition);
    if (choices->wanted < 128)
        return;
    condition.name = "other";
    condition.key.field.number = 1;
    condition.comparison = COMPARE_UNEQUAL;
    line_filter_add_condition(filter, &condition);
}

static void build_spec(const struct choices *choices, char wanted[2], struct histogram_spec *spec)
{
    const size_t way = choices->way % WAYS;
    const struct field key = made_field(choices, ways[way].key, choices->key);
    const uint32_t first = choices->characters & 7, more = choices->characters >> 3;
    if (ways[way].number == FIELD_NONE) {
        histogram_spec_lines(spec);
        spec->lines.field = key;
    } else {
        histogram_spec_numbers(spec, choices->flags & HAS_DIGITS ? &digits : &equal);
        spec->has_moments = choices->flags & HAS_MOMENTS;
        spec->lines.field = made_field(choices, ways[way].number, choices->number);
        spec->lines.field.has_units = choices->flags & HAS_UNITS;
        spec->lines.field.is_time = spec->lines.field.kind != FIELD_AFTER &&
                                    !spec->lines.field.has_units && choices->number % 4 == 3;
    }
    spec->lines.keys[0] = (struct key){.field = key};
    spec->lines.key_count = 1;
    if (choices->characters) {
        const int32_t begin = (int32_t)first + 1, end = begin + (int32_t)more;
        add_modifier(&spec->lines.keys[0], &(struct key_modifier){.kind = KEY_CHARACTERS,
                                                                  .first = begin,
                                                                  .last = more == 31 ? -1 : end});
    }
    if (choices->way >= WAYS)
        add_modifier(&spec->lines.keys[0], &modifiers[(choices->way / WAYS - 1) % MODIFIERS]);
    wanted[0] = (char)(choices->wanted & 127);
    wanted[1] = '\0';
    if (wanted[0] == '\n' || wanted[0] == '\r')
        add_conditions(choices, &key, &spec->lines.filter);
    else if (wanted[0])
        line_filter_add(&spec->lines.filter, wanted, choices->wanted >= 128);
}

/* --- names that are drawn --- */

static const char *const names[] = {"200", "404", "503", "x\"y", "ab", "\xc3\xa9", "\\", "a,b"};

#define NAMES (sizeof names / sizeof names[0])
#define RECORD_SIZE 64 /* bytes of a record that is made, at most */

/* How much of a name is written in a way that it need not be. */
enum form { AS_IT_IS, QUOTED, FIRST_ESCAPED, ALL_ESCAPED };

/* A record that is made. */
struct made {
    char text[RECORD_SIZE];
    size_t len;
};

static void add(struct made *made, const char *text, size_t len)
{
    memcpy(made->text + made->len, text, len);
    made->len += len;
}

static void add_json(struct made *made, const char *name, enum form form)
{
    char escaped[8];
    if (form == AS_IT_IS && name[0] >= '1' && name[0] <= '9') {
        add(made, name, strlen(name));
        return;
    }
    add(made, "\"", 1);
    for (const char *at = name; *at; at++) {
        const bool is_wide = (unsigned char)*at >= 0x80; /* it has two bytes */
        if (form == ALL_ESCAPED || (form == FIRST_ESCAPED && at == name)) {
            snprintf(escaped, sizeof escaped, "\\u%04x",
                     is_wide ? (*at & 0x1f) << 6 | (at[1] & 0x3f) : *at);
            add(made, escaped, 6);
            at += is_wide;
        } else {
            if (*at == '"' || *at == '\\')
                add(made, "\\", 1);
            add(made, at, 1);
        }
    }
    add(made, "\"", 1);
}

/* FIRST_ESCAPED: the quotes are around the first byte. */
static void add_csv(struct made *made, const char *name, unsigned char separator, enum form form)
{
    const size_t len = strlen(name);
    const bool is_plain = !strchr(name, separator);
    const size_t quoted = is_plain && form == FIRST_ESCAPED && name[1] != '"' ? 1 : len;
    if (is_plain && form == AS_IT_IS) {
        add(made, name, len);
        return;
    }
    add(made, "\"", 1);
    for (size_t i = 0; i < quoted; i++)
        add(made, name[i] == '"' ? "\"\"" : name + i, 1 + (name[i] == '"'));
    add(made, "\"", 1);
    add(made, name + quoted, len - quoted);
}

/* Makes a record by a byte: which name, in which form, and a number. */
static void make_record(const struct choices *choices, uint8_t byte, struct made *made)
{
    const size_t way = choices->way % WAYS;
    const struct field key = made_field(choices, ways[way].key, choices->key);
    const char *name = names[byte % choices->names % NAMES];
    const char *number = ways[way].number == FIELD_AFTER ? "rt=" : "";
    const enum form form = (enum form)(byte / NAMES % 4);
    const unsigned char separator = key.kind == FIELD_BLANKS ? ' ' : key.separator;
    char rest[RECORD_SIZE / 2];
    made->len = 0;
    if (key.kind == FIELD_JSON) {
        add(made, "{\"a\":", 5);
        add_json(made, name, form);
        snprintf(rest, sizeof rest, ",\"b\":\"%s%d\"}\n", number, byte / 32);
    } else {
        if (key.kind == FIELD_CSV)
            add_csv(made, name, separator, form);
        else
            add(made, name, strlen(name));
        snprintf(rest, sizeof rest, "%c%s%d\n", separator, number, byte / 32);
    }
    add(made, rest, strlen(rest));
}

/* Sets text to the records of data[0..size). Returns its length. */
static size_t make_text(const struct choices *choices, const uint8_t *data, size_t size,
                        unsigned char *text)
{
    struct made made;
    size_t len = 0;
    for (size_t i = 0; i < size; i++, len += made.len) {
        make_record(choices, data[i], &made);
        memcpy(text + len, made.text, made.len);
    }
    return len;
}

/* --- the definition --- */

struct record {
    struct key_name name;
    size_t row;
    double value;
    int128 number; /* if is_whole: what was written, where the value may be rounded */
    bool is_whole;
};

struct listed {
    struct record *records;
    size_t count, keys;
    uint64_t invalid;
    unsigned char *scratch;
};

/* Whether a token is a whole number of 64 bits and a sign. */
static bool read_whole(const unsigned char *token, size_t len, int128 *number)
{
    size_t at = len > 0 && (token[0] == '-' || token[0] == '+');
    *number = 0;
    if (at == len)
        return false;
    for (; at < len; at++) {
        if (token[at] < '0' || token[at] > '9')
            return false;
        *number = *number * 10 + (token[at] - '0');
        if (*number > UINT64_MAX)
            return false;
    }
    *number = token[0] == '-' ? -*number : *number;
    return true;
}

static void read_number(const struct histogram_spec *spec, const unsigned char *from,
                        const unsigned char *to, const unsigned char *end, struct record *record)
{
    const bool has_units = spec->lines.field.has_units;
    unsigned char token[NUMBER_MAX];
    const size_t len = field_token(&spec->lines.field, &from, &to, end, token);
    if (len == 0)
        return;
    record->value = has_units ? naive_number_with_units(token, len) : naive_number(token, len);
    record->is_whole = read_whole(token, len, &record->number);
    if (!record->is_whole && fabs(naive_number(token, len)) <= MOMENTS_LARGE_END) {
        record->number = (int128)record->value;
        record->is_whole = true;
    }
}

/* Lists the record [begin, end), if it counts. */
static void list_record(const struct histogram_spec *spec, const unsigned char *begin,
                        const unsigned char *end, struct listed *listed)
{
    const unsigned char *from, *to;
    struct record record = {.value = NAN};
    if ((size_t)(end - begin) <= field_record_max(&spec->lines.field) &&
        !line_filter_keeps(&spec->lines.filter, begin, end, NULL))
        return;
    const enum field_found found = field_find(&spec->lines.field, begin, end, &from, &to);
    if (found == FIELD_EMPTY)
        return;
    if (found == FIELD_FOUND && spec->mode->is_binned)
        read_number(spec, from, to, end, &record);
    if (find_key(&spec->lines.keys[0], begin, end, listed->scratch, &record.name) != FIELD_FOUND)
        record.name = (struct key_name){NULL, 0};
    listed->scratch += key_scratch_size((size_t)(end - begin));
    listed->invalid += !record.name.bytes;
    if (spec->mode->is_binned) {
        const bool is_number = !isnan(record.value);
        listed->invalid += !is_number;
        record.row =
            is_number ? binning_row(&spec->binning, record.value) : ROW_INVALID(&spec->binning);
    }
    listed->records[listed->count++] = record;
}

/* Those without a name are first. */
static int compare_names(const struct key_name *a, const struct key_name *b)
{
    const size_t len = a->len < b->len ? a->len : b->len;
    if (!a->bytes || !b->bytes)
        return (a->bytes != NULL) - (b->bytes != NULL);
    const int order = len > 0 ? memcmp(a->bytes, b->bytes, len) : 0;
    return order != 0 ? order : a->len < b->len ? -1 : a->len > b->len;
}

static int compare_records(const void *a, const void *b)
{
    const struct record *one = a, *other = b;
    const int order = compare_names(&one->name, &other->name);
    return order != 0 ? order : one->row < other->row ? -1 : one->row > other->row;
}

/* Lists all records of a text, by name and row. */
static void list_records(const struct histogram_spec *spec, const unsigned char *text, size_t len,
                         unsigned char *scratch, struct listed *listed)
{
    const unsigned char *at = text, *const limit = text + len;
    *listed =
        (struct listed){.records = calloc(len + 1, sizeof(struct record)), .scratch = scratch};
    fuzz_require(listed->records != NULL, "out of memory");
    if (spec->lines.field.has_header)
        at = field_record_end(&spec->lines.field, at, limit);
    for (const unsigned char *end; at < limit; at = end + 1) {
        end = field_record_end(&spec->lines.field, at, limit);
        list_record(spec, at, end, listed);
    }
    qsort(listed->records, listed->count, sizeof listed->records[0], compare_records);
    for (size_t i = 0; i < listed->count; i++)
        listed->keys +=
            listed->records[i].name.bytes &&
            (i == 0 || compare_names(&listed->records[i - 1].name, &listed->records[i].name) != 0);
}

/* Returns the records of a key, and sets *count. */
static const struct record *records_of(const struct listed *listed, struct key_name name,
                                       size_t *count)
{
    size_t begin = 0, end = listed->count;
    while (begin < end) {
        const size_t middle = (begin + end) / 2;
        if (compare_names(&listed->records[middle].name, &name) < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    for (*count = 0; begin + *count < listed->count; ++*count)
        if (compare_names(&listed->records[begin + *count].name, &name) != 0)
            break;
    return listed->records + begin;
}

/* --- counting --- */

/* Counts by two tables in turns, as two threads might. */
struct counting {
    const struct count_plan *plan;
    const struct choices *choices;
    struct key_tallies *keys;
    struct keyed_counts keyed[2];
    struct tally tally;
};

static void count_part(struct counting *counting, const unsigned char *data, size_t len,
                       size_t index)
{
    struct keyed_counts *keyed = &counting->keyed[index % 2];
    unsigned char *copy = fuzz_copy(data, len);
    struct chunk chunk = {.data = copy, .len = len, .origin = {.bytes = len}};
    chunk.origin.has_header = index == 0 && counting->plan->spec->lines.field.has_header;
    count_chunk(counting->plan, &chunk, &counting->tally, NULL, keyed);
    free(copy);
    if (counting->choices->flags & MOVES_EACH)
        keyed_move(keyed);
    if (counting->choices->flags & SORTS_EACH) {
        fuzz_require(key_tallies_sort(counting->keys, KEYS_BY_NAME, 1) == 0, "out of memory");
        key_tallies_thaw(counting->keys);
    }
}

static void count_text(struct counting *counting, const unsigned char *text, size_t len)
{
    const unsigned char *from = text, *at = text, *const limit = text + len;
    for (size_t index = 0; from < limit; from = at, index++) {
        const bool is_last = index + 1 == CHUNKS_MAX || counting->choices->records == UINT8_MAX;
        const size_t records = is_last ? SIZE_MAX : counting->choices->records + (size_t)1;
        for (size_t i = 0; i < records && at < limit; i++) {
            at = field_record_end(&counting->plan->spec->lines.field, at, limit);
            at += at < limit;
        }
        count_part(counting, from, (size_t)(at - from), index);
    }
    for (int i = 0; i < 2; i++)
        keyed_move(&counting->keyed[i]);
}

/* --- comparing --- */

static void add_number(struct moments *moments, const struct record *record)
{
    struct large_numbers large = {.any = false};
    moments_widen(moments, record->value, record->value);
    if (isinf(record->value)) {
        moments->lowest += record->value < 0;
        moments->highest += record->value > 0;
        return;
    }
    exact_sum_add(&moments->sum, record->value);
    exact_sum_add_square(&moments->squares, record->value);
    if (record->is_whole)
        large_numbers_add(&large, record->value, record->number);
    if (large.any)
        moments_add_large(moments, &large);
}

static bool same_doubles(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void compare_moments(const struct moments *found, const struct record *records, size_t n)
{
    struct moments moments = {.any = false};
    uint64_t count = 0;
    int128 one = 0, other = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(records[i].value)) {
            add_number(&moments, &records[i]);
            count++;
        }
    fuzz_require(found->any == moments.any, "another number of numbers");
    if (!moments.any)
        return;
    fuzz_require(found->min == moments.min && found->max == moments.max, "another range");
    fuzz_require(found->lowest == moments.lowest && found->highest == moments.highest,
                 "another number of infinite ones");
    fuzz_require(same_doubles(moments_sum(found), moments_sum(&moments)), "another sum");
    fuzz_require(same_doubles(moments_deviation(found, count), moments_deviation(&moments, count)),
                 "another deviation");
    fuzz_require(moments_sum_large(found, &one) == moments_sum_large(&moments, &other) &&
                     one == other,
                 "another large sum");
    fuzz_require(moments_least_large(found, &one) == moments_least_large(&moments, &other) &&
                     one == other,
                 "another large least");
    fuzz_require(moments_greatest_large(found, &one) == moments_greatest_large(&moments, &other) &&
                     one == other,
                 "another large greatest");
}

/* Compares key i with its records, `n` of them. */
static void compare_key(const struct key_tallies *keys, size_t i, const struct record *records,
                        size_t n, struct tally *tally)
{
    fuzz_require(key_tallies_samples(keys, i) == n, "another number of samples");
    key_tallies_load(keys, i, tally);
    fuzz_require(tally->samples == n, "another number of samples is loaded");
    fuzz_require(tally_counted(tally) == n, "counts do not add up");
    for (size_t at = 0, next; at < n; at = next) {
        for (next = at; next < n && records[next].row == records[at].row;)
            next++;
        fuzz_require(tally->counts[records[at].row] == next - at, "another count");
    }
    if (tally->moments)
        compare_moments(tally->moments, records, n);
}

static double number_of(struct key_name name)
{
    for (size_t i = 0; i < name.len; i++)
        if (number_is_space(name.bytes[i]))
            return NAN;
    return name.len == 0 || name.len > NUMBER_MAX ? NAN : naive_number(name.bytes, name.len);
}

static void compare_order(const struct key_tallies *keys, enum key_order order)
{
    const size_t count = key_tallies_count(keys);
    bool are_numbers = true;
    for (size_t i = 0; i < count; i++)
        are_numbers &= !isnan(number_of(key_tallies_name(keys, i)));
    for (size_t i = 1; i < count; i++) {
        const struct key_name one = key_tallies_name(keys, i - 1), two = key_tallies_name(keys, i);
        const uint64_t of_one = key_tallies_samples(keys, i - 1);
        const uint64_t of_two = key_tallies_samples(keys, i);
        const bool names =
            are_numbers ? number_of(one) <= number_of(two) : compare_names(&one, &two) < 0;
        fuzz_require(order == KEYS_BY_NAME ? names : of_one > of_two || (of_one == of_two && names),
                     "another order");
    }
}

/* Joins times among keys that are sorted: no sample is lost, and no key is left that could be
 * joined. */
static void compare_joined(const struct key_tallies *keys, const struct histogram_spec *spec,
                           size_t samples, struct tally *tally)
{
    struct key_tallies *joined = NULL, *again = NULL;
    uint64_t total, invalid;
    const enum key_times how = key_times_join(keys, spec, true, tally, &joined);
    fuzz_require(how == KEY_TIMES_SAME || joined, "out of memory");
    if (!joined)
        return;
    key_tallies_add_up(joined, &total, &invalid);
    fuzz_require(total == samples, "another number of samples of joined keys");
    fuzz_require(key_tallies_sort(joined, KEYS_BY_NAME, 1) == 0, "out of memory");
    fuzz_require(key_tallies_count(joined) <= key_tallies_count(keys), "more keys");
    if (how == KEY_TIMES_JOINED)
        fuzz_require(key_times_join(joined, spec, true, tally, &again) == KEY_TIMES_SAME,
                     "keys are left to join");
    key_tallies_close(joined);
}

static void compare(struct key_tallies *keys, enum key_order order, const struct listed *listed,
                    const struct histogram_spec *spec)
{
    struct tally tally;
    struct row_blocks blocks;
    size_t n;
    fuzz_require(tally_open(&tally, spec) == 0 && key_tallies_sort(keys, order, 1) == 0,
                 "out of memory");
    row_blocks_clear(&blocks, tally.bins);
    tally.blocks = &blocks;
    const size_t count = key_tallies_count(keys);
    fuzz_require(count == listed->keys, "another number of keys");
    for (size_t i = 0; i <= count; i++) { /* the last one is that of records without a key */
        const struct key_name name = key_tallies_name(keys, i);
        const struct record *records = records_of(listed, name, &n);
        fuzz_require((name.bytes != NULL) == (i < count), "another name");
        compare_key(keys, i, records, n, &tally);
    }
    compare_order(keys, order);
    key_tallies_load_from(keys, 0, &tally);
    records_of(listed, (struct key_name){NULL, 0}, &n);
    fuzz_require(tally.samples == listed->count - n, "another number of samples of all keys");
    if (key_times_are_used(spec))
        compare_joined(keys, spec, listed->count, &tally);
    tally_close(&tally);
}

/* --- all together --- */

static void check_kernels(const struct cpu_kernels *kernels, const struct histogram_spec *spec,
                          const struct choices *choices, const unsigned char *text, size_t len,
                          const struct listed *listed)
{
    const struct count_plan plan = count_plan(kernels, spec);
    const size_t max = choices->keys_max ? choices->keys_max : SIZE_MAX;
    struct counting counting = {
        .plan = &plan, .choices = choices, .keys = key_tallies_open(spec, max, UINT64_MAX)};
    uint64_t newlines = 0;
    fuzz_require(counting.keys && keyed_open(&counting.keyed[0], counting.keys, 2, false) == 0 &&
                     keyed_open(&counting.keyed[1], counting.keys, 2, false) == 0,
                 "out of memory");
    if (choices->flags &
        IS_SMALL) { /* as where there are many keys: in turns by a table, and shared */
        counting.keyed[0].samples.max = 2;
        counting.keyed[1].shares = key_shares_open(counting.keys);
        counting.keyed[1].shared = UINT64_MAX;
        fuzz_require(counting.keyed[1].shares, "out of memory");
    }
    count_text(&counting, text, len);
    for (size_t i = 0; i < len; i++)
        newlines += text[i] == '\n';
    fuzz_require(counting.tally.bytes == len, "another number of bytes");
    fuzz_require(counting.tally.newlines == newlines, "another number of newlines");
    fuzz_require(counting.keyed[0].invalid + counting.keyed[1].invalid == listed->invalid,
                 "another number of invalid records");
    const enum key_tallies_state state = key_tallies_state(counting.keys);
    fuzz_require(state == (listed->keys > max ? KEYS_TOO_MANY : KEYS_COMPLETE), "another state");
    if (state == KEYS_COMPLETE)
        compare(counting.keys, choices->flags & BY_COUNT ? KEYS_BY_COUNT : KEYS_BY_NAME, listed,
                spec);
    keyed_close(&counting.keyed[0]);
    keyed_close(&counting.keyed[1]);
    key_tallies_close(counting.keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct choices choices;
    struct histogram_spec spec;
    struct listed listed;
    char wanted[2];
    if (size < sizeof choices)
        return 0;
    memcpy(&choices, data, sizeof choices);
    data += sizeof choices;
    size -= sizeof choices;
    unsigned char *once = malloc(RECORD_SIZE * size + 1);
    fuzz_require(once != NULL, "out of memory");
    if (choices.names > 0) {
        choices.key = 1; /* field 1 or .a, and field 2 or .b */
        choices.number = 2;
        size = make_text(&choices, data, size, once);
    } else {
        memcpy(once, data, size);
    }
    const size_t repeats = choices.repeats + (size_t)1;
    const size_t max = 1 + TEXT_MAX / (size + 1), times = repeats < max ? repeats : max;
    const size_t len = times * size;
    unsigned char *text = malloc(len + 1), *capacity = malloc((len + 1) * TIME_TEXT_MAX);
    fuzz_require(text && capacity, "out of memory");
    for (size_t i = 0; i < times; i++)
        memcpy(text + i * size, once, size);
    free(once);
    build_spec(&choices, wanted, &spec);
    list_records(&spec, text, len, capacity, &listed);
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        if ((*kernels)->runs_here())
            check_kernels(*kernels, &spec, &choices, text, len, &listed);
    free(listed.records);
    free(capacity);
    free(text);
    return 0;
}
