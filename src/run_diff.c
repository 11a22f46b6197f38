/* SPDX-License-Identifier: MIT */
/* --diff: two tables that were made before, compared. */
#include "run.h"

#include "src/cli/diag.h"
#include "src/count/coarsen.h"
#include "src/count/map_rows.h"
#include "src/merge/table_file.h"
#include "src/report/diff.h"
#include "src/report/format.h"

#include <string.h>

static struct output output;

/* Begins the reason with the file, unless it does. */
static int side_refuse(const struct merge *side, struct reason *why)
{
    char shown[REASON_SUBJECT_MAX];
    reason_show_subject(side->first, shown);
    if (strncmp(why->text, shown, strlen(shown)) != 0)
        reason_begin(why, side->first);
    return -1;
}

/* Whether a side is of a kind that can be compared. */
static int check_side(const struct merge *side, struct reason *why)
{
    if (histogram_channels(&side->histogram) > 1) {
        reason_of(why, side->first, "has several channels, which --diff cannot compare");
        return -1;
    }
    return 0;
}

/* Reads the tables of a FILE, added up. */
static int read_side(struct held *file, struct merge *side, struct reason *why)
{
    struct read_table table = {.text = NULL};
    struct shard_record record = {.shard_count = 0};
    int rc = table_file_add(file, &table, side, why);
    if (rc == 0 && side->shards.first && shard_join_finish(&side->shards, false, &record, why) != 0)
        rc = side_refuse(side, why);
    read_table_free(&table);
    shard_record_free(&record);
    return rc == 0 ? check_side(side, why) : -1;
}

/* Whether only the number of decimal digits differs. */
static bool may_nest(const struct words *one, const struct words *other)
{
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(one->list[i], other->list[i]) != 0 &&
            !(strncmp(one->list[i], "--digits=", 9) == 0 &&
              strncmp(other->list[i], "--digits=", 9) == 0))
            return false;
    return true;
}

/* Lays the bins of `coarse` over a tally, which it replaces. */
static int widen_side(const struct histogram *fine, const struct histogram *coarse,
                      struct tally *tally, struct reason *why)
{
    struct tally wide;
    if (tally_open(&wide, coarse) != 0) {
        reason_set(why, "out of memory");
        return -1;
    }
    map_rows(fine, tally, coarse, &wide);
    tally_close(tally);
    *tally = wide;
    return 0;
}

/* Gives both sides the same bins: the wider ones, where they nest. */
static int match_sides(struct merge *before, struct merge *after, struct reason *why)
{
    const struct words *bins = &before->sorted.bins, *other_bins = &after->sorted.bins;
    if (words_same(bins, other_bins))
        return 0;
    if (!may_nest(bins, other_bins) || !before->histogram.binning.digits.scales) {
        merge_show_difference(why, other_bins, before->first, bins);
        reason_begin(why, after->first);
        return -1;
    }
    const bool is_before_fine =
        before->histogram.binning.digits.digits > after->histogram.binning.digits.digits;
    struct merge *fine = is_before_fine ? before : after, *coarse = is_before_fine ? after : before;
    if (widen_side(&fine->histogram, &coarse->histogram, &fine->tally, why) != 0)
        return -1;
    if (is_before_fine) { /* the histogram of both is that of `before` */
        binning_free(&before->histogram.binning);
        before->histogram = after->histogram;
        after->histogram.binning = (struct binning){0};
    }
    return 0;
}

/* Counts both sides and their sum again in wider bins, which both have from then on. */
static int widen_sides(struct merge *before, struct merge *after, struct tally *both,
                       struct coarse_rows *rows, struct reason *why)
{
    int rc = widen_side(&before->histogram, &rows->histogram, &before->tally, why);
    if (rc == 0)
        rc = widen_side(&before->histogram, &rows->histogram, &after->tally, why);
    if (rc != 0) {
        coarse_rows_free(rows);
        return -1;
    }
    tally_close(both);
    *both = rows->tally;
    binning_free(&before->histogram.binning);
    before->histogram = rows->histogram;
    return 0;
}

