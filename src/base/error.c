/* SPDX-License-Identifier: MIT */
#include "error.h"
#include "utf8.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return -1;
}

int error_of(struct error *error, const char *subject, const char *format, ...)
{
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(subject, shown);
    int len = snprintf(error->text, sizeof error->text, "%s: ", shown);
    va_list args;
    va_start(args, format);
    vsnprintf(error->text + len, sizeof error->text - (size_t)len, format, args);
    va_end(args);
    return -1;
}

int error_of_option(struct error *error, const char *option, const char *value, const char *format,
                    ...)
{
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(value, shown);
    int len = snprintf(error->text, sizeof error->text, "%s=%s: ", option, shown);
    va_list args;
    va_start(args, format);
    vsnprintf(error->text + len, sizeof error->text - (size_t)len, format, args);
    va_end(args);
    return -1;
}

void error_begin(struct error *error, const char *subject)
{
    const struct error what = *error;
    error_of(error, subject, "%s", what.text);
}

void error_show_subject(const char *subject, char shown[ERROR_SUBJECT_MAX])
{
    show_text(subject, strlen(subject), shown, ERROR_SUBJECT_MAX);
}

void error_make_printable(struct error *error)
{
    const struct error raw = *error;
    show_text(raw.text, strlen(raw.text), error->text, sizeof error->text);
}

/* --- text of the user's --- */

static const char hexadecimal[] = "0123456789abcdef";

#define UNIT_MAX 4 /* bytes of a character, and of its escape \xNN */

/* True if a terminal may act on a character (C0, DEL, C1), or if it is invisible or looks like a
 * usual one: byte order marks, spaces that do not break, soft hyphens, and what joins, separates or
 * turns other characters. */
static bool is_hidden(uint32_t character)
{
    static const struct {
        uint32_t min, max;
    } hidden[] = {{0, 0x1f},        {0x7f, 0xa0},     {0xad, 0xad},
                  {0x2007, 0x2007}, {0x200b, 0x200b}, {0x200e, 0x200f},
                  {0x2028, 0x202f}, {0x2060, 0x206f}, {0xfeff, 0xfeff}};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (character >= hidden[i].min && character <= hidden[i].max)
            return true;
    return false;
}

void show_escape(unsigned char byte, char escape[SHOW_ESCAPE])
{
    const char text[] = {'\\', 'x', hexadecimal[byte >> 4], hexadecimal[byte & 15]};
    memcpy(escape, text, sizeof text);
}

unsigned show_digit(char digit)
{
    const char *found = digit ? strchr(hexadecimal, digit) : NULL;
    return found ? (unsigned)(found - hexadecimal) : 16;
}

/* Writes the character at text[0..len), or the escape of its first byte. Sets *used to the bytes
 * that were read, and returns those written. */
static size_t show_unit(const unsigned char *text, size_t len, char unit[UNIT_MAX], size_t *used)
{
    uint32_t character;
    const size_t size = character_decode(text, len, &character);
    if (character != CHARACTER_INVALID && !is_hidden(character)) {
        memcpy(unit, text, size);
        *used = size;
        return size;
    }
    show_escape(text[0], unit);
    *used = 1;
    return SHOW_ESCAPE;
}

/* True if all bytes are characters of ASCII that are printed as they are. */
static bool is_plain(const unsigned char *text, size_t len)
{
    unsigned char others = 0;
    for (size_t i = 0; i < len; i++)
        others |= text[i] < 0x20 || text[i] >= 0x7f;
    return !others;
}

size_t show_text(const char *text, size_t len, char *shown, size_t size)
{
    static const char gap[] = "...";
    const unsigned char *bytes = (const unsigned char *)text;
    const size_t space = size - 1;
    if (len <= space && is_plain(bytes, len)) {
        memcpy(shown, text, len);
        shown[len] = '\0';
        return len;
    }
    char unit[UNIT_MAX];
    size_t all = 0, length = 0, before = 0, used;
    for (size_t at = 0; at < len; at += used)
        all += show_unit(bytes + at, len - at, unit, &used);
    const bool fits = all <= space;
    /* The end of a long text is kept as well as its beginning: it may be the file's name. */
    const size_t head = fits ? all : (space - (sizeof gap - 1)) / 2;
    const size_t tail = fits ? 0 : space - (sizeof gap - 1) - head;
    bool skipping = false;
    for (size_t at = 0; at < len; at += used) {
        size_t written = show_unit(bytes + at, len - at, unit, &used);
        bool in_head = !skipping && before + written <= head, in_tail = before >= all - tail;
        if (!in_head && !skipping) {
            memcpy(shown + length, gap, sizeof gap - 1);
            length += sizeof gap - 1;
            skipping = true;
        }
        if (in_head || in_tail) {
            memcpy(shown + length, unit, written);
            length += written;
        }
        before += written;
    }
    shown[length] = '\0';
    return length;
}
