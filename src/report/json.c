/* SPDX-License-Identifier: MIT */
#include "json.h"

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

void json_member(struct writer *out, const char *key, const char *number)
{
    const char first = number[0] == '-' ? number[1] : number[0];
    writer_text(out, key);
    if (first >= '0' && first <= '9')
        writer_text(out, number);
    else
        json_string(out, number);
}

void json_count(struct writer *out, const char *key, uint64_t count)
{
    writer_text(out, key);
    writer_count(out, count);
}

void json_totals(struct writer *out, const struct mode *mode, const struct totals *totals)
{
    json_count(out, "\"total\":", totals->samples);
    json_count(out, ",\"counted\":", totals->of[ROW_KIND_BIN]);
    json_count(out, ",\"other\":", totals->samples - totals->of[ROW_KIND_BIN]);
    if (mode->is_binned)
        json_outside(out, totals);
}

void json_outside(struct writer *out, const struct totals *totals)
{
    json_count(out, ",\"below\":", totals->of[ROW_KIND_BELOW]);
    json_count(out, ",\"above\":", totals->of[ROW_KIND_ABOVE]);
    json_count(out, ",\"invalid\":", totals->of[ROW_KIND_INVALID]);
}
