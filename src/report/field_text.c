/* SPDX-License-Identifier: MIT */
#include "field_text.h"

#include <string.h>

void tsv_field(struct writer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"')
            writer_text(out, "\\x22");
        else
            writer_char(out, *text);
    }
}

void csv_field(struct writer *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        writer_text(out, text);
        return;
    }
    writer_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            writer_char(out, '"');
        writer_char(out, *text);
    }
    writer_char(out, '"');
}
