/* SPDX-License-Identifier: MIT */
/* Two tables side by side: of the same bins, or by the same keys. A row has both counts; of bins
 * also both percents, their difference in percentage points and their ratio; of keys the difference
 * and the ratio of counts, and perhaps statistics. */
#include "format.h"
#include "writer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIFF_UNITS 1e6 /* of a percentage point, which bars are measured in */

/* Shows a number divided by another one: "inf" if only the other one is 0, "nan" if both are. */
static void show_ratio(double number, double other, char text[SHOW_NUMBER])
{
    if (other > 0)
        snprintf(text, SHOW_NUMBER, "%.6g", number / other);
    else
        show_double(number > 0 ? HUGE_VAL : NAN, text);
}

/* --- bins --- */

static void bin_cells(struct table *table, const struct row *row, struct cells *cells)
{
    static const char *const names[] = {"before", "after", "before_share", "after_share"};
    const bool is_picture = table->format->is_picture;
    const char *const note = table->mode->columns[MODE_COLUMNS - 1];
    double percents[SIDES];
    for (unsigned side = 0; side < SIDES; side++) {
        const struct tally *tally = table->diff->sides[side];
        const uint64_t count = row ? tally->counts[row->index] : 0;
        percents[side] = tally->samples ? 100.0 * ((double)count / (double)tally->samples) : 0;
        show_unsigned(count, cells->texts[side]);
        percent_show(count, tally->samples, PERCENT_DIGITS, cells->texts[SIDES + side]);
        cells_add(cells, names[side], cells->texts[is_picture ? SIDES + side : side]);
    }
    if (note && table->format->separator)
        cells_add(cells, note, row ? row->label.note : "");
    for (unsigned side = 0; side < SIDES && !is_picture; side++)
        cells_add(cells, names[SIDES + side], cells->texts[SIDES + side]);
    const double difference = percents[AFTER] - percents[BEFORE];
    char *const points = cells->texts[4], *const ratio = cells->texts[5];
    snprintf(points, SHOW_NUMBER, "%.*f", PERCENT_DIGITS, difference);
    if (strspn(points, "-0.") == strlen(points)) /* not -0.0000 */
        snprintf(points, SHOW_NUMBER, "%.*f", PERCENT_DIGITS, 0.0);
    show_ratio(percents[AFTER], percents[BEFORE], ratio);
    cells_add(cells, "points", points);
    cells_add(cells, "ratio", ratio);
    cells->bar = (uint64_t)llround(fabs(difference) * DIFF_UNITS);
    cells->is_fall = difference < 0;
}

void diff_write(struct writer *out, const struct report_options *options,
                const struct diff_counts *counts)
{
    struct diff diff = {.sides = {counts->before, counts->after}};
    struct table table = {.out = out,
                          .options = options,
                          .format = options->format,
                          .label =
                              options->format->is_picture ? "bin" : counts->spec->mode->columns[0],
                          .diff = &diff,
                          .fill_cells = bin_cells};
    table_show(&table, (struct counts){counts->spec, counts->both});
    table_write_rows(&table);
}

/* --- keys --- */

/* Finds the statistics of one side of a key; of SIZE_MAX those of none. Returns its count of
 * numbers. */
static uint64_t load_side(struct table *table, size_t group, unsigned side)
{
    struct diff *diff = table->diff;
    const struct histogram_spec *spec = diff->tables->spec;
    if (group != SIZE_MAX)
        groups_load(&diff->groups[side], group, spec, &diff->memory.tally);
    report_find_statistics(table->options, spec, &diff->memory.tally, &diff->of[side]);
    const struct tally *tally = &diff->memory.tally;
    return tally->samples - tally->counts[ROW_INVALID(&spec->binning)];
}

/* Adds the mean and quantiles of both sides. */
static void add_statistics(const struct diff *diff, struct cells *cells)
{
    static const char *const prefixes[SIDES] = {"before_", "after_"};
    for (size_t i = 0; i < diff->of[BEFORE].count; i++)
        for (unsigned side = 0; side < SIDES; side++) {
            const struct statistic *statistic = &diff->of[side].list[i];
            if (!statistic->is_interval && strcmp(statistic->name, "mean") != 0)
                break;
            struct cell *cell = cells_add(cells, statistic->name, statistic->value);
            cell->prefix = prefixes[side];
            cell->upper = statistic->is_interval ? statistic->upper : NULL;
        }
}

