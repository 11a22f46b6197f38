/* SPDX-License-Identifier: MIT */
#include "parsed_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the first word that the other list has not, or NULL. */
static const char *word_of_one(const struct words *words, const struct words *other)
{
    for (size_t i = 0; i < words->count; i++) {
        size_t k = 0;
        while (k < other->count && strcmp(words->list[i], other->list[k]) != 0)
            k++;
        if (k == other->count)
            return words->list[i];
    }
    return NULL;
}

void merge_show_difference(struct error *error, const struct words *options, const char *first,
                           const struct words *first_options)
{
    const char *here = word_of_one(options, first_options);
    const char *there = word_of_one(first_options, options);
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(first, shown);
    if (here || there)
        error_set(error, "was counted with%s %.200s, but %s with%s %.200s", here ? "" : "out",
                  here ? here : there, shown, there ? "" : "out", there ? there : here);
    else
        error_set(error, "was counted with the options of %s in another order", shown);
    error_make_printable(error);
}

struct words *merge_options(struct merge *merge)
{
    return merge->others.tables > 0 ? &merge->first.sorted.bins : &merge->first.options;
}

/* Checks that numbers up to each edge are known. 0, or -1 with an error. */
static int check_cumulative(const struct histogram_spec *spec, struct error *error)
{
    if (!spec->binning.is_right)
        return error_set(
            error, "was counted without --right; --format=prometheus needs --right and --stats");
    return histogram_spec_channels(spec) == 1
               ? 0
               : error_set(error, "has several channels, which --format=prometheus cannot show");
}

/* Gives the tally blocks, for numbers by key: each key has few of their rows. */
static void begin_blocks(struct merge *merge)
{
    if (!merge->keys || !merge->spec.mode->is_binned)
        return;
    row_blocks_clear(&merge->blocks, merge->tally.bins);
    merge->tally.blocks = &merge->blocks;
}

/* 0, or -1 if memory is short. */
static int begin_keys(struct merge *merge)
{
    const struct merge_form *form = &merge->form;
    if (merge->spec.lines.key_count == 0)
        return 0;
    merge->keys = key_tallies_open(&merge->spec, form->max_keys, form->max_key_bytes);
    begin_blocks(merge);
    return merge->keys ? 0 : -1;
}

/* Makes the sum one of the first table's bins. 0, or -1 with an error. */
static int begin(struct merge *merge, const struct parsed_table *table, const char *name,
                 struct error *error)
{
    const struct words *options = &table->options;
    if (words_copy(&merge->first.options, options) != 0)
        goto no_memory;
    if (merge->form.build(options, &merge->spec, error) != 0 ||
        merge->form.sort(options, &merge->first.sorted, error) != 0)
        return -1;
    if (merge->spec.mode->has_characters && merge->form.has_moments)
        return error_set(
            error, "--stats of characters needs the number of bytes, which tables do not hold");
    if (merge->form.is_cumulative && check_cumulative(&merge->spec, error) != 0)
        return -1;
    const bool has_order = merge->form.has_order && merge->spec.lines.key_count > 0;
    merge->spec.has_moments =
        ((merge->form.has_moments || has_order) && merge->spec.mode->is_binned) ||
        merge->form.is_cumulative;
    merge->first.name = name;
    if (tally_open(&merge->tally, &merge->spec) == 0 && begin_keys(merge) == 0)
        return 0;
no_memory:
    error_set(error, "out of memory");
    return -1;
}

/* Accepts a table whose options are not those of the first one, if its bins are the same. Shards
 * are of one job, which has one command line. 0, or -1 with an error. */
static int accept_other(struct merge *merge, const struct parsed_table *table, const char *name,
                        struct error *error)
{
    const struct table_words *first = &merge->first.sorted;
    const bool is_shard = table->has & HAS_SHARE;
    struct merge_others *others = &merge->others;
    struct table_words sorted;
    if (merge->form.sort(&table->options, &sorted, error) != 0)
        return -1;
    const bool are_same = words_same(&first->bins, &sorted.bins);
    if (!are_same || is_shard) {
        merge_show_difference(error, are_same ? &sorted.sources : &sorted.bins, merge->first.name,
                              are_same ? &first->sources : &first->bins);
    } else if (others->tables++ == 0) {
        others->file = merge->file;
        merge_show_difference(&others->how, &sorted.sources, merge->first.name, &first->sources);
        error_begin(&others->how, name);
    }
    table_words_free(&sorted);
    return are_same && !is_shard ? 0 : -1;
}

/* Checks a table's options: those that say where samples came from may differ from file to file.
 * Tables in one file, which may be of one input, have the same. 0, or -1 with an error. */
static int check_options(struct merge *merge, const struct parsed_table *table, const char *name,
                         struct error *error)
{
    const struct words *options = &table->options;
    if (merge->last.name == name && !words_same(&merge->last.options, options)) {
        struct error how;
        merge_show_difference(&how, options, name, &merge->last.options);
        return error_set(error, "%s; merge the tables of one histogram at a time", how.text);
    }
    return words_same(&merge->first.options, options) ? 0 : accept_other(merge, table, name, error);
}

/* Checks that mode and type are those of the options. 0, or -1 with an error. */
static int check_mode(const struct merge *merge, const struct parsed_table *table,
                      struct error *error)
{
    const struct histogram_spec *spec = &merge->spec;
    const char *type = spec->mode->has_types ? spec->type.name : "";
    if (strcmp(table_text(table, table->mode), spec->mode->name) == 0 &&
        strcmp(table_text(table, table->type), type) == 0)
        return 0;
    return error_set(error, "\"mode\" and \"type\" do not match \"options\"");
}

