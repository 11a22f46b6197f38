/* SPDX-License-Identifier: MIT */
#include "merge.h"
#include "table_json.h"
#include "table_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Begins the reason with the FILE. */
static int merge_refuse(const char *name, struct reason *why)
{
    struct reason what = *why;
    reason_of(why, name, "%s", what.text);
    return -1;
}

/* The first word that the other list has not, or NULL. */
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

void merge_tell_options(struct reason *why, const char *name, const struct words *options,
                        const char *first, const struct words *first_options)
{
    const char *here = word_of_one(options, first_options);
    const char *there = word_of_one(first_options, options);
    struct reason subject;
    reason_of(&subject, first, "%s", "");
    reason_of(why, name, "was counted with%s %.200s, and %.*s with%s %.200s", here ? "" : "out",
              here ? here : there, (int)strlen(subject.text) - 2, subject.text, there ? "" : "out",
              there ? there : here);
    reason_make_printable(why);
}

struct words *merge_options(struct merge *merge)
{
    return merge->others.tables > 0 ? &merge->sorted.bins : &merge->options;
}

/* Whether the table is of a kind that can be merged. */
static int merge_check_kind(const struct read_table *table, struct reason *why)
{
    const char *schema = read_text(table, table->schema);
    if (read_table_check_schema(schema, strlen(schema), why) != 0)
        return -1;
    if (!(table->has & HAS_OPTIONS)) {
        reason_set(why, "has no \"options\", which say how it was counted");
        return -1;
    }
    return 0;
}

static int merge_begin(struct merge *merge, const struct read_table *table, const char *name,
                       struct reason *why)
{
    const struct words *options = &table->options;
    for (size_t i = 0; i < options->count; i++)
        if (words_add(&merge->options, options->list[i], strlen(options->list[i])) != 0)
            goto no_memory;
    if (merge->lay(options, &merge->histogram, why) != 0 ||
        merge->sort(options, &merge->sorted, why) != 0)
        return -1;
    if (merge->histogram.mode->has_characters && merge->has_moments) {
        reason_set(why,
                   "--stats of characters requires the number of bytes, which tables do not have");
        return -1;
    }
    merge->histogram.has_moments = merge->has_moments && merge->histogram.mode->is_binned;
    merge->first = name;
    if (tally_open(&merge->tally, &merge->histogram) == 0)
        return 0;
no_memory:
    reason_set(why, "out of memory");
    return -1;
}

/* Whether a table of other options than the first one has its bins; notes what differs. */
static int merge_check_bins(struct merge *merge, const struct read_table *table, const char *name,
                            struct reason *why)
{
    const struct table_words *first = &merge->sorted;
    struct table_words sorted;
    if (merge->sort(&table->options, &sorted, why) != 0)
        return merge_refuse(name, why);
    const bool are_same = words_same(&first->bins, &sorted.bins);
    const bool is_share = table->has & HAS_SHARE; /* of a job, which has one command line */
    if (!are_same)
        merge_tell_options(why, name, &sorted.bins, merge->first, &first->bins);
    else if (is_share)
        merge_tell_options(why, name, &sorted.sources, merge->first, &first->sources);
    else if (merge->others.tables == 0)
        merge_tell_options(&merge->others.how, name, &sorted.sources, merge->first,
                           &first->sources);
    table_words_free(&sorted);
    return are_same && !is_share ? 0 : -1;
}

/* Whether the table can be added by its options: those that say where samples came from may differ
 * from FILE to FILE. Tables in one FILE, which may be of one input, are made alike. */
static int merge_check_options(struct merge *merge, const struct read_table *table,
                               const char *name, struct reason *why)
{
    const struct words *options = &table->options;
    const bool is_as_last = merge->last && words_same(&merge->last_options, options);
    if (merge->last == name && !is_as_last) {
        merge_tell_options(why, name, options, name, &merge->last_options);
        struct reason what = *why;
        reason_set(why, "%s; merge the tables of one histogram at a time", what.text);
        return -1;
    }
    if (words_same(&merge->options, options))
        return 0;
    /* Whether a table is refused must not depend on which ones the thread has read before. */
    if ((!is_as_last || table->has & HAS_SHARE) && merge_check_bins(merge, table, name, why) != 0)
        return -1;
    if (merge->others.tables++ == 0)
        merge->others.file = merge->file;
    return 0;
}

