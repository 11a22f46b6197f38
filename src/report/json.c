/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "src/tally/characters.h"

/* Writes a byte of a string. */
static void write_byte(struct writer *out, char byte)
{
    if (byte == '"' || byte == '\\')
        writer_char(out, '\\');
    if ((unsigned char)byte < ' ')
        writer_format(out, "\\u%04x", (unsigned)(unsigned char)byte);
    else
        writer_char(out, byte);
}

void json_string(struct writer *out, const char *text)
{
    writer_char(out, '"');
    for (; *text; text++)
        write_byte(out, *text);
    writer_char(out, '"');
}

/* Writes a string of bytes. False if these are not all in it as they are. */
static bool write_text(struct writer *out, const unsigned char *at, size_t len)
{
    bool is_whole = true;
    uint32_t character;
    writer_char(out, '"');
    for (size_t size; len > 0; at += size, len -= size) {
        size = character_decode(at, len, &character);
        is_whole &= character != CHARACTER_INVALID && character != 0;
        if (character == CHARACTER_INVALID)
            writer_text(out, "\ufffd");
        for (size_t i = 0; character != CHARACTER_INVALID && i < size; i++)
            write_byte(out, (char)at[i]);
    }
    writer_char(out, '"');
    return is_whole;
}

/* Writes the bytes of a name, of which the text does not have all as they are. */
static void write_bytes(struct writer *out, const struct groups *groups, size_t group,
                        const char *member)
{
    const bool is_list = groups->parts > 1;
    writer_format(out, is_list ? ",\"%s_bytes\":[" : ",\"%s_bytes\":", member);
    for (unsigned i = 0; i == 0 || i < groups->parts; i++) {
        const struct key_name part = groups_part(groups, group, i);
        writer_text(out, i > 0 ? ",\"" : "\"");
        for (size_t at = 0; at < part.len; at++)
            writer_format(out, "%02x", (unsigned)part.bytes[at]);
        writer_char(out, '"');
    }
    if (is_list)
        writer_char(out, ']');
}

void json_group(struct writer *out, const struct groups *groups, size_t group)
{
    const char *member = groups->are_keys ? "key" : "file";
    if (group == groups->rest) {
        json_count(out, "\"keys\":", groups->all - groups->rest);
        return;
    }
    if (group == groups->missing) {
        writer_text(out, "\"key\":null");
        return;
    }
    const bool is_list = groups->parts > 1;
    bool is_whole = true;
    writer_format(out, is_list ? "\"%s\":[" : "\"%s\":", member);
    for (unsigned i = 0; i == 0 || i < groups->parts; i++) {
        const struct key_name part = groups_part(groups, group, i);
        if (i > 0)
            writer_char(out, ',');
        is_whole &= write_text(out, part.bytes, part.len);
    }
    if (is_list)
        writer_char(out, ']');
    if (!is_whole)
        write_bytes(out, groups, group, member);
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
