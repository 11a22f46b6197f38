/* SPDX-License-Identifier: MIT */
/* Two tables by key, side by side. */
#include "diff.h"
#include "field_text.h"
#include "format.h"
#include "json.h"
#include "screen.h"

#include "src/text/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE, AFTER, SIDES };

static const char *const side_names[SIDES] = {"before", "after"};

struct diff_keys {
    struct writer *out;
    const struct report_options *options;
    const struct diff_tables *tables;
    struct groups sides[SIDES]; /* the same keys, with names from AFTER */
    struct statistics *of;      /* of each side of the key that is written, with --stats */
    struct tally tally;         /* of one side, with --stats */
    struct row_blocks blocks;
    char *name; /* of the key */
    struct picture picture;
};

/* A row, as text. */
struct key_row {
    size_t group;
    uint64_t counts[SIDES];
    char texts[SIDES][SHOW_NUMBER], difference[SHOW_NUMBER + 1], ratio[SHOW_NUMBER];
};

static uint64_t size_of(const struct key_row *row)
{
    const uint64_t old = row->counts[BEFORE], new = row->counts[AFTER];
    return new < old ? old - new : new - old;
}

/* Finds the statistics of one side of a key. Returns its count of numbers. */
static uint64_t load_side(struct diff_keys *diff, size_t group, unsigned side)
{
    const struct histogram_spec *spec = diff->tables->spec;
    groups_load(&diff->sides[side], group, spec, &diff->tally);
    report_find_statistics(diff->options, spec, &diff->tally, &diff->of[side]);
    return diff->tally.samples - diff->tally.counts[ROW_INVALID(&spec->binning)];
}

/* Makes the row of a key, with its name and statistics. */
static void make_row(struct diff_keys *diff, size_t group, struct key_row *row)
{
    row->group = group;
    groups_show_name(&diff->sides[AFTER], group, diff->name);
    for (unsigned side = 0; side < SIDES; side++) {
        row->counts[side] =
            diff->of ? load_side(diff, group, side) : groups_samples(&diff->sides[side], group);
        show_unsigned(row->counts[side], row->texts[side]);
    }
    row->difference[0] = '-';
    show_unsigned(size_of(row), row->difference + (row->counts[AFTER] < row->counts[BEFORE]));
    diff_show_ratio((double)row->counts[AFTER], (double)row->counts[BEFORE], row->ratio);
}

/* Makes the row of the first key from *next on that is shown, and moves *next behind it. False if
 * there is none, or writing has failed. */
static bool next_row(struct diff_keys *diff, size_t *next, struct key_row *row)
{
    bool is_shown = false;
    while (!is_shown && *next < diff->sides[AFTER].count && !diff->out->error) {
        make_row(diff, (*next)++, row);
        is_shown = diff->options->empty != EMPTY_LEFT_OUT || row->counts[BEFORE] > 0 ||
                   row->counts[AFTER] > 0;
    }
    return is_shown;
}

/* True for the mean and quantiles. */
static bool is_shown(const struct statistic *statistic)
{
    return statistic->is_interval || strcmp(statistic->name, "mean") == 0;
}

/* Calls visit for each side of each statistic that is shown of the key. */
static void for_each_statistic(struct diff_keys *diff,
                               void (*visit)(struct diff_keys *diff, const char *side,
                                             const struct statistic *statistic))
{
    for (size_t i = 0; diff->of && i < diff->of[BEFORE].count; i++)
        for (unsigned side = 0; side < SIDES && is_shown(&diff->of[side].list[i]); side++)
            visit(diff, side_names[side], &diff->of[side].list[i]);
}

/* --- TSV and CSV --- */

static void name_statistic(struct diff_keys *diff, const char *side,
                           const struct statistic *statistic)
{
    const char by = diff->options->format->separator;
    writer_format(diff->out, "%c%s_%s", by, side, statistic->name);
    if (statistic->is_interval)
        writer_format(diff->out, "%c%s_%s_upper", by, side, statistic->name);
}

static void delimited_statistic(struct diff_keys *diff, const char *side,
                                const struct statistic *statistic)
{
    const char by = diff->options->format->separator;
    (void)side;
    writer_format(diff->out, "%c%s", by, statistic->value);
    if (statistic->is_interval)
        writer_format(diff->out, "%c%s", by,
                      statistic->upper[0] ? statistic->upper : statistic->value);
}

/* Writes the names of the columns, for which the statistics of any key will do. */
static void delimited_header(struct diff_keys *diff)
{
    const char by = diff->options->format->separator;
    for (unsigned side = 0; diff->of && side < SIDES; side++)
        report_find_statistics(diff->options, diff->tables->spec, &diff->tally, &diff->of[side]);
    field_write(diff->out, by, diff->tables->columns);
    writer_format(diff->out, "%cbefore%cafter%cdifference%cfactor", by, by, by, by);
    for_each_statistic(diff, name_statistic);
    writer_char(diff->out, '\n');
}

void diff_keys_delimited(struct diff_keys *diff)
{
    const char by = diff->options->format->separator;
    if (diff->options->header)
        delimited_header(diff);
    struct key_row row;
    for (size_t next = 0; next_row(diff, &next, &row);) {
        field_write(diff->out, by, diff->name);
        writer_format(diff->out, "%c%s%c%s%c%s%c%s", by, row.texts[BEFORE], by, row.texts[AFTER],
                      by, row.difference, by, row.ratio);
        for_each_statistic(diff, delimited_statistic);
        writer_char(diff->out, '\n');
    }
}

/* --- JSON --- */

