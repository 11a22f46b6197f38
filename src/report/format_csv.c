/* SPDX-License-Identifier: MIT */
/* Fields between commas, as RFC 4180 has them but for the end of a line, which is a newline. Every
 * row has as many fields as the mode has columns. */
#include "channels.h"
#include "field_text.h"
#include "format.h"
#include "percent.h"

/* Begins a row, with the FILE if there is one. */
static void csv_begin_row(struct table *table)
{
    if (!table->file)
        return;
    csv_field(table->out, table->file);
    writer_char(table->out, ',');
}

static void csv_begin(struct table *table)
{
    const char *const *columns = table->histogram->mode->columns;
    if (!table->header)
        return;
    if (table->file)
        writer_text(table->out, "file,");
    for (size_t i = 0; i < MODE_COLUMNS && columns[i]; i++) {
        if (i > 0)
            writer_char(table->out, ',');
        if (i == COUNT_COLUMN)
            channels_write_names(table, ',');
        else
            csv_field(table->out, columns[i]);
    }
    writer_text(table->out, table->percent ? ",share,running\n" : "\n");
}

static void csv_percents(struct table *table, const struct row *row)
{
    char percent[PERCENT_TEXT], running[PERCENT_TEXT];
    percent_show(row->count, table->totals.samples, PERCENT_DIGITS, percent);
    percent_show(row->running, table->totals.samples, PERCENT_DIGITS, running);
    writer_format(table->out, ",%s,%s", percent, running);
}

static void csv_row(struct table *table, const struct row *row)
{
    struct writer *out = table->out;
    csv_begin_row(table);
    csv_field(out, row->label.name);
    writer_char(out, ',');
    channels_write_counts(table, row, ',');
    if (table->histogram->mode->columns[MODE_COLUMNS - 1]) {
        writer_char(out, ',');
        csv_field(out, row->label.note);
    }
    if (table->percent)
        csv_percents(table, row);
    writer_char(out, '\n');
}

static void csv_begin_statistics(struct table *table)
{
    if (table->header)
        writer_text(table->out, "name,value,upper\n");
}

static void csv_statistic(struct table *table, const struct statistic *statistic)
{
    writer_format(table->out, "%s,%s,%s\n", statistic->name, statistic->value, statistic->upper);
}

static void csv_statistics_heading(struct table *table, const struct statistics *statistics)
{
    channels_write_keys(table, ',');
    for (size_t i = 0; i < statistics->count; i++) {
        const char *name = statistics->list[i].name;
        writer_format(table->out, ",%s", name);
        if (statistics->list[i].is_interval)
            writer_format(table->out, ",%s_upper", name);
    }
    writer_char(table->out, '\n');
}

static void csv_statistics_row(struct table *table, const struct statistics *statistics)
{
    if (table->file)
        csv_field(table->out, table->file);
    if (table->channel)
        writer_format(table->out, "%s%u", table->file ? "," : "", table->channel);
    for (size_t i = 0; i < statistics->count; i++) {
        const struct statistic *statistic = &statistics->list[i];
        writer_format(table->out, ",%s", statistic->value);
        if (statistic->is_interval)
            writer_format(table->out, ",%s",
                          statistic->upper[0] ? statistic->upper : statistic->value);
    }
    writer_char(table->out, '\n');
}

static void csv_end(struct table *table)
{
    (void)table;
}

const struct format format_csv = {
    .begin = csv_begin,
    .row = csv_row,
    .begin_statistics = csv_begin_statistics,
    .statistic = csv_statistic,
    .end = csv_end,
    .statistics_heading = csv_statistics_heading,
    .statistics_row = csv_statistics_row,
};
