/* SPDX-License-Identifier: MIT */
#include "main_tables.h"

#include "src/base/system.h"
#include "src/base/signals.h"
#include "src/cli/diag.h"
#include "src/tally/file_tallies.h"
#include "src/tally/key_tallies.h"
#include "src/report/report.h"

#include <inttypes.h>
#include <unistd.h>

#define INTERRUPTED_SECONDS 0.5 /* for the program that writes our pipe to close it */

/* The most bytes that the counts of blocks may take, by each histogram. */
#define BLOCK_BYTES_MAX (UINT64_C(1) << 30)

static unsigned count_specs(const struct options *options)
{
    unsigned count = 0;
    for (; options; options = options->also)
        count++;
    return count;
}

void main_tables_begin(struct main_tables *tables, struct options *options, struct output *output,
                       struct source *source)
{
    *tables = (struct main_tables){.options = options,
                                   .output = output,
                                   .progress = progress_begin(options->progress, source),
                                   .next = options->interval};
    if (options->interval == 0)
        return;
    options->report.terminal.in_place = isatty(STDOUT_FILENO) == 1;
    signals_await_interrupt();
}

int main_tables_open(struct main_tables *tables, const struct source *source, struct tally *tally)
{
    struct options *options = tables->options;
    if (options->each && !(options->pool.files = file_tallies_open(
                               source_files(source), count_specs(options),
                               (struct file_division){options->each_size, BLOCK_BYTES_MAX})))
        return -1;
    if (options->spec.lines.key_count > 0 &&
        !(options->pool.keys = key_tallies_open(&options->spec, options->max_keys,
                                                main_max_key_bytes(options->max_keys))))
        return -1;
    if (options->interval > 0 && tally_open(&tables->so_far, &options->spec) != 0)
        return -1;
    return tally_open(tally, &options->spec);
}

void main_tables_close(struct main_tables *tables, struct tally *tally)
{
    tally_close(tally);
    if (tables->options->interval > 0)
        tally_close(&tables->so_far);
    file_tallies_close(tables->options->pool.files);
    key_tallies_close(tables->options->pool.keys);
}

/* --- what is written --- */

/* Subtracts tokens that are not numbers, if they are to be left out. */
static void skip_invalid(const struct options *options, struct tally *tally)
{
    const struct histogram_spec *spec = &options->spec;
    if (options->pool.invalid == INVALID_SKIP)
        for (; spec; spec = spec->also, tally = tally->also)
            tally_skip_invalid(tally, spec);
}

/* Writes the table of each histogram. */
static void write_tables(struct writer *out, const struct options *options, bool follows,
                         const struct tally *tally)
{
    for (; options; options = options->also, tally = tally->also) {
        report_write_gap(out, &options->report, follows);
        report_write(out, &options->report, &options->spec, tally);
        follows = true;
    }
}

/* Writes the tables of each histogram for all files, or for their blocks. The tally, which has no
 * counts then, is worked with. */
static void write_each(struct writer *out, const struct options *options, struct tally *tally)
{
    const struct file_tallies *tallies = options->pool.files;
    for (const struct options *at = options; at; at = at->also, tally = tally->also) {
        const struct file_groups files = {tallies, options->operands, options->operand_count};
        struct groups groups = groups_of_files(&files);
        groups.skip_invalid = options->pool.invalid == INVALID_SKIP;
        report_write_gap(out, &at->report, at != options);
        report_write_groups(out, &at->report, &at->spec, &groups, tally);
        tallies = file_tallies_also(tallies);
    }
}

/* Makes all tables together fit on the terminal, whose size may have changed. Between two is an
 * empty line, and the cursor needs one below the last. */
static void fit_terminal(struct options *options, bool is_replaced)
{
    const unsigned lines = options->report.terminal.in_place ? screen_of(STDOUT_FILENO).rows : 0;
    const unsigned tables = count_specs(options);
    for (; options; options = options->also) {
        options->report.terminal.lines = lines > 2 * tables ? (lines - tables) / tables : lines > 0;
        options->report.terminal.is_replaced = is_replaced;
    }
}

/* --- while counting --- */

