/* SPDX-License-Identifier: MIT */
/* --merge: tables that were made before, added up. */
#include "main.h"

#include "src/base/system.h"
#include "src/cli/diag.h"
#include "src/merge/merge.h"
#include "src/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define THREAD_BYTES ((uint64_t)1 << 20) /* fewer are read before a thread has started */

/* Reads and adds up all files. 0, or -1 with an error. */
static int read_files(const struct options *options, const struct preopened_list *files,
                      struct merge *merge, struct error *error)
{
    unsigned threads = options->pool.threads;
    if (threads > 0 || files->count == 1)
        return merge_files(files, threads, 0, merge, error);
    threads = system_limits_processors(sched_getaffinity);
    if (threads > 1) {
        const unsigned quota = system_limits_quota("");
        threads = quota < threads ? quota : threads;
    }
    return merge_files(files, threads, THREAD_BYTES, merge, error);
}

/* Adds up all files. 0, or -1 with an error. */
static int add_files(const struct options *options, const struct preopened_list *files,
                     struct merge *merge, struct error *error)
{
    const int rc = read_files(options, files, merge, error);
    return rc == 0 ? key_tallies_check(merge->keys, error) : rc;
}

/* Checks that a sum by key can be shown, or one of all samples. 0, or -1 with an error. */
static int check_keys(const struct options *options, const struct merge *merge, struct error *error)
{
    const struct report_options *report = &options->report;
    const bool is_binned = merge->spec.mode->is_binned;
    const bool has_heat = is_binned && report->format->heat;
    if (!merge->keys && (report->order.column || options->top > 0))
        return error_set(error, "%s: the tables are not by key (--by)",
                         report->order.column ? "--sort" : "--top");
    if (!merge->keys)
        return 0;
    if (report->bins.max > 0 && !has_heat)
        return error_set(error, "--bins: tables by key are shown in the bins that were counted");
    if (merge->spec.lines.key_count > 1 && has_heat)
        return error_set(error,
                         "--format=%s: a heat map is by one key, and the tables are by %u; use "
                         "--format=tsv",
                         report->format->name, merge->spec.lines.key_count);
    if (report->stats && has_heat)
        return error_set(error, "--plot: a heat map has no statistics; use --stats without --plot");
    if (!report->order.column)
        return 0;
    if (!is_binned && report->stats && report->format->separator)
        return error_set(error, "--sort: --stats of lines prints no keys; --format=json and "
                                "--plot have both");
    return group_order_check(&report->order, is_binned, report->quantiles, report->quantile_count,
                             error);
}

/* Checks that the sum can be shown as the options say. 0, or -1 with an error. */
static int check_shown(const struct options *options, const struct merge *merge,
                       struct error *error)
{
    const struct histogram_spec *spec = &merge->spec;
    const struct report_options *report = &options->report;
    const struct format *format = report->format;
    if (histogram_spec_channels(spec) > 1 && report->percent && !format->is_picture)
        return error_set(error,
                         "--percent: cannot be combined with tables of several channels; use "
                         "--plot");
    if (format->mode && format->mode != spec->mode)
        return error_set(error, "--format=%s: the tables are not of --%s", format->name,
                         format->mode->name);
    if (report->bins.max > 0 && !spec->binning.digits.scales)
        return error_set(error,
                         "--bins: these tables were not counted with --digits; leave out --bins");
    return check_keys(options, merge, error);
}

/* Says that no shard is missing. */
static void diag_shards(const struct merge *merge, const struct shard_record *proof)
{
    char shards[64];
    if (proof->job.of == 1)
        snprintf(shards, sizeof shards, "the only share");
    else
        snprintf(shards, sizeof shards, "all %" PRIu64 " shares", proof->job.of);
    diag("%" PRIu64 " table%s: %s of %" PRIu64 " file%s, %" PRIu64 " bytes", merge->tables,
         merge->tables == 1 ? "" : "s", shards, proof->job.files, proof->job.files == 1 ? "" : "s",
         proof->job.bytes);
}

