/* SPDX-License-Identifier: MIT */
/* Heat maps. As text: the key, a shade for each cell, and the samples of the key, below a scale. A
 * shade compares a cell with the fullest one of its row, so an hour with few requests shows its
 * latencies as clearly as one with many. Shades are a factor of four apart, as what matters in
 * latencies is their tail. As an image, all cells are compared with each other. */
#include "heat.h"
#include "screen.h"

#include "src/text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_WIDEST 8    /* characters */
#define LABEL_GAP 2      /* blanks between labels of the scale */
#define IMAGE_WIDEST 256 /* pixels, unless bins are given */
#define PIXEL_MAX 65535

/* --- text --- */

static void widen_names(struct heat *heat)
{
    heat->name_width = heat->options->header ? strlen(heat->groups->columns[GROUP_NAME]) : 0;
    for (size_t group = 0; group < heat->groups->count; group++) {
        groups_show_name(heat->groups, group, heat->name);
        const size_t width = screen_width(heat->name, strlen(heat->name));
        heat->name_width = width > heat->name_width ? width : heat->name_width;
    }
}

static size_t plot_columns(struct heat *heat)
{
    const struct screen screen = screen_of(heat->out->fd);
    char digits[SHOW_NUMBER];
    show_unsigned(heat->max, digits);
    widen_names(heat);
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

static void plot_begin(struct heat *heat)
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

static void plot_row(struct heat *heat)
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

const struct heat_format heat_plot = {
    .columns_max = plot_columns, .begin = plot_begin, .row = plot_row};

/* --- an image --- */

static size_t pgm_columns(struct heat *heat)
{
    (void)heat;
    return IMAGE_WIDEST;
}

static void pgm_begin(struct heat *heat)
{
    struct writer *out = heat->out;
    writer_format(out, "P5\n# largest count %" PRIu64 "\n", heat->largest);
    writer_text(out, "# pixel: 65535 * log(1 + count) / log(1 + largest count)\n");
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

static void pgm_row(struct heat *heat)
{
    const double largest = log1p((double)heat->largest);
    for (size_t i = 0; i < heat->count; i++) {
        const double part = heat->cells[i] > 0 ? log1p((double)heat->cells[i]) / largest : 0;
        const unsigned pixel = (unsigned)lround(PIXEL_MAX * part);
        writer_char(heat->out, (char)(unsigned char)(pixel >> 8));
        writer_char(heat->out, (char)(unsigned char)(pixel & 0xff));
    }
}

const struct heat_format heat_pgm = {
    .needs_largest = true, .columns_max = pgm_columns, .begin = pgm_begin, .row = pgm_row};
