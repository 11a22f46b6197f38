/* SPDX-License-Identifier: MIT */
/* TSV and CSV. In CSV every row has as many fields as there are columns, and fields are as in RFC
 * 4180, but lines end with a newline. In TSV a row without a note has no field for it, unless
 * others follow; nor has a statistic that is no interval. */
#include "format.h"
#include "writer.h"

/* Writes a field, which ends before a tab or with the text. Returns that end. */
static const char *write_one(struct writer *out, bool is_csv, const char *text)
{
    const size_t plain = strcspn(text, is_csv ? ",\"\r\n\t" : "\"\t");
    const bool is_special = text[plain] && text[plain] != '\t';
    if (is_csv && is_special)
        writer_char(out, '"');
    writer_bytes(out, text, plain);
    for (text += plain; *text && *text != '\t'; text++) {
        if (*text == '"')
            writer_text(out, is_csv ? "\"\"" : "\\x22");
        else
            writer_char(out, *text);
    }
    if (is_csv && is_special)
        writer_char(out, '"');
    return text;
}

/* Writes a printable text as a field; or as several, between which it has tabs. In CSV it is in
 * quotes if its text would end it otherwise. In TSV many readers, such as those of pandas and R,
 * treat a double quote as the beginning of a quoted field, which would extend over tabs and
 * newlines to the next one, so it becomes \x22. */
static void field(struct table *table, const char *text)
{
    const char separator = table->format->separator;
    while (*(text = write_one(table->out, separator == ',', text))) {
        writer_char(table->out, separator);
        text++;
    }
}

static void next_field(struct table *table, const char *text)
{
    writer_char(table->out, table->format->separator);
    field(table, text);
}

/* Writes what stands in the columns of groups, each before a separator. */
static void write_columns(struct table *table, const char *const columns[GROUP_COLUMNS])
{
    for (size_t i = 0; table->groups && i < GROUP_COLUMNS; i++)
        if (columns[i]) {
            field(table, columns[i]);
            writer_char(table->out, table->format->separator);
        }
}

/* Writes the header of columns: what comes before them, and their names. An interval has two. */
static void write_header(struct table *table, const char *first, const struct cells *cells)
{
    const char separator = table->format->separator;
    if (table->groups)
        write_columns(table, table->groups->columns);
    if (first)
        field(table, first);
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->list[i];
        const char *prefix = cell->prefix ? cell->prefix : "";
        if (i > 0 || first)
            writer_char(table->out, separator);
        if (cell->name)
            writer_format(table->out, "%s%s", prefix, cell->name);
        else
            writer_format(table->out, "channel%zu", i + 1);
        if (cell->upper)
            writer_format(table->out, "%c%s%s_upper", separator, prefix, cell->name);
    }
    writer_char(table->out, '\n');
}

static void write_cells(struct table *table, const char *first, const struct cells *cells)
{
    const bool is_csv = table->format->separator == ',';
    write_columns(table, table->group);
    if (first)
        field(table, first);
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->list[i];
        if (cell->is_note && !cell->text[0] && i + 1 == cells->count && !is_csv)
            break;
        if (i > 0 || first)
            writer_char(table->out, table->format->separator);
        if (!cell->text)
            writer_count(table->out, cell->count);
        else
            field(table, cell->text);
        if (cell->upper)
            next_field(table, cell->upper[0] ? cell->upper : cell->text);
    }
    writer_char(table->out, '\n');
}

static void begin(struct table *table)
{
    struct cells cells;
    if (!table->options->header)
        return;
    table_cells(table, NULL, &cells);
    write_header(table, table->label, &cells);
}

static void write_row(struct table *table, const struct row *row)
{
    struct cells cells;
    table_cells(table, row, &cells);
    write_cells(table, row->name, &cells);
}

static void write_statistics(struct table *table, const struct statistics *statistics)
{
    const char separator = table->format->separator;
    if (table->options->header)
        writer_format(table->out, "name%cvalue%cupper\n", separator, separator);
    for (size_t i = 0; i < statistics->count; i++) {
        const struct statistic *statistic = &statistics->list[i];
        writer_format(table->out, "%s%c%s", statistic->name, separator, statistic->value);
        if (separator == ',' || statistic->upper[0])
            writer_format(table->out, "%c%s", separator, statistic->upper);
        writer_char(table->out, '\n');
    }
}

static void write_statistics_row(struct table *table, const struct statistics *statistics,
                                 bool is_first)
{
    struct cells cells = {.count = 0};
    show_unsigned(table->channel, cells.texts[0]);
    if (table->channel)
        cells_add(&cells, "channel", cells.texts[0]);
    for (size_t i = 0; i < statistics->count; i++) {
        const struct statistic *statistic = &statistics->list[i];
        struct cell *cell = cells_add(&cells, statistic->name, statistic->value);
        cell->upper = statistic->is_interval ? statistic->upper : NULL;
    }
    if (is_first)
        write_header(table, NULL, &cells);
    write_cells(table, NULL, &cells);
}

#define DELIMITED(is, by)                                                                          \
    {                                                                                              \
        .name = (is), .separator = (by), .begin = begin, .row = write_row,                         \
        .statistics = write_statistics, .statistics_row = write_statistics_row                     \
    }

const struct format format_tsv = DELIMITED("tsv", '\t');
const struct format format_csv = DELIMITED("csv", ',');
