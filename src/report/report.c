/* SPDX-License-Identifier: MIT */
#include "report.h"
#include "format.h"

#include "src/base/show.h"
#include "src/count/coarsen.h"
#include "src/count/statistics.h"
#include "src/count/quantile.h"
#include "src/count/row_blocks.h"

#include <errno.h>
#include <string.h>

/* Calls visit for each row that is shown, until writing fails. */
static void for_each_row(struct table *table, const struct tally *tally, enum empty_rows empty,
                         void (*visit)(struct table *table, const struct row *row))
{
    struct rows rows;
    const struct row *row;
    rows_begin(&rows, table->histogram, tally, empty);
    table->cut = table->most > 0 ? rows_cut(&rows, table->most) : 0;
    while ((row = rows_next(&rows)) && !table->out->error)
        visit(table, row);
}

/* Which rows without a count the format shows. */
static enum empty_rows empty_rows_of(const struct format *format,
                                     const struct report_options *options)
{
    bool by_default = options->empty == EMPTY_DEFAULT;
    return format->is_picture && by_default ? EMPTY_IN_PICTURE : options->empty;
}

/* Writes the rows of the table's histogram. */
static void write_rows(const struct format *format, struct table *table,
                       const struct report_options *options, const struct tally *tally)
{
    enum empty_rows empty = empty_rows_of(format, options);
    table->tally = tally;
    table->totals = rows_add_up(table->histogram, tally);
    table->picture = (struct picture){.largest = 0};
    if (format->measure)
        for_each_row(table, tally, empty, format->measure);
    format->begin(table);
    table->written = 0;
    for_each_row(table, tally, empty, format->row);
    if (table->cut > 0)
        writer_format(table->out, "(%zu more rows)\n", table->cut);
}

/* Writes the quantiles, if the format has a list of them. */
static void write_quantiles(const struct format *format, struct table *table,
                            const struct report_options *options, const struct histogram *histogram,
                            const struct tally *tally)
{
    if (!histogram->has_moments || !format->quantile)
        return;
    table->written = 0;
    format->begin_quantiles(table);
    for (size_t i = 0; i < options->quantile_count; i++) {
        struct quantile found = quantile(histogram, tally, &options->quantiles[i]);
        format->quantile(table, &options->quantiles[i], &found);
    }
}

/* Finds the statistics of the mode, and for numbers the quantiles. */
static void find_statistics(const struct report_options *options, const struct histogram *histogram,
                            const struct tally *tally, struct statistics *statistics)
{
    statistics->count = 0;
    histogram->mode->add_statistics(histogram, tally, statistics);
    for (size_t i = 0; histogram->has_moments && i < options->quantile_count; i++) {
        struct quantile found = quantile(histogram, tally, &options->quantiles[i]);
        statistics_add_quantile(statistics, &options->quantiles[i], &found);
    }
}

static void write_statistics(const struct format *format, struct table *table,
                             const struct report_options *options,
                             const struct histogram *histogram, const struct tally *tally)
{
    struct statistics statistics;
    find_statistics(options, histogram, tally, &statistics);
    table->picture = (struct picture){.largest = 0};
    for (size_t i = 0; format->measure_statistic && i < statistics.count; i++)
        format->measure_statistic(table, &statistics.list[i]);
    table->written = 0;
    table->moments = tally->moments;
    format->begin_statistics(table);
    for (size_t i = 0; i < statistics.count; i++)
        format->statistic(table, &statistics.list[i]);
}

/* A table without rows so far. */
static struct table table_begin(struct writer *out, const struct report_options *options,
                                const struct histogram *histogram)
{
    return (struct table){
        .out = out,
        .histogram = histogram,
        .words = options->words,
        .shard = options->shard,
        .header = options->header,
        .percent = options->percent,
    };
}

/* How many rows of a picture fit on the screen, below which the cursor needs a line, beside all
 * else that is shown of each channel; at least two. 0: any number. */
static size_t rows_that_fit(const struct format *format, const struct report_options *options,
                            const struct histogram *histogram, const struct tally *tally)
{
    const unsigned channels = histogram_channels(histogram);
    const size_t lines = options->lines / channels;
    const size_t heading = options->header ? 1 : 0;
    size_t others = heading + (channels > 1 ? 2 : 0);
    struct statistics statistics;
    if (!format->is_picture || options->lines == 0)
        return 0;
    if (options->stats) {
        const struct histogram one = histogram_of_channel(histogram);
        const struct tally own = channels > 1 ? tally_of_channel(tally, 0) : *tally;
        find_statistics(options, &one, &own, &statistics);
        others += statistics.count + 1 + heading;
    }
    return lines > others + 2 ? lines - others : 2;
}