static void key_cells(struct table *table, const struct row *row, struct cells *cells)
{
    static const char *const names[SIDES] = {"before", "after"};
    struct diff *diff = table->diff;
    uint64_t counts[SIDES];
    for (unsigned side = 0; side < SIDES; side++) {
        counts[side] = row ? diff->sides[side]->counts[row->index] : 0;
        if (diff->of)
            counts[side] = load_side(table, row ? row->index : SIZE_MAX, side);
        show_unsigned(counts[side], cells->texts[side]);
        cells_add(cells, names[side], cells->texts[side]);
    }
    cells->is_fall = counts[AFTER] < counts[BEFORE];
    cells->bar = cells->is_fall ? counts[BEFORE] - counts[AFTER] : counts[AFTER] - counts[BEFORE];
    cells->texts[2][0] = '-';
    show_unsigned(cells->bar, cells->texts[2] + cells->is_fall);
    show_ratio((double)counts[AFTER], (double)counts[BEFORE], cells->texts[3]);
    cells_add(cells, "difference", cells->texts[2]);
    cells_add(cells, "factor", cells->texts[3]);
    if (diff->of && !table->format->is_picture)
        add_statistics(diff, cells);
}

/* Shortens names so that bars fit beside them. 0, or -1: memory is short. */
static int fit_names(struct table *table)
{
    struct groups *names = &table->diff->groups[AFTER];
    const struct screen screen = screen_of(table->out->fd);
    struct cells cells;
    table_measure(table);
    table_cells(table, NULL, &cells);
    size_t beside = PICTURE_GAP + 3; /* of the bars */
    for (size_t i = 0; i < cells.count; i++)
        beside += table->picture.widths[names->parts + i] + PICTURE_GAP;
    return groups_shorten_names(names, &screen, beside);
}

/* Writes the rows of both sides. 0, or -1: memory is short. */
static int write_keys(struct table *table, const struct group_rows *sides)
{
    struct diff *diff = table->diff;
    struct group_rows both;
    if (group_rows_make(&both, diff->tables->spec, &diff->groups[AFTER]) != 0)
        return -1;
    both.tally.samples = 0;
    for (size_t i = 0; i < both.tally.bins; i++) {
        const bool needs_numbers = diff->of && table->options->empty == EMPTY_LEFT_OUT;
        both.tally.counts[i] = 0;
        for (unsigned side = 0; side < SIDES; side++) /* a sum may be too large */
            both.tally.counts[i] |=
                needs_numbers ? load_side(table, i, side) : sides[side].tally.counts[i];
    }
    table_show(table, (struct counts){&both.spec, &both.tally});
    if (diff->of)
        tally_clear(&diff->memory.tally);
    const int rc = table->format->is_picture ? fit_names(table) : 0;
    if (rc == 0)
        table_write_rows(table);
    group_rows_free(&both);
    return rc;
}

void diff_write_keys(struct writer *out, const struct report_options *options,
                     const struct diff_tables *tables)
{
    struct report_options shown = *options;
    struct group_rows sides[SIDES] = {0};
    struct diff diff = {
        .sides = {&sides[BEFORE].tally, &sides[AFTER].tally},
        .tables = tables,
        .groups = {groups_of_keys(tables->before, tables->top, tables->columns, false),
                   groups_of_keys(tables->after, tables->top, tables->columns, false)}};
    struct table table = {.out = out,
                          .options = &shown,
                          .format = options->format,
                          .label = tables->columns,
                          .diff = &diff,
                          .fill_cells = key_cells};
    int rc = -1;
    shown.empty = options->empty == EMPTY_LEFT_OUT ? EMPTY_LEFT_OUT : EMPTY_SHOWN;
    /* Both sides have a row for records without a key if one of them has some. */
    for (unsigned side = 0; side < SIDES; side++)
        if (diff.groups[side].missing == SIZE_MAX &&
            diff.groups[SIDES - 1 - side].missing != SIZE_MAX)
            diff.groups[side].missing = diff.groups[side].count++;
    char *name = malloc(groups_name_capacity(&diff.groups[AFTER]));
    table.names = (struct row_names){&diff.groups[AFTER], name};
    if (options->stats)
        diff.of = calloc(SIDES, sizeof diff.of[0]);
    const bool is_there = name && (diff.of || !options->stats) &&
                          (!options->stats || group_tally_open(&diff.memory, tables->spec) == 0);
    if (is_there && group_rows_make(&sides[BEFORE], tables->spec, &diff.groups[BEFORE]) == 0 &&
        group_rows_make(&sides[AFTER], tables->spec, &diff.groups[AFTER]) == 0)
        rc = write_keys(&table, sides);
    if (rc != 0 && !out->error)
        out->error = ENOMEM;
    for (unsigned side = 0; side < SIDES; side++)
        group_rows_free(&sides[side]);
    tally_close(&diff.memory.tally);
    free(diff.groups[AFTER].gaps);
    free(diff.of);
    free(name);
}
