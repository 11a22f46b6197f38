/* SPDX-License-Identifier: MIT */
#include "row_label.h"

#include <stdio.h>

void row_label_set(struct row_label *label, unsigned lo, unsigned hi)
{
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