/* How many bins a picture may have: fewer where there are rows below, above and invalid, and no
 * more than `fits` rows, unless that is 0. */
static size_t bins_that_fit(size_t fits, const struct histogram *histogram,
                            const struct tally *tally)
{
    const struct totals totals = rows_add_up(histogram, tally);
    size_t others = 0;
    for (unsigned kind = 0; kind < ROW_KINDS; kind++)
        others += kind != ROW_KIND_BIN && totals.of[kind] > 0;
    if (fits == 0 || fits >= PICTURE_ROWS + others)
        return PICTURE_ROWS;
    return fits > others ? fits - others : 1;
}

/* Lays the rows that are shown over those that were counted: bins that are asked for, or what a
 * picture of more than PICTURE_ROWS rows has, or of more than `fits`. False, and nothing to free:
 * the rows that were counted are shown. If memory is short that is an error of the writer, as the
 * table would be another one. */
static bool lay_rows(const struct table *table, const struct report_options *options, size_t fits,
                     struct coarse_rows *rows)
{
    const struct histogram *histogram = table->histogram;
    const bool is_picture = format_table[options->format]->is_picture;
    enum coarsen_outcome outcome = COARSEN_AS_COUNTED;
    if (options->most_bins > 0)
        outcome = coarsen_equal(histogram, table->tally, options->most_bins, rows);
    else if (options->log_parts > 0)
        outcome = coarsen_decades(histogram, table->tally, options->log_parts, rows);
    else if (is_picture && !options->keep_bins && histogram->binning.digits.scales)
        outcome = coarsen_picture(histogram, table->tally,
                                  bins_that_fit(fits, histogram, table->tally), rows);
    if (outcome == COARSEN_NO_MEMORY && !table->out->error)
        table->out->error = ENOMEM;
    return outcome == COARSEN_DONE;
}

/* Writes the statistics of each channel: a row each under a heading if `heading`, or of formats
 * that have both, an object. Without channels, those of all samples. */
static void write_statistics_of_channels(const struct format *format, struct table *table,
                                         const struct report_options *options,
                                         const struct tally *tally, bool heading)
{
    const struct histogram *all = table->histogram, histogram = histogram_of_channel(all);
    const unsigned channels = histogram_channels(all);
    struct statistics statistics;
    for (unsigned channel = 0; channel < channels && !table->out->error; channel++) {
        const struct tally own = channels > 1 ? tally_of_channel(tally, channel) : *tally;
        table->channel = channels > 1 ? channel + 1 : 0;
        if (format->begin_channel) {
            format->begin_channel(table);
            write_quantiles(format, table, options, &histogram, &own);
            write_statistics(format, table, options, &histogram, &own);
            format->end_channel(table);
            continue;
        }
        find_statistics(options, &histogram, &own, &statistics);
        if (heading && channel == 0)
            format->statistics_heading(table, &statistics);
        format->statistics_row(table, &statistics);
    }
}

/* What is written: rows that are shown, and those that were counted, in which statistics are found.
 */
struct content {
    const struct histogram *histogram, *counted_histogram;
    const struct tally *tally, *counted;
};

static void write_content(const struct format *format, struct table *table,
                          const struct report_options *options, const struct content *content)
{
    table->histogram = content->histogram;
    if (!options->stats || format->has_both)
        write_rows(format, table, options, content->tally);
    table->histogram = content->counted_histogram;
    if (options->stats && histogram_channels(table->histogram) > 1) {
        write_statistics_of_channels(format, table, options, content->counted, true);
    } else if (options->stats) {
        write_quantiles(format, table, options, table->histogram, content->counted);
        write_statistics(format, table, options, table->histogram, content->counted);
    }
    format->end(table);
}

/* Writes a picture of each channel. */
static void write_pictures(const struct format *format, struct table *table,
                           const struct report_options *options, const struct content *all)
{
    const struct histogram histogram = histogram_of_channel(all->histogram);
    const struct histogram counted_histogram = histogram_of_channel(all->counted_histogram);
    for (unsigned channel = 0; channel < histogram_channels(all->histogram); channel++) {
        const struct tally tally = tally_of_channel(all->tally, channel);
        const struct tally counted = tally_of_channel(all->counted, channel);
        const struct content content = {&histogram, &counted_histogram, &tally, &counted};
        table->channel = channel + 1;
        write_content(format, table, options, &content);
        table->tables++;
    }
}

