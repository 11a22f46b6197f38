/* SPDX-License-Identifier: MIT */
/* NumPy's .npy: "\x93NUMPY", two bytes of version, a little-endian length of 2 bytes (version 1) or
 * 4 (versions 2 and 3), and that many bytes of text: a Python dictionary with keys in any order,
 * "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", spaces and a newline. */
#include "header.h"

#include <stdio.h>
#include <string.h>

#define NPY ".npy"
#define NPY_MAGIC_SIZE 6
#define PREFIX_SIZE 8              /* bytes of magic and version */
#define NPY_MAX ((size_t)64 << 10) /* bytes of the longest header that is read */
#define NPY_NAME_MAX 16            /* size of a type or a key with its NUL */

static const unsigned char magic[NPY_MAGIC_SIZE] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The rest of the text. */
struct npy_text {
    const char *at, *end;
};

/* The content of the dictionary. */
struct array {
    char descr[NPY_NAME_MAX]; /* type, as "<f4" */
    bool is_fortran;          /* the first index varies fastest */
    unsigned dimensions;
    uint64_t values;
};

static bool npy_wrong(struct error *fault, const char *what)
{
    header_wrong(NPY, what, fault);
    return false;
}

/* --- tokens --- */

static void skip_blanks(struct npy_text *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n'))
        text->at++;
}

/* Skips blanks and reads the word, if that is next. */
static bool read_word(struct npy_text *text, const char *word)
{
    size_t len = strlen(word);
    skip_blanks(text);
    if ((size_t)(text->end - text->at) < len || memcmp(text->at, word, len) != 0)
        return false;
    text->at += len;
    return true;
}

/* Reads a quoted string of less than NPY_NAME_MAX printable characters, without escapes. */
static bool read_string(struct npy_text *text, char string[NPY_NAME_MAX])
{
    size_t len = 0;
    const char *quote = read_word(text, "'") ? "'" : read_word(text, "\"") ? "\"" : NULL;
    if (!quote)
        return false;
    for (; text->at < text->end && *text->at != *quote; text->at++) {
        if (len == NPY_NAME_MAX - 1 || *text->at < ' ' || *text->at > '~' || *text->at == '\\')
            return false;
        string[len++] = *text->at;
    }
    string[len] = '\0';
    return read_word(text, quote);
}

