/* SPDX-License-Identifier: MIT */
#include "unsupported_format.h"

#include <stdio.h>
#include <string.h>

/* The first bytes of a format: each is in the range that two strings give. */
struct signature {
    struct unsupported_format format;
    const char *min, *max; /* size bytes each */
    size_t size;
};

#define BYTES(bytes) bytes, bytes, sizeof(bytes) - 1
#define RANGES(min, max) min, max, sizeof(min) - 1

/* bzip2's header has a digit, and is followed by a block or the end of the data. That of .lzma has
 * the properties that all writers use, the size of the dictionary, and that of the content or, if
 * it is not known, all bits; the data begin with 0. Without a byte order mark, two characters of
 * ASCII tell UTF-16: text has no NULs. */
static const struct signature signatures[] = {
    {{"xz", "xz -dc", false},
     BYTES("\xfd"
           "7zXZ\0")},
    {{"bzip2", "bzip2 -dc", false},
     RANGES("BZh1\x31\x41\x59\x26\x53\x59", "BZh9\x31\x41\x59\x26\x53\x59")},
    {{"bzip2", "bzip2 -dc", false},
     RANGES("BZh1\x17\x72\x45\x38\x50\x90", "BZh9\x17\x72\x45\x38\x50\x90")},
    {{"lz4", "lz4 -dc", false}, BYTES("\x04\x22\x4d\x18")},
    {{"zip", "unzip -p", false}, BYTES("PK\x03\x04")},
    {{"zip", "unzip -p", false}, BYTES("PK\x05\x06")},
    {{"7z", "7z e -so", false}, BYTES("7z\xbc\xaf\x27\x1c")},
    {{".Z", "gzip -dc", false}, RANGES("\x1f\x9d\x89", "\x1f\x9d\x90")},
    {{".Z", "gzip -dc", false}, RANGES("\x1f\x9d\x09", "\x1f\x9d\x10")},
    {{"lzma", "xz -dc", false},
     RANGES("\x5d\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0",
            "\x5d\0\0\xff\x10\xff\xff\xff\xff\xff\xff\xff\xff\0")},
    {{"lzma", "xz -dc", false},
     RANGES("\x5d\0\0\x01\0\0\0\0\0\0\0\0\0\0", "\x5d\0\0\xff\0\xff\xff\xff\xff\xff\0\0\0\0")},
    {{"lzma", "xz -dc", false},
     RANGES("\x5d\0\0\0\x01\0\0\0\0\0\0\0\0\0", "\x5d\0\0\0\x10\xff\xff\xff\xff\xff\0\0\0\0")},
#if !HAVE_ISAL
    {{"gzip", "gzip -dc", false}, BYTES("\x1f\x8b\x08")},
#endif
    {{"UTF-16", "iconv -f UTF-16 -t UTF-8", true}, BYTES("\xff\xfe")},
    {{"UTF-16", "iconv -f UTF-16 -t UTF-8", true}, BYTES("\xfe\xff")},
    {{"UTF-16", "iconv -f UTF-16LE -t UTF-8", true}, RANGES("\t\0\t\0", "~\0~\0")},
    {{"UTF-16", "iconv -f UTF-16BE -t UTF-8", true}, RANGES("\0\t\0\t", "\0~\0~")},
};
#define SIGNATURES (sizeof signatures / sizeof signatures[0])

static bool signature_fits(const struct signature *signature, const unsigned char *head, size_t len)
{
    for (size_t i = 0; i < len && i < signature->size; i++)
        if (head[i] < (unsigned char)signature->min[i] ||
            head[i] > (unsigned char)signature->max[i])
            return false;
    return true;
}

enum codec_magic unsupported_format_recognise(const unsigned char *head, size_t len, bool is_text,
                                              const struct unsupported_format **format)
{
    enum codec_magic result = MAGIC_OTHER;
    for (size_t i = 0; i < SIGNATURES; i++) {
        bool matters = is_text || !signatures[i].format.is_text;
        if (!matters || !signature_fits(&signatures[i], head, len))
            continue;
        result = MAGIC_PART;
        if (len < signatures[i].size)
            continue;
        *format = &signatures[i].format;
        return MAGIC_MATCH;
    }
    return result;
}

const struct unsupported_format *unsupported_format_find(const char *name)
{
    for (size_t i = 0; i < SIGNATURES; i++)
        if (!signatures[i].format.is_text && strcmp(signatures[i].format.name, name) == 0)
            return &signatures[i].format;
    return NULL;
}

void unsupported_format_record(struct unsupported_seen *seen,
                               const struct unsupported_format *format, const char *name,
                               size_t number)
{
    if (!format)
        return;
    seen->others += seen->format != NULL;
    if (seen->format && seen->number < number)
        return;
    seen->format = format;
    seen->name = name;
    seen->number = number;
}

void unsupported_format_warn(const struct unsupported_seen *seen, struct error *warning)
{
    const struct unsupported_format *format = seen->format;
    warning->text[0] = '\0';
    if (!format)
        return;
    char more[64] = "";
    if (seen->others > 0)
        snprintf(more, sizeof more, "; %zu more file%s encoded, too", seen->others,
                 seen->others == 1 ? " looks" : "s look");
    error_of(warning, seen->name,
             "looks like %s %s and was counted as it is; use '%s FILE | gpuhisto'%s", format->name,
             format->is_text ? "text" : "data", format->command, more);
}
