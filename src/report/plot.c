/* SPDX-License-Identifier: MIT */
/* A picture for people: columns side by side, and a bar for each count. Columns are separated by
 * blanks and hold none, so that sort and awk see the same columns as people do: the label, the
 * count and its percent; of numbers the running percent, of bytes the character; and the bar. Of
 * two tables it shows how they differ, with a bar to the left for what fell, and to the right for
 * what rose. */
#include "format.h"
#include "writer.h"

#include "src/tally/characters.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <wchar.h>

/* --- the screen --- */

#define COLUMNS_DEFAULT 80
#define COLUMNS_MAX 65535 /* of a terminal */

/* Reads COLUMNS, which shells set. Anything but a number from 1 to COLUMNS_MAX is ignored. */
static unsigned columns_of_environment(void)
{
    const char *text = getenv("COLUMNS");
    unsigned columns = 0;
    for (; text && *text >= '0' && *text <= '9' && columns <= COLUMNS_MAX; text++)
        columns = columns * 10 + (unsigned)(*text - '0');
    return text && !*text && columns > 0 && columns <= COLUMNS_MAX ? columns : COLUMNS_DEFAULT;
}

/* Returns the user's locale if it has UTF-8, or none. It is kept until the process ends. */
static locale_t locale_of_utf8(void)
{
    static locale_t user;
    static bool was_opened;
    if (was_opened)
        return user;
    was_opened = true;
    user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (user != (locale_t)0 && strcmp(nl_langinfo_l(CODESET, user), "UTF-8") != 0) {
        freelocale(user);
        user = (locale_t)0;
    }
    return user;
}

/* A character that the locale does not know has one column, as a terminal shows something. */
static size_t width_of(uint32_t character)
{
    const int width = wcwidth((wchar_t)character);
    return width < 0 ? 1 : (size_t)width;
}

size_t screen_width(const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t width = 0;
    locale_t utf8 = (locale_t)0, own = (locale_t)0;
    for (size_t len; left > 0; at += len, left -= len) {
        uint32_t character;
        len = character_decode(at, left, &character);
        if (character >= 0x80 && own == (locale_t)0 && (utf8 = locale_of_utf8()) != (locale_t)0)
            own = uselocale(utf8);
        width += utf8 != (locale_t)0 ? width_of(character) : 1;
    }
    if (own != (locale_t)0)
        uselocale(own);
    return width;
}

struct screen screen_of(int fd)
{
    struct winsize size = {0};
    bool is_terminal = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (struct screen){
        .columns = is_terminal ? size.ws_col : columns_of_environment(),
        .rows = is_terminal ? size.ws_row : 0,
        .utf8 = locale_of_utf8() != (locale_t)0,
    };
}

/* --- labels --- */

#define LABEL_DIGITS 12    /* of an edge */
#define POWER_PLAIN 0x1p20 /* powers of two from 1 to this are short as they are */

/* Rounds an edge that is a fraction to LABEL_DIGITS digits; copies other edges. */
static void label_round(const char *edge, char text[ROW_TEXT])
{
    if (strchr(edge, '.'))
        snprintf(text, ROW_TEXT, "%.*g", LABEL_DIGITS, strtod(edge, NULL));
    else
        snprintf(text, ROW_TEXT, "%s", edge);
}

/* True if the edges are powers of two and some have many digits: all are written as powers then. */
static bool has_powers(const struct binning *binning)
{
    if (!binning->powers_of_two)
        return false;
    const double first = binning->is_whole ? (double)binning_shown_whole_edge(binning, 0)
                                           : binning_shown_edge(binning, 0);
    const double last = binning->is_whole ? (double)binning_shown_whole_edge(binning, binning->bins)
                                          : binning_shown_edge(binning, binning->bins);
    return first < 1 || last > POWER_PLAIN;
}

