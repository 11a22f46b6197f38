/* SPDX-License-Identifier: MIT */
#include "byte_rows.h"

#include <stdio.h>

size_t byte_sample_size(const struct histogram *histogram)
{
    (void)histogram;
    return 1;
}

uint64_t byte_samples_most(const struct histogram *histogram, size_t len)
{
    (void)histogram;
    return len;
}

enum row_kind byte_row_kind(const struct histogram *histogram, size_t row)
{
    (void)histogram, (void)row;
    return ROW_KIND_BIN;
}

void byte_label_row(unsigned lo, unsigned hi, struct row_label *label)
{
    label->kind = ROW_KIND_BIN;
    snprintf(label->lo, sizeof label->lo, "%u", lo);
    snprintf(label->hi, sizeof label->hi, "%u", hi);
    label->name[0] = label->note[0] = '\0';
}

void byte_show(unsigned byte, char text[ROW_TEXT])
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
