/* SPDX-License-Identifier: MIT */
#include "parsed_table.h"

#include <inttypes.h>
#include <string.h>

#define NO_MATCH "its keys and \"options\" do not match"

static int refuse_top(struct error *error)
{
    return error_set(error, "was printed with --top, so keys are missing; print it without, and "
                            "give --top to --merge");
}

/* True if a key has what it must have: a text, and perhaps bytes, or nothing at all; and as many
 * parts as there are keys. */
static bool is_complete(const struct read_key *key, const struct histogram_spec *spec)
{
    const unsigned parts = spec->lines.key_count > 1 ? spec->lines.key_count : 0;
    if (key->has == READ_KEY_MISSING)
        return true;
    return key->has & READ_KEY_TEXT && key->text_parts == parts &&
           (!(key->has & READ_KEY_BYTES) || key->bytes_parts == parts);
}

static struct key_name name_of(const struct parsed_table *table, const struct read_key *key)
{
    const bool is_bytes = key->has & READ_KEY_BYTES;
    if (key->has & READ_KEY_MISSING)
        return (struct key_name){NULL, 0};
    return (struct key_name){
        (const unsigned char *)table_text(table, is_bytes ? key->bytes : key->text),
        is_bytes ? key->bytes_len : key->text_len};
}

/* --- numbers: a table for each key --- */

static int check_numbers(const struct parsed_table *table, const struct histogram_spec *spec,
                         struct error *error)
{
    const bool has_key = table->has & HAS_KEY, has_keys = table->has & HAS_KEYS;
    if (has_key == has_keys || table->key_count > 0 || (has_key && !is_complete(&table->key, spec)))
        return error_set(error, NO_MATCH);
    if (!(table->has & HAS_TABLE) || !(table->has & HAS_TABLES) || table->table == 0 ||
        table->table > table->tables)
        return error_set(error, "lacks \"table\" or \"tables\", or they are wrong");
    if (has_keys && table->keys > 0)
        return refuse_top(error);
    if (has_keys && (table->totals.total > 0 || table->tables > 1))
        return error_set(error, NO_MATCH);
    return 0;
}

/* --- lines: a row for each key --- */

/* True if each row has a key. */
static bool has_keys(const struct parsed_table *table, const struct histogram_spec *spec)
{
    if (table->key_count != table->row_count || table->count_count != table->row_count)
        return false;
    for (size_t i = 0; i < table->key_count; i++)
        if (!(table->keys_of_rows[i].has & READ_KEY_TEXT) ||
            !is_complete(&table->keys_of_rows[i], spec))
            return false;
    return true;
}

static int check_lines(const struct parsed_table *table, const struct histogram_spec *spec,
                       struct error *error)
{
    const uint64_t needed = HAS_TOTAL | HAS_COUNTED | HAS_OTHER | HAS_INVALID | HAS_BINS;
    const struct read_totals *totals = &table->totals;
    uint64_t counted = 0;
    if ((table->has & needed) != needed)
        return error_set(error, "lacks \"total\", \"counted\", \"other\", \"invalid\" or \"bins\"");
    if ((table->has & (HAS_KEY | HAS_KEYS)) || !has_keys(table, spec))
        return error_set(error, NO_MATCH);
    for (size_t i = 0; i < table->row_count; i++)
        if (__builtin_add_overflow(counted, table->counts[i], &counted))
            return error_set(error, "counts beyond 2^64");
    if (counted != totals->counted)
        return error_set(error, "the bins add up to %" PRIu64 ", and \"counted\" is %" PRIu64,
                         counted, totals->counted);
    if (counted > totals->total || totals->total - counted != totals->other ||
        totals->invalid > totals->other)
        return error_set(error, "\"counted\" and \"other\" do not add up to \"total\"");
    return totals->other == totals->invalid ? 0 : refuse_top(error);
}

/* --- either --- */

int table_keys_check(const struct parsed_table *table, const struct histogram_spec *spec,
                     struct error *error)
{
    if (spec->lines.key_count > 0)
        return spec->mode->is_binned ? check_numbers(table, spec, error)
                                     : check_lines(table, spec, error);
    return table->key_count > 0 || (table->has & HAS_KEY) ? error_set(error, NO_MATCH) : 0;
}

static void add_lines(const struct parsed_table *table, struct key_tallies *keys)
{
    const struct tally missing = {.samples = table->totals.invalid};
    for (size_t i = 0; i < table->row_count; i++)
        if (table->counts[i] > 0) /* or no line has the key, and it is not to be counted as one */
            key_tallies_add(keys, name_of(table, &table->keys_of_rows[i]),
                            &(struct tally){.samples = table->counts[i]});
    key_tallies_add(keys, (struct key_name){NULL, 0}, &missing);
}

void table_keys_add(const struct parsed_table *table, const struct tally *tally,
                    struct key_tallies *keys)
{
    if (key_tallies_state(keys) != KEYS_COMPLETE) /* and memory is not to grow */
        return;
    if (!tally->blocks)
        add_lines(table, keys);
    else if (table->has & HAS_KEY)
        key_tallies_add(keys, name_of(table, &table->key), tally);
}