/* Reads a whole number. Python 2 appended an L to some. */
static bool read_number(struct npy_text *text, uint64_t *number)
{
    const char *begin;
    skip_blanks(text);
    *number = 0;
    for (begin = text->at; text->at < text->end && *text->at >= '0' && *text->at <= '9';) {
        uint64_t digit = (uint64_t)(*text->at++ - '0');
        if (*number > (UINT64_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    if (text->at == begin)
        return false;
    if (text->at < text->end && *text->at == 'L')
        text->at++;
    return true;
}

/* --- the dictionary --- */

/* Reads (), (N,), (N, N) and so on, and multiplies the numbers. */
static bool read_shape(struct npy_text *text, struct array *array, struct error *fault)
{
    uint64_t number, product = 1;
    bool is_huge = false, is_empty = false, has_comma = true;
    if (!read_word(text, "("))
        return npy_wrong(fault, "its shape");
    while (!read_word(text, ")")) {
        if (!has_comma || !read_number(text, &number))
            return npy_wrong(fault, "its shape");
        has_comma = read_word(text, ",");
        array->dimensions++;
        is_empty |= number == 0;
        is_huge |= number > 0 && product > (uint64_t)INT64_MAX / number;
        product = is_huge ? 1 : product * number;
    }
    if (array->dimensions == 1 && !has_comma)
        return npy_wrong(fault, "its shape");
    if (is_huge && !is_empty)
        return npy_wrong(fault, "its shape has too many values");
    array->values = is_empty ? 0 : product;
    return true;
}

static bool read_order(struct npy_text *text, struct array *array, struct error *fault)
{
    array->is_fortran = read_word(text, "True");
    return array->is_fortran || read_word(text, "False") || npy_wrong(fault, "its order");
}

static bool read_descr(struct npy_text *text, struct array *array, struct error *fault)
{
    skip_blanks(text);
    if (text->at < text->end && (*text->at == '[' || *text->at == '(')) {
        error_set(fault, "holds records of several fields, which --values cannot count");
        return false;
    }
    return read_string(text, array->descr) || npy_wrong(fault, "its type");
}

static const struct {
    const char *key;
    bool (*read)(struct npy_text *text, struct array *array, struct error *fault);
} items[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
#define ITEMS (sizeof items / sizeof items[0])

/* Reads a key and its value, and records the key as a bit of *seen. */
static bool read_item(struct npy_text *text, unsigned *seen, struct array *array,
                      struct error *fault)
{
    char key[NPY_NAME_MAX];
    if (!read_string(text, key) || !read_word(text, ":"))
        return npy_wrong(fault, "its keys");
    for (size_t i = 0; i < ITEMS; i++)
        if (strcmp(key, items[i].key) == 0 && !(*seen >> i & 1)) {
            *seen |= 1U << i;
            return items[i].read(text, array, fault);
        }
    return npy_wrong(fault, "its keys");
}

static bool read_dictionary(struct npy_text text, struct array *array, struct error *fault)
{
    unsigned seen = 0;
    bool has_comma = true;
    if (!read_word(&text, "{"))
        return npy_wrong(fault, "it is not a dictionary");
    while (!read_word(&text, "}")) {
        if (!has_comma)
            return npy_wrong(fault, "it is not a dictionary");
        if (!read_item(&text, &seen, array, fault))
            return false;
        has_comma = read_word(&text, ",");
    }
    skip_blanks(&text);
    if (text.at < text.end)
        return npy_wrong(fault, "something follows its dictionary");
    return seen == (1U << ITEMS) - 1 || npy_wrong(fault, "its keys");
}

/* --- types --- */

/* Sets the header's type to the TYPE of --values. Returns its size in bytes; 0 if there is none. */
static unsigned find_type(const char *descr, struct header *header)
{
    const char order = descr[0], kind = order ? descr[1] : '\0';
    const char digit = kind ? descr[2] : '\0';
    bool is_whole = kind == 'u' || kind == 'i';
    bool is_size = (is_whole && (digit == '1' || digit == '2')) || digit == '4' || digit == '8';
    if ((!is_whole && kind != 'f') || !is_size || descr[3])
        return 0;
    if (order != '<' && order != '>' && !(order == '|' && digit == '1'))
        return 0;
    unsigned size = (unsigned)(digit - '0');
    header_set_type(header, kind, size, order == '>');
    return size;
}

/* Describes a type that --values does not count; its name is printable ASCII. */
static const char *describe(const char *descr)
{
    static const char *const names[128] = {
        ['b'] = "booleans", ['c'] = "complex numbers",
        ['M'] = "dates",    ['m'] = "durations",
        ['O'] = "objects",  ['S'] = "text",
        ['a'] = "text",     ['U'] = "text",
        ['V'] = "records",  ['f'] = "floating-point numbers of another size"};
    const char *name = descr[0] ? names[(unsigned char)descr[1]] : NULL;
    return name ? name : "unknown";
}

/* --- the header --- */

/* Fills the header from the dictionary. */
static enum header_status describe_array(const struct array *array, struct header *header,
                                         struct error *fault)
{
    unsigned size = find_type(array->descr, header);
    if (size > 0 && array->values > (uint64_t)INT64_MAX / size)
        return header_wrong(NPY, "its shape has too many values", fault);
    if (size > 0)
        strcpy(header->holds, array->descr);
    else
        snprintf(header->holds, sizeof header->holds, "%s (%s)", array->descr,
                 describe(array->descr));
    header->bytes = array->values * size;
    header->is_planar = array->is_fortran && array->dimensions > 1;
    header->extent = HEADER_EXACT;
    return HEADER_FOUND;
}

static enum header_status npy_peek(const unsigned char *data, size_t len, size_t *wanted,
                                   struct header *header, struct error *fault)
{
    size_t seen = len < NPY_MAGIC_SIZE ? len : NPY_MAGIC_SIZE;
    if (memcmp(data, magic, seen) != 0)
        return HEADER_NONE;
    if (len < PREFIX_SIZE)
        return header_need(len < NPY_MAGIC_SIZE ? NPY_MAGIC_SIZE : PREFIX_SIZE, wanted);
    unsigned major = data[6], minor = data[7];
    if (major < 1 || major > 3 || minor != 0) {
        error_set(fault, "version %u.%u of .npy is not supported", major, minor);
        return HEADER_WRONG;
    }
    size_t length_size = major == 1 ? 2 : 4, begin = PREFIX_SIZE + length_size, length = 0;
    if (len < begin)
        return header_need(begin, wanted);
    for (size_t i = length_size; i > 0; i--)
        length = length << 8 | data[PREFIX_SIZE + i - 1];
    if (length > NPY_MAX - begin)
        return header_wrong(NPY, "it is too long", fault);
    if (len < begin + length)
        return header_need(begin + length, wanted);
    struct array array = {.values = 0};
    const char *text = (const char *)data + begin;
    if (!read_dictionary((struct npy_text){text, text + length}, &array, fault))
        return HEADER_WRONG;
    *header = (struct header){.size = begin + length};
    return describe_array(&array, header, fault);
}

const struct header_format header_npy = {NPY, NPY_MAGIC_SIZE, npy_peek};