/* Proves that shards are complete. 0, or -1 with an error. */
static int check_shards(struct options *options, struct merge *merge, struct shard_record *proof,
                        struct error *error)
{
    if (!merge->shards.first) {
        if (options->incomplete)
            return error_set(error, "--incomplete: the tables are not shares (--part)");
        if (options->verbosity >= VERBOSE)
            diag("%" PRIu64
                 " table%s, which are not shares (--part): nothing proves that none is missing",
                 merge->tables, merge->tables == 1 ? "" : "s");
        return 0;
    }
    if (shard_join_finish(&merge->shards, options->incomplete, proof, error) != 0)
        return -1;
    options->report.shard = proof;
    if (options->verbosity >= VERBOSE && shard_record_is_complete(proof))
        diag_shards(merge, proof);
    return 0;
}

/* Inserts --bins into the options after --digits, as counting does. 0, or -1 with an error. */
static int insert_bins(struct words *words, size_t bins, struct error *error)
{
    if (bins == 0)
        return 0;
    if (words_format(words, "--bins=%zu", bins) != 0)
        return error_set(error, "out of memory");
    char *added = words->list[words->count - 1];
    size_t at = words->count - 1;
    for (; at > 0 && strncmp(words->list[at - 1], "--digits=", strlen("--digits=")) != 0; at--)
        words->list[at] = words->list[at - 1];
    words->list[at] = added;
    return 0;
}

void main_warn_of_others(const struct merge *merge)
{
    const uint64_t more = merge->others.tables - 1;
    if (merge->others.tables == 0)
        return;
    if (more > 0)
        diag("warning: %s; %" PRIu64 " more table%s differ%s, too", merge->others.how.text, more,
             more == 1 ? "" : "s", more == 1 ? "s" : "");
    else
        diag("warning: %s", merge->others.how.text);
}

/* Adds up the files and shows the sum. The exit status. */
static int merge_and_show(struct options *options, struct output *output,
                          const struct preopened_list *files, struct merge *merge,
                          struct shard_record *proof)
{
    struct error error;
    if (add_files(options, files, merge, &error) != 0 || check_shown(options, merge, &error) != 0 ||
        check_shards(options, merge, proof, &error) != 0)
        return main_failed(&error);
    options->spec = merge->spec;
    options->pool.keys = merge->keys;
    options->report.words = merge_options(merge);
    if (merge->keys && options_build_keys(&merge->first.options, options, &error) != 0)
        return main_failed(&error);
    if (options->verbosity >= NORMAL)
        main_warn_of_others(merge);
    if (insert_bins(merge_options(merge), options->report.bins.max, &error) != 0)
        return main_failed(&error);
    struct writer *out = output_open(output, &error);
    if (!out)
        return main_failed(&error);
    if (!merge->keys)
        report_write(out, &options->report, &merge->spec, &merge->tally);
    else if (main_write_keys(out, options, false, &merge->tally, &(bool){false}, &error) != 0)
        return main_failed(&error);
    const int status = main_end_output(output, options->verbosity);
    if (status == STATUS_COUNTED && !merge->keys)
        main_hint_range(options, &merge->spec, &merge->tally);
    return status;
}

int main_merge(struct options *options, struct output *output, const struct preopened_list *files)
{
    struct merge merge = {.form.build = options_build,
                          .form.sort = options_sort,
                          .form.has_moments = options->report.stats,
                          .form.has_order = group_order_needs_moments(&options->report.order),
                          .form.is_cumulative = options->report.format->is_cumulative,
                          .form.max_keys = options->max_keys,
                          .form.max_key_bytes = main_max_key_bytes(options->max_keys)};
    struct shard_record proof = {.shard_count = 0};
    const int status = merge_and_show(options, output, files, &merge, &proof);
    merge_free(&merge);
    shard_record_free(&proof);
    return status;
}
