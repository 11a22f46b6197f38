/* SPDX-License-Identifier: MIT */
/* A picture for people: columns side by side, and a bar for each count. Columns are separated by
 * blanks and hold none, so that sort and awk see the same columns as people do: the label, the
 * count and its percent; of numbers the running percent, of bytes the character; and the bar. */
#include "diff.h"
#include "format.h"
#include "heat.h"
#include "percent.h"
#include "screen.h"

#include "src/text/number.h"

#define PLOT_NAME 11  /* characters of a statistic's name that always fit */
#define PLOT_DIGITS 2 /* decimals of percents */

/* The cells of a row, and memory for texts that it does not have itself. */
struct plot_row {
    struct picture_cells cells;
    char label[PICTURE_LABEL], digits[SHOW_NUMBER], percent[PERCENT_TEXT], running[PERCENT_TEXT];
};

static void make_row(const struct table *table, const struct row *row, struct plot_row *texts)
{
    const struct mode *mode = table->shown.spec->mode;
    const uint64_t samples = table->totals.samples;
    picture_label(table->shown.spec, row, texts->label);
    const char *label = table->names.groups ? row->name : texts->label;
    show_unsigned(row->count, texts->digits);
    percent_show(row->count, samples, PLOT_DIGITS, texts->percent);
    texts->cells = (struct picture_cells){{label, texts->digits, texts->percent}, 3};
    if (mode->is_binned) {
        percent_show(row->running, samples, PLOT_DIGITS, texts->running);
        texts->cells.text[texts->cells.count++] = texts->running;
    } else if (mode->columns[MODE_COLUMNS - 1]) {
        /* A space is shown between quotes elsewhere. */
        texts->cells.text[texts->cells.count++] =
            strchr(row->label.note, ' ') ? "\\x20" : row->label.note;
    }
}

static struct picture_cells make_header(const struct mode *mode)
{
    struct picture_cells cells = {{mode->columns[0], mode->columns[1], "share"}, 3};
    if (mode->is_binned)
        cells.text[cells.count++] = "running";
    else if (mode->columns[MODE_COLUMNS - 1])
        cells.text[cells.count++] = mode->columns[MODE_COLUMNS - 1];
    return cells;
}

static void plot_measure(struct table *table, const struct row *row)
{
    struct plot_row texts;
    make_row(table, row, &texts);
    picture_widen(table->picture.widths, &texts.cells);
    table->picture.largest =
        row->count > table->picture.largest ? row->count : table->picture.largest;
}

/* Numbers are aligned by their last digit, names by their first letter. */
static const char *sides_of(const struct mode *mode)
{
    return mode->is_binned ? "rrrr" : "lrrl";
}

/* Writes the name of the group, as head(1) does, and of the channel, where there are several. */
static void name_table(struct table *table)
{
    if (!table->groups && table->channel == 0)
        return;
    writer_text(table->out, table->tables > 0 ? "\n==> " : "==> ");
    if (table->groups)
        format_name_group(table);
    if (table->channel)
        writer_format(table->out, "%schannel %u", table->groups ? ", " : "", table->channel);
    writer_text(table->out, " <==\n");
}

static void plot_begin(struct table *table)
{
    const struct mode *mode = table->shown.spec->mode;
    const struct picture_cells header = make_header(mode);
    if (table->options->header)
        picture_widen(table->picture.widths, &header);
    name_table(table);
    const struct screen screen = screen_of(table->out->fd);
    const size_t used = picture_width(table->picture.widths, &header);
    /* On a screen that is too narrow for the columns lines are longer, but none is without a bar.
     */
    table->picture.width = used < screen.columns ? screen.columns - used : 1;
    table->picture.utf8 = screen.utf8;
    if (table->options->header) {
        picture_write(table->out, &header, table->picture.widths, sides_of(mode));
        writer_char(table->out, '\n');
    }
}

static void plot_row(struct table *table, const struct row *row)
{
    struct plot_row texts;
    make_row(table, row, &texts);
    const size_t blanks = picture_write(table->out, &texts.cells, table->picture.widths,
                                        sides_of(table->shown.spec->mode));
    if (row->count > 0) {
        writer_format(table->out, "%*s", (int)blanks, "");
        bar_write(table->out, row->count, table->picture.largest, table->picture.width,
                  table->picture.utf8);
    }
    writer_char(table->out, '\n');
}

/* An interval is one column of two numbers, so that every statistic has two columns. */
static void plot_statistics(struct table *table, const struct statistics *statistics)
{
    size_t widest = PLOT_NAME;
    for (size_t i = 0; i < statistics->count; i++) {
        const size_t width =
            screen_width(statistics->list[i].name, strlen(statistics->list[i].name));
        widest = width > widest ? width : widest;
    }
    writer_char(table->out, '\n');
    if (table->options->header)
        writer_format(table->out, "%-*s  %s\n", (int)widest, "name", "value");
    for (size_t i = 0; i < statistics->count; i++) {
        const struct statistic *statistic = &statistics->list[i];
        writer_format(table->out, "%-*s  %s%s%s\n", (int)widest, statistic->name, statistic->value,
                      statistic->upper[0] ? ".." : "", statistic->upper);
    }
}

const struct format format_plot = {
    .name = "plot",
    .is_picture = true,
    .prepare = screen_prepare,
    .diff = diff_plot,
    .diff_keys = diff_keys_plot,
    .heat = &heat_plot,
    .measure = plot_measure,
    .begin = plot_begin,
    .row = plot_row,
    .statistics = plot_statistics,
};
