/* SPDX-License-Identifier: MIT */
#include "field_text.h"

#include <stdbool.h>

void field_write(struct writer *out, char separator, const char *text)
{
    const bool is_csv = separator == ',';
    const size_t plain = strcspn(text, is_csv ? ",\"\r\n" : "\"");
    const bool is_special = text[plain];
    if (is_csv && is_special)
        writer_char(out, '"');
    writer_bytes(out, text, plain);
    for (text += plain; *text; text++) {
        if (*text == '"')
            writer_text(out, is_csv ? "\"\"" : "\\x22");
        else
            writer_char(out, *text);
    }
    if (is_csv && is_special)
        writer_char(out, '"');
}