void picture_label(const struct histogram_spec *spec, const struct row *row,
                   char text[PICTURE_LABEL])
{
    const struct row_label *label = &row->label;
    const bool has_edges = spec->mode->is_binned && label->kind != ROW_KIND_INVALID;
    const bool is_right = spec->binning.is_right;
    const bool is_below = label->kind == ROW_KIND_BELOW, is_above = label->kind == ROW_KIND_ABOVE;
    const bool by_upper = is_below || (is_right && !is_above);
    const char *side = is_below ? (is_right ? "<=" : "<") : is_above ? (is_right ? ">" : ">=") : "";
    const char *edge = by_upper ? label->hi : label->lo, *other = by_upper ? label->lo : label->hi;
    char shown[ROW_TEXT], other_shown[ROW_TEXT];
    if (!has_edges || strcmp(label->lo, label->hi) == 0) {
        snprintf(text, PICTURE_LABEL, "%s", label->name);
        return;
    }
    if (has_powers(&spec->binning)) {
        snprintf(shown, sizeof shown, "2^%d", ilogb(strtod(edge, NULL)));
    } else {
        /* Equal bins of 0.05 have an edge at 0.15000000000000002, which people call 0.15. An edge
         * keeps its digits where the other one of the bin would look the same. */
        label_round(edge, shown);
        label_round(other, other_shown);
        if (strcmp(shown, other_shown) == 0)
            snprintf(shown, sizeof shown, "%s", edge);
    }
    snprintf(text, PICTURE_LABEL, "%s%s", side, shown);
}

/* --- bars --- */

uint64_t bar_length(uint64_t count, uint64_t largest, uint64_t max)
{
    if (count == 0 || max == 0)
        return 0;
    const uint128 twice = (uint128)count * max * 2 + largest;
    const uint64_t length = (uint64_t)(twice / largest / 2);
    return length > 0 ? length : 1;
}

/* U+2588 is a full block, and each of the next seven an eighth narrower. */
static void write_block(struct writer *out, unsigned eighths)
{
    const char block[] = {'\xe2', '\x96', (char)(0x88 + BAR_EIGHTHS - eighths)};
    writer_bytes(out, block, sizeof block);
}

void bar_write(struct writer *out, uint64_t count, uint64_t largest, size_t width, bool utf8)
{
    uint64_t length = bar_length(count, largest, utf8 ? (uint64_t)width * BAR_EIGHTHS : width);
    if (!utf8) {
        for (; length > 0; length--)
            writer_char(out, '#');
        return;
    }
    for (; length >= BAR_EIGHTHS; length -= BAR_EIGHTHS)
        write_block(out, BAR_EIGHTHS);
    if (length > 0)
        write_block(out, (unsigned)length);
}

/* A bar of two tables is of whole characters. */
static void diff_bar_write(struct writer *out, const struct picture *picture, bool is_fall,
                           uint64_t units)
{
    const size_t length = (size_t)bar_length(units, picture->largest, picture->width);
    const char *block = picture->utf8 ? "\u2588" : "#", *axis = picture->utf8 ? "\u2502" : "|";
    const size_t left = is_fall ? length : 0, right = is_fall ? 0 : length;
    for (size_t i = left; i < picture->width + PICTURE_GAP; i++)
        writer_char(out, ' ');
    for (size_t i = 0; i < left; i++)
        writer_text(out, block);
    writer_text(out, axis);
    for (size_t i = 0; i < right; i++)
        writer_text(out, block);
}

/* --- rows --- */

#define PLOT_NAME 11 /* characters of a statistic's name that always fit */

/* Returns the length of a part of a name. */
static size_t part_length(const char *text)
{
    const char separator[] = {GROUP_SEPARATOR, '\0'};
    return strcspn(text, separator);
}

/* Makes the texts of a row, or of the header; text[0] is its label, which has a column for each
 * part of a name (GROUP_SEPARATOR). Returns how many there are. */
static size_t make_texts(struct table *table, const struct row *row, struct cells *cells,
                         char label[PICTURE_LABEL], const char *texts[PICTURE_COLUMNS])
{
    size_t count = 0;
    table_cells(table, row, cells);
    if (row && !table->names.groups)
        picture_label(table->shown.spec, row, label);
    texts[count++] = !row ? table->label : table->names.groups ? row->name : label;
    for (size_t i = 0; i < cells->count; i++)
        texts[count++] = row ? cells->list[i].text : cells->list[i].name;
    return count;
}

