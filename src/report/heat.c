/* SPDX-License-Identifier: MIT */
/* A grid of counts. A heat map has a row for each key and a column for each bin. As text: the key,
 * a shade for each cell, and the samples of the key, below a scale. A shade compares a cell with
 * the fullest one of its row, so an hour with few requests shows its latencies as clearly as one
 * with many. Shades are a factor of four apart, as what matters in latencies is their tail. As an
 * image, in the format PGM of Netpbm, all cells are compared with each other. An image of pairs of
 * bytes has a pixel for each, 256 by 256, with the first byte as the line and the second as the
 * column. Pixels have 16 bits and grow with the logarithm of the count, as counts span many orders
 * of magnitude. */
#include "format.h"
#include "writer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CROWDED 50       /* percent of the samples in one column */
#define CELL_WIDEST 8    /* characters */
#define LABEL_GAP 2      /* blanks between labels of the scale */
#define IMAGE_WIDEST 256 /* pixels, unless bins are given */
#define PIXEL_MAX 65535
#define PIXEL_COMMENT "# pixel: 65535 * log(1 + count) / log(1 + largest count)\n"

/* Rows of the histogram, which follow each other. */
struct heat_column {
    size_t begin, end;
    char label[PICTURE_LABEL]; /* of the first one */
};

struct heat {
    struct writer *out;
    const struct report_options *options;
    const struct groups *groups;
    char *name; /* memory for a name */
    struct heat_column *columns;
    size_t count;       /* of columns */
    size_t columns_max; /* how many there may be, unless that many more are not bins */
    uint64_t max;       /* samples of a group, at most */
    uint64_t largest;   /* cell of all; of an image only */

    const struct histogram_spec *spec; /* of what was counted */
    struct tally *tally;               /* of one group, or the first ones together */
    struct coarse_rows shown;          /* the bins that are shown, and all samples in them */
    bool is_wider;                     /* they are not those that were counted */

    /* The group that is being written. */
    size_t group;
    uint64_t samples; /* with those in no column */
    uint64_t *cells;  /* a count for each column */

    /* Of a text: characters of names, counts and of a cell. */
    size_t name_width, count_width, cell_width;
    bool utf8;
};

/* --- as text --- */

/* Returns how many columns fit on the screen, at least one. */
static size_t fit_columns(struct heat *heat)
{
    const struct screen screen = screen_of(heat->out->fd);
    char digits[SHOW_NUMBER];
    show_unsigned(heat->max, digits);
    heat->name_width = heat->options->header ? strlen(heat->groups->columns[GROUP_NAME]) : 0;
    for (size_t group = 0; group < heat->groups->count; group++) {
        groups_show_name(heat->groups, group, heat->name);
        const size_t width = screen_width(heat->name, strlen(heat->name));
        heat->name_width = width > heat->name_width ? width : heat->name_width;
    }
    heat->utf8 = screen.utf8;
    heat->count_width = strlen(digits);
    if (heat->options->header && heat->count_width < strlen("count"))
        heat->count_width = strlen("count");
    const size_t used = heat->name_width + heat->count_width + 2 * PICTURE_GAP;
    return used < screen.columns ? screen.columns - used : 1;
}

/* Returns how soon a label gets its place on the scale, from 0: powers of ten come first, and what
 * is no bin. */
static unsigned label_rank(const char *label)
{
    const size_t len = strcspn(label, "e^");
    size_t first = strcspn(label, "123456789"), last = len;
    if (label[0] == '<' || label[0] == '>' || first >= len)
        return 0;
    while (last > first && (label[last - 1] == '0' || label[last - 1] == '.'))
        last--;
    if (last > first + 1)
        return 3;
    return label[first] == '1' ? 0 : label[first] == '2' || label[first] == '5' ? 1 : 2;
}

/* Writes a label on a line of so many blanks, if there is room for it. */
static void put_label(char *line, size_t width, size_t at, const char *label, bool is_bin)
{
    const size_t len = strlen(label);
    if (at + len > width && !is_bin && len <= width)
        at = width - len;
    const size_t from = at > LABEL_GAP ? at - LABEL_GAP : 0;
    if (at + len > width)
        return;
    for (size_t i = from; i < at + len + LABEL_GAP && i < width; i++)
        if (line[i] != ' ')
            return;
    memcpy(line + at, label, len);
}

static void write_scale(struct heat *heat, char *line, size_t width)
{
    memset(line, ' ', width);
    for (unsigned rank = 0; rank <= 3; rank++)
        for (size_t i = 0; i < heat->count; i++) {
            const char *label = heat->columns[i].label;
            if (label_rank(label) == rank)
                put_label(line, width, i * heat->cell_width, label, !strpbrk(label, "<>i"));
        }
    const bool header = heat->options->header;
    while (!header && width > 0 && line[width - 1] == ' ')
        width--;
    writer_format(heat->out, "%-*s%*s", (int)heat->name_width,
                  header ? heat->groups->columns[GROUP_NAME] : "", PICTURE_GAP, "");
    writer_bytes(heat->out, line, width);
    if (header)
        writer_format(heat->out, "%*s%*s", PICTURE_GAP, "", (int)heat->count_width, "count");
    writer_char(heat->out, '\n');
}