/* Whether mode and type are those of the options. */
static int merge_check_mode(const struct merge *merge, const struct read_table *table,
                            struct reason *why)
{
    const struct histogram *histogram = &merge->histogram;
    const char *type = histogram->mode->has_types ? histogram->type.name : "";
    if (strcmp(read_text(table, table->mode), histogram->mode->name) == 0 &&
        strcmp(read_text(table, table->type), type) == 0)
        return 0;
    reason_set(why, "\"mode\" and \"type\" are not those of \"options\"");
    return -1;
}

static int merge_add_share(struct merge *merge, const struct read_table *table, const char *name,
                           struct reason *why)
{
    const bool is_share = table->has & HAS_SHARE;
    struct reason first;
    if (merge_has_tables(merge) && is_share != (merge->shares.first != NULL)) {
        reason_of(&first, merge->first, "%s", "");
        reason_of(why, name, "is %s share (--part), and %.*s is %s", is_share ? "a" : "not a",
                  (int)strlen(first.text) - 2, first.text, is_share ? "not" : "one");
        return -1;
    }
    return is_share ? share_join_add(&merge->shares, &table->share, name, why) : 0;
}

/* Adds the rows and the moments, which are proved before. */
static int merge_add_rows(struct merge *merge, struct read_table *table, const char *name,
                          struct reason *why)
{
    const struct histogram *histogram = &merge->histogram;
    struct moments *moments = calloc(histogram_channels(histogram), sizeof *moments);
    int rc = -1;
    if (!moments)
        reason_set(why, "out of memory");
    else if (table_rows_check(table, histogram, moments, why) != 0)
        merge_refuse(name, why);
    else if (__builtin_add_overflow(merge->total, table->totals.total, &merge->total))
        reason_of(why, name, MERGE_OVERFLOW);
    else
        rc = 0;
    if (rc == 0)
        table_rows_add(table, histogram, moments, &merge->tally);
    free(moments);
    return rc;
}

int merge_add(struct merge *merge, struct read_table *table, const char *name, struct reason *why)
{
    if (merge_check_kind(table, why) != 0)
        return merge_refuse(name, why);
    if (!merge->first && merge_begin(merge, table, name, why) != 0)
        return merge_refuse(name, why);
    if (merge_check_options(merge, table, name, why) != 0)
        return -1;
    if (merge_check_mode(merge, table, why) != 0)
        return merge_refuse(name, why);
    if (merge_add_rows(merge, table, name, why) != 0)
        return -1;
    if (merge_add_share(merge, table, name, why) != 0)
        return -1;
    merge->tables++;
    merge->last = name;
    const struct words last = merge->last_options;
    merge->last_options = table->options;
    table->options = last; /* which is freed with the table */
    return 0;
}

void merge_know_rows(struct merge *merge, uint64_t bytes)
{
    if (merge->known.rows == 0 && !merge->is_part && known_rows_pay(&merge->histogram, bytes))
        known_rows_make(&merge->known, &merge->histogram);
}

bool merge_has_tables(const struct merge *merge)
{
    return merge->tables > 0 || merge->is_part;
}

int merge_fork(const struct merge *merge, struct merge *part)
{
    *part = *merge;
    part->is_part = true;
    part->total = part->tables = 0;
    part->last = NULL;
    part->last_options = (struct words){.list = NULL};
    part->others = (struct merge_others){.tables = 0};
    share_join_fork(&merge->shares, &part->shares);
    return tally_open(&part->tally, &part->histogram);
}

int merge_join(struct merge *merge, struct merge *part)
{
    const int rc = share_join_move(&merge->shares, &part->shares);
    tally_add(&merge->tally, &part->tally);
    merge->total = merge->tally.samples;
    merge->tables += part->tables;
    const uint64_t others = merge->others.tables + part->others.tables;
    if (part->others.tables > 0 &&
        (merge->others.tables == 0 || part->others.file < merge->others.file))
        merge->others = part->others;
    merge->others.tables = others;
    merge_free_part(part);
    return rc;
}

void merge_free_part(struct merge *part)
{
    tally_close(&part->tally);
    words_free(&part->last_options);
    share_join_free(&part->shares);
}

void merge_free(struct merge *merge)
{
    tally_close(&merge->tally);
    binning_free(&merge->histogram.binning);
    words_free(&merge->options);
    table_words_free(&merge->sorted);
    words_free(&merge->last_options);
    share_join_free(&merge->shares);
    known_rows_free(&merge->known);
    merge->first = NULL;
}
