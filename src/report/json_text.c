/* SPDX-License-Identifier: MIT */
#include "json_text.h"

void json_string(struct writer *out, const char *text)
{
    writer_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            writer_char(out, '\\');
        if ((unsigned char)*text < ' ')
            writer_format(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            writer_char(out, *text);
    }
    writer_char(out, '"');
}
