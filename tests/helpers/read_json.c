/* SPDX-License-Identifier: MIT */
#include "read_json.h"
#include "src/tally/key_tallies.h"

#include "src/cli/cli.h"
#include "src/merge/parsed_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_JSON_KEYS 1000

/* The text, and how much of it is read at a time. */
struct pieces {
    const char *text;
    size_t len, piece;
};

static ssize_t read_piece(void *arg, unsigned char *to, size_t size)
{
    struct pieces *pieces = arg;
    const char *newline = pieces->piece ? NULL : memchr(pieces->text, '\n', pieces->len);
    size_t len = newline         ? (size_t)(newline - pieces->text) + 1
                 : pieces->piece ? pieces->piece
                                 : pieces->len;
    len = len < pieces->len ? len : pieces->len;
    len = len < size ? len : size;
    memcpy(to, pieces->text, len);
    pieces->text += len;
    pieces->len -= len;
    return (ssize_t)len;
}

void read_json(struct read_json *reading, const char *text, size_t len)
{
    struct pieces pieces = {text, len, reading->piece};
    struct table_reader reader = {.input.read = read_piece, .input.arg = &pieces};
    struct merge *sum = &reading->sum;
    struct error *error = &reading->error;
    *sum = (struct merge){.form.build = options_build,
                          .form.sort = options_sort,
                          .form.max_keys = READ_JSON_KEYS,
                          .form.max_key_bytes = UINT64_MAX};
    *error = (struct error){""};
    if (table_reader_begin(&reader) != 0)
        abort();
    while (table_reader_next(&reader, sum, error) > 0 &&
           merge_add(sum, &reader.table, "text", error) == 0)
        if (reading->forgets)
            seen_rows_free(&sum->seen);
    reading->rows_seen = 0;
    for (size_t row = 0; sum->seen.at && row < histogram_spec_rows(&sum->spec); row++)
        reading->rows_seen += sum->seen.at[row] != 0;
    table_reader_free(&reader);
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

bool read_json_agrees(struct read_json *reading, const char *text, size_t len)
{
    struct read_json anew = {.forgets = true};
    read_json(reading, text, len);
    read_json(&anew, text, len);
    const char *why = reading->error.text, *anew_why = anew.error.text;
    const bool agrees = strcmp(why, anew_why) == 0 && (*why || same_sums(&anew.sum, &reading->sum));
    if (!agrees)
        printf("anew: %s\nseen: %s\n", anew_why, why);
    merge_free(&anew.sum);
    return agrees;
}
