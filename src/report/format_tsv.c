/* Fields between tabs. A row without a note has no field for it, unless shares follow. Quantiles
 * come after an empty line, so that the counts can be added up without them. */
#include "format.h"
#include "share.h"

/* Writes a field. Many readers of tab-separated text, such as those of pandas and R, take a double
 * quote for the beginning of a quoted field and would go on over tabs and newlines to the next one.
 * It is therefore written as other bytes that cannot be shown. */
static void tsv_field(struct writer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"')
            writer_text(out, "\\x22");
        else
            writer_char(out, *text);
    }
}

static void tsv_begin(struct table *table)
{
    const char *const *columns = table->histogram->mode->columns;
    if (!table->header)
        return;
    for (size_t i = 0; i < MODE_COLUMNS && columns[i]; i++) {
        if (i > 0)
            writer_char(table->out, '\t');
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
    writer_text(out, row->label.name);
    writer_char(out, '\t');
    writer_count(out, row->count);
    bool is_followed = table->percent && table->histogram->mode->columns[MODE_COLUMNS - 1];
    if (row->label.note[0] || is_followed) {
        writer_char(out, '\t');
        tsv_field(out, row->label.note);
    }
    if (table->percent)
        tsv_shares(table, row);
    writer_char(out, '\n');
}

static void tsv_begin_quantiles(struct table *table)
{
    writer_text(table->out, table->header ? "\nquantile\tvalue\terror\n" : "\n");
}

static void tsv_quantile(struct table *table, const struct quantile_row *row)
{
    writer_format(table->out, "q%s\t%s\t%s\n", row->q, row->value, row->error);
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

static void tsv_end(struct table *table)
{
    (void)table;
}

const struct format format_tsv = {
    .begin = tsv_begin,
    .row = tsv_row,
    .begin_quantiles = tsv_begin_quantiles,
    .quantile = tsv_quantile,
    .begin_facts = tsv_begin_facts,
    .fact = tsv_fact,
    .end = tsv_end,
};
