/* SPDX-License-Identifier: MIT */
/* Fields between tabs. A row without a note has no field for it, unless shares follow. */
#include "channels.h"
#include "field_text.h"
#include "format.h"
#include "percent.h"

/* Begins a row, with the FILE if there is one. */
static void tsv_begin_row(struct table *table)
{
    if (!table->file)
        return;
    tsv_field(table->out, table->file);
    writer_char(table->out, '\t');
}

static void tsv_begin(struct table *table)
{
    const char *const *columns = table->histogram->mode->columns;
    if (!table->header)
        return;
    if (table->file)
        writer_text(table->out, "file\t");
    for (size_t i = 0; i < MODE_COLUMNS && columns[i]; i++) {
        if (i > 0)
            writer_char(table->out, '\t');
        if (i == COUNT_COLUMN)
            channels_write_names(table, '\t');
        else
            writer_text(table->out, columns[i]);
    }
    writer_text(table->out, table->percent ? "\tshare\trunning\n" : "\n");
}

static void tsv_percents(struct table *table, const struct row *row)
{
    char percent[PERCENT_TEXT], running[PERCENT_TEXT];
    percent_show(row->count, table->totals.samples, PERCENT_DIGITS, percent);
    percent_show(row->running, table->totals.samples, PERCENT_DIGITS, running);
    writer_format(table->out, "\t%s\t%s", percent, running);
}

static void tsv_row(struct table *table, const struct row *row)
{
    struct writer *out = table->out;
    tsv_begin_row(table);
    writer_text(out, row->label.name);
    writer_char(out, '\t');
    channels_write_counts(table, row, '\t');
    bool is_followed = table->percent && table->histogram->mode->columns[MODE_COLUMNS - 1];
    if (row->label.note[0] || is_followed) {
        writer_char(out, '\t');
        tsv_field(out, row->label.note);
    }
    if (table->percent)
        tsv_percents(table, row);
    writer_char(out, '\n');
}

static void tsv_begin_statistics(struct table *table)
{
    if (table->header)
        writer_text(table->out, "name\tvalue\tupper\n");
}

static void tsv_statistic(struct table *table, const struct statistic *statistic)
{
    writer_format(table->out, "%s\t%s", statistic->name, statistic->value);
    if (statistic->upper[0])
        writer_format(table->out, "\t%s", statistic->upper);
    writer_char(table->out, '\n');
}

static void tsv_statistics_heading(struct table *table, const struct statistics *statistics)
{
    channels_write_keys(table, '\t');
    for (size_t i = 0; i < statistics->count; i++) {
        const char *name = statistics->list[i].name;
        writer_format(table->out, "\t%s", name);
        if (statistics->list[i].is_interval)
            writer_format(table->out, "\t%s_upper", name);
    }
    writer_char(table->out, '\n');
}

static void tsv_statistics_row(struct table *table, const struct statistics *statistics)
{
    if (table->file)
        tsv_field(table->out, table->file);
    if (table->channel)
        writer_format(table->out, "%s%u", table->file ? "\t" : "", table->channel);
    for (size_t i = 0; i < statistics->count; i++) {
        const struct statistic *statistic = &statistics->list[i];
        writer_format(table->out, "\t%s", statistic->value);
        if (statistic->is_interval)
            writer_format(table->out, "\t%s",
                          statistic->upper[0] ? statistic->upper : statistic->value);
    }
    writer_char(table->out, '\n');
}

static void tsv_end(struct table *table)
{
    (void)table;
}

const struct format format_tsv = {
    .begin = tsv_begin,
    .row = tsv_row,
    .begin_statistics = tsv_begin_statistics,
    .statistic = tsv_statistic,
    .end = tsv_end,
    .statistics_heading = tsv_statistics_heading,
    .statistics_row = tsv_statistics_row,
};