/* Lays fewer bins over those of decimal digits, if they are asked for, or too many for a picture.
 */
static int coarsen_sides(struct options *options, struct merge *before, struct merge *after,
                         struct tally *both, struct reason *why)
{
    const bool is_picture = format_table[options->report.format]->kind == FORMAT_PICTURE;
    const size_t most = options->report.most_bins;
    const struct histogram *histogram = &before->histogram;
    enum coarsen_outcome outcome = COARSEN_AS_COUNTED;
    struct coarse_rows rows;
    if (!histogram->binning.digits.scales && most > 0) {
        reason_set(why, "--bins: these tables were not counted with --digits; leave out --bins");
        return -1;
    }
    if (most > 0) {
        run_hint_range(options, histogram, both);
        outcome = coarsen_equal(histogram, both, most, &rows);
    } else if (is_picture && histogram->binning.digits.scales) {
        outcome = coarsen_picture(histogram, both, PICTURE_ROWS, &rows);
    }
    if (outcome == COARSEN_NO_MEMORY) {
        reason_set(why, "out of memory");
        return -1;
    }
    return outcome == COARSEN_DONE ? widen_sides(before, after, both, &rows, why) : 0;
}

/* The sum of both. */
static int add_sides(const struct merge *before, const struct merge *after, struct tally *both,
                     struct reason *why)
{
    if (tally_open(both, &before->histogram) != 0) {
        reason_set(why, "out of memory");
        return -1;
    }
    if (after->tally.samples > UINT64_MAX - before->tally.samples) {
        reason_set(why, "--diff: the two tables have more than 2^64 samples");
        return -1;
    }
    tally_add(both, &before->tally);
    tally_add(both, &after->tally);
    return 0;
}

/* Warns of samples that came from elsewhere: bins alone say which tables can be compared. */
static void warn_of_sources(struct merge *before, struct merge *after)
{
    struct reason how;
    run_warn_of_others(before);
    run_warn_of_others(after);
    if (words_same(&before->sorted.sources, &after->sorted.sources))
        return;
    merge_show_difference(&how, &after->sorted.sources, before->first, &before->sorted.sources);
    reason_begin(&how, after->first);
    diag("warning: %s", how.text);
}

static int diff_and_show(struct options *options, const struct held_list *files,
                         struct merge *before, struct merge *after, struct tally *both)
{
    struct reason why;
    if (read_side(&files->list[0], before, &why) != 0 ||
        read_side(&files->list[1], after, &why) != 0 || match_sides(before, after, &why) != 0)
        return run_failed(&why);
    if (add_sides(before, after, both, &why) != 0 ||
        coarsen_sides(options, before, after, both, &why) != 0)
        return run_failed(&why);
    if (options->verbosity >= NORMAL)
        warn_of_sources(before, after);
    struct writer *out = output_open(&output, &why);
    if (!out)
        return run_failed(&why);
    diff_write(out, &options->report,
               &(struct diff_counts){&before->histogram, &before->tally, &after->tally, both});
    return run_end_output(&output, options->verbosity);
}

int run_diff(struct options *options)
{
    struct merge before = {.lay = options_lay, .sort = options_sort},
                 after = {.lay = options_lay, .sort = options_sort};
    struct tally both = {0};
    struct held_list files;
    struct reason why;
    if (output_prepare(&output, options->output, &why) != 0)
        return run_failed(&why);
    if (held_list_open(&files, options->operands, options->operand_count) != 0) {
        reason_set(&why, "out of memory");
        return run_failed(&why);
    }
    const int status = run_enter_sandbox(options, &output, NULL, &files) != 0
                           ? STATUS_FAILED
                           : diff_and_show(options, &files, &before, &after, &both);
    held_list_close(&files);
    tally_close(&both);
    merge_free(&before);
    merge_free(&after);
    return status;
}
