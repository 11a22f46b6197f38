/* SPDX-License-Identifier: MIT */
#include "read_json.h"

#include "src/cli/options.h"
#include "src/merge/table_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_JSON_KEYS 1000

static int take_table(void *arg, struct read_table *table, struct reason *why)
{
    struct read_json *reading = arg;
    struct merge *sum = &reading->sum;
    for (size_t i = 0; i < table->row_count; i++)
        reading->rows_known += table->rows[i].row != READ_ROW_UNKNOWN && table->rows[i].lo == 0 &&
                               table->rows[i].hi == 0;
    if (merge_add(sum, table, "text", why) != 0)
        return -1;
    if (sum->histogram.binning.bins <= reading->knows && sum->known.rows == 0 &&
        known_rows_pay(&sum->histogram, UINT64_MAX))
        known_rows_make(&sum->known, &sum->histogram);
    return 0;
}

void read_json(struct read_json *reading, const char *text, size_t len)
{
    struct read_table table = {.text = NULL};
    struct merge *sum = &reading->sum;
    struct reason *why = &reading->why;
    *sum = (struct merge){.form.lay = options_lay,
                          .form.sort = options_sort,
                          .form.max_keys = READ_JSON_KEYS,
                          .form.max_key_bytes = UINT64_MAX};
    *why = (struct reason){""};
    reading->rows_known = 0;
    struct table_json *json = NULL;
    int rc = table_json_load(why);
    const struct table_reader reader = {.table = &table,
                                        .histogram = &sum->histogram,
                                        .known = &sum->known,
                                        .max_keys = sum->form.max_keys,
                                        .add = take_table,
                                        .arg = reading};
    if (rc == 0 && !(json = table_json_open(&reader)))
        abort();
    for (size_t at = 0; at < len && rc == 0;) {
        const char *newline = reading->piece ? NULL : memchr(text + at, '\n', len - at);
        size_t piece = newline ? (size_t)(newline - text) + 1 - at : len - at;
        if (reading->piece && reading->piece < piece)
            piece = reading->piece;
        rc = table_json_read(json, (const unsigned char *)text + at, piece, why);
        at += piece;
    }
    if (rc == 0)
        table_json_end(json, why);
    table_json_close(json);
    read_table_free(&table);
}

static bool same_moments(const struct moments *one, const struct moments *other)
{
    if (!one || !other)
        return one == other;
    return one->any == other->any && one->min == other->min && one->max == other->max &&
           one->least == other->least && one->greatest == other->greatest &&
           one->lowest == other->lowest && one->highest == other->highest &&
           moments_sum(one) == moments_sum(other);
}

bool same_keys(const struct merge *one, const struct merge *other)
{
    if (!one->keys || !other->keys)
        return one->keys == other->keys;
    if (key_tallies_sort(one->keys, KEYS_BY_NAME, 1) != 0 ||
        key_tallies_sort(other->keys, KEYS_BY_NAME, 1) != 0)
        abort();
    const size_t count = key_tallies_count(one->keys);
    bool same = count == key_tallies_count(other->keys);
    for (size_t i = 0; same && i <= count; i++) {
        const struct key_name name = key_tallies_name(one->keys, i);
        const struct key_name other_name = key_tallies_name(other->keys, i);
        same = name.len == other_name.len &&
               key_tallies_samples(one->keys, i) == key_tallies_samples(other->keys, i) &&
               (name.len == 0 || memcmp(name.bytes, other_name.bytes, name.len) == 0);
    }
    key_tallies_thaw(one->keys);
    key_tallies_thaw(other->keys);
    return same;
}

static bool same_sums(const struct merge *one, const struct merge *other)
{
    const struct tally *a = &one->tally, *b = &other->tally;
    if (a->bins != b->bins || a->samples != b->samples || one->tables != other->tables ||
        one->total != other->total || !words_same(&one->first.options, &other->first.options) ||
        one->shards.count != other->shards.count)
        return false;
    return memcmp(a->counts, b->counts, a->bins * sizeof a->counts[0]) == 0 &&
           same_moments(a->moments, b->moments) && same_keys(one, other);
}

/* Whether reasons are the same but for the byte, which of a text that is not JSON is only about
 * where it is: for the library a token ends with the piece. */
static bool same_reasons(const char *one, const char *other)
{
    const char *not_json = strstr(one, ": not JSON");
    const char *other_not_json = strstr(other, ": not JSON");
    if (not_json && other_not_json)
        return strcmp(not_json, other_not_json) == 0;
    return strcmp(one, other) == 0;
}

bool read_json_agrees(struct read_json *reading, const char *text, size_t len)
{
    struct read_json plain = {.knows = 0};
    read_json(reading, text, len);
    read_json(&plain, text, len);
    const char *why = reading->why.text, *plain_why = plain.why.text;
    const bool agrees = !*why == !*plain_why && (*why ? same_reasons(plain_why, why)
                                                      : same_sums(&plain.sum, &reading->sum));
    if (!agrees)
        printf("library: %s\nknown: %s\n", plain_why, why);
    merge_free(&plain.sum);
    return agrees;
}
