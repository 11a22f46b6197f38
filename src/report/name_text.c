/* SPDX-License-Identifier: MIT */
#include "name_text.h"

#include "src/base/error.h"
#include "src/tally/characters.h"

#include <string.h>

/* True if all bytes are characters of ASCII that are written as they are. */
static bool is_plain(const unsigned char *name, size_t len)
{
    unsigned char others = 0;
    for (size_t i = 0; i < len; i++)
        others |= name[i] < ' ' || name[i] >= 0x7f || name[i] == '\\';
    return !others;
}

size_t name_text(const unsigned char *name, size_t len, bool is_ascii, char *text)
{
    char *end = text;
    size_t size;
    if (is_plain(name, len)) {
        memcpy(text, name, len);
        text[len] = '\0';
        return len;
    }
    for (size_t at = 0; at < len; at += size) {
        uint32_t character;
        size = character_decode(name + at, len - at, &character);
        if (character == CHARACTER_INVALID || (is_ascii && character >= 0x80) ||
            (character != ' ' && character_is_hidden(character))) {
            for (size_t i = 0; i < size; i++, end += SHOW_ESCAPE)
                show_escape(name[at + i], end);
        } else {
            if (character == '\\')
                *end++ = '\\';
            memcpy(end, name + at, size);
            end += size;
        }
    }
    *end = '\0';
    return (size_t)(end - text);
}

/* Returns the length of the character or escape that begins a text. */
static size_t unit_length(const char *text, size_t len)
{
    uint32_t character;
    if (*text == '\\')
        return text[1] == 'x' ? NAME_TEXT_BYTE : 2;
    return character_decode((const unsigned char *)text, len, &character);
}

void name_text_shorten(char *text, size_t max, const char *gap)
{
    const size_t len = strlen(text), gap_len = strlen(gap);
    max = max > gap_len ? max : gap_len;
    if (len <= max)
        return;
    /* The end is kept as well as the beginning: names often differ there. */
    const size_t head_max = (max - gap_len) / 2, tail_max = max - gap_len - head_max;
    size_t head = 0, at = 0;
    while (at < len - tail_max) {
        head = at <= head_max ? at : head;
        at += unit_length(text + at, len - at);
    }
    memcpy(text + head, gap, gap_len);
    memmove(text + head + gap_len, text + at, len - at + 1);
}
