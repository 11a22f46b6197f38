/* SPDX-License-Identifier: MIT */
#include "diff.h"
#include "field_text.h"
#include "format.h"
#include "json.h"
#include "percent.h"
#include "picture.h"
#include "screen.h"

#include "src/text/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIFF_UNITS 1e6 /* of a percentage point, which bars are measured in */

struct diff {
    struct writer *out;
    const struct report_options *options;
    const struct diff_counts *counts;
    const struct mode *mode;
    size_t written;         /* rows, in JSON */
    struct picture picture; /* the largest difference is in units; width is that of one side */
};

/* A row, as text. */
struct diff_row {
    char before[SHOW_NUMBER], after[SHOW_NUMBER];
    char before_percent[PERCENT_TEXT], after_percent[PERCENT_TEXT];
    char points[SHOW_NUMBER], ratio[SHOW_NUMBER];
    double difference;
};

static double percent_of(uint64_t count, const struct tally *tally)
{
    return tally->samples ? 100.0 * ((double)count / (double)tally->samples) : 0;
}

void diff_show_ratio(double number, double other, char text[SHOW_NUMBER])
{
    if (other > 0)
        snprintf(text, SHOW_NUMBER, "%.6g", number / other);
    else
        show_double(number > 0 ? HUGE_VAL : NAN, text);
}

static struct diff_row make_row(const struct diff *diff, const struct row *row)
{
    struct diff_row texts;
    const struct tally *before = diff->counts->before, *after = diff->counts->after;
    const uint64_t old = before->counts[row->index], new = after->counts[row->index];
    const double was = percent_of(old, before), is = percent_of(new, after);
    show_unsigned(old, texts.before);
    show_unsigned(new, texts.after);
    percent_show(old, before->samples, PERCENT_DIGITS, texts.before_percent);
    percent_show(new, after->samples, PERCENT_DIGITS, texts.after_percent);
    texts.difference = is - was;
    snprintf(texts.points, sizeof texts.points, "%.*f", PERCENT_DIGITS, texts.difference);
    if (strspn(texts.points, "-0.") == strlen(texts.points)) /* not -0.0000 */
        snprintf(texts.points, sizeof texts.points, "%.*f", PERCENT_DIGITS, 0.0);
    diff_show_ratio(is, was, texts.ratio);
    return texts;
}

/* Calls visit for each row that is shown, until writing fails. */
static void for_each_row(struct diff *diff, void (*visit)(struct diff *diff, const struct row *row))
{
    struct rows rows;
    const struct row *row;
    const struct row_names names = {.groups = NULL};
    rows_begin(&rows, diff->counts->spec, diff->counts->both, &names,
               format_empty_rows(diff->options));
    while ((row = rows_next(&rows)) && !diff->out->error)
        visit(diff, row);
}

/* --- TSV and CSV --- */

static void delimited_row(struct diff *diff, const struct row *row)
{
    const struct diff_row texts = make_row(diff, row);
    const char by = diff->options->format->separator;
    writer_format(diff->out, "%s%c%s%c%s", row->name, by, texts.before, by, texts.after);
    if (diff->mode->columns[MODE_COLUMNS - 1]) {
        writer_char(diff->out, by);
        field_write(diff->out, by, row->label.note);
    }
    writer_format(diff->out, "%c%s%c%s%c%s%c%s\n", by, texts.before_percent, by,
                  texts.after_percent, by, texts.points, by, texts.ratio);
}

void diff_delimited(struct diff *diff)
{
    const char *const *columns = diff->mode->columns;
    const char by = diff->options->format->separator;
    if (diff->options->header) {
        writer_format(diff->out, "%s%cbefore%cafter", columns[0], by, by);
        if (columns[MODE_COLUMNS - 1])
            writer_format(diff->out, "%c%s", by, columns[MODE_COLUMNS - 1]);
        writer_format(diff->out, "%cbefore_share%cafter_share%cpoints%cratio\n", by, by, by, by);
    }
    for_each_row(diff, delimited_row);
}

/* --- JSON --- */

static void object_totals(const struct diff *diff, const char *key, const struct tally *tally)
{
    const struct totals totals = rows_add_up(diff->counts->spec, tally);
    writer_text(diff->out, key);
    json_totals(diff->out, diff->mode, &totals);
    writer_char(diff->out, '}');
}