static void plot_measure(struct table *table, const struct row *row)
{
    struct picture *picture = &table->picture;
    size_t *width = picture->widths;
    const char *texts[PICTURE_COLUMNS];
    char label[PICTURE_LABEL];
    struct cells cells;
    const size_t count = make_texts(table, row, &cells, label, texts);
    for (size_t i = 0, len; i < count; i++)
        for (const char *text = texts[i]; text; text = text[len] ? text + len + 1 : NULL, width++) {
            len = part_length(text);
            const size_t own = screen_width(text, len);
            *width = own > *width ? own : *width;
        }
    if (row)
        picture->largest = cells.bar > picture->largest ? cells.bar : picture->largest;
}

/* Writes columns. Numbers are aligned by their last digit, names by their first letter. Returns how
 * many blanks separate the last one from what follows. */
static size_t write_texts(struct table *table, const struct cells *cells, const char *const *texts)
{
    const size_t *width = table->picture.widths;
    size_t blanks = 0;
    for (size_t i = 0, len; i <= cells->count; i++)
        for (const char *text = texts[i]; text; text = text[len] ? text + len + 1 : NULL) {
            const bool is_label_left = table->names.groups || !table->mode->is_binned;
            const bool is_left = i == 0 ? is_label_left : cells->list[i - 1].is_note;
            len = part_length(text);
            const size_t pad = *width++ - screen_width(text, len);
            writer_format(table->out, "%*s", (int)(blanks + (is_left ? 0 : pad)), "");
            writer_bytes(table->out, text, len);
            blanks = PICTURE_GAP + (is_left ? pad : 0);
        }
    return blanks;
}

/* On a screen that is too narrow for the columns lines are longer, but none is without a bar. */
static void plot_begin(struct table *table)
{
    struct picture *picture = &table->picture;
    const struct screen screen = screen_of(table->out->fd);
    const char *texts[PICTURE_COLUMNS];
    struct cells cells;
    make_texts(table, NULL, &cells, NULL, texts);
    size_t used = 0, columns = cells.count + 1;
    for (const char *text = table->label; *text; text++)
        columns += *text == GROUP_SEPARATOR;
    for (size_t i = 0; i < columns; i++)
        used += picture->widths[i] + PICTURE_GAP;
    picture->utf8 = screen.utf8;
    picture->width = used < screen.columns ? screen.columns - used : 1;
    if (table->diff) { /* either side of an axis */
        used++;
        picture->width = screen.columns > used + 2 ? (screen.columns - used) / 2 : 1;
    }
    /* The name of the group, as head(1) has it, and of the channel, where there are several. */
    if (table->groups || table->channel > 0)
        writer_text(table->out, table->tables > 0 ? "\n==> " : "==> ");
    if (table->groups)
        format_name_group(table);
    if (table->channel > 0)
        writer_format(table->out, "%schannel %u", table->groups ? ", " : "", table->channel);
    if (table->groups || table->channel > 0)
        writer_text(table->out, " <==\n");
    if (table->options->header) {
        write_texts(table, &cells, texts);
        writer_char(table->out, '\n');
    }
}

static void plot_row(struct table *table, const struct row *row)
{
    const struct picture *picture = &table->picture;
    const char *texts[PICTURE_COLUMNS];
    char label[PICTURE_LABEL];
    struct cells cells;
    make_texts(table, row, &cells, label, texts);
    const size_t blanks = write_texts(table, &cells, texts);
    if (table->diff) {
        diff_bar_write(table->out, picture, cells.is_fall, cells.bar);
    } else if (row->count > 0) {
        writer_format(table->out, "%*s", (int)blanks, "");
        bar_write(table->out, row->count, picture->largest, picture->width, picture->utf8);
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
    .heat = true,
    .measure = plot_measure,
    .begin = plot_begin,
    .row = plot_row,
    .statistics = plot_statistics,
};
