/* SPDX-License-Identifier: MIT */
/* --diff: two tables that were made before, compared. */
#include "main.h"

#include "src/cli/diag.h"
#include "src/tally/coarsen.h"
#include "src/merge/merge.h"
#include "src/report/report.h"

#include <stdlib.h>
#include <string.h>

struct sides {
    struct merge before, after;
    struct tally both;           /* their sum */
    struct histogram_spec *spec; /* of all three, once they match: that of `before` */
};

/* --- one side --- */

/* Checks that no shard of the table is missing. The error begins with the file. */
static int check_shards(const struct merge *side, struct error *error)
{
    struct shard_record record = {.shard_count = 0};
    char shown[ERROR_SUBJECT_MAX];
    const int rc = shard_join_finish(&side->shards, false, &record, error);
    error_show_subject(side->first.name, shown);
    if (rc != 0 && strncmp(error->text, shown, strlen(shown)) != 0)
        error_begin(error, side->first.name);
    shard_record_free(&record);
    return rc;
}

/* Reads the tables of a file, added up. */
static int read_side(struct preopened *file, struct merge *side, struct error *error)
{
    int rc = merge_file(file, side, error);
    if (rc == 0 && side->shards.first)
        rc = check_shards(side, error);
    if (rc == 0 && key_tallies_check(side->keys, error) != 0) {
        error_begin(error, side->first.name);
        rc = -1;
    }
    if (rc == 0 && histogram_spec_channels(&side->spec) > 1) {
        error_of(error, side->first.name, "has several channels, which --diff cannot compare");
        rc = -1;
    }
    return rc;
}

/* --- both sides in the same bins --- */

/* Counts a tally again in wider bins. */
static int widen(struct tally *tally, const struct histogram_spec *fine,
                 const struct histogram_spec *coarse, struct error *error)
{
    struct tally wide;
    if (tally_open(&wide, coarse) != 0)
        return error_set(error, "out of memory");
    map_rows(fine, tally, coarse, &wide);
    tally_close(tally);
    *tally = wide;
    return 0;
}

/* True if options differ in the number of decimal digits alone. */
static bool may_nest(const struct words *one, const struct words *other)
{
    static const char digits[] = "--digits=";
    const size_t len = strlen(digits);
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(one->list[i], other->list[i]) != 0 &&
            (strncmp(one->list[i], digits, len) != 0 || strncmp(other->list[i], digits, len) != 0))
            return false;
    return true;
}

/* Gives both sides the same bins: the wider ones, if they nest. Tables by key must be alike. */
static int match_bins(struct merge *before, struct merge *after, struct error *error)
{
    const struct words *bins = &before->first.sorted.bins, *other_bins = &after->first.sorted.bins;
    if (words_same(bins, other_bins))
        return 0;
    if (before->keys || !may_nest(bins, other_bins) || !before->spec.binning.digits.scales) {
        merge_show_difference(error, other_bins, before->first.name, bins);
        error_begin(error, after->first.name);
        return -1;
    }
    if (before->spec.binning.digits.digits <= after->spec.binning.digits.digits)
        return widen(&after->tally, &after->spec, &before->spec, error);
    if (widen(&before->tally, &before->spec, &after->spec, error) != 0)
        return -1;
    binning_free(&before->spec.binning);
    before->spec = after->spec;
    after->spec.binning = (struct binning){0};
    return 0;
}

static int add_sides(struct sides *sides, struct error *error)
{
    const struct tally *before = &sides->before.tally, *after = &sides->after.tally;
    sides->spec = &sides->before.spec;
    if (tally_open(&sides->both, sides->spec) != 0)
        return error_set(error, "out of memory");
    if (after->samples > UINT64_MAX - before->samples)
        return error_set(error, "--diff: the two tables have more than 2^64 samples");
    tally_add(&sides->both, before);
    tally_add(&sides->both, after);
    return 0;
}

/* Makes *rows, found in the sum of both, the bins of all. */
static int widen_sides(struct sides *sides, struct coarse_rows *rows, struct error *error)
{
    struct histogram_spec *spec = sides->spec;
    if (widen(&sides->before.tally, spec, &rows->spec, error) != 0 ||
        widen(&sides->after.tally, spec, &rows->spec, error) != 0) {
        coarse_rows_free(rows);
        return -1;
    }
    tally_close(&sides->both);
    sides->both = rows->tally;
    binning_free(&spec->binning);
    *spec = rows->spec;
    return 0;
}