static void object_statistic(struct diff_keys *diff, const char *side,
                             const struct statistic *statistic)
{
    struct writer *out = diff->out;
    writer_format(out, ",\"%s_%s\"", side, statistic->name);
    json_member(out, statistic->upper[0] ? ":[" : ":", statistic->value);
    if (statistic->upper[0]) {
        json_member(out, ",", statistic->upper);
        writer_char(out, ']');
    }
}

static void object_totals(struct diff_keys *diff, unsigned side, const struct key_tallies *keys)
{
    uint64_t samples, invalid;
    key_tallies_add_up(keys, &samples, &invalid);
    writer_format(diff->out, ",\"%s\":", side_names[side]);
    json_count(diff->out, "{\"total\":", samples);
    json_count(diff->out, ",\"invalid\":", invalid);
    writer_char(diff->out, '}');
}

void diff_keys_json(struct diff_keys *diff)
{
    struct writer *out = diff->out;
    writer_format(out, "{\"schema\":\"gpuhisto-diff/1\",\"mode\":\"%s\"",
                  diff->tables->spec->mode->name);
    object_totals(diff, BEFORE, diff->tables->before);
    object_totals(diff, AFTER, diff->tables->after);
    writer_text(out, ",\"bins\":[");
    const char *begin = "{";
    struct key_row row;
    for (size_t next = 0; next_row(diff, &next, &row); begin = ",{") {
        writer_text(out, begin);
        json_group(out, &diff->sides[AFTER], row.group);
        writer_format(out, ",\"before\":%s,\"after\":%s,\"difference\":%s", row.texts[BEFORE],
                      row.texts[AFTER], row.difference);
        json_member(out, ",\"factor\":", row.ratio);
        for_each_statistic(diff, object_statistic);
        writer_char(out, '}');
    }
    writer_text(out, "]}\n");
}

/* --- a picture --- */

#define PICTURE_SIDES "lrrrr"
#define PICTURE_CELLS 5 /* key, both counts, difference, ratio */

static struct picture_cells cells_of(const struct diff_keys *diff, const struct key_row *row)
{
    return (struct picture_cells){
        {diff->name, row->texts[BEFORE], row->texts[AFTER], row->difference, row->ratio},
        PICTURE_CELLS};
}

/* Measures the rows; names only once they are shortened. */
static void measure(struct diff_keys *diff, const struct picture_cells *header)
{
    struct picture *picture = &diff->picture;
    *picture = (struct picture){.largest = 0};
    if (diff->options->header)
        picture_widen(picture->widths, header);
    struct key_row row;
    for (size_t next = 0; next_row(diff, &next, &row);) {
        const struct picture_cells cells = cells_of(diff, &row);
        picture_widen(picture->widths, &cells);
        picture->largest = size_of(&row) > picture->largest ? size_of(&row) : picture->largest;
    }
}

void diff_keys_plot(struct diff_keys *diff)
{
    const struct picture_cells header = {
        {diff->tables->columns, "before", "after", "difference", "factor"}, PICTURE_CELLS};
    const struct screen screen = screen_of(diff->out->fd);
    struct groups *names = &diff->sides[AFTER];
    measure(diff, &header);
    size_t beside = picture_width(diff->picture.widths, &header) + 3; /* of the bars */
    for (unsigned i = 0; i < names->parts; i++)
        beside -= diff->picture.widths[i] + (i > 0 ? PICTURE_GAP : 0);
    if (groups_shorten_names(names, &screen, beside) != 0) {
        diff->out->error = diff->out->error ? diff->out->error : ENOMEM;
        return;
    }
    measure(diff, &header);
    diff_fit_bars(&diff->picture, &screen, &header);
    if (diff->options->header) {
        picture_write(diff->out, &header, diff->picture.widths, PICTURE_SIDES);
        writer_char(diff->out, '\n');
    }
    struct key_row row;
    for (size_t next = 0; next_row(diff, &next, &row);) {
        const struct picture_cells cells = cells_of(diff, &row);
        picture_write(diff->out, &cells, diff->picture.widths, PICTURE_SIDES);
        diff_bar(diff->out, &diff->picture, row.difference[0] == '-', size_of(&row));
    }
}

/* --- any format --- */

/* Gives both sides a row for records without a key if one of them has some. */
static void match_missing(struct groups sides[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++)
        if (sides[side].missing == SIZE_MAX && sides[SIDES - 1 - side].missing != SIZE_MAX)
            sides[side].missing = sides[side].count++;
}

void diff_write_keys(struct writer *out, const struct report_options *options,
                     const struct diff_tables *tables)
{
    struct diff_keys diff = {
        .out = out,
        .options = options,
        .tables = tables,
        .sides = {groups_of_keys(tables->before, tables->top, tables->columns, false),
                  groups_of_keys(tables->after, tables->top, tables->columns, false)}};
    match_missing(diff.sides);
    diff.name = malloc(groups_name_capacity(&diff.sides[AFTER]));
    if (options->stats)
        diff.of = calloc(SIDES, sizeof diff.of[0]);
    const bool is_there = diff.name && (diff.of || !options->stats) &&
                          (!options->stats || tally_open(&diff.tally, tables->spec) == 0);
    if (is_there && options->stats) {
        row_blocks_clear(&diff.blocks, diff.tally.bins);
        diff.tally.blocks = &diff.blocks;
    }
    if (is_there)
        options->format->diff_keys(&diff);
    else
        out->error = out->error ? out->error : ENOMEM;
    tally_close(&diff.tally);
    free(diff.sides[AFTER].gaps);
    free(diff.of);
    free(diff.name);
}
