#include "report.h"
#include "format.h"
#include "quantile.h"
#include "rows.h"
#include "src/histogram/facts.h"
#include "src/histogram/show_number.h"

static void write_rows(const struct format *format, struct table *table, const struct tally *tally)
{
    struct rows rows;
    const struct row *row;
    table->written = 0;
    rows_begin(&rows, table->histogram, tally);
    while ((row = rows_next(&rows)) && !table->out->error)
        format->row(table, row);
}

static void write_quantiles(const struct format *format, struct table *table,
                            const struct report_options *options, const struct tally *tally)
{
    if (options->quantile_count == 0)
        return;
    table->written = 0;
    format->begin_quantiles(table);
    for (size_t i = 0; i < options->quantile_count; i++) {
        double q = options->quantiles[i];
        struct quantile found = quantile(&table->histogram->binning, tally, q);
        struct quantile_row row;
        show_double(q, row.q);
        show_double(found.value, row.value);
        show_double(found.error, row.error);
        format->quantile(table, &row);
    }
}

/* Writes facts: those of the mode, and for numbers the quantiles that were given, or some. */
static void write_facts(const struct format *format, struct table *table,
                        const struct report_options *options, const struct tally *tally)
{
    static const double some[] = {0.5, 0.9, 0.99, 0.999};
    const struct histogram *histogram = table->histogram;
    const double *quantiles = options->quantile_count ? options->quantiles : some;
    size_t count = options->quantile_count ? options->quantile_count : sizeof some / sizeof some[0];
    struct facts facts = {.count = 0};
    histogram->mode->add_facts(histogram, tally, &facts);
    for (size_t i = 0; histogram->has_moments && i < count; i++)
        facts_add_quantile(&facts, histogram, tally, quantiles[i]);
    table->written = 0;
    format->begin_facts(table);
    for (size_t i = 0; i < facts.count; i++)
        format->fact(table, &facts.list[i]);
}

void report_write(struct writer *out, const struct report_options *options,
                  const struct histogram *histogram, const struct tally *tally)
{
    const struct format *format = format_table[options->format];
    struct table table = {
        .out = out,
        .histogram = histogram,
        .totals = rows_add_up(histogram, tally),
        .header = options->header,
    };
    if (!options->stats || format->has_both) {
        format->begin(&table);
        write_rows(format, &table, tally);
        write_quantiles(format, &table, options, tally);
    }
    if (options->stats)
        write_facts(format, &table, options, tally);
    format->end(&table);
}
