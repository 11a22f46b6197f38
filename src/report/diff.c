/* SPDX-License-Identifier: MIT */
#include "diff.h"
#include "bar.h"
#include "field_text.h"
#include "format.h"
#include "json_text.h"
#include "picture_label.h"
#include "screen.h"
#include "percent.h"

#include "src/count/show_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DIFF_CELLS 8
#define DIFF_UNITS 1e6 /* of a percentage point, which bars are measured in */
#define DIFF_GAP 2     /* blanks between columns of a picture */

struct diff {
    struct writer *out;
    const struct report_options *options;
    const struct histogram *histogram;
    const struct tally *before, *after, *both;
    size_t widths[DIFF_CELLS]; /* of a picture */
    uint64_t largest;          /* difference, in units */
    size_t room;               /* of the bars on one side */
    bool utf8;
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

static struct diff_row diff_make_row(const struct diff *diff, const struct row *row)
{
    struct diff_row texts;
    const uint64_t before = diff->before->counts[row->index];
    const uint64_t after = diff->after->counts[row->index];
    const double was = percent_of(before, diff->before), is = percent_of(after, diff->after);
    show_unsigned(before, texts.before);
    show_unsigned(after, texts.after);
    percent_show(before, diff->before->samples, PERCENT_DIGITS, texts.before_percent);
    percent_show(after, diff->after->samples, PERCENT_DIGITS, texts.after_percent);
    texts.difference = is - was;
    snprintf(texts.points, sizeof texts.points, "%.*f", PERCENT_DIGITS, texts.difference);
    if (strspn(texts.points, "-0.") == strlen(texts.points)) /* not -0.0000 */
        snprintf(texts.points, sizeof texts.points, "%.*f", PERCENT_DIGITS, 0.0);
    if (was > 0)
        snprintf(texts.ratio, sizeof texts.ratio, "%.6g", is / was);
    else
        show_double(is > 0 ? HUGE_VAL : NAN, texts.ratio);
    return texts;
}

/* Calls visit for each row that is shown. */
static void diff_for_each(struct diff *diff,
                          void (*visit)(struct diff *diff, const struct row *row))
{
    const bool is_picture = format_table[diff->options->format]->is_picture;
    const bool by_default = diff->options->empty == EMPTY_DEFAULT;
    struct rows rows;
    const struct row *row;
    rows_begin(&rows, diff->histogram, diff->both,
               is_picture && by_default ? EMPTY_IN_PICTURE : diff->options->empty);
    while ((row = rows_next(&rows)) && !diff->out->error)
        visit(diff, row);
}

/* --- TSV and CSV --- */

static char diff_between(const struct diff *diff)
{
    return strcmp(format_names[diff->options->format], "csv") == 0 ? ',' : '\t';
}

static void diff_header(const struct diff *diff)
{
    const char *const *columns = diff->histogram->mode->columns;
    const char between = diff_between(diff);
    writer_format(diff->out, "%s%cbefore%cafter", columns[0], between, between);
    if (columns[MODE_COLUMNS - 1])
        writer_format(diff->out, "%c%s", between, columns[MODE_COLUMNS - 1]);
    writer_format(diff->out, "%cbefore_share%cafter_share%cpoints%cratio\n", between, between,
                  between, between);
}

static void diff_line(struct diff *diff, const struct row *row)
{
    const struct diff_row texts = diff_make_row(diff, row);
    const char between = diff_between(diff);
    writer_format(diff->out, "%s%c%s%c%s", row->label.name, between, texts.before, between,
                  texts.after);
    if (diff->histogram->mode->columns[MODE_COLUMNS - 1]) {
        writer_char(diff->out, between);
        if (between == ',')
            csv_field(diff->out, row->label.note);
        else
            tsv_field(diff->out, row->label.note);
    }
    writer_format(diff->out, "%c%s%c%s%c%s%c%s\n", between, texts.before_percent, between,
                  texts.after_percent, between, texts.points, between, texts.ratio);
}

/* --- JSON --- */

static void json_value(struct writer *out, const char *key, const char *text)
{
    const bool is_number =
        (text[0] >= '0' && text[0] <= '9') || (text[0] == '-' && text[1] >= '0' && text[1] <= '9');
    writer_text(out, key);
    if (is_number)
        writer_text(out, text);
    else
        json_string(out, text);
}

static void json_totals(const struct diff *diff, const char *key, const struct tally *tally)
{
    struct writer *out = diff->out;
    const struct totals totals = rows_add_up(diff->histogram, tally);
    writer_text(out, key);
    writer_text(out, "{\"total\":");
    writer_count(out, totals.samples);
    writer_text(out, ",\"counted\":");
    writer_count(out, totals.of[ROW_KIND_BIN]);
    writer_text(out, ",\"other\":");
    writer_count(out, totals.samples - totals.of[ROW_KIND_BIN]);
    if (diff->histogram->mode->is_binned) {
        writer_text(out, ",\"below\":");
        writer_count(out, totals.of[ROW_KIND_BELOW]);
        writer_text(out, ",\"above\":");
        writer_count(out, totals.of[ROW_KIND_ABOVE]);
        writer_text(out, ",\"invalid\":");
        writer_count(out, totals.of[ROW_KIND_INVALID]);
    }
    writer_char(out, '}');
}

static void json_row(struct diff *diff, const struct row *row)
{
    const struct diff_row texts = diff_make_row(diff, row);
    struct writer *out = diff->out;
    if (row->label.kind != ROW_KIND_BIN)
        return;
    writer_text(out, diff->largest++ ? ",{" : "{");
    if (!diff->histogram->mode->is_binned)
        writer_format(out, "\"bin\":\"%s\",", row->label.name);
    json_value(out, "\"lo\":", row->label.lo);
    json_value(out, ",\"hi\":", row->label.hi);
    writer_format(out, ",\"before\":%s,\"after\":%s,\"before_share\":%s,\"after_share\":%s",
                  texts.before, texts.after, texts.before_percent, texts.after_percent);
    writer_format(out, ",\"points\":%s", texts.points);
    json_value(out, ",\"ratio\":", texts.ratio);
    writer_char(out, '}');
}

static void diff_json(struct diff *diff)
{
    struct writer *out = diff->out;
    const struct mode *mode = diff->histogram->mode;
    writer_format(out, "{\"schema\":\"gpuhisto-diff/1\",\"mode\":\"%s\"", mode->name);
    if (mode->has_types)
        writer_format(out, ",\"type\":\"%s\"", diff->histogram->type.name);
    json_totals(diff, ",\"before\":", diff->before);
    json_totals(diff, ",\"after\":", diff->after);
    writer_text(out, ",\"bins\":[");
    diff_for_each(diff, json_row);
    writer_text(out, "]}\n");
}

/* --- a picture --- */

#define PICTURE_CELLS 5 /* label, both shares, points, ratio */

struct diff_cells {
    char label[PICTURE_LABEL];
    struct diff_row row;
    const char *text[PICTURE_CELLS];
};

static void picture_cells(const struct diff *diff, const struct row *row, struct diff_cells *cells)
{
    cells->row = diff_make_row(diff, row);
    picture_label(diff->histogram, row, cells->label);
    cells->text[0] = cells->label;
    cells->text[1] = cells->row.before_percent;
    cells->text[2] = cells->row.after_percent;
    cells->text[3] = cells->row.points;
    cells->text[4] = cells->row.ratio;
}

static uint64_t picture_units(double difference)
{
    return (uint64_t)llround(fabs(difference) * DIFF_UNITS);
}

static void picture_widen(struct diff *diff, size_t cell, const char *text)
{
    const size_t len = strlen(text);
    diff->widths[cell] = len > diff->widths[cell] ? len : diff->widths[cell];
}

static void picture_measure(struct diff *diff, const struct row *row)
{
    struct diff_cells cells;
    picture_cells(diff, row, &cells);
    const uint64_t units = picture_units(cells.row.difference);
    diff->largest = units > diff->largest ? units : diff->largest;
    for (size_t i = 0; i < PICTURE_CELLS; i++)
        picture_widen(diff, i, cells.text[i]);
}

/* A bar of whole characters, which end at the axis on either side. */
static void picture_bar(const struct diff *diff, double difference)
{
    const size_t length = (size_t)bar_length(picture_units(difference), diff->largest, diff->room);
    const char *block = diff->utf8 ? "\u2588" : "#", *axis = diff->utf8 ? "\u2502" : "|";
    const size_t left = difference < 0 ? length : 0, right = difference < 0 ? 0 : length;
    for (size_t i = left; i < diff->room; i++)
        writer_char(diff->out, ' ');
    for (size_t i = 0; i < left; i++)
        writer_text(diff->out, block);
    writer_text(diff->out, axis);
    for (size_t i = 0; i < right; i++)
        writer_text(diff->out, block);
}

static void picture_write(const struct diff *diff, const char *const text[PICTURE_CELLS])
{
    const bool is_left = !diff->histogram->mode->is_binned;
    for (size_t i = 0; i < PICTURE_CELLS; i++) {
        const int width = (int)diff->widths[i];
        writer_format(diff->out, "%*s%*s", i ? DIFF_GAP : 0, "", i == 0 && is_left ? -width : width,
                      text[i]);
    }
}

static void picture_row(struct diff *diff, const struct row *row)
{
    struct diff_cells cells;
    picture_cells(diff, row, &cells);
    picture_write(diff, cells.text);
    writer_format(diff->out, "%*s", DIFF_GAP, "");
    picture_bar(diff, cells.row.difference);
    writer_char(diff->out, '\n');
}

static void diff_picture(struct diff *diff)
{
    static const char *const names[] = {"bin", "before", "after", "points", "ratio"};
    const struct screen screen = screen_of(diff->out->fd);
    for (size_t i = 0; diff->options->header && i < PICTURE_CELLS; i++)
        picture_widen(diff, i, names[i]);
    diff_for_each(diff, picture_measure);
    size_t used = 1; /* the axis */
    for (size_t i = 0; i < PICTURE_CELLS; i++)
        used += diff->widths[i] + DIFF_GAP;
    diff->room = screen.columns > used + 2 ? (screen.columns - used) / 2 : 1;
    diff->utf8 = screen.utf8;
    if (diff->options->header) {
        picture_write(diff, names);
        writer_char(diff->out, '\n');
    }
    diff_for_each(diff, picture_row);
}

void diff_write(struct writer *out, const struct report_options *options,
                const struct histogram *histogram, const struct tally *before,
                const struct tally *after, const struct tally *both)
{
    struct diff diff = {.out = out,
                        .options = options,
                        .histogram = histogram,
                        .before = before,
                        .after = after,
                        .both = both};
    const struct format *format = format_table[options->format];
    if (format->is_line) {
        diff_json(&diff);
    } else if (format->is_picture) {
        diff_picture(&diff);
    } else {
        if (options->header)
            diff_header(&diff);
        diff_for_each(&diff, diff_line);
    }
}
