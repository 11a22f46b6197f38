/* SPDX-License-Identifier: MIT */
/* Fields between tabs. A row without a note has no field for it, unless shares follow. */
#include "channels.h"
#include "field_text.h"
#include "format.h"
#include "share.h"

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

static void tsv_shares(struct table *table, const struct row *row)
{
    char share[SHARE_TEXT], running[SHARE_TEXT];
    share_show(row->count, table->totals.samples, SHARE_DIGITS, share);
    share_show(row->running, table->totals.samples, SHARE_DIGITS, running);
    writer_format(table->out, "\t%s\t%s", share, running);
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
        tsv_shares(table, row);
    writer_char(out, '\n');
}

static void tsv_begin_facts(struct table *table)
{
    if (table->header)
        writer_text(table->out, "name\tvalue\tupper\n");
}

static void tsv_fact(struct table *table, const struct fact *fact)
{
    writer_format(table->out, "%s\t%s", fact->name, fact->value);
    if (fact->upper[0])
        writer_format(table->out, "\t%s", fact->upper);
    writer_char(table->out, '\n');
}

static void tsv_facts_heading(struct table *table, const struct facts *facts)
{
    channels_write_keys(table, '\t');
    for (size_t i = 0; i < facts->count; i++) {
        const char *name = facts->list[i].name;
        writer_format(table->out, "\t%s", name);
        if (facts->list[i].is_interval)
            writer_format(table->out, "\t%s_upper", name);
    }
    writer_char(table->out, '\n');
}

static void tsv_facts_row(struct table *table, const struct facts *facts)
{
    if (table->file)
        tsv_field(table->out, table->file);
    if (table->channel)
        writer_format(table->out, "%s%u", table->file ? "\t" : "", table->channel);
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->list[i];
        writer_format(table->out, "\t%s", fact->value);
        if (fact->is_interval)
            writer_format(table->out, "\t%s", fact->upper[0] ? fact->upper : fact->value);
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
    .begin_facts = tsv_begin_facts,
    .fact = tsv_fact,
    .end = tsv_end,
    .facts_heading = tsv_facts_heading,
    .facts_row = tsv_facts_row,
};
