/* SPDX-License-Identifier: MIT */
/* Keys of records: what is written below, and characters as they are cut one at a time. */
#include "src/text/key.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <string.h>

static unsigned tried, wrong;

static struct key by(enum field_kind kind, int32_t number, uint32_t first, uint32_t last)
{
    return (struct key){
        .field = {.kind = kind, .number = number, .separator = ','}, .first = first, .last = last};
}

static void check(const char *record, struct key key, const char *expected, enum field_found found)
{
    unsigned char capacity[64];
    struct key_name name = {(const unsigned char *)"", 0};
    const unsigned char *begin = (const unsigned char *)record;
    const enum field_found got = key_find(&key, begin, begin + strlen(record), capacity, &name);
    tried++;
    if (got == found && (!expected || (name.len == strlen(expected) &&
                                       memcmp(name.bytes, expected, name.len) == 0)))
        return;
    wrong++;
    printf("'%s': found %d, '%.*s' instead of '%s'\n", record, (int)got, (int)name.len,
           (const char *)name.bytes, expected ? expected : "");
}

static void check_key(const char *record, struct key key, const char *expected)
{
    check(record, key, expected, FIELD_FOUND);
}

static void check_fields(void)
{
    check_key("one two\tthree", by(FIELD_BLANKS, 2, 0, 0), "two");
    check_key("one two\tthree\r", by(FIELD_BLANKS, -1, 0, 0), "three");
    check_key(",b", by(FIELD_SEPARATED, 1, 0, 0), "");
    check_key("a, \"b\"", by(FIELD_SEPARATED, 2, 0, 0), " \"b\"");
    check("one", by(FIELD_BLANKS, 2, 0, 0), NULL, FIELD_MISSING);
    check("  ", by(FIELD_BLANKS, 1, 0, 0), NULL, FIELD_EMPTY);
    check("", by(FIELD_SEPARATED, 1, 0, 0), NULL, FIELD_EMPTY);
}

static void check_csv(void)
{
    check_key("\"a,b\",c", by(FIELD_CSV, 1, 0, 0), "a,b");
    check_key("x,\"say \"\"hi\"\"\"", by(FIELD_CSV, 2, 0, 0), "say \"hi\"");
    check_key("\"\",c", by(FIELD_CSV, 1, 0, 0), "");
    check_key("\"\"\"\",c", by(FIELD_CSV, 1, 0, 0), "\"");
    check_key("\"a\nb\",c", by(FIELD_CSV, 1, 0, 0), "a\nb");
    check_key("\"a\" ,c", by(FIELD_CSV, 1, 0, 0), "a ");
    check_key("\"a\"b,c", by(FIELD_CSV, 1, 0, 0), "ab");
    check_key("\"a\"b\"c\"\"\",c", by(FIELD_CSV, 1, 0, 0), "ab\"c\"\"\"");
    check_key("\"a\"\"b\"c,d", by(FIELD_CSV, 1, 0, 0), "a\"bc");
    check_key("\"\"b,c", by(FIELD_CSV, 1, 0, 0), "b");
    check_key("\"a\"b", by(FIELD_CSV, 1, 2, 2), "b");
    check_key("a\"b\",c", by(FIELD_CSV, 1, 0, 0), "a\"b\"");
    check_key("\"open", by(FIELD_CSV, 1, 0, 0), "open");
    check_key("\"", by(FIELD_CSV, 1, 0, 0), "");
    check_key("\"x\"\"yz\",c", by(FIELD_CSV, 1, 2, 3), "\"y");
}

static void check_characters(void)
{
    check_key("2026-07-14T08:15:00 x", by(FIELD_BLANKS, 1, 12, 13), "08");
    check_key("abc", by(FIELD_BLANKS, 1, 1, 1), "a");
    check_key("abc", by(FIELD_BLANKS, 1, 3, 9), "c");
    check_key("abc", by(FIELD_BLANKS, 1, 4, 9), "");
    check_key("abc", by(FIELD_BLANKS, 1, 2, UINT32_MAX), "bc");
    check_key("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", by(FIELD_BLANKS, 1, 2, 3),
              "\xe2\x82\xac\xf0\x9f\x98\x80");
    check_key("\x80\x80z\x80q", by(FIELD_BLANKS, 1, 1, 1), "\x80\x80");
    check_key("\x80\x80z\x80q", by(FIELD_BLANKS, 1, 2, 2), "z\x80");
}

/* Appends the character that begins at `at`. */
static size_t copy_character(const unsigned char *text, size_t len, size_t at, unsigned char *to)
{
    size_t used = 0;
    do
        to[used++] = text[at++];
    while (at < len && (text[at] & 0xc0) == 0x80);
    return used;
}

static void check_random_characters(void)
{
    unsigned char text[12], capacity[12], expected[12];
    for (unsigned i = 0; i < 20000; i++) {
        const size_t len = 1 + random_below(sizeof text);
        size_t used = 0;
        struct key_name name;
        for (size_t k = 0; k < len; k++)
            text[k] = (unsigned char)("a\x80\xc3\xe2z,"[random_below(5)]);
        const uint32_t first = 1 + (uint32_t)random_below(8);
        const uint32_t last = first + (uint32_t)random_below(5);
        const struct key key = by(FIELD_SEPARATED, 1, first, last);
        for (size_t at = 0, number = 1; at < len; number++) {
            unsigned char one[12];
            const size_t size = copy_character(text, len, at, one);
            if (number >= first && number <= last) {
                memcpy(expected + used, one, size);
                used += size;
            }
            at += size;
        }
        tried++;
        if (key_find(&key, text, text + len, capacity, &name) == FIELD_FOUND && name.len == used &&
            memcmp(name.bytes, expected, used) == 0)
            continue;
        wrong++;
        printf("random characters %u to %u, case %u\n", first, last, i);
    }
}

int main(void)
{
    check_fields();
    check_csv();
    check_characters();
    check_random_characters();
    printf("test_key: %u cases, %u wrong\n", tried, wrong);
    return wrong > 0;
}
