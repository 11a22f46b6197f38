/* SPDX-License-Identifier: MIT */
/* Keys of records: what is written below, and characters as they are cut one at a time. */
#include "src/text/field.h"
#include "tests/helpers/find_key.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned tried, wrong;

/* 0, 0: all characters. */
static struct key by(enum field_kind kind, int32_t number, int32_t first, int32_t last)
{
    return (struct key){
        .field = {.kind = kind, .number = number, .separator = ','},
        .modifiers = {{.kind = KEY_CHARACTERS, .first = first, .last = last}},
        .modifier_count = first != 0,
    };
}

static void check(const char *record, struct key key, const char *expected, enum field_found found)
{
    unsigned char scratch[64];
    struct key_name name = {(const unsigned char *)"", 0};
    const unsigned char *begin = (const unsigned char *)record;
    const enum field_found got = find_key(&key, begin, begin + strlen(record), scratch, &name);
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
    check_key("abc", by(FIELD_BLANKS, 1, 2, INT32_MAX), "bc");
    check_key("abc", by(FIELD_BLANKS, 1, 2, -1), "bc");
    check_key("abc", by(FIELD_BLANKS, 1, 1, -3), "a");
    check_key("abc", by(FIELD_BLANKS, 1, 1, -4), "");
    check_key("abc", by(FIELD_BLANKS, 1, -5, -2), "ab");
    check_key("abc", by(FIELD_BLANKS, 1, -4, -4), "");
    check_key("abc", by(FIELD_BLANKS, 1, -2, 2), "b");
    check_key("abc", by(FIELD_BLANKS, 1, -1, 2), "");
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

/* Returns a position from 1 to 8, or that from the end. */
static int32_t draw_position(void)
{
    const int32_t position = 1 + (int32_t)random_below(8);
    return random_below(2) ? position : -position;
}

static void check_random_characters(void)
{
    unsigned char text[12], scratch[TIME_TEXT_MAX], expected[12];
    for (unsigned i = 0; i < 40000; i++) {
        const size_t len = 1 + random_below(sizeof text);
        size_t used = 0, begins[13];
        int32_t count = 0;
        struct key_name name;
        for (size_t k = 0; k < len; k++)
            text[k] = (unsigned char)("a\x80\xc3\xe2z,"[random_below(5)]);
        for (size_t at = 0; at < len; count++) {
            begins[count] = at;
            at += copy_character(text, len, at, expected);
        }
        const int32_t first = draw_position(), last = draw_position();
        const int32_t from = first > 0 ? first - 1 : count + first;
        const int32_t to = last > 0 ? last - 1 : count + last;
        const struct key key = by(FIELD_SEPARATED, 1, first, last);
        for (int32_t k = from < 0 ? 0 : from; k < count && k <= to; k++)
            used += copy_character(text, len, begins[k], expected + used);
        tried++;
        if (find_key(&key, text, text + len, scratch, &name) == FIELD_FOUND && name.len == used &&
            memcmp(name.bytes, expected, used) == 0)
            continue;
        wrong++;
        printf("random characters %d to %d, case %u\n", (int)first, (int)last, i);
    }
}

/* --- routes and times, in fields as they may be written, and one modifier after the other --- */

static void check_modifiers(void)
{
    struct key key = by(FIELD_CSV, 1, 2, -2);
    key.modifiers[1].kind = KEY_ROUTE;
    key.modifier_count = 2;
    check_key("\"x/a/\"\"/17?x=1\",2", key, "/a/\"/*");
    check_key("x/1/2#/3z,2", key, "/*/*");
    check_key("x/1/a/2z,2", key, "/*/a/*");
    key.modifiers[1] = (struct key_modifier){.kind = KEY_BUCKET, .seconds = 3600};
    key.modifiers[2] = (struct key_modifier){.kind = KEY_CHARACTERS, .first = 12, .last = 13};
    key.modifier_count = 3;
    check_key("x2026-07-14T08:15:00Zy,2", key, "08");
    check("x2026-07-14T08:15:00Z,2", key, "08", FIELD_FOUND); /* a time without Z */
    check("x,2", key, NULL, FIELD_NO_TIME);
    check("\"\",2", key, NULL, FIELD_NO_TIME);
    key.modifiers[0] = (struct key_modifier){.kind = KEY_BUCKET, .seconds = 10};
    key.modifier_count = 1;
    check_key("1,2", key, "1970-01-01T00:00:00Z"); /* longer than the record */
    check_key("-1", key, "1969-12-31T23:59:50Z");
    key.field.kind = FIELD_JSON;
    json_path_parse(".t", &key.field.path);
    check_key("{\"t\":\"2026-07-14t08:15:09.5+05:30\"}", key, "2026-07-14T08:15:00+05:30");
    check_key("{\"t\":\"2026-07-14T08:15:\\u0031\\u0039\"}", key, "2026-07-14T08:15:10");
    check_key("{\"t\":1783672500123}", key, "2026-07-10T08:35:00Z");
    check("{\"t\":null}", key, NULL, FIELD_NO_TIME);
    check("{\"t\":\"\"}", key, NULL, FIELD_NO_TIME);
    check("{\"s\":1}", key, NULL, FIELD_MISSING);
    check("{\"t\":1", key, NULL, FIELD_BROKEN);
}

/* Sets the memo to the field `known`, and checks whether it has the key of `field`. */
static void check_like(const struct key *key, const char *known, const char *field, bool expected)
{
    unsigned char scratch[64];
    struct key_memo memo;
    const unsigned char *from = (const unsigned char *)known;
    key_of_field(key, from, from + strlen(known), scratch, &memo);
    from = (const unsigned char *)field;
    tried++;
    if (key_memo_has(&memo, from, from + strlen(field)) == expected)
        return;
    wrong++;
    printf("'%s' beside '%s': %s\n", field, known, expected ? "another key" : "the same key");
}

static void check_memo(void)
{
    struct key key = by(FIELD_BLANKS, 1, 0, 0);
    key.modifiers[0] = (struct key_modifier){.kind = KEY_BUCKET, .seconds = 300};
    key.modifier_count = 1;
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:05:07", true);
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:05:59", true);
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:05:60", false);
    check_like(&key, "[22/Nov/2026:10:05:60", "[22/Nov/2026:10:05:60", true);
    check_like(&key, "[22/Nov/2026:10:05:60", "[22/Nov/2026:10:05:07", false);
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:05:0x", false);
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:06:07", false);
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:05:7", false);
    check_like(&key, "2026-11-22T10:05:07.123Z", "2026-11-22T10:05:08.999Z", true);
    check_like(&key, "2026-11-22T10:05:07.123Z", "2026-11-22T10:05:08.99xZ", false);
    check_like(&key, "2026-11-22T10:05:07.123Z", "2026-11-22T10:05:08,123Z", false);
    check_like(&key, "2026-11-22T10:05:07.123Z", "2026-11-22T10:05:08.123z", false);
    check_like(&key, "2026-11-22T10:05:07+02:00", "2026-11-22T10:05:08+03:00", false);
    check_like(&key, "2026-11-22", "2026-11-23", false);
    check_like(&key, "2026-11-22", "2026-11-22", true);
    check_like(&key, "1763806507", "1763806508", false);
    check_like(&key, "nothing", "nothing", true);
    key.modifiers[0].seconds = 10;
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:05:08", true);
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:05:18", false);
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:05:0]", false);
    check_like(&key, "[22/Nov/2026:10:05:60", "[22/Nov/2026:10:05:61", false);
    check_like(&key, "2026-11-22T10:05:07.1Z", "2026-11-22T10:05:08.2Z", true);
    key.modifiers[0].seconds = 1;
    check_like(&key, "[22/Nov/2026:10:05:07", "[22/Nov/2026:10:05:08", false);
    check_like(&key, "2026-11-22T10:05:07.123Z", "2026-11-22T10:05:07.456Z", true);
    check_like(&key, "2026-11-22T10:05:07.123Z", "2026-11-22T10:05:08.456Z", false);
    check_like(&key, "2026-11-22T10:05:07Z", "2026-11-22T10:05:07Z", true);
    key.modifiers[0].seconds = 15;
    check_like(&key, "2026-11-22T10:05:07.123Z", "2026-11-22T10:05:08.123Z", false);
    check_like(&key, "2026-11-22T10:05:07.123Z", "2026-11-22T10:05:07.124Z", true);
    key.modifiers[0].seconds = 60;
    key.field.kind = FIELD_JSON;
    check_like(&key, "\"2026-11-22T10:05:07Z\"", "\"2026-11-22T10:05:08Z\"", true);
    check_like(&key, "\"2026-11-22T10:05:0\\u0037Z\"", "\"2026-11-22T10:05:1\\u0037Z\"", false);
}

