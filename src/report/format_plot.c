/* SPDX-License-Identifier: MIT */
/* A picture for people: columns side by side, and a bar for each count. Columns are separated by
 * blanks and hold none, so that sort and awk see the same columns as people do: the label, the
 * count and its share; of numbers the running share, of bytes the character; and the bar. */
#include "bar.h"
#include "format.h"
#include "picture_label.h"
#include "percent.h"

#include "src/count/show_number.h"

#include <stdio.h>

#define PLOT_GAP 2    /* blanks between columns */
#define PLOT_NAME 11  /* the longest name of a statistic that is not a quantile */
#define PLOT_DIGITS 2 /* decimals of a share */

/* The columns before the bar, as text. */
struct plot_cells {
    const char *text[PICTURE_COLUMNS];
    size_t count;
};

/* Texts of a row, and room for those that it does not have itself. */
struct plot_row {
    struct plot_cells cells;
    char label[PICTURE_LABEL], digits[SHOW_NUMBER], percent[PERCENT_TEXT], running[PERCENT_TEXT];
};

static void plot_make_row(const struct table *table, const struct row *row, struct plot_row *texts)
{
    const struct mode *mode = table->histogram->mode;
    const uint64_t samples = table->totals.samples;
    picture_label(table->histogram, row, texts->label);
    show_unsigned(row->count, texts->digits);
    percent_show(row->count, samples, PLOT_DIGITS, texts->percent);
    texts->cells = (struct plot_cells){{texts->label, texts->digits, texts->percent}, 3};
    if (mode->is_binned) {
        percent_show(row->running, samples, PLOT_DIGITS, texts->running);
        texts->cells.text[texts->cells.count++] = texts->running;
    } else if (mode->columns[MODE_COLUMNS - 1]) {
        /* A space is shown between quotes elsewhere. */
        texts->cells.text[texts->cells.count++] =
            strchr(row->label.note, ' ') ? "\\x20" : row->label.note;
    }
}

static struct plot_cells plot_header(const struct mode *mode)
{
    struct plot_cells cells = {{mode->columns[0], mode->columns[1], "share"}, 3};
    if (mode->is_binned)
        cells.text[cells.count++] = "running";
    else if (mode->columns[MODE_COLUMNS - 1])
        cells.text[cells.count++] = mode->columns[MODE_COLUMNS - 1];
    return cells;
}

static void plot_widen(size_t widths[PICTURE_COLUMNS], const struct plot_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++) {
        size_t width = screen_width(cells->text[i]);
        widths[i] = width > widths[i] ? width : widths[i];
    }
}

static void plot_measure(struct table *table, const struct row *row)
{
    struct plot_row texts;
    plot_make_row(table, row, &texts);
    plot_widen(table->picture.widths, &texts.cells);
    if (row->count > table->picture.largest)
        table->picture.largest = row->count;
}

/* Writes columns. Each is aligned to one side, as the letters of `sides` say: 'l' or 'r'. Returns
 * how many blanks separate the last one from what follows. */
static size_t plot_write(struct writer *out, const struct plot_cells *cells,
                         const size_t widths[PICTURE_COLUMNS], const char *sides)
{
    size_t blanks = 0;
    for (size_t i = 0; i < cells->count; i++) {
        size_t pad = widths[i] - screen_width(cells->text[i]);
        writer_format(out, "%*s%s", (int)(blanks + (sides[i] == 'r' ? pad : 0)), "",
                      cells->text[i]);
        blanks = PLOT_GAP + (sides[i] == 'l' ? pad : 0);
    }
    return blanks;
}

/* Numbers are aligned by their last digit, names by their first letter. */
static const char *plot_sides(const struct mode *mode)
{
    return mode->is_binned ? "rrrr" : "lrrl";
}

/* Begins a table with the name of the file, as head(1) does, and the channel, where there are
 * several. */
static void plot_name_table(struct table *table)
{
    if (!table->file && table->channel == 0)
        return;
    writer_text(table->out, table->tables > 0 ? "\n==> " : "==> ");
    if (table->file)
        writer_text(table->out, table->file);
    if (table->channel)
        writer_format(table->out, "%schannel %u", table->file ? ", " : "", table->channel);
    writer_text(table->out, " <==\n");
}

static void plot_begin(struct table *table)
{
    const struct mode *mode = table->histogram->mode;
    struct picture *picture = &table->picture;
    struct plot_cells header = plot_header(mode);
    if (table->header)
        plot_widen(picture->widths, &header);
    plot_name_table(table);
    picture->screen = screen_of(table->out->fd);
    size_t used = 0;
    for (size_t i = 0; i < header.count; i++)
        used += picture->widths[i] + PLOT_GAP;
    /* On a screen that is too narrow for the columns lines are longer, but none is without a bar.
     */
    picture->room = used < picture->screen.columns ? picture->screen.columns - used : 1;
    if (table->header) {
        plot_write(table->out, &header, picture->widths, plot_sides(mode));
        writer_char(table->out, '\n');
    }
}

static void plot_row(struct table *table, const struct row *row)
{
    const struct picture *picture = &table->picture;
    struct plot_row texts;
    plot_make_row(table, row, &texts);
    size_t blanks =
        plot_write(table->out, &texts.cells, picture->widths, plot_sides(table->histogram->mode));
    if (row->count > 0) {
        writer_format(table->out, "%*s", (int)blanks, "");
        bar_write(table->out, row->count, picture->largest, picture->room, picture->screen.utf8);
    }
    writer_char(table->out, '\n');
}

static void plot_measure_statistic(struct table *table, const struct statistic *statistic)
{
    const struct plot_cells name = {{statistic->name}, 1};
    plot_widen(table->picture.widths, &name);
}

/* The names of statistics have a column of at least PLOT_NAME characters. */
static int plot_name_width(const struct table *table)
{
    const size_t widest = table->picture.widths[0];
    return (int)(widest > PLOT_NAME ? widest : PLOT_NAME);
}

static void plot_begin_statistics(struct table *table)
{
    writer_char(table->out, '\n');
    if (table->header)
        writer_format(table->out, "%-*s  %s\n", plot_name_width(table), "name", "value");
}

/* An interval is one column of two numbers, so that every statistic has two columns. */
static void plot_statistic(struct table *table, const struct statistic *statistic)
{
    writer_format(table->out, "%-*s  %s%s%s\n", plot_name_width(table), statistic->name,
                  statistic->value, statistic->upper[0] ? ".." : "", statistic->upper);
}

static void plot_end(struct table *table)
{
    (void)table;
}

const struct format format_plot = {
    .has_both = true,
    .is_apart = true,
    .is_picture = true,
    .measure = plot_measure,
    .measure_statistic = plot_measure_statistic,
    .begin = plot_begin,
    .row = plot_row,
    .begin_statistics = plot_begin_statistics,
    .statistic = plot_statistic,
    .end = plot_end,
};