static void write_table(const struct format *format, struct table *table,
                        const struct report_options *options, const struct histogram *histogram,
                        const struct tally *tally)
{
    const size_t fits = rows_that_fit(format, options, histogram, tally);
    struct coarse_rows rows;
    table->tally = tally;
    const bool is_laid = lay_rows(table, options, fits, &rows);
    table->most = options->is_replaced ? fits : 0;
    const struct content content = {is_laid ? &rows.histogram : histogram, histogram,
                                    is_laid ? &rows.tally : tally, tally};
    if (format->is_picture && histogram_channels(histogram) > 1)
        write_pictures(format, table, options, &content);
    else
        write_content(format, table, options, &content);
    if (is_laid)
        coarse_rows_free(&rows);
}

void report_write(struct writer *out, const struct report_options *options,
                  const struct histogram *histogram, const struct tally *tally)
{
    struct table table = table_begin(out, options, histogram);
    write_table(format_table[options->format], &table, options, histogram, tally);
}

/* --- a result for each FILE --- */

#define FILE_NAME_MAX 4096 /* bytes: no FILE with a longer name can be opened */

/* What is written of one FILE after the other. */
struct file_report {
    const struct format *format;
    const struct report_options *options;
    const struct histogram *histogram;
    const struct report_files *files;
    struct tally *tally;               /* of the FILE */
    struct row_blocks blocks;          /* of the tally */
    char name[4 * FILE_NAME_MAX + 16]; /* of the FILE, as printable text */
};

/* Makes the tally and the name those of a FILE. */
static void load_file(struct file_report *report, struct table *table, size_t file)
{
    struct tally *tally = report->tally;
    const char *name = report->files->names ? report->files->names[file] : "-";
    show_text(name, strlen(name), report->name, sizeof report->name);
    file_tallies_load(report->files->tallies, file, tally);
    if (report->files->skip_invalid)
        tally_skip_invalid(tally, report->histogram);
    table->file = report->name;
    table->tally = tally;
}

static void write_files_apart(struct file_report *report, struct writer *out)
{
    size_t count = file_tallies_count(report->files->tallies);
    for (size_t file = 0; file < count && !out->error; file++) {
        struct table table = table_begin(out, report->options, report->histogram);
        table.tables = file;
        load_file(report, &table, file);
        write_table(report->format, &table, report->options, report->histogram, report->tally);
    }
}

/* Writes the statistics of each FILE as one row, under a heading. */
static void write_statistics_together(struct file_report *report, struct writer *out)
{
    const struct format *format = report->format;
    size_t count = file_tallies_count(report->files->tallies);
    struct table table = table_begin(out, report->options, report->histogram);
    for (size_t file = 0; file < count && !out->error; file++) {
        load_file(report, &table, file);
        write_statistics_of_channels(format, &table, report->options, report->tally, file == 0);
    }
}

static void write_file_rows(struct file_report *report, struct table *table)
{
    const struct format *format = report->format;
    struct coarse_rows rows;
    table->histogram = report->histogram;
    const bool is_laid = lay_rows(table, report->options, 0, &rows);
    if (is_laid) {
        table->histogram = &rows.histogram;
        table->tally = &rows.tally;
    }
    table->totals = rows_add_up(table->histogram, table->tally);
    for_each_row(table, table->tally, empty_rows_of(format, report->options), format->row);
    if (is_laid)
        coarse_rows_free(&rows);
}

static void write_files_together(struct file_report *report, struct writer *out)
{
    const struct format *format = report->format;
    size_t count = file_tallies_count(report->files->tallies);
    struct table table = table_begin(out, report->options, report->histogram);
    table.file = report->name;
    format->begin(&table);
    for (size_t file = 0; file < count && !out->error; file++) {
        load_file(report, &table, file);
        write_file_rows(report, &table);
    }
    format->end(&table);
}

void report_write_each(struct writer *out, const struct report_options *options,
                       const struct histogram *histogram, const struct report_files *files,
                       struct tally *tally)
{
    struct file_report report = {
        .format = format_table[options->format],
        .options = options,
        .histogram = histogram,
        .files = files,
        .tally = tally,
    };
    /* With a GPU it has counts of all FILEs. */
    memset(tally->counts, 0, tally->bins * sizeof tally->counts[0]);
    row_blocks_clear(&report.blocks, tally->bins);
    tally->blocks = &report.blocks;
    if (report.format->is_apart)
        write_files_apart(&report, out);
    else if (options->stats)
        write_statistics_together(&report, out);
    else
        write_files_together(&report, out);
    tally->blocks = NULL;
}

#define TERMINAL_CLEAR "\033[H\033[J" /* from the upper left corner on, as ECMA-48 has it */

void report_write_gap(struct writer *out, const struct report_options *options, bool follows)
{
    const struct format *format = format_table[options->format];
    if (options->in_place && (format->is_picture || options->stats) && !format->is_line)
        writer_text(out, TERMINAL_CLEAR);
    else if (follows && !format->is_line && !format->is_image)
        writer_char(out, '\n');
}
