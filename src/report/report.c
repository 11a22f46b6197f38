#include "report.h"
#include "quantile.h"

#include "src/histogram/show_number.h"

#include <inttypes.h>
#include <string.h>

/* A field as RFC 4180 wants it. */
static void write_csv_field(struct writer *out, const char *text)
{
    if (strcmp(text, ",") == 0)
        writer_text(out, "\",\"");
    else if (strcmp(text, "\"") == 0)
        writer_text(out, "\"\"\"\"");
    else
        writer_text(out, text);
}

/* Whether a row is shown. */
static bool is_shown(const struct histogram *histogram, enum row_kind kind, uint64_t count)
{
    return count > 0 || kind == ROW_KIND_INVALID || !histogram_is_sparse(histogram);
}

static void write_quantiles(struct writer *out, const struct report_options *options,
                            const struct binning *binning, const struct tally *tally)
{
    char separator = options->format == FORMAT_CSV ? ',' : '\t', q[48], value[48], error[48];
    for (size_t i = 0; i < options->quantile_count; i++) {
        struct quantile found = quantile(binning, tally, options->quantiles[i]);
        show_double(options->quantiles[i], q);
        show_double(found.value, value);
        show_double(found.error, error);
        writer_format(out, "q%s%c%s%c%s\n", q, separator, value, separator, error);
    }
}

/* A member of an object; `key` has what stands before the colon. JSON knows no infinity and no NaN:
 * they are strings. */
static void write_json_number(struct writer *out, const char *key, const char *text)
{
    bool finite = strpbrk(text, "in") == NULL;
    writer_format(out, finite ? "%s:%s" : "%s:\"%s\"", key, text);
}

static void write_json_quantiles(struct writer *out, const struct report_options *options,
                                 const struct binning *binning, const struct tally *tally)
{
    char text[48];
    writer_text(out, ",\"quantiles\":[");
    for (size_t i = 0; i < options->quantile_count; i++) {
        struct quantile found = quantile(binning, tally, options->quantiles[i]);
        show_double(options->quantiles[i], text);
        write_json_number(out, i ? ",{\"q\"" : "{\"q\"", text);
        show_double(found.value, text);
        write_json_number(out, ",\"value\"", text);
        show_double(found.error, text);
        write_json_number(out, ",\"error\"", text);
        writer_char(out, '}');
    }
    writer_char(out, ']');
}

/* A row's edges, or the values that it begins and ends with. */
static void write_json_bin(struct writer *out, const struct mode *mode,
                           const struct row_label *label, uint64_t count)
{
    writer_char(out, '{');
    if (!mode->is_binned)
        writer_format(out, "\"bin\":\"%s\",", label->name);
    write_json_number(out, "\"lo\"", label->lo);
    write_json_number(out, ",\"hi\"", label->hi);
    writer_format(out, ",\"count\":%" PRIu64 "}", count);
}

static void write_json_bins(struct writer *out, const struct histogram *histogram,
                            const uint64_t *counts)
{
    const char *comma = "";
    struct row_label label;
    for (size_t row = 0; row < histogram->bins; row++) {
        enum row_kind kind = histogram->mode->row_kind(histogram, row);
        if (kind != ROW_KIND_BIN || !is_shown(histogram, kind, counts[row]))
            continue;
        writer_text(out, comma);
        histogram->mode->label_row(histogram, row, &label);
        write_json_bin(out, histogram->mode, &label, counts[row]);
        comma = ",";
    }
}

/* What is in no bin, and of numbers why. */
static void write_json_others(struct writer *out, const struct histogram *histogram,
                              const struct tally *tally)
{
    uint64_t counted = tally_in_rows(tally, histogram, ROW_KIND_BIN);
    writer_format(out, ",\"total\":%" PRIu64 ",\"counted\":%" PRIu64 ",\"other\":%" PRIu64,
                  tally->samples, counted, tally->samples - counted);
    if (histogram->mode->is_binned)
        writer_format(out, ",\"below\":%" PRIu64 ",\"above\":%" PRIu64 ",\"invalid\":%" PRIu64,
                      tally_in_rows(tally, histogram, ROW_KIND_BELOW),
                      tally_in_rows(tally, histogram, ROW_KIND_ABOVE),
                      tally_in_rows(tally, histogram, ROW_KIND_INVALID));
}

static void write_json(struct writer *out, const struct report_options *options,
                       const struct histogram *histogram, const struct tally *tally)
{
    writer_format(out, "{\"schema\":\"gpuhisto/1\",\"mode\":\"%s\"", histogram->mode->name);
    if (histogram->mode->has_types)
        writer_format(out, ",\"type\":\"%s\"", histogram->type.name);
    write_json_others(out, histogram, tally);
    writer_text(out, ",\"bins\":[");
    write_json_bins(out, histogram, tally->counts);
    writer_char(out, ']');
    if (options->quantile_count)
        write_json_quantiles(out, options, &histogram->binning, tally);
    writer_text(out, "}\n");
}

static void write_header(struct writer *out, const struct mode *mode, char separator)
{
    for (size_t i = 0; i < 3 && mode->columns[i]; i++)
        writer_format(out, "%.1s%s", i ? &separator : "", mode->columns[i]);
    writer_char(out, '\n');
}

static void write_table(struct writer *out, const struct report_options *options,
                        const struct histogram *histogram, const struct tally *tally)
{
    bool csv = options->format == FORMAT_CSV;
    char separator = csv ? ',' : '\t';
    struct row_label label;
    if (options->header)
        write_header(out, histogram->mode, separator);
    for (size_t row = 0; row < histogram->bins; row++) {
        enum row_kind kind = histogram->mode->row_kind(histogram, row);
        if (!is_shown(histogram, kind, tally->counts[row]))
            continue;
        histogram->mode->label_row(histogram, row, &label);
        writer_format(out, "%s%c%" PRIu64, label.name, separator, tally->counts[row]);
        if (label.note[0]) {
            writer_char(out, separator);
            if (csv)
                write_csv_field(out, label.note);
            else
                writer_text(out, label.note);
        }
        writer_char(out, '\n');
    }
}

void report_write(struct writer *out, const struct report_options *options,
                  const struct histogram *histogram, const struct tally *tally)
{
    if (options->format == FORMAT_JSON) {
        write_json(out, options, histogram, tally);
        return;
    }
    write_table(out, options, histogram, tally);
    write_quantiles(out, options, &histogram->binning, tally);
}
