/* SPDX-License-Identifier: MIT */
/* --diff: two tables that were made before, compared. */
#include "cli.h"
#include "src/tally/key_tallies.h"

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

/* Reads the tables of a file, added up. */
static void read_side(struct preopened *file, struct merge *side)
{
    struct shard_record record = {.shard_count = 0};
    struct error error;
    char shown[ERROR_SUBJECT_MAX];
    run_check(merge_file(file, side, &error), &error);
    error_show_subject(side->first.name, shown);
    if (side->shards.first && shard_join_finish(&side->shards, false, &record, &error) != 0)
        run_fail_of(strncmp(error.text, shown, strlen(shown)) == 0 ? NULL : side->first.name,
                    error.text);
    shard_record_free(&record);
    if (key_tallies_check(side->keys, &error) != 0)
        run_fail_of(side->first.name, error.text);
    if (histogram_spec_channels(&side->spec) > 1)
        run_fail_of(side->first.name, "has several channels, which --diff cannot compare");
}

/* --- both sides in the same bins --- */

/* Counts a tally again in wider bins. */
static void widen(struct tally *tally, const struct histogram_spec *fine,
                  const struct histogram_spec *coarse)
{
    struct tally wide;
    if (tally_open(&wide, coarse) != 0)
        run_fail("out of memory");
    map_rows(fine, tally, coarse, &wide);
    tally_close(tally);
    *tally = wide;
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
static void match_bins(struct merge *before, struct merge *after)
{
    const struct words *bins = &before->first.sorted.bins, *other_bins = &after->first.sorted.bins;
    struct error error;
    if (words_same(bins, other_bins))
        return;
    if (before->keys || !may_nest(bins, other_bins) || !before->spec.binning.digits.scales) {
        merge_show_difference(&error, other_bins, before->first.name, bins);
        run_fail_of(after->first.name, error.text);
    }
    if (before->spec.binning.digits.digits <= after->spec.binning.digits.digits) {
        widen(&after->tally, &after->spec, &before->spec);
        return;
    }
    widen(&before->tally, &before->spec, &after->spec);
    binning_free(&before->spec.binning);
    before->spec = after->spec;
    after->spec.binning = (struct binning){0};
}

static void add_sides(struct sides *sides)
{
    const struct tally *before = &sides->before.tally, *after = &sides->after.tally;
    sides->spec = &sides->before.spec;
    if (tally_open(&sides->both, sides->spec) != 0)
        run_fail("out of memory");
    if (after->samples > UINT64_MAX - before->samples)
        run_fail("--diff: the two tables have more than 2^64 samples");
    tally_add(&sides->both, before);
    tally_add(&sides->both, after);
}

/* Replaces bins of decimal digits by fewer, if --bins says so, or they are too many for a picture.
 */
static void reduce_bins(struct options *options, struct sides *sides)
{
    const bool is_picture = options->report.format->is_picture;
    const size_t max = options->report.bins.max;
    const bool has_digits = sides->spec->binning.digits.scales;
    enum coarsen_outcome outcome = COARSEN_AS_COUNTED;
    struct coarse_rows rows;
    if (!has_digits && max > 0)
        run_fail("--bins: these tables were not counted with --digits; leave out --bins");
    if (max > 0) {
        hint_ranges(options, sides->spec, &sides->both);
        outcome = coarsen_equal(sides->spec, &sides->both, max, &rows);
    } else if (is_picture && has_digits) {
        outcome = coarsen_picture(
            sides->spec, &sides->both,
            &(struct picture_bins){PICTURE_ROWS, DECADE_PARTS, PICTURE_CROWDED}, &rows);
    }
    if (outcome == COARSEN_NO_MEMORY)
        run_fail("out of memory");
    if (outcome != COARSEN_DONE)
        return;
    widen(&sides->before.tally, sides->spec, &rows.spec);
    widen(&sides->after.tally, sides->spec, &rows.spec);
    tally_close(&sides->both);
    sides->both = rows.tally;
    binning_free(&sides->spec->binning);
    *sides->spec = rows.spec;
}

/* --- tables by key --- */

/* Refuses tables that do not have what options ask for. */
static void check_keys(const struct options *options, const struct merge *before)
{
    const struct report_options *report = &options->report;
    const bool is_binned = before->spec.mode->is_binned;
    struct error error;
    if (!before->keys && (report->stats || report->order.column || options->top > 0))
        run_fail_of(before->first.name, "is not by key (--by), which --stats, --quantiles, --sort "
                                        "and --top need");
    if (!before->keys)
        return;
    if (report->bins.max > 0)
        run_fail("--bins: tables by key are compared without bins; leave out --bins");
    if (report->stats && report->format->is_picture)
        run_fail("--plot: a comparison by key has no statistics; use --stats without --plot");
    if (report->stats && !is_binned)
        run_fail_of(before->first.name,
                    "has no numbers for --stats and --quantiles; count with --field");
    if (report->order.column)
        run_check(group_order_check(&report->order, is_binned, report->quantiles,
                                    report->quantile_count, &error),
                  &error);
}

/* Adds all keys of a table, without samples, to another one. */
static void add_names(struct key_tallies *keys, struct key_tallies *from)
{
    const struct tally none = {.samples = 0};
    struct error error;
    if (key_tallies_sort(from, KEYS_BY_NAME, 1) != 0)
        run_fail("out of memory");
    for (size_t i = 0; i < key_tallies_count(from); i++)
        key_tallies_add(keys, key_tallies_name(from, i), &none);
    key_tallies_thaw(from);
    run_check(key_tallies_check(keys, &error), &error);
}

/* Joins times among the keys of a side. */
static void join_times(const struct options *options, struct merge *side, bool *said_utc)
{
    const struct shard_join *shards = &side->shards;
    /* The table of a complete share, or of a sum of shares, was joined before it was written. */
    const bool are_fine = shards->count > 0 && !shard_record_is_complete(&shards->shards[0].record);
    struct key_tallies *joined =
        run_join_times(options, side->keys, side->first.name, are_fine, &side->tally, said_utc);
    key_tallies_thaw(side->keys);
    if (joined) {
        key_tallies_close(side->keys);
        side->keys = joined;
    }
}

/* Puts keys, which are the same, in the order in which they are shown. */
static void order_keys(const struct options *options, const struct sides *sides)
{
    struct key_tallies *before = sides->before.keys, *after = sides->after.keys;
    const struct report_options *report = &options->report;
    const struct group_order by_count = {.column = GROUP_ORDER_COUNT};
    const unsigned threads = run_threads_of(options);
    size_t *list = NULL;
    if (key_tallies_sort(before, KEYS_BY_NAME, threads) != 0 ||
        key_tallies_sort(after, KEYS_BY_NAME, threads) != 0)
        run_fail("out of memory");
    struct groups old = groups_of_keys(before, SIZE_MAX, NULL, false);
    struct groups new = groups_of_keys(after, SIZE_MAX, NULL, false);
    const struct group_columns columns = {.spec = &sides->before.spec,
                                          .has_numbers = report->stats,
                                          .quantile_count = report->quantile_count,
                                          .quantiles = report->quantiles,
                                          .before = &old,
                                          .is_by_size = !report->order.column};
    new.threads = threads;
    if (group_order_list(report->order.column ? &report->order : &by_count, &columns, &new,
                         &list) != 0 ||
        key_tallies_reorder(before, list) != 0 || key_tallies_reorder(after, list) != 0)
        run_fail("out of memory");
    free(list);
}

/* Compares two tables by key, and shows the difference. */
static void diff_keys(struct options *options, struct output *output, struct sides *sides)
{
    struct key_tallies *before = sides->before.keys, *after = sides->after.keys;
    bool said_utc = false;
    char columns[RUN_COLUMNS_SIZE];
    options->spec = sides->before.spec;
    add_names(before, after);
    add_names(after, before);
    if (key_times_are_used(&options->spec)) {
        join_times(options, &sides->before, &said_utc);
        join_times(options, &sides->after, &said_utc);
    }
    order_keys(options, sides);
    run_name_columns(options, columns);
    const struct diff_tables tables = {.spec = &sides->before.spec,
                                       .before = sides->before.keys,
                                       .after = sides->after.keys,
                                       .top = run_shown_keys(options, false),
                                       .columns = columns};
    diff_write_keys(run_begin_output(output), &options->report, &tables);
}

/* --- the run --- */

/* Warns of samples that came from elsewhere: only bins decide which tables can be compared. */
static void warn_of_sources(const struct options *options, const struct merge *before,
                            const struct merge *after)
{
    struct error how;
    run_warn_of_others(options, before);
    run_warn_of_others(options, after);
    if (options->verbosity < NORMAL ||
        words_same(&before->first.sorted.sources, &after->first.sorted.sources))
        return;
    merge_show_difference(&how, &after->first.sorted.sources, before->first.name,
                          &before->first.sorted.sources);
    error_begin(&how, after->first.name);
    diag("warning: %s", how.text);
}

void run_diff(struct options *options, struct output *output, const struct preopened_list *files)
{
    const struct merge empty = {.form.build = options_build,
                                .form.sort = options_sort,
                                .form.run = options,
                                .form.has_order = options->report.stats ||
                                                  group_order_needs_moments(&options->report.order),
                                .form.max_keys = options->max_keys,
                                .form.max_key_bytes = run_max_key_bytes(options->max_keys)};
    struct sides sides = {.before = empty, .after = empty};
    struct merge *before = &sides.before, *after = &sides.after;
    read_side(&files->list[0], before);
    read_side(&files->list[1], after);
    match_bins(before, after);
    check_keys(options, before);
    if (before->keys) {
        diff_keys(options, output, &sides);
    } else {
        add_sides(&sides);
        reduce_bins(options, &sides);
        warn_of_sources(options, before, after);
        const struct diff_counts counts = {sides.spec, &before->tally, &after->tally, &sides.both};
        diff_write(run_begin_output(output), &options->report, &counts);
    }
    run_end_output(output, options->verbosity);
    tally_close(&sides.both);
    merge_free(&sides.before);
    merge_free(&sides.after);
}