/* Draws fields that differ in a few bytes: where the memo says that the key is the same, it is. */
static void check_random_memo(void)
{
    static const char *const fields[] = {"[22/Nov/2026:10:05:07",   "2026-11-22T10:05:07.123+02:00",
                                         "2026-11-22t10:05:59,9Z]", "\"2026-11-22 10:05:00.50\"",
                                         "1763806507.25",           "Nov 22 10:05:07.5"};
    static const uint32_t buckets[] = {1, 10, 15, 30, 60, 300, TIME_DAY};
    static const char bytes[] = "0123456789056.,:- +Z";
    unsigned char scratch[64], other_scratch[64], field[64];
    size_t same = 0;
    for (unsigned i = 0; i < 300000; i++) {
        const char *known = fields[random_below(6)];
        const unsigned char *from = (const unsigned char *)known;
        const unsigned len = (unsigned)strlen(known);
        struct key key = by(FIELD_JSON, 1, 1, -1 - (int32_t)random_below(4));
        struct key_memo memo;
        key.modifiers[1].kind = KEY_BUCKET;
        key.modifiers[1].seconds = buckets[random_below(7)];
        key.modifier_count = 2;
        const struct key_name name = key_of_field(&key, from, from + len, scratch, &memo);
        memcpy(field, known, len);
        for (size_t changes = random_below(4); changes > 0; changes--)
            field[random_below(2) ? len - 1 - random_below(9) : random_below(len)] =
                (unsigned char)bytes[random_below(sizeof bytes - 1)];
        tried++;
        if (!key_memo_has(&memo, field, field + len))
            continue;
        const struct key_name other = key_of_field(&key, field, field + len, other_scratch, NULL);
        same += memcmp(known, field, len) != 0 && name.bytes;
        if (!name.bytes == !other.bytes && name.len == other.len &&
            (!name.bytes || memcmp(name.bytes, other.bytes, name.len) == 0))
            continue;
        wrong++;
        printf("'%.*s' has another key than '%s'\n", (int)len, (const char *)field, known);
    }
    if (same > 1000)
        return;
    wrong++;
    printf("only %zu fields have the key of another one\n", same);
}