static void object_row(struct diff *diff, const struct row *row)
{
    const struct diff_row texts = make_row(diff, row);
    struct writer *out = diff->out;
    if (row->label.kind != ROW_KIND_BIN)
        return;
    writer_text(out, diff->written++ ? ",{" : "{");
    if (!diff->mode->is_binned)
        writer_format(out, "\"bin\":\"%s\",", row->label.name);
    json_member(out, "\"lo\":", row->label.lo);
    json_member(out, ",\"hi\":", row->label.hi);
    writer_format(out, ",\"before\":%s,\"after\":%s,\"before_share\":%s,\"after_share\":%s",
                  texts.before, texts.after, texts.before_percent, texts.after_percent);
    writer_format(out, ",\"points\":%s", texts.points);
    json_member(out, ",\"ratio\":", texts.ratio);
    writer_char(out, '}');
}

void diff_json(struct diff *diff)
{
    struct writer *out = diff->out;
    writer_format(out, "{\"schema\":\"gpuhisto-diff/1\",\"mode\":\"%s\"", diff->mode->name);
    if (diff->mode->has_types)
        writer_format(out, ",\"type\":\"%s\"", diff->counts->spec->type.name);
    object_totals(diff, ",\"before\":{", diff->counts->before);
    object_totals(diff, ",\"after\":{", diff->counts->after);
    writer_text(out, ",\"bins\":[");
    for_each_row(diff, object_row);
    writer_text(out, "]}\n");
}

/* --- a picture --- */

#define PICTURE_CELLS 5 /* label, both percents, points, ratio */

static struct picture_cells make_cells(const struct diff_row *row, const char *label)
{
    return (struct picture_cells){
        {label, row->before_percent, row->after_percent, row->points, row->ratio}, PICTURE_CELLS};
}

static uint64_t units_of(double difference)
{
    return (uint64_t)llround(fabs(difference) * DIFF_UNITS);
}

static void picture_measure(struct diff *diff, const struct row *row)
{
    const struct diff_row texts = make_row(diff, row);
    const uint64_t units = units_of(texts.difference);
    char label[PICTURE_LABEL];
    picture_label(diff->counts->spec, row, label);
    const struct picture_cells cells = make_cells(&texts, label);
    picture_widen(diff->picture.widths, &cells);
    diff->picture.largest = units > diff->picture.largest ? units : diff->picture.largest;
}

void diff_fit_bars(struct picture *picture, const struct screen *screen,
                   const struct picture_cells *cells)
{
    const size_t used = picture_width(picture->widths, cells) + 1; /* the axis */
    picture->width = screen->columns > used + 2 ? (screen->columns - used) / 2 : 1;
    picture->utf8 = screen->utf8;
}

/* A bar is of whole characters. */
void diff_bar(struct writer *out, const struct picture *picture, bool is_fall, uint64_t units)
{
    const size_t length = (size_t)bar_length(units, picture->largest, picture->width);
    const char *block = picture->utf8 ? "\u2588" : "#", *axis = picture->utf8 ? "\u2502" : "|";
    const size_t left = is_fall ? length : 0, right = is_fall ? 0 : length;
    writer_format(out, "%*s", PICTURE_GAP, "");
    for (size_t i = left; i < picture->width; i++)
        writer_char(out, ' ');
    for (size_t i = 0; i < left; i++)
        writer_text(out, block);
    writer_text(out, axis);
    for (size_t i = 0; i < right; i++)
        writer_text(out, block);
    writer_char(out, '\n');
}

static const char *sides_of(const struct diff *diff)
{
    return diff->mode->is_binned ? "rrrrr" : "lrrrr";
}

static void picture_row(struct diff *diff, const struct row *row)
{
    const struct diff_row texts = make_row(diff, row);
    char label[PICTURE_LABEL];
    picture_label(diff->counts->spec, row, label);
    const struct picture_cells cells = make_cells(&texts, label);
    picture_write(diff->out, &cells, diff->picture.widths, sides_of(diff));
    diff_bar(diff->out, &diff->picture, texts.difference < 0, units_of(texts.difference));
}

void diff_plot(struct diff *diff)
{
    static const struct picture_cells header = {{"bin", "before", "after", "points", "ratio"},
                                                PICTURE_CELLS};
    const struct screen screen = screen_of(diff->out->fd);
    if (diff->options->header)
        picture_widen(diff->picture.widths, &header);
    for_each_row(diff, picture_measure);
    diff_fit_bars(&diff->picture, &screen, &header);
    if (diff->options->header) {
        picture_write(diff->out, &header, diff->picture.widths, sides_of(diff));
        writer_char(diff->out, '\n');
    }
    for_each_row(diff, picture_row);
}

void diff_write(struct writer *out, const struct report_options *options,
                const struct diff_counts *counts)
{
    struct diff diff = {
        .out = out, .options = options, .counts = counts, .mode = counts->spec->mode};
    options->format->diff(&diff);
}
