/* SPDX-License-Identifier: MIT */
#include "field_text.h"

#include <stdbool.h>

/* Writes a field, which ends before a tab or with the text. Returns that end. */
static const char *write_one(struct writer *out, char separator, const char *text)
{
    const bool is_csv = separator == ',';
    const size_t plain = strcspn(text, is_csv ? ",\"\r\n\t" : "\"\t");
    const bool is_special = text[plain] && text[plain] != '\t';
    if (is_csv && is_special)
        writer_char(out, '"');
    writer_bytes(out, text, plain);
    for (text += plain; *text && *text != '\t'; text++) {
        if (*text == '"')
            writer_text(out, is_csv ? "\"\"" : "\\x22");
        else
            writer_char(out, *text);
    }
    if (is_csv && is_special)
        writer_char(out, '"');
    return text;
}

void field_write(struct writer *out, char separator, const char *text)
{
    while (*(text = write_one(out, separator, text))) {
        writer_char(out, separator);
        text++;
    }
}