/* Prints what was counted so far. Ends the process if that fails. */
static void print_so_far(struct main_tables *tables, const struct pool_view *view, bool is_last)
{
    struct options *options = tables->options;
    struct error error;
    tally_clear(&tables->so_far);
    if (pool_so_far(view, &tables->so_far) != 0)
        return;
    if (key_tallies_check(options->pool.keys, &error) != 0)
        main_leave(main_failed(&error));
    progress_end(&tables->progress);
    fit_terminal(options, !is_last);
    struct writer *out = output_open(tables->output, &error);
    if (!options->pool.keys) {
        skip_invalid(options, &tables->so_far);
        write_tables(out, options, tables->has_printed, &tables->so_far);
    } else if (main_write_keys(out, options, tables->has_printed, &tables->so_far,
                               &tables->said_utc, &error) != 0) {
        main_leave(main_failed(&error));
    }
    tables->has_printed = true;
    if (output_flush(tables->output, &error) != 0)
        main_leave(main_failed(&error));
}

/* Prints the last table after a SIGINT and ends the process. The program that writes our pipe has
 * mostly been interrupted too and closes it, so the run ends regularly if it gets a moment. */
static void end_interrupted(struct main_tables *tables, const struct pool_view *view,
                            double seconds)
{
    if (tables->last == 0)
        tables->last = seconds + INTERRUPTED_SECONDS;
    if (seconds < tables->last && !view->has_failed)
        return;
    print_so_far(tables, view, true);
    main_leave(STATUS_COUNTED);
}

void main_tables_tick(void *arg, const struct pool_view *view)
{
    struct main_tables *tables = arg;
    const double interval = tables->options->interval;
    const double seconds = clock_seconds_since(&tables->progress.begin);
    if (signals_interrupted())
        end_interrupted(tables, view, seconds);
    if (view->has_failed)
        return;
    progress_tick(&tables->progress, view->bytes);
    if (interval == 0 || seconds < tables->next)
        return;
    print_so_far(tables, view, false);
    while (tables->next <= seconds)
        tables->next += interval;
}

/* --- at the end --- */

/* Says how many tokens are not numbers for the histograms of --also, whose lines are not known.
 * 0, or -1 if that ends the run. */
static int check_also(const struct options *options, const struct tally *tally)
{
    const struct file_tallies *files = options->pool.files;
    const bool is_error = options->pool.invalid == INVALID_ERROR;
    unsigned number = 2;
    int rc = 0;
    for (const struct options *at = options->also; at; at = at->also, number++) {
        tally = tally->also;
        files = file_tallies_also(files);
        const struct histogram_spec *spec = &at->spec;
        if (!spec->mode->is_text || options->pool.invalid == INVALID_SKIP)
            continue;
        const size_t row = ROW_INVALID(&spec->binning);
        const uint64_t invalid = files ? file_tallies_count_of(files, row) : tally->counts[row];
        if (invalid > 0 && (is_error || options->verbosity >= NORMAL))
            diag("histogram %u: %" PRIu64 " %s", number, invalid,
                 invalid == 1 ? "sample is not a number" : "samples are not numbers");
        rc = invalid > 0 && is_error ? -1 : rc;
    }
    return rc;
}

int main_tables_print(struct main_tables *tables, struct tally *tally)
{
    struct options *options = tables->options;
    struct error error;
    if (check_also(options, tally) != 0)
        return STATUS_FAILED;
    if (!options->each && !options->pool.keys)
        skip_invalid(options, tally);
    fit_terminal(options, false);
    struct writer *out = output_open(tables->output, &error);
    if (!out)
        return main_failed(&error);
    if (options->each)
        write_each(out, options, tally);
    else if (!options->pool.keys)
        write_tables(out, options, tables->has_printed, tally);
    else if (main_write_keys(out, options, tables->has_printed, tally, &tables->said_utc, &error) !=
             0)
        return main_failed(&error);
    const int status = main_end_output(tables->output, options->verbosity);
    for (; options && status == STATUS_COUNTED; options = options->also, tally = tally->also)
        main_hint_range(options, &options->spec, tally);
    return status;
}