/* Replaces bins of decimal digits by fewer, if --bins says so, or they are too many for a picture.
 */
static int reduce_bins(struct options *options, struct sides *sides, struct error *error)
{
    const bool is_picture = options->report.format->is_picture;
    const size_t max = options->report.bins.max;
    const bool has_digits = sides->spec->binning.digits.scales;
    enum coarsen_outcome outcome = COARSEN_AS_COUNTED;
    struct coarse_rows rows;
    if (!has_digits && max > 0)
        return error_set(error,
                         "--bins: these tables were not counted with --digits; leave out --bins");
    if (max > 0) {
        main_hint_range(options, sides->spec, &sides->both);
        outcome = coarsen_equal(sides->spec, &sides->both, max, &rows);
    } else if (is_picture && has_digits) {
        outcome = coarsen_picture(
            sides->spec, &sides->both,
            &(struct picture_bins){PICTURE_ROWS, DECADE_PARTS, PICTURE_CROWDED}, &rows);
    }
    if (outcome == COARSEN_NO_MEMORY)
        return error_set(error, "out of memory");
    return outcome == COARSEN_DONE ? widen_sides(sides, &rows, error) : 0;
}

/* --- tables by key --- */

/* Checks that the tables have what options ask for. 0, or -1 with an error. */
static int check_keys(const struct options *options, const struct merge *before,
                      struct error *error)
{
    const struct report_options *report = &options->report;
    const bool is_binned = before->spec.mode->is_binned;
    if (!before->keys && (report->stats || report->order.column || options->top > 0))
        return error_of(error, before->first.name,
                        "is not by key (--by), which --stats, --quantiles, --sort and --top need");
    if (!before->keys)
        return 0;
    if (report->bins.max > 0)
        return error_set(error,
                         "--bins: tables by key are compared without bins; leave out --bins");
    if (report->stats && report->format->is_picture)
        return error_set(error, "--plot: a comparison by key has no statistics; use --stats "
                                "without --plot");
    if (report->stats && !is_binned)
        return error_of(error, before->first.name,
                        "has no numbers for --stats and --quantiles; count with --field");
    return report->order.column ? group_order_check(&report->order, is_binned, report->quantiles,
                                                    report->quantile_count, error)
                                : 0;
}

/* Adds all keys of a table, without samples, to another one. 0, or -1: memory is short. */
static int add_names(struct key_tallies *keys, struct key_tallies *from)
{
    const struct tally none = {.samples = 0};
    if (key_tallies_sort(from, KEYS_BY_NAME, 1) != 0)
        return -1;
    for (size_t i = 0; i < key_tallies_count(from); i++)
        key_tallies_add(keys, key_tallies_name(from, i), &none);
    key_tallies_thaw(from);
    return 0;
}

/* Gives both sides the same keys. 0, or -1 with an error. */
static int join_keys(const struct sides *sides, struct error *error)
{
    struct key_tallies *before = sides->before.keys, *after = sides->after.keys;
    if (add_names(before, after) != 0 || add_names(after, before) != 0)
        return error_set(error, "out of memory");
    return key_tallies_check(before, error) == 0 ? key_tallies_check(after, error) : -1;
}

/* Joins times among the keys of a side. 0, or -1 with an error. */
static int join_times(const struct options *options, struct merge *side, bool *said_utc,
                      struct error *error)
{
    const struct shard_join *shards = &side->shards;
    /* The table of a complete share, or of a sum of shares, was joined before it was written. */
    const bool are_fine = shards->count > 0 && !shard_record_is_complete(&shards->shards[0].record);
    struct key_tallies *joined = NULL;
    const int rc =
        main_join_times(options, side->keys, are_fine, &side->tally, &joined, said_utc, error);
    if (rc != 0)
        error_begin(error, side->first.name);
    key_tallies_thaw(side->keys);
    if (joined) {
        key_tallies_close(side->keys);
        side->keys = joined;
    }
    return rc;
}

/* Puts keys, which are the same, in the order in which they are shown. 0, or -1: memory is short.
 */
