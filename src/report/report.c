#include "report.h"
#include "quantile.h"

#include <inttypes.h>
#include <string.h>

/* How a byte is shown in a table: itself, or as C writes it. A space would look like nothing. */
static void show_byte(unsigned byte, char text[8])
{
    static const char escapes[] = "abtnvfr"; /* \a is 7, and so on */
    if (byte >= '\a' && byte <= '\r')
        snprintf(text, 8, "\\%c", escapes[byte - '\a']);
    else if (byte == '\\')
        snprintf(text, 8, "\\\\");
    else if (byte == ' ')
        snprintf(text, 8, "' '");
    else if (byte > ' ' && byte < 0x7f)
        snprintf(text, 8, "%c", (int)byte);
    else
        snprintf(text, 8, "\\x%02x", byte & 0xff);
}

/* A field as RFC 4180 wants it. */
static void write_csv_field(FILE *out, const char *text)
{
    if (strcmp(text, ",") == 0)
        fputs("\",\"", out);
    else if (strcmp(text, "\"") == 0)
        fputs("\"\"\"\"", out);
    else
        fputs(text, out);
}

/* Whether a row of numbers or values is shown. */
static bool is_shown(const struct binning *binning, uint64_t count)
{
    return count > 0 || !binning->log_linear;
}

/* A bin of values: its edges on both sides of the count. */
static void write_row(FILE *out, char separator, const char *lo, uint64_t count, const char *hi)
{
    fprintf(out, "%s%c%" PRIu64 "%c%s\n", lo, separator, count, separator, hi);
}

static void write_values(FILE *out, const struct report_options *options,
                         const struct binning *binning, const uint64_t *counts)
{
    char separator = options->format == FORMAT_CSV ? ',' : '\t', lo[48], hi[48];
    if (options->header)
        fprintf(out, "lo%ccount%chi\n", separator, separator);
    for (size_t row = ROW_BELOW; row <= ROW_ABOVE(binning); row++) {
        if (!is_shown(binning, counts[row]))
            continue;
        strcpy(lo, "-inf");
        strcpy(hi, "inf");
        if (row > ROW_BELOW)
            binning_show_edge(binning, row - 1, lo);
        if (row < ROW_ABOVE(binning))
            binning_show_edge(binning, row, hi);
        write_row(out, separator, lo, counts[row], hi);
    }
    fprintf(out, "invalid%c%" PRIu64 "\n", separator, counts[ROW_INVALID(binning)]);
}

static void write_quantiles(FILE *out, const struct report_options *options,
                            const struct binning *binning, const struct tally *tally)
{
    char separator = options->format == FORMAT_CSV ? ',' : '\t', q[48], value[48], error[48];
    for (size_t i = 0; i < options->quantile_count; i++) {
        struct quantile found = quantile(binning, tally, options->quantiles[i]);
        binning_show_double(options->quantiles[i], q);
        binning_show_double(found.value, value);
        binning_show_double(found.error, error);
        fprintf(out, "q%s%c%s%c%s\n", q, separator, value, separator, error);
    }
}

/* A member of an object; `key` has what stands before the colon. JSON knows no infinity and no NaN:
 * they are strings. */
static void write_json_number(FILE *out, const char *key, const char *text)
{
    bool finite = strpbrk(text, "in") == NULL;
    fprintf(out, finite ? "%s:%s" : "%s:\"%s\"", key, text);
}

static void write_json_bins(FILE *out, const struct binning *binning, const uint64_t *counts)
{
    const char *comma = "";
    char edge[48];
    for (size_t bin = 0; bin < binning->bins; bin++) {
        if (!is_shown(binning, counts[1 + bin]))
            continue;
        fputs(comma, out);
        binning_show_edge(binning, bin, edge);
        write_json_number(out, "{\"lo\"", edge);
        binning_show_edge(binning, bin + 1, edge);
        write_json_number(out, ",\"hi\"", edge);
        fprintf(out, ",\"count\":%" PRIu64 "}", counts[1 + bin]);
        comma = ",";
    }
}

