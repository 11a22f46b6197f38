/* SPDX-License-Identifier: MIT */
/* A table as formats see it: its counts, the cells of its rows, statistics, and bins that are wider
 * than those that were counted. */
#include "format.h"
#include "writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PICTURE_DIGITS 2 /* decimals of percents */

/* --- what a format sees of counts --- */

void table_show(struct table *table, struct counts shown)
{
    table->shown = shown;
    table->mode = shown.spec->mode;
    table->type = table->mode->has_types ? shown.spec->type.name : NULL;
    table->channels = histogram_spec_channels(shown.spec);
}

/* --- cells --- */

void percent_show(uint64_t part, uint64_t whole, unsigned digits, char text[PERCENT_TEXT])
{
    uint128 unit = 1; /* of a percent */
    for (unsigned i = 0; i < digits; i++)
        unit *= 10;
    /* Below 2^64 * 10^8 * 2, so nothing overflows. */
    uint128 units = whole ? ((uint128)part * 100 * unit * 2 + whole) / whole / 2 : 0;
    snprintf(text, PERCENT_TEXT, "%" PRIu64 ".%0*" PRIu64, (uint64_t)(units / unit), (int)digits,
             (uint64_t)(units % unit));
}

struct cell *cells_add(struct cells *cells, const char *name, const char *text)
{
    struct cell *cell = &cells->list[cells->count++];
    *cell = (struct cell){.name = name, .text = text};
    return cell;
}

void table_each_row(struct table *table, void (*visit)(struct table *table, const struct row *row))
{
    struct rows rows;
    const struct row *row;
    rows_begin(&rows, table->shown.spec, table->shown.tally, &table->names,
               format_empty_rows(table->options));
    table->cut = table->max > 0 ? rows_cut(&rows, table->max) : 0;
    while ((row = rows_next(&rows)) && !table->out->error)
        visit(table, row);
}

void table_add_up(struct table *table)
{
    const struct counts *shown = &table->shown;
    table->totals = table->names.groups ? rows_add_up_groups(table->names.groups, shown->tally)
                                        : rows_add_up(shown->spec, shown->tally);
}

/* Adds the percent and the running percent of a row. */
static void add_percents(const struct table *table, const struct row *row, struct cells *cells)
{
    const bool is_picture = table->format->is_picture;
    const unsigned digits = is_picture ? PICTURE_DIGITS : PERCENT_DIGITS;
    percent_show(row ? row->count : 0, table->totals.samples, digits, cells->texts[1]);
    cells_add(cells, "share", cells->texts[1]);
    if (is_picture && !table->mode->is_binned)
        return;
    percent_show(row ? row->running : 0, table->totals.samples, digits, cells->texts[2]);
    cells_add(cells, "running", cells->texts[2]);
}

/* Adds the counts of all channels; of a picture, which has one, as text. */
static void add_counts(const struct table *table, const struct row *row, struct cells *cells)
{
    const struct tally *tally = table->shown.tally;
    const unsigned channels = table->channels;
    const size_t step = histogram_spec_rows(table->shown.spec);
    for (unsigned channel = 0; channel < channels; channel++) {
        struct cell *cell = cells_add(cells, channels == 1 ? "count" : NULL, NULL);
        cell->count = row ? tally->counts[row->index + channel * step] : 0;
    }
    if (!table->format->is_picture)
        return;
    show_unsigned(cells->list[0].count, cells->texts[0]);
    cells->list[0].text = cells->texts[0];
}

void table_cells(struct table *table, const struct row *row, struct cells *cells)
{
    const struct mode *mode = table->mode;
    const bool is_picture = table->format->is_picture, is_delimited = table->format->separator;
    const char *const note = row ? row->label.note : "", *const name =
                                                             mode->columns[MODE_COLUMNS - 1];
    cells->count = 0;
    if (table->fill_cells) {
        table->fill_cells(table, row, cells);
        return;
    }
    add_counts(table, row, cells);
    cells->bar = cells->list[0].count;
    if (name && is_delimited)
        cells_add(cells, name, note)->is_note = true;
    if (is_picture || table->options->percent)
        add_percents(table, row, cells);
    /* In a picture a space is shown between quotes elsewhere. */
    if (name && is_picture && !mode->is_binned)
        cells_add(cells, name, strchr(note, ' ') ? "\\x20" : note)->is_note = true;
}

void table_measure(struct table *table)
{
    table->picture = (struct picture){.largest = 0};
    if (!table->format->measure)
        return;
    if (table->options->header)
        table->format->measure(table, NULL);
    table_each_row(table, table->format->measure);
}

void table_write_rows(struct table *table)
{
    table->written = 0;
    table_measure(table);
    table->format->begin(table);
    table_each_row(table, table->format->row);
    if (table->cut > 0)
        writer_format(table->out, "(%zu more rows)\n", table->cut);
    if (table->diff && table->format->end)
        table->format->end(table);
}

/* --- statistics, and wider bins --- */

void report_find_statistics(const struct report_options *options, const struct histogram_spec *spec,
                            const struct tally *tally, struct statistics *statistics)
{
    statistics->count = 0;
    spec->mode->add_statistics(spec, tally, statistics);
    if (!spec->has_moments || options->quantile_count == 0)
        return;
    struct quantiles quantiles = quantiles_of(spec, tally);
    for (size_t i = 0; i < options->quantile_count; i++) {
        const struct quantile found = quantiles_find(&quantiles, &options->quantiles[i]);
        statistics_add_quantile(statistics, options->quantiles[i].name, &found);
    }
}

enum coarsen_outcome report_widen(const struct report_options *options,
                                  const struct counts *counted, const struct picture_bins *picture,
                                  struct coarse_rows *rows)
{
    const struct report_bins *bins = &options->bins;
    if (bins->max > 0)
        return coarsen_equal(counted->spec, counted->tally, bins->max, rows);
    if (bins->log_parts > 0)
        return coarsen_decades(counted->spec, counted->tally, bins->log_parts, rows);
    return picture && !bins->keep && counted->spec->binning.digits.scales
               ? coarsen_picture(counted->spec, counted->tally, picture, rows)
               : COARSEN_AS_COUNTED;
}

void format_name_group(struct table *table)
{
    const char *const name = table->group[GROUP_NAME], *const offset = table->group[GROUP_OFFSET];
    if (name)
        writer_text(table->out, name);
    if (offset)
        writer_format(table->out, "%soffset %s", name ? ", " : "", offset);
}
