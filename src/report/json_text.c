/* SPDX-License-Identifier: MIT */
#include "json_text.h"

void json_string(struct writer *out, const char *text)
{
    writer_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            writer_char(out, '\\');
        writer_char(out, *text);
    }
    writer_char(out, '"');
}
