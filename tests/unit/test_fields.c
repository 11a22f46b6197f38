/* SPDX-License-Identifier: MIT */
/* Fields of lines by every parser against the definition, on random lines of all kinds between
 * pages that fault: every alignment, the end of the text wherever it comes, records of every length
 * around the longest. */
#include "src/text/number.h"
#include "tests/helpers/check_fields.h"
#include "tests/helpers/field_texts.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE FIELD_TEXT_SIZE
#define LONG_SIZE ((size_t)5 << 20)

static unsigned char *memory, *long_memory;
static unsigned long cases, wrong;

static void check(const struct field *field, const unsigned char *text, size_t len, size_t cap,
                  size_t cut)
{
    cases++;
    if (!check_fields(field, text, len, cap, cut) && wrong++ == 20)
        exit(1);
}

static void check_random(unsigned long rounds)
{
    static struct field_text text;
    struct field field;
    for (unsigned long round = 0; round < rounds; round++) {
        size_t len = random_below(random_below(4) == 0 ? TEXT_SIZE : 500);
        field_draw(&field);
        field_text_fill(&text, &field, len);
        unsigned char *at = random_below(2) ? memory : memory + TEXT_SIZE - len;
        memcpy(at, text.bytes, len);
        check(&field, at, len, 1 + random_below(1200), random_below((unsigned)len + 1));
    }
}

/* Fields by themselves: every string of a few bytes that matter. */
static void check_short(unsigned longest)
{
    static const char bytes[] = "1,\"\n \r";
    const unsigned base = sizeof bytes - 1;
    for (unsigned len = 0, end = 1; len <= longest; len++, end *= base)
        for (unsigned code = 0; code < end; code++) {
            unsigned char *text = memory + TEXT_SIZE - len;
            for (unsigned i = 0, rest = code; i < len; i++, rest /= base)
                text[i] = (unsigned char)bytes[rest % base];
            for (int kind = FIELD_BLANKS; kind <= FIELD_CSV; kind++)
                for (int32_t number = -2; number <= 2; number += number == -1 ? 2 : 1)
                    check(&(struct field){.kind = (enum field_kind)kind,
                                          .number = number,
                                          .separator = ','},
                          text, len, 8, len / 2);
        }
}

/* Records and tokens around the longest. */
static void check_long(void)
{
    static const size_t lens[] = {FIELD_RECORD_MAX - 1, FIELD_RECORD_MAX, FIELD_RECORD_MAX + 1,
                                  FIELD_RECORD_MAX + 70, 2 * FIELD_RECORD_MAX};
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
        for (int kind = FIELD_BLANKS; kind <= FIELD_AFTER; kind++) {
            struct field field = {.kind = (enum field_kind)kind,
                                  .number = -1,
                                  .separator = ' ',
                                  .after = "a",
                                  .after_len = 1,
                                  .has_units = true};
            unsigned char *text = long_memory;
            memset(text, 'a', LONG_SIZE);
            text[lens[i] - 2] = kind == FIELD_AFTER ? 'a' : ' ';
            text[lens[i] - 1] = '5';
            memcpy(text + lens[i], "\nb 6\nc 7", 9);
            check(&field, text, lens[i] + 8, 100, lens[i]);
            field.number = 2;
            check(&field, text, lens[i] + 8, 100, 1);
            check(&field, text, lens[i], 100, 1);
        }
    for (size_t len = NUMBER_MAX - 1; len <= NUMBER_MAX + 1; len++)
        for (int kind = FIELD_BLANKS; kind <= FIELD_AFTER; kind++) {
            struct field field = {.kind = (enum field_kind)kind,
                                  .number = 2,
                                  .separator = ' ',
                                  .after = "a ",
                                  .after_len = 2,
                                  .has_units = true};
            memcpy(memory, "a ", 2);
            memset(memory + 2, '7', len);
            memcpy(memory + 2 + len, " b\n", 3);
            check(&field, memory, len + 5, 3, len);
            check(&field, memory, len + 2, 3, 0);
        }
}

int main(void)
{
    memory = guarded_memory(TEXT_SIZE);
    long_memory = guarded_memory(LONG_SIZE);
    number_prepare();
    check_short(scale_is_small_or_slow() ? 5 : scale_is_all() ? 7 : 6);
    check_random(scale_is_slow()    ? 2000
                 : scale_is_small() ? 20000
                 : scale_is_all()   ? 1000000
                                    : 200000);
    check_long();
    printf("test_fields: %lu cases, %lu failed\n", cases, wrong);
    return wrong != 0;
}