static void begin_text(struct heat *heat)
{
    heat->cell_width = heat->count > 0 ? heat->columns_max / heat->count : 1;
    heat->cell_width = heat->cell_width < CELL_WIDEST ? heat->cell_width : CELL_WIDEST;
    heat->cell_width = heat->cell_width > 0 ? heat->cell_width : 1;
    const size_t width = heat->count * heat->cell_width;
    char *line = malloc(width + 1);
    if (line)
        write_scale(heat, line, width);
    else
        heat->out->error = ENOMEM;
    free(line);
}

/* Returns the shade of a cell, 0 to most: 0 is empty, and each other one begins at a fourth of the
 * next, the darkest at half of the fullest cell. */
static unsigned shade_of(uint64_t count, uint64_t fullest, unsigned max)
{
    unsigned shade = count > 0 ? max : 0;
    for (double min = (double)fullest / 2; shade > 1 && (double)count < min; min /= 4)
        shade--;
    return shade;
}

static void write_cells(struct heat *heat)
{
    static const char *const blocks[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
    static const char *const marks[] = {" ", ".", ":", "-", "=", "#"};
    uint64_t fullest = 0;
    for (size_t i = 0; i < heat->count; i++)
        fullest = heat->cells[i] > fullest ? heat->cells[i] : fullest;
    for (size_t i = 0; i < heat->count; i++) {
        const char *shade = heat->utf8 ? blocks[shade_of(heat->cells[i], fullest, 4)]
                                       : marks[shade_of(heat->cells[i], fullest, 5)];
        for (size_t k = 0; k < heat->cell_width; k++)
            writer_text(heat->out, shade);
    }
}

static void write_text_row(struct heat *heat)
{
    char count[SHOW_NUMBER];
    groups_show_name(heat->groups, heat->group, heat->name);
    writer_text(heat->out, heat->name);
    const size_t pad =
        heat->name_width - screen_width(heat->name, strlen(heat->name)) + PICTURE_GAP;
    writer_format(heat->out, "%*s", (int)pad, "");
    write_cells(heat);
    show_unsigned(heat->samples, count);
    writer_format(heat->out, "%*s%*s\n", PICTURE_GAP, "", (int)heat->count_width, count);
}

/* --- as an image --- */

/* Writes the pixel of a count: 16 bits, the higher byte first. */
static void write_pixel(struct writer *out, uint64_t count, uint64_t largest)
{
    const double part = count > 0 ? log1p((double)count) / log1p((double)largest) : 0;
    const unsigned pixel = (unsigned)lround(PIXEL_MAX * part);
    writer_char(out, (char)(unsigned char)(pixel >> 8));
    writer_char(out, (char)(unsigned char)(pixel & 0xff));
}

static void begin_image(struct heat *heat)
{
    struct writer *out = heat->out;
    writer_format(out, "P5\n# largest count %" PRIu64 "\n", heat->largest);
    writer_text(out, PIXEL_COMMENT);
    for (size_t i = 0; i < heat->count; i++)
        writer_format(out, "# column %zu: %s\n", i, heat->columns[i].label);
    for (size_t group = 0; group < heat->groups->count && !out->error; group++) {
        groups_show_name(heat->groups, group, heat->name);
        writer_format(out, "# line %zu: ", group);
        writer_text(out, heat->name);
        writer_char(out, '\n');
    }
    writer_format(out, "%zu %zu\n%d\n", heat->count, heat->groups->count, PIXEL_MAX);
}

/* --- the bins --- */

/* Adds up the groups. 0, or -1: memory is short. */
static int add_up(struct heat *heat, struct tally *sum)
{
    const struct groups *groups = heat->groups;
    struct histogram_spec alone = *heat->spec;
    alone.also = NULL;
    if (tally_open(sum, &alone) != 0)
        return -1;
    for (size_t group = 0; group < groups->count; group++) {
        struct tally *tally = heat->tally;
        groups_load(groups, group, heat->spec, tally);
        heat->max = tally->samples > heat->max ? tally->samples : heat->max;
        sum->samples += tally->samples;
        for (size_t row = 0; (row = tally_next_counted(tally, row)) < tally->bins; row++)
            sum->counts[row] += tally->counts[row];
        if (sum->moments)
            moments_merge(sum->moments, tally->moments);
    }
    return 0;
}

/* Chooses the bins, and adds up all samples in them. 0, or -1: memory is short. */
static int choose_bins(struct heat *heat)
{
    struct tally sum;
    if (add_up(heat, &sum) != 0)
        return -1;
    heat->columns_max = heat->options->format->is_binary ? IMAGE_WIDEST : fit_columns(heat);
    const struct counts counted = {heat->spec, &sum};
    const enum coarsen_outcome outcome = report_widen(
        heat->options, &counted,
        &(struct picture_bins){heat->columns_max, DECADE_PARTS_FINE, CROWDED}, &heat->shown);
    heat->is_wider = outcome == COARSEN_DONE;
    if (outcome != COARSEN_AS_COUNTED) {
        tally_close(&sum);
        return heat->is_wider ? 0 : -1;
    }
    heat->shown.spec = *heat->spec;
    heat->shown.tally = sum;
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
static int make_columns(struct heat *heat)
{
    const struct histogram_spec *spec = &heat->shown.spec;
    /* --all is about keys: columns without any sample to their left and right say nothing. */
    const enum empty_rows empty =
        heat->options->empty == EMPTY_SHOWN ? EMPTY_IN_PICTURE : format_empty_rows(heat->options);
    const struct row_names none = {.groups = NULL};
    struct rows rows;
    const struct row *row;
    size_t bins = 0, others = 0, in_last = 0;
    rows_begin(&rows, spec, &heat->shown.tally, &none, empty);
    while ((row = rows_next(&rows)))
        *(row->label.kind == ROW_KIND_BIN ? &bins : &others) += 1;
    const size_t space = heat->columns_max > others ? heat->columns_max - others : 1;
    heat->columns = malloc((bins + others + 1) * sizeof heat->columns[0]);
    heat->cells = calloc(bins + others + 1, sizeof heat->cells[0]);
    if (!heat->columns || !heat->cells)
        return -1;
    rows_begin(&rows, spec, &heat->shown.tally, &none, empty);
    while ((row = rows_next(&rows)))
        add_row(heat, spec, row, (bins + space - 1) / space, &in_last);
    return 0;
}

/* --- the cells --- */

/* Counts a group into the cells. */
static void count_cells(struct heat *heat, size_t group)
{
    struct tally *shown = &heat->shown.tally;
    groups_load(heat->groups, group, heat->spec, heat->tally);
    const struct tally *tally = heat->tally;
    if (heat->is_wider) {
        tally_clear(shown);
        map_rows(heat->spec, heat->tally, &heat->shown.spec, shown);
        tally = shown;
    }
    heat->group = group;
    heat->samples = tally->samples;
    for (size_t i = 0; i < heat->count; i++)
        heat->cells[i] = tally_sum(tally, heat->columns[i].begin, heat->columns[i].end);
}

static void write_rows(struct heat *heat)
{
    const bool is_image = heat->options->format->is_binary;
    const size_t groups = heat->groups->count;
    for (size_t group = 0; is_image && group < groups; group++) {
        count_cells(heat, group);
        for (size_t i = 0; i < heat->count; i++)
            heat->largest = heat->cells[i] > heat->largest ? heat->cells[i] : heat->largest;
    }
    if (groups == 0 && !heat->options->header)
        return;
    (is_image ? begin_image : begin_text)(heat);
    for (size_t group = 0; group < groups && !heat->out->error; group++) {
        count_cells(heat, group);
        for (size_t i = 0; is_image && i < heat->count; i++)
            write_pixel(heat->out, heat->cells[i], heat->largest);
        if (!is_image)
            write_text_row(heat);
    }
}

void heat_write(struct writer *out, const struct report_options *options,
                const struct histogram_spec *spec, const struct row_names *names,
                struct tally *tally)
{
    struct heat heat = {.out = out,
                        .options = options,
                        .groups = names->groups,
                        .name = names->text,
                        .spec = spec,
                        .tally = tally};
    if (choose_bins(&heat) != 0) {
        out->error = ENOMEM;
        return;
    }
    if (make_columns(&heat) == 0)
        write_rows(&heat);
    else
        out->error = ENOMEM;
    if (heat.is_wider)
        binning_free(&heat.shown.spec.binning);
    tally_close(&heat.shown.tally);
    free(heat.columns);
    free(heat.cells);
}

/* --- an image of pairs --- */

static void pgm_measure(struct table *table, const struct row *row)
{
    if (row && row->count > table->picture.largest)
        table->picture.largest = row->count;
}

static void pgm_begin(struct table *table)
{
    struct writer *out = table->out;
    writer_text(out, "P5\n");
    if (table->groups) {
        writer_text(out, "# ");
        format_name_group(table);
        writer_char(out, '\n');
    }
    writer_format(out, "# pairs %" PRIu64 ", largest count %" PRIu64 "\n", table->totals.samples,
                  table->picture.largest);
    writer_text(out, "# line: first byte; column: second byte\n" PIXEL_COMMENT);
    writer_format(out, "256 256\n%d\n", PIXEL_MAX);
}

/* Writes black pixels up to this pair, for those that have no row. */
static void pgm_fill(struct table *table, size_t upto)
{
    for (; table->written < upto; table->written++)
        write_pixel(table->out, 0, 1);
}

static void pgm_row(struct table *table, const struct row *row)
{
    pgm_fill(table, row->index);
    write_pixel(table->out, row->count, table->picture.largest);
    table->written++;
}

static void pgm_end(struct table *table)
{
    pgm_fill(table, PAIR_ROWS);
}

const struct format format_pgm = {
    .name = "pgm",
    .is_binary = true,
    .mode = &mode_pairs,
    .heat = true,
    .measure = pgm_measure,
    .begin = pgm_begin,
    .row = pgm_row,
    .end = pgm_end,
};