static void write_json_quantiles(FILE *out, const struct report_options *options,
                                 const struct binning *binning, const struct tally *tally)
{
    char text[48];
    fputs(",\"quantiles\":[", out);
    for (size_t i = 0; i < options->quantile_count; i++) {
        struct quantile found = quantile(binning, tally, options->quantiles[i]);
        binning_show_double(options->quantiles[i], text);
        write_json_number(out, i ? ",{\"q\"" : "{\"q\"", text);
        binning_show_double(found.value, text);
        write_json_number(out, ",\"value\"", text);
        binning_show_double(found.error, text);
        write_json_number(out, ",\"error\"", text);
        putc('}', out);
    }
    putc(']', out);
}

static void write_json_values(FILE *out, const struct report_options *options,
                              const struct histogram *histogram, const struct tally *tally)
{
    const struct binning *binning = &histogram->binning;
    uint64_t below = tally->counts[ROW_BELOW], above = tally->counts[ROW_ABOVE(binning)];
    uint64_t invalid = tally->counts[ROW_INVALID(binning)], other = below + above + invalid;
    if (histogram->mode == SAMPLE_NUMBERS)
        fputs("{\"schema\":\"gpuhisto/1\",\"mode\":\"numbers\"", out);
    else
        fprintf(out, "{\"schema\":\"gpuhisto/1\",\"mode\":\"values\",\"type\":\"%s\"",
                histogram->type.name);
    fprintf(out,
            ",\"total\":%" PRIu64 ",\"counted\":%" PRIu64 ",\"other\":%" PRIu64
            ",\"below\":%" PRIu64 ",\"above\":%" PRIu64 ",\"invalid\":%" PRIu64 ",\"bins\":[",
            tally->samples, tally->samples - other, other, below, above, invalid);
    write_json_bins(out, binning, tally->counts);
    putc(']', out);
    if (options->quantile_count)
        write_json_quantiles(out, options, binning, tally);
    fputs("}\n", out);
}

static void write_table(FILE *out, const struct report_options *options,
                        const struct histogram *histogram, const struct tally *tally)
{
    bool csv = options->format == FORMAT_CSV, bytes = histogram->mode == SAMPLE_BYTES;
    char separator = csv ? ',' : '\t';
    if (options->header)
        fprintf(out, bytes ? "bin%ccount%cchar\n" : "bin%ccount\n", separator, separator);
    for (size_t bin = 0; bin < tally->bins; bin++) {
        char label[8], shown[8];
        histogram_label(histogram, bin, label);
        fprintf(out, "%s%c%" PRIu64, label, separator, tally->counts[bin]);
        if (bytes) {
            show_byte((unsigned)bin, shown);
            putc(separator, out);
            if (csv)
                write_csv_field(out, shown);
            else
                fputs(shown, out);
        }
        putc('\n', out);
    }
}

static void write_json(FILE *out, const struct histogram *histogram, const struct tally *tally)
{
    uint64_t counted = tally_counted(tally);
    fprintf(out,
            "{\"schema\":\"gpuhisto/1\",\"mode\":\"%s\",\"total\":%" PRIu64 ",\"counted\":%" PRIu64
            ",\"other\":%" PRIu64 ",\"bins\":[",
            histogram->mode == SAMPLE_BYTES ? "bytes" : "letters", tally->samples, counted,
            tally->samples - counted);
    for (size_t bin = 0; bin < tally->bins; bin++) {
        char label[8];
        histogram_label(histogram, bin, label);
        fprintf(out, "%s{\"bin\":\"%s\",\"lo\":%u,\"hi\":%u,\"count\":%" PRIu64 "}", bin ? "," : "",
                label, histogram_lo(histogram, bin), histogram_hi(histogram, bin),
                tally->counts[bin]);
    }
    fputs("]}\n", out);
}

void report_write(FILE *out, const struct report_options *options,
                  const struct histogram *histogram, const struct tally *tally)
{
    bool json = options->format == FORMAT_JSON;
    bool binned = histogram->mode == SAMPLE_VALUES || histogram->mode == SAMPLE_NUMBERS;
    if (binned && json) {
        write_json_values(out, options, histogram, tally);
    } else if (binned) {
        write_values(out, options, &histogram->binning, tally->counts);
        write_quantiles(out, options, &histogram->binning, tally);
    } else if (json) {
        write_json(out, histogram, tally);
    } else {
        write_table(out, options, histogram, tally);
    }
}
