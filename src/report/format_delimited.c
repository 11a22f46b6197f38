/* SPDX-License-Identifier: MIT */
/* TSV and CSV. In CSV every row has as many fields as the mode has columns, and fields are as in
 * RFC 4180, but lines end with a newline. In TSV a row without a note has no field for it, unless
 * percents follow; nor has a statistic that is no interval. */
#include "diff.h"
#include "field_text.h"
#include "format.h"

static void field(struct table *table, const char *text)
{
    field_write(table->out, table->format->separator, text);
}

static void separate(struct table *table)
{
    writer_char(table->out, table->format->separator);
}

static bool is_csv(const struct table *table)
{
    return table->format->separator == ',';
}

static bool has_notes(const struct table *table)
{
    return table->shown.spec->mode->columns[MODE_COLUMNS - 1];
}

/* --- rows --- */

/* Writes the name of the column of counts, or one name for each channel. */
static void name_counts(struct table *table)
{
    const unsigned channels = histogram_spec_channels(table->shown.spec);
    if (channels == 1)
        field(table, table->shown.spec->mode->columns[COUNT_COLUMN]);
    for (unsigned channel = 0; channels > 1 && channel < channels; channel++) {
        if (channel > 0)
            separate(table);
        writer_format(table->out, "channel%u", channel + 1);
    }
}

/* Writes what stands in the columns of groups, each before a separator. */
static void write_columns(struct table *table, const char *const columns[GROUP_COLUMNS])
{
    for (size_t i = 0; i < GROUP_COLUMNS; i++)
        if (columns[i]) {
            field(table, columns[i]);
            separate(table);
        }
}

static void begin(struct table *table)
{
    const char separator = table->format->separator;
    const char *const *columns = table->shown.spec->mode->columns;
    if (!table->options->header)
        return;
    if (table->groups)
        write_columns(table, table->groups->columns);
    for (size_t i = 0; i < MODE_COLUMNS && columns[i]; i++) {
        if (i > 0)
            separate(table);
        if (i == COUNT_COLUMN)
            name_counts(table);
        else
            field(table, columns[i]);
    }
    if (table->options->percent)
        writer_format(table->out, "%cshare%crunning", separator, separator);
    writer_char(table->out, '\n');
}

static void write_row(struct table *table, const struct row *row)
{
    const bool has_percents = table->options->percent;
    const char separator[] = {table->format->separator, '\0'};
    if (table->groups)
        write_columns(table, table->group);
    field(table, row->name);
    separate(table);
    format_counts(table, row, table->format->separator);
    if (row->label.note[0] || (has_notes(table) && (is_csv(table) || has_percents))) {
        separate(table);
        field(table, row->label.note);
    }
    if (has_percents)
        format_percents(table, row, separator, separator);
    writer_char(table->out, '\n');
}

/* --- statistics --- */

static void next_field(struct table *table, const char *number)
{
    separate(table);
    writer_text(table->out, number);
}

static void write_statistics(struct table *table, const struct statistics *statistics)
{
    const char separator = table->format->separator;
    if (table->options->header)
        writer_format(table->out, "name%cvalue%cupper\n", separator, separator);
    for (size_t i = 0; i < statistics->count; i++) {
        const struct statistic *statistic = &statistics->list[i];
        writer_text(table->out, statistic->name);
        next_field(table, statistic->value);
        if (is_csv(table) || statistic->upper[0])
            next_field(table, statistic->upper);
        writer_char(table->out, '\n');
    }
}

/* Writes the names of the columns. An interval has two. */
static void write_header(struct table *table, const struct statistics *statistics)
{
    if (table->groups)
        write_columns(table, table->groups->columns);
    if (table->channel)
        writer_format(table->out, "channel%c", table->format->separator);
    for (size_t i = 0; i < statistics->count; i++) {
        const struct statistic *statistic = &statistics->list[i];
        if (i > 0)
            separate(table);
        writer_text(table->out, statistic->name);
        if (statistic->is_interval) {
            next_field(table, statistic->name);
            writer_text(table->out, "_upper");
        }
    }
    writer_char(table->out, '\n');
}

static void write_statistics_row(struct table *table, const struct statistics *statistics,
                                 bool is_first)
{
    if (is_first)
        write_header(table, statistics);
    if (table->groups)
        write_columns(table, table->group);
    if (table->channel)
        writer_format(table->out, "%u%c", table->channel, table->format->separator);
    for (size_t i = 0; i < statistics->count; i++) {
        const struct statistic *statistic = &statistics->list[i];
        if (i > 0)
            separate(table);
        writer_text(table->out, statistic->value);
        if (statistic->is_interval)
            next_field(table, statistic->upper[0] ? statistic->upper : statistic->value);
    }
    writer_char(table->out, '\n');
}

#define DELIMITED(is, by)                                                                          \
    {                                                                                              \
        .name = (is), .separator = (by), .diff = diff_delimited, .diff_keys = diff_keys_delimited, \
        .begin = begin, .row = write_row, .statistics = write_statistics,                          \
        .statistics_row = write_statistics_row                                                     \
    }

const struct format format_tsv = DELIMITED("tsv", '\t');
const struct format format_csv = DELIMITED("csv", ',');