static bool is_same(struct key_name one, struct key_name other)
{
    return one.len == other.len && memcmp(one.bytes, other.bytes, one.len) == 0;
}

/* Joins `count` parts in memory of just their size, and reads them back. The caller frees the
 * name. */
static struct key_name join(const struct key_name *parts, unsigned count)
{
    size_t len = 0;
    for (unsigned i = 0; i < count; i++)
        len += parts[i].len;
    unsigned char *to = malloc(key_parts_size(count, len) + 1);
    const struct key_name name = key_parts_join(parts, count, to);
    tried++;
    bool is_right = name.len == key_parts_size(count, len);
    for (unsigned i = 0; i < count; i++)
        is_right &= is_same(key_parts_get(name, count, i), parts[i]);
    if (!is_right) {
        wrong++;
        printf("%u parts of %zu bytes are read back as others\n", count, len);
    }
    return name;
}

/* Parts whose bytes could pass for others' lengths: all lists of 1 to 4 of them, and no two of one
 * length that have the same name. */
static void check_parts(void)
{
    static const char *const texts[] = {"", "a", "ab", "\1\0\0\0", "\0", "a\1\0\0\0"};
    static const size_t lengths[] = {0, 1, 2, 4, 1, 5};
    enum { TEXTS = sizeof lengths / sizeof lengths[0], LISTS = TEXTS * TEXTS * TEXTS * TEXTS };
    static struct key_name names[LISTS];
    for (unsigned count = 1, lists = TEXTS; count <= KEY_PARTS_MAX; count++, lists *= TEXTS) {
        for (unsigned list = 0; list < lists; list++) {
            struct key_name parts[KEY_PARTS_MAX];
            for (unsigned i = 0, rest = list; i < count; i++, rest /= TEXTS)
                parts[i] = (struct key_name){(const unsigned char *)texts[rest % TEXTS],
                                             lengths[rest % TEXTS]};
            names[list] = join(parts, count);
            for (unsigned other = 0; other < list; other++)
                wrong += is_same(names[list], names[other]);
        }
        for (unsigned list = 0; list < lists; list++)
            free((unsigned char *)(uintptr_t)names[list].bytes);
    }
}

int main(void)
{
    check_parts();
    check_fields();
    check_csv();
    check_characters();
    check_random_characters();
    check_modifiers();
    check_memo();
    check_random_memo();
    printf("test_key: %u cases, %u wrong\n", tried, wrong);
    return wrong > 0;
}
