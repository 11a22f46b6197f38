/* Bytes: each byte value is a bin. */
#include "byte_rows.h"

#include <stdio.h>

/* The byte as it is shown beside its number: itself, or as C writes it. A space would look like
 * nothing. */
static void show_byte(unsigned byte, char text[ROW_TEXT])
{
    static const char escapes[] = "abtnvfr"; /* \a is 7, and so on */
    if (byte >= '\a' && byte <= '\r')
        snprintf(text, ROW_TEXT, "\\%c", escapes[byte - '\a']);
    else if (byte == '\\')
        snprintf(text, ROW_TEXT, "\\\\");
    else if (byte == ' ')
        snprintf(text, ROW_TEXT, "' '");
    else if (byte > ' ' && byte < 0x7f)
        snprintf(text, ROW_TEXT, "%c", (int)byte);
    else
        snprintf(text, ROW_TEXT, "\\x%02x", byte);
}

static void bytes_label_row(const struct histogram *histogram, size_t row, struct row_label *label)
{
    (void)histogram;
    unsigned byte = (unsigned)row;
    byte_label_row(byte, byte, label);
    snprintf(label->name, sizeof label->name, "0x%02x", byte);
    show_byte(byte, label->note);
}

const struct mode mode_bytes = {
    .id = MODE_BYTES,
    .name = "bytes",
    .counts_every = true,
    .columns = {"bin", "count", "char"},
    .sample_size = byte_sample_size,
    .samples_most = byte_samples_most,
    .row_kind = byte_row_kind,
    .label_row = bytes_label_row,
};

void histogram_bytes(struct histogram *histogram)
{
    *histogram = (struct histogram){.mode = &mode_bytes, .width = 1, .bins = 256};
    for (unsigned value = 0; value < 256; value++)
        histogram->bin_of[value] = (uint16_t)value;
}
