/* SPDX-License-Identifier: MIT */
#include "heat.h"
#include "format.h"

#include "src/tally/coarsen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CROWDED 50 /* percent of the samples in one column */

/* The source of a heat map. */
struct heat_source {
    struct heat heat;
    const struct heat_format *format;
    const struct histogram_spec *spec; /* of what was counted */
    struct tally *tally;               /* of one group, or the first ones together */
    struct coarse_rows shown;          /* the bins that are shown, and all samples in them */
    bool is_wider;                     /* they are not those that were counted */
};

/* --- the bins --- */

/* Adds up the groups. 0, or -1: memory is short. */
static int add_up(struct heat_source *source, struct tally *sum)
{
    const struct groups *groups = source->heat.groups;
    struct histogram_spec alone = *source->spec;
    alone.also = NULL;
    if (tally_open(sum, &alone) != 0)
        return -1;
    for (size_t group = 0; group < groups->count; group++) {
        struct tally *tally = source->tally;
        groups_load(groups, group, source->spec, tally);
        source->heat.max = tally->samples > source->heat.max ? tally->samples : source->heat.max;
        sum->samples += tally->samples;
        for (size_t row = 0; (row = tally_next_counted(tally, row)) < tally->bins; row++)
            sum->counts[row] += tally->counts[row];
        if (sum->moments)
            moments_merge(sum->moments, tally->moments);
    }
    return 0;
}

/* Finds wider bins than those that were counted, for so many columns. */
static enum coarsen_outcome widen(struct heat_source *source, const struct tally *sum,
                                  size_t capacity)
{
    const struct report_bins *bins = &source->heat.options->bins;
    const struct histogram_spec *spec = source->spec;
    if (bins->max > 0)
        return coarsen_equal(spec, sum, bins->max, &source->shown);
    if (bins->log_parts > 0)
        return coarsen_decades(spec, sum, bins->log_parts, &source->shown);
    if (!spec->binning.digits.scales || bins->keep)
        return COARSEN_AS_COUNTED;
    return coarsen_picture(spec, sum, &(struct picture_bins){capacity, DECADE_PARTS_FINE, CROWDED},
                           &source->shown);
}

/* Chooses the bins, and adds up all samples in them. 0, or -1: memory is short. */
static int choose_bins(struct heat_source *source)
{
    struct tally sum;
    if (add_up(source, &sum) != 0)
        return -1;
    source->heat.columns_max = source->format->columns_max(&source->heat);
    const enum coarsen_outcome outcome = widen(source, &sum, source->heat.columns_max);
    source->is_wider = outcome == COARSEN_DONE;
    if (outcome != COARSEN_AS_COUNTED) {
        tally_close(&sum);
        return source->is_wider ? 0 : -1;
    }
    source->shown.spec = *source->spec;
    source->shown.tally = sum;
    return 0;
}

/* --- the columns --- */

/* Adds rows to the columns: one each, or `together` bins. */
static void add_row(struct heat *heat, const struct histogram_spec *spec, const struct row *row,
                    size_t together, size_t *in_last)
{
    const bool is_bin = row->label.kind == ROW_KIND_BIN;
    if (is_bin && *in_last > 0 && *in_last < together) {
        heat->columns[heat->count - 1].end = row->index + 1;
        ++*in_last;
        return;
    }
    struct heat_column *column = &heat->columns[heat->count++];
    *column = (struct heat_column){.begin = row->index, .end = row->index + 1};
    picture_label(spec, row, column->label);
    *in_last = is_bin;
}

/* Makes columns of the rows that a picture of all samples would have. 0, or -1: memory is short. */
static int make_columns(struct heat_source *source)
{
    const struct histogram_spec *spec = &source->shown.spec;
    /* --all is about keys: columns without any sample to their left and right say nothing. */
    const enum empty_rows empty = source->heat.options->empty == EMPTY_SHOWN
                                      ? EMPTY_IN_PICTURE
                                      : format_empty_rows(source->heat.options);
    const struct row_names none = {.groups = NULL};
    struct heat *heat = &source->heat;
    struct rows rows;
    const struct row *row;
    size_t bins = 0, others = 0, in_last = 0;
    rows_begin(&rows, spec, &source->shown.tally, &none, empty);
    while ((row = rows_next(&rows)))
        *(row->label.kind == ROW_KIND_BIN ? &bins : &others) += 1;
    const size_t space = heat->columns_max > others ? heat->columns_max - others : 1;
    heat->columns = malloc((bins + others + 1) * sizeof heat->columns[0]);
    heat->cells = calloc(bins + others + 1, sizeof heat->cells[0]);
    if (!heat->columns || !heat->cells)
        return -1;
    rows_begin(&rows, spec, &source->shown.tally, &none, empty);
    while ((row = rows_next(&rows)))
        add_row(heat, spec, row, (bins + space - 1) / space, &in_last);
    return 0;
}

/* --- the cells --- */

/* Counts a group into the cells. */
static void count_cells(struct heat_source *source, size_t group)
{
    struct heat *heat = &source->heat;
    struct tally *shown = &source->shown.tally;
    groups_load(heat->groups, group, source->spec, source->tally);
    const struct tally *tally = source->tally;
    if (source->is_wider) {
        tally_clear(shown);
        map_rows(source->spec, source->tally, &source->shown.spec, shown);
        tally = shown;
    }
    heat->group = group;
    heat->samples = tally->samples;
    for (size_t i = 0; i < heat->count; i++)
        heat->cells[i] = tally_sum(tally, heat->columns[i].begin, heat->columns[i].end);
}

static void find_largest(struct heat_source *source)
{
    struct heat *heat = &source->heat;
    for (size_t group = 0; group < heat->groups->count; group++) {
        count_cells(source, group);
        for (size_t i = 0; i < heat->count; i++)
            heat->largest = heat->cells[i] > heat->largest ? heat->cells[i] : heat->largest;
    }
}

static void write_rows(struct heat_source *source)
{
    struct heat *heat = &source->heat;
    if (source->format->needs_largest)
        find_largest(source);
    if (heat->groups->count == 0 && !heat->options->header)
        return;
    source->format->begin(heat);
    for (size_t group = 0; group < heat->groups->count && !heat->out->error; group++) {
        count_cells(source, group);
        source->format->row(heat);
    }
}

void heat_write(struct writer *out, const struct report_options *options,
                const struct histogram_spec *spec, const struct row_names *names,
                struct tally *tally)
{
    struct heat_source source = {
        .heat = {.out = out, .options = options, .groups = names->groups, .name = names->text},
        .format = options->format->heat,
        .spec = spec,
        .tally = tally,
    };
    if (choose_bins(&source) == 0) {
        if (make_columns(&source) == 0)
            write_rows(&source);
        else
            out->error = ENOMEM;
        if (source.is_wider)
            binning_free(&source.shown.spec.binning);
        tally_close(&source.shown.tally);
        free(source.heat.columns);
        free(source.heat.cells);
    } else {
        out->error = ENOMEM;
    }
}
