/* SPDX-License-Identifier: MIT */
#include "merge.h"
#include "table_json.h"
#include "table_rows.h"

#include <stdio.h>
#include <string.h>

/* Begins the reason with the FILE. */
static int merge_refuse(const char *name, struct reason *why)
{
    struct reason what = *why;
    reason_of(why, name, "%s", what.text);
    return -1;
}

int merge_refuse_options(const struct merge *merge, const struct words *options, const char *name,
                         struct reason *why)
{
    const struct words *first = &merge->options;
    struct reason of_first;
    size_t i = 0;
    while (i < first->count && i < options->count && strcmp(first->list[i], options->list[i]) == 0)
        i++;
    const char *here = i < options->count ? options->list[i] : "";
    const char *there = i < first->count ? first->list[i] : "";
    reason_of(&of_first, merge->first, "%s", "");
    const bool is_same_file = strcmp(name, merge->first) == 0; /* as --also prints them */
    reason_of(why, name, "was counted with%s%.200s, and %.*s with%s%.200s%s", *here ? " " : "out ",
              *here ? here : there, (int)strlen(of_first.text) - 2, of_first.text,
              *there ? " " : "out ", *there ? there : here,
              is_same_file ? "; merge the tables of one histogram at a time" : "");
    return -1;
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
    bool is_coarse;
    for (size_t i = 0; i < table->options.count; i++)
        if (words_add(&merge->options, table->options.list[i], strlen(table->options.list[i])) != 0)
            goto no_memory;
    if (merge->lay(&table->options, &merge->histogram, &is_coarse, why) != 0)
        return -1;
    if (is_coarse) {
        reason_set(why, "its bins were laid over what was seen (--bins without --min and --max); "
                        "count without --bins, and give it to --merge");
        return -1;
    }
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

int merge_add(struct merge *merge, struct read_table *table, const char *name, struct reason *why)
{
    struct moments moments;
    if (merge_check_kind(table, why) != 0)
        return merge_refuse(name, why);
    if (!merge->first && merge_begin(merge, table, name, why) != 0)
        return merge_refuse(name, why);
    if (!words_same(&merge->options, &table->options))
        return merge_refuse_options(merge, &table->options, name, why);
    if (merge_check_mode(merge, table, why) != 0 ||
        table_rows_check(table, &merge->histogram, &moments, why) != 0)
        return merge_refuse(name, why);
    if (__builtin_add_overflow(merge->total, table->totals.total, &merge->total)) {
        reason_of(why, name, MERGE_OVERFLOW);
        return -1;
    }
    table_rows_add(table, &merge->histogram, &moments, &merge->tally);
    if (merge_add_share(merge, table, name, why) != 0)
        return -1;
    merge->tables++;
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
    share_join_fork(&merge->shares, &part->shares);
    return tally_open(&part->tally, &part->histogram);
}

int merge_join(struct merge *merge, struct merge *part)
{
    const int rc = share_join_move(&merge->shares, &part->shares);
    tally_add(&merge->tally, &part->tally);
    merge->total = merge->tally.samples;
    merge->tables += part->tables;
    merge_free_part(part);
    return rc;
}

void merge_free_part(struct merge *part)
{
    tally_close(&part->tally);
    share_join_free(&part->shares);
}

void merge_free(struct merge *merge)
{
    tally_close(&merge->tally);
    binning_free(&merge->histogram.binning);
    words_free(&merge->options);
    share_join_free(&merge->shares);
    known_rows_free(&merge->known);
    merge->first = NULL;
}
