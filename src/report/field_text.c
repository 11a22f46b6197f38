/* SPDX-License-Identifier: MIT */
#include "field_text.h"

#include <stdbool.h>

void field_write(struct writer *out, char separator, const char *text)
{
    const bool is_csv = separator == ',', is_quoted = is_csv && strpbrk(text, ",\"\r\n");
    if (is_quoted)
        writer_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            writer_text(out, is_csv ? "\"\"" : "\\x22");
        else
            writer_char(out, *text);
    }
    if (is_quoted)
        writer_char(out, '"');
}
