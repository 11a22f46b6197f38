#include "report.h"

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
    binning_show_edge(binning, 0, hi);
    write_row(out, separator, "-inf", counts[ROW_BELOW], hi);
    for (size_t bin = 0; bin < binning->bins; bin++) {
        memcpy(lo, hi, sizeof lo);
        binning_show_edge(binning, bin + 1, hi);
        write_row(out, separator, lo, counts[1 + bin], hi);
    }
    write_row(out, separator, hi, counts[ROW_ABOVE(binning)], "inf");
    fprintf(out, "invalid%c%" PRIu64 "\n", separator, counts[ROW_INVALID(binning)]);
}

static void write_json_values(FILE *out, const struct histogram *histogram,
                              const struct tally *tally)
{
    const struct binning *binning = &histogram->binning;
    uint64_t below = tally->counts[ROW_BELOW], above = tally->counts[ROW_ABOVE(binning)];
    uint64_t invalid = tally->counts[ROW_INVALID(binning)], other = below + above + invalid;
    char lo[48], hi[48];
    fprintf(out,
            "{\"schema\":\"gpuhisto/1\",\"mode\":\"values\",\"type\":\"%s\",\"total\":%" PRIu64
            ",\"counted\":%" PRIu64 ",\"other\":%" PRIu64 ",\"below\":%" PRIu64
            ",\"above\":%" PRIu64 ",\"invalid\":%" PRIu64 ",\"bins\":[",
            histogram->type.name, tally->samples, tally->samples - other, other, below, above,
            invalid);
    binning_show_edge(binning, 0, hi);
    for (size_t bin = 0; bin < binning->bins; bin++) {
        memcpy(lo, hi, sizeof lo);
        binning_show_edge(binning, bin + 1, hi);
        fprintf(out, "%s{\"lo\":%s,\"hi\":%s,\"count\":%" PRIu64 "}", bin ? "," : "", lo, hi,
                tally->counts[1 + bin]);
    }
    fputs("]}\n", out);
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
    if (histogram->mode == SAMPLE_VALUES && json)
        write_json_values(out, histogram, tally);
    else if (histogram->mode == SAMPLE_VALUES)
        write_values(out, options, &histogram->binning, tally->counts);
    else if (json)
        write_json(out, histogram, tally);
    else
        write_table(out, options, histogram, tally);
}
