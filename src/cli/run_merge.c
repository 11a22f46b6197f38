/* SPDX-License-Identifier: MIT */
/* --merge: tables that were made before, added up. */
#include "cli.h"
#include "src/tally/key_tallies.h"

#include "src/base/system.h"
#include "src/merge/merge.h"
#include "src/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define THREAD_BYTES ((uint64_t)1 << 20) /* fewer are read before a thread has started */

/* Reads and adds up all files. */
static void add_files(const struct options *options, const struct preopened_list *files,
                      struct merge *merge)
{
    unsigned threads = options->pool.threads;
    uint64_t thread_bytes = 0;
    struct error error;
    if (threads == 0 && files->count > 1) {
        threads = system_limits_processors(sched_getaffinity);
        thread_bytes = THREAD_BYTES;
        const unsigned quota = threads > 1 ? system_limits_quota("") : threads;
        threads = quota < threads ? quota : threads;
    }
    run_check(merge_files(files, threads, thread_bytes, merge, &error), &error);
    run_check(key_tallies_check(merge->keys, &error), &error);
}

/* Refuses a sum by key, or one of all samples, that cannot be shown as the options say. */
static void check_keys(const struct options *options, const struct merge *merge)
{
    struct error error;
    const struct report_options *report = &options->report;
    const bool is_binned = merge->spec.mode->is_binned;
    const bool has_heat = is_binned && report->format->heat;
    if (!merge->keys && (report->order.column || options->top > 0))
        run_fail("%s: the tables are not by key (--by)", report->order.column ? "--sort" : "--top");
    if (!merge->keys)
        return;
    if (report->bins.max > 0 && !has_heat)
        run_fail("--bins: tables by key are shown in the bins that were counted");
    if (merge->spec.lines.key_count > 1 && has_heat)
        run_fail("--format=%s: a heat map is by one key, and the tables are by %u; use "
                 "--format=tsv",
                 report->format->name, merge->spec.lines.key_count);
    if (report->stats && has_heat)
        run_fail("--plot: a heat map has no statistics; use --stats without --plot");
    if (!report->order.column)
        return;
    if (!is_binned && report->stats && report->format->separator)
        run_fail("--sort: --stats of lines prints no keys; --format=json and "
                 "--plot have both");
    run_check(group_order_check(&report->order, is_binned, report->quantiles,
                                report->quantile_count, &error),
              &error);
}

/* Refuses a sum that cannot be shown as the options say. */
static void check_shown(const struct options *options, const struct merge *merge)
{
    const struct histogram_spec *spec = &merge->spec;
    const struct report_options *report = &options->report;
    const struct format *format = report->format;
    if (histogram_spec_channels(spec) > 1 && report->percent && !format->is_picture)
        run_fail("--percent: cannot be combined with tables of several channels; use "
                 "--plot");
    if (format->mode && format->mode != spec->mode)
        run_fail("--format=%s: the tables are not of --%s", format->name, format->mode->name);
    if (report->bins.max > 0 && !spec->binning.digits.scales)
        run_fail("--bins: these tables were not counted with --digits; leave out --bins");
    check_keys(options, merge);
}

/* Proves that shards are complete. */
static void check_shards(struct options *options, struct merge *merge, struct shard_record *proof)
{
    struct error error;
    if (!merge->shards.first) {
        if (options->incomplete)
            run_fail("--incomplete: the tables are not shares (--part)");
        if (options->verbosity >= VERBOSE)
            diag("%" PRIu64
                 " table%s, which are not shares (--part): nothing proves that none is missing",
                 merge->tables, merge->tables == 1 ? "" : "s");
        return;
    }
    run_check(shard_join_finish(&merge->shards, options->incomplete, proof, &error), &error);
    options->report.shard = proof;
    if (options->verbosity < VERBOSE || !shard_record_is_complete(proof))
        return;
    char shards[64] = "the only share";
    if (proof->job.of > 1)
        snprintf(shards, sizeof shards, "all %" PRIu64 " shares", proof->job.of);
    diag("%" PRIu64 " table%s: %s of %" PRIu64 " file%s, %" PRIu64 " bytes", merge->tables,
         merge->tables == 1 ? "" : "s", shards, proof->job.files, proof->job.files == 1 ? "" : "s",
         proof->job.bytes);
}

/* Inserts --bins into the options after --digits, as counting does. */
static void insert_bins(struct words *words, size_t bins)
{
    if (bins == 0)
        return;
    if (words_format(words, "--bins=%zu", bins) != 0)
        run_fail("out of memory");
    char *added = words->list[words->count - 1];
    size_t at = words->count - 1;
    for (; at > 0 && strncmp(words->list[at - 1], "--digits=", strlen("--digits=")) != 0; at--)
        words->list[at] = words->list[at - 1];
    words->list[at] = added;
}

void run_warn_of_others(const struct options *options, const struct merge *merge)
{
    const uint64_t more = merge->others.tables - 1;
    if (merge->others.tables == 0 || options->verbosity < NORMAL)
        return;
    if (more > 0)
        diag("warning: %s; %" PRIu64 " more table%s differ%s, too", merge->others.how.text, more,
             more == 1 ? "" : "s", more == 1 ? "s" : "");
    else
        diag("warning: %s", merge->others.how.text);
}

void run_merge(struct options *options, struct output *output, const struct preopened_list *files)
{
    struct merge merge = {.form.build = options_build,
                          .form.sort = options_sort,
                          .form.run = options,
                          .form.has_moments = options->report.stats,
                          .form.has_order = group_order_needs_moments(&options->report.order),
                          .form.is_cumulative = options->report.format->is_cumulative,
                          .form.max_keys = options->max_keys,
                          .form.max_key_bytes = run_max_key_bytes(options->max_keys)};
    struct shard_record proof = {.shard_count = 0};
    add_files(options, files, &merge);
    check_shown(options, &merge);
    check_shards(options, &merge, &proof);
    options->spec = merge.spec;
    options->pool.keys = merge.keys;
    options->report.words = merge_options(&merge);
    run_warn_of_others(options, &merge);
    insert_bins(merge_options(&merge), options->report.bins.max);
    struct writer *out = run_begin_output(output);
    if (!merge.keys)
        report_write(out, &options->report, &merge.spec, &merge.tally);
    else
        run_write_keys(out, options, false, &merge.tally, &(bool){false});
    run_end_output(output, options->verbosity);
    if (!merge.keys)
        hint_ranges(options, &merge.spec, &merge.tally);
    merge_free(&merge);
    shard_record_free(&proof);
}
