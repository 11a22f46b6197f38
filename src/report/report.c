#include "report.h"
#include "format.h"
#include "quantile.h"

#include "src/histogram/facts.h"
#include "src/histogram/show_number.h"

/* Calls visit for each row that is shown, until writing fails. */
static void for_each_row(struct table *table, const struct tally *tally, enum empty_rows empty,
                         void (*visit)(struct table *table, const struct row *row))
{
    struct rows rows;
    const struct row *row;
    rows_begin(&rows, table->histogram, tally, empty);
    while ((row = rows_next(&rows)) && !table->out->error)
        visit(table, row);
}

static void write_rows(const struct format *format, struct table *table,
                       const struct report_options *options, const struct tally *tally)
{
    bool by_default = options->empty == EMPTY_DEFAULT;
    enum empty_rows empty = format->is_picture && by_default ? EMPTY_IN_PICTURE : options->empty;
    if (format->measure)
        for_each_row(table, tally, empty, format->measure);
    format->begin(table);
    table->written = 0;
    for_each_row(table, tally, empty, format->row);
}

static void for_each_quantile(struct table *table, const struct report_options *options,
                              const struct histogram *histogram, const struct tally *tally,
                              void (*visit)(struct table *table, const struct quantile_row *row))
{
    for (size_t i = 0; i < options->quantile_count; i++) {
        double q = options->quantiles[i];
        struct quantile found = quantile(&histogram->binning, tally, q);
        struct quantile_row row;
        show_double(q, row.q);
        show_double(found.value, row.value);
        show_double(found.error, row.error);
        visit(table, &row);
    }
}

static void write_quantiles(const struct format *format, struct table *table,
                            const struct report_options *options, const struct histogram *histogram,
                            const struct tally *tally)
{
    if (options->quantile_count == 0)
        return;
    if (format->measure_quantile)
        for_each_quantile(table, options, histogram, tally, format->measure_quantile);
    table->written = 0;
    format->begin_quantiles(table);
    for_each_quantile(table, options, histogram, tally, format->quantile);
}

/* Writes facts: those of the mode, and for numbers the quantiles that were given, or some. */
static void write_facts(const struct format *format, struct table *table,
                        const struct report_options *options, const struct histogram *histogram,
                        const struct tally *tally)
{
    static const double some[] = {0.5, 0.9, 0.99, 0.999};
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
    /* Rows come from table.histogram and the tally that write_rows is given. Where a format shows
     * fewer bins than were counted, these two are what has to be exchanged, here; quantiles are
     * found in the original ones. */
    struct table table = {
        .out = out,
        .histogram = histogram,
        .totals = rows_add_up(histogram, tally),
        .header = options->header,
        .percent = options->percent,
    };
    if (!options->stats || format->has_both) {
        write_rows(format, &table, options, tally);
        write_quantiles(format, &table, options, histogram, tally);
    }
    if (options->stats)
        write_facts(format, &table, options, histogram, tally);
    format->end(&table);
}