static int order_keys(const struct options *options, const struct sides *sides)
{
    struct key_tallies *before = sides->before.keys, *after = sides->after.keys;
    const struct report_options *report = &options->report;
    const struct group_order by_count = {.column = GROUP_ORDER_COUNT};
    const unsigned threads = main_threads_of(options);
    size_t *list = NULL;
    if (key_tallies_sort(before, KEYS_BY_NAME, threads) != 0 ||
        key_tallies_sort(after, KEYS_BY_NAME, threads) != 0)
        return -1;
    struct groups old = groups_of_keys(before, SIZE_MAX, NULL, false);
    struct groups new = groups_of_keys(after, SIZE_MAX, NULL, false);
    const struct group_columns columns = {.spec = &sides->before.spec,
                                          .has_numbers = report->stats,
                                          .quantile_count = report->quantile_count,
                                          .quantiles = report->quantiles,
                                          .before = &old,
                                          .is_by_size = !report->order.column};
    new.threads = threads;
    const int rc = group_order_list(report->order.column ? &report->order : &by_count, &columns,
                                    &new, &list) == 0 &&
                           key_tallies_reorder(before, list) == 0
                       ? key_tallies_reorder(after, list)
                       : -1;
    free(list);
    return rc;
}

/* Compares two tables by key, and shows the difference. The exit status. */
static int diff_keys(struct options *options, struct output *output, struct sides *sides)
{
    bool said_utc = false;
    struct error error;
    char columns[MAIN_COLUMNS_SIZE];
    options->spec = sides->before.spec;
    if (options_build_keys(&sides->before.first.options, options, &error) != 0 ||
        join_keys(sides, &error) != 0)
        return main_failed(&error);
    if (key_times_are_used(&options->spec) &&
        (join_times(options, &sides->before, &said_utc, &error) != 0 ||
         join_times(options, &sides->after, &said_utc, &error) != 0))
        return main_failed(&error);
    if (order_keys(options, sides) != 0)
        return main_no_memory();
    main_name_columns(options, columns);
    struct writer *out = output_open(output, &error);
    if (!out)
        return main_failed(&error);
    const struct diff_tables tables = {.spec = &sides->before.spec,
                                       .before = sides->before.keys,
                                       .after = sides->after.keys,
                                       .top = main_shown_keys(options, false),
                                       .columns = columns};
    diff_write_keys(out, &options->report, &tables);
    return main_end_output(output, options->verbosity);
}

/* --- the run --- */

/* Warns of samples that came from elsewhere: only bins decide which tables can be compared. */
static void warn_of_sources(const struct merge *before, const struct merge *after)
{
    struct error how;
    main_warn_of_others(before);
    main_warn_of_others(after);
    if (words_same(&before->first.sorted.sources, &after->first.sorted.sources))
        return;
    merge_show_difference(&how, &after->first.sorted.sources, before->first.name,
                          &before->first.sorted.sources);
    error_begin(&how, after->first.name);
    diag("warning: %s", how.text);
}

/* Compares the files, and shows the difference. The exit status. */
static int diff_and_show(struct options *options, struct output *output,
                         const struct preopened_list *files, struct sides *sides)
{
    struct merge *before = &sides->before, *after = &sides->after;
    struct error error;
    if (read_side(&files->list[0], before, &error) != 0 ||
        read_side(&files->list[1], after, &error) != 0 || match_bins(before, after, &error) != 0 ||
        check_keys(options, before, &error) != 0)
        return main_failed(&error);
    if (before->keys)
        return diff_keys(options, output, sides);
    if (add_sides(sides, &error) != 0 || reduce_bins(options, sides, &error) != 0)
        return main_failed(&error);
    if (options->verbosity >= NORMAL)
        warn_of_sources(before, after);
    struct writer *out = output_open(output, &error);
    if (!out)
        return main_failed(&error);
    const struct diff_counts counts = {sides->spec, &before->tally, &after->tally, &sides->both};
    diff_write(out, &options->report, &counts);
    return main_end_output(output, options->verbosity);
}

int main_diff(struct options *options, struct output *output, const struct preopened_list *files)
{
    const struct merge empty = {.form.build = options_build,
                                .form.sort = options_sort,
                                .form.has_order = options->report.stats ||
                                                  group_order_needs_moments(&options->report.order),
                                .form.max_keys = options->max_keys,
                                .form.max_key_bytes = main_max_key_bytes(options->max_keys)};
    struct sides sides = {.before = empty, .after = empty};
    const int status = diff_and_show(options, output, files, &sides);
    tally_close(&sides.both);
    merge_free(&sides.before);
    merge_free(&sides.after);
    return status;
}