static int add_shard(struct merge *merge, struct parsed_table *table, const char *name,
                     struct error *error)
{
    const bool is_shard = table->has & HAS_SHARE;
    if (merge->keys && table->table > 1) /* which the first one of a result tells */
        return is_shard ? error_set(error, "has \"share\", as only the first table has") : 0;
    char first[ERROR_SUBJECT_MAX];
    const bool is_first = merge->tables == 0 && !merge->is_fork;
    if (!is_first && is_shard != (merge->shards.first != NULL)) {
        error_show_subject(merge->first.name, first);
        return error_set(error, "is %s share (--part), but %s is %s", is_shard ? "a" : "not a",
                         first, is_shard ? "not" : "one");
    }
    return is_shard ? shard_join_add(&merge->shards, &table->shard, name, error) : 0;
}

/* Adds a table that was checked. */
static void add_checked(struct merge *merge, const struct parsed_table *table,
                        const struct moments *moments)
{
    struct tally *tally = &merge->tally;
    const uint64_t samples = tally->samples + table->totals.total;
    if (!merge->keys || tally->blocks)
        table_rows_add(table, &merge->spec, moments, tally);
    if (merge->keys) {
        tally->samples = table->totals.total;
        table_keys_add(table, tally, merge->keys);
    }
    if (tally->blocks)
        tally_clear_blocks(tally);
    tally->samples = samples;
}

/* Checks rows and moments, and adds them. 0, or -1 with an error. */
static int add_rows(struct merge *merge, struct parsed_table *table, struct error *error)
{
    const struct histogram_spec *spec = &merge->spec;
    const bool is_lines = merge->keys && !spec->mode->is_binned;
    struct moments *moments = calloc(histogram_spec_channels(spec), sizeof *moments);
    int rc = -1;
    if (!moments) {
        error_set(error, "out of memory");
    } else if (is_lines || table_rows_check(table, spec, &merge->seen, moments, error) == 0) {
        if (__builtin_add_overflow(merge->total, table->totals.total, &merge->total)) {
            error_set(error, MERGE_OVERFLOW);
        } else {
            add_checked(merge, table, moments);
            rc = 0;
        }
    }
    free(moments);
    return rc;
}

int merge_end_file(struct merge *merge, const char *name, struct error *error)
{
    const struct merge_last *last = &merge->last;
    if (!merge->tally.blocks || last->name != name || last->table == last->tables)
        return 0;
    return error_set(error,
                     "ends after table %" PRIu64 " of %" PRIu64 " of a result: it is truncated",
                     last->table, last->tables);
}

/* Checks that a table of numbers by key follows the one before it in its file. 0, or -1 with an
 * error. */
static int check_position(const struct merge *merge, const struct parsed_table *table,
                          const char *name, struct error *error)
{
    const bool is_open = merge->last.name == name && merge->last.table < merge->last.tables;
    const uint64_t next = is_open ? merge->last.table + 1 : 1;
    if (!merge->tally.blocks ||
        (table->table == next && (!is_open || table->tables == merge->last.tables)))
        return 0;
    return error_set(error,
                     "is table %" PRIu64 " of %" PRIu64 " of a result, and does not follow the "
                     "one before it; give --merge all tables of a result, in their order",
                     table->table, table->tables);
}

int merge_add(struct merge *merge, struct parsed_table *table, const char *name,
              struct error *error)
{
    if (!(table->has & HAS_OPTIONS))
        return error_set(error, "has no \"options\", which say how it was counted");
    if ((!merge->first.name && begin(merge, table, name, error) != 0) ||
        check_options(merge, table, name, error) != 0 || check_mode(merge, table, error) != 0 ||
        table_keys_check(table, &merge->spec, error) != 0 ||
        check_position(merge, table, name, error) != 0 || add_rows(merge, table, error) != 0 ||
        add_shard(merge, table, name, error) != 0)
        return -1;
    merge->tables++;
    merge->last.name = name;
    merge->last.table = table->table;
    merge->last.tables = table->tables;
    const struct words last = merge->last.options;
    merge->last.options = table->options;
    table->options = last; /* freed with the table */
    return 0;
}

int merge_fork(const struct merge *merge, struct merge *fork)
{
    *fork = *merge;
    fork->is_fork = true;
    fork->total = fork->tables = 0;
    fork->last = (struct merge_last){.name = NULL};
    fork->others = (struct merge_others){.tables = 0};
    fork->seen = (struct seen_rows){.base = &merge->seen};
    fork->shards = (struct shard_join){.first = merge->shards.first, .job = merge->shards.job};
    const int rc = tally_open(&fork->tally, &fork->spec);
    if (rc == 0)
        begin_blocks(fork);
    return rc;
}

int merge_join(struct merge *merge, struct merge *fork)
{
    const int rc = shard_join_move(&merge->shards, &fork->shards);
    tally_add(&merge->tally, &fork->tally);
    merge->total = merge->tally.samples;
    merge->tables += fork->tables;
    const uint64_t others = merge->others.tables + fork->others.tables;
    if (fork->others.tables > 0 &&
        (merge->others.tables == 0 || fork->others.file < merge->others.file))
        merge->others = fork->others;
    merge->others.tables = others;
    merge_free_fork(fork);
    return rc;
}

void merge_free_fork(struct merge *fork)
{
    tally_close(&fork->tally);
    words_free(&fork->last.options);
    seen_rows_free(&fork->seen);
    shard_join_free(&fork->shards);
}

void merge_free(struct merge *merge)
{
    merge_free_fork(merge);
    key_tallies_close(merge->keys);
    merge->keys = NULL;
    binning_free(&merge->spec.binning);
    words_free(&merge->first.options);
    table_words_free(&merge->first.sorted);
    merge->first.name = NULL;
}
