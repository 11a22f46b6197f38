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
    if (options->format == FORMAT_JSON)
        write_json(out, histogram, tally);
    else
        write_table(out, options, histogram, tally);
}
