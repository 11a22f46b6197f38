/* SPDX-License-Identifier: MIT */
/* The records that are read where a filter leaves some out, by every parser's search, against
 * line_filter_keeps for each record: random lines, strings and conditions between pages that fault,
 * and records around the longest. */
#include "src/text/number.h"
#include "src/text/field_parser.h"
#include "src/text/lines.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE ((size_t)1 << 13)
#define LONG_SIZE ((size_t)5 << 20)
#define STRING_MAX 100

static unsigned long cases, wrong;

static void fail(const struct number_parser *parser, const struct line_filter *filter, size_t len,
                 const char *what)
{
    printf("FAILED: %s, text of %zu bytes,", parser->name, len);
    for (size_t i = 0; i < filter->count; i++)
        printf(" %s '%s'", filter->strings[i].is_unwanted ? "without" : "with",
               filter->strings[i].text);
    printf(": %s\n", what);
    if (++wrong == 20)
        exit(1);
}

/* The next record that is kept, as the definition has it; false: there is none. */
static bool next_kept(const struct line_filter *filter, const struct field *field,
                      const unsigned char **at, const unsigned char *limit,
                      const unsigned char **begin, const unsigned char **end)
{
    while (*at < limit) {
        *begin = *at;
        *end = field_record_end(field, *begin, limit);
        *at = *end < limit ? *end + 1 : limit;
        if ((size_t)(*end - *begin) > field_record_max(field) ||
            line_filter_keeps(filter, *begin, *end, NULL))
            return true;
    }
    return false;
}

/* What is read of a text, and what should be: without line ends, as a batch may end before one. */
static unsigned char found[LONG_SIZE], wanted[LONG_SIZE];

/* Appends a text without line ends. Returns the new length. */
static size_t append(unsigned char *to, size_t len, const unsigned char *from,
                     const unsigned char *end)
{
    for (; from < end; from++)
        if (*from != '\n' && *from != '\r')
            to[len++] = *from;
    return len;
}

/* Returns the samples of a record: tokens, or one. */
static size_t samples_of(const struct field *field, const unsigned char *begin,
                         const unsigned char *end)
{
    const unsigned char *from, *to;
    size_t tokens = 0;
    if (field->kind != FIELD_NONE)
        return field_find(field, begin, end, &from, &to) != FIELD_EMPTY;
    for (from = begin; from < end; from = to) {
        to = from + 1;
        if (number_is_space(*from))
            continue;
        to = number_token_end(from, end);
        tokens++;
    }
    return tokens;
}

/* What is wrong with the records that are read of a text, or NULL. */
static const char *compare(const struct number_parser *parser, const struct line_filter *filter,
                           const struct field *field, const unsigned char *text, size_t len)
{
    const struct line_spec spec = {.field = *field, .filter = *filter};
    const unsigned char *at = text, *begin, *end;
    double values[LINES_MAX];
    struct line_batch batch = {.values = values};
    static struct line_buffers buffers;
    struct line_reader reader;
    struct error failure;
    size_t samples = 0, found_len = 0, wanted_len = 0;
    while (next_kept(filter, field, &at, text + len, &begin, &end)) {
        const bool is_long = end - begin > (ptrdiff_t)FIELD_RECORD_MAX;
        const bool is_token = is_long && field->kind == FIELD_NONE;
        const size_t count = is_long ? 1 : samples_of(field, begin, end);
        if (is_token)
            wanted[wanted_len++] = '?';
        else if (count > 0)
            wanted_len = append(wanted, wanted_len, begin, end);
        samples += count;
    }
    line_reader_open(&reader, &spec, parser, NULL, &buffers, text, len);
    while (line_reader_next(&reader, &batch)) {
        if (batch.count > samples)
            return "a record too many";
        samples -= batch.count;
        found_len = append(found, found_len, reader.read.at, reader.read.limit);
    }
    if (line_reader_close(&reader, &failure) != 0)
        return "a failure";
    if (samples > 0)
        return "a record is missing";
    return found_len == wanted_len && memcmp(found, wanted, found_len) == 0 ? NULL
                                                                            : "another record";
}

static void check(const struct line_filter *filter, const struct field *field,
                  const unsigned char *text, size_t len)
{
    for (const struct number_parser *const *parser = number_parsers; *parser; parser++) {
        if (!(*parser)->runs_here())
            continue;
        const char *what = compare(*parser, filter, field, text, len);
        cases++;
        if (what)
            fail(*parser, filter, len, what);
    }
}

static const struct field kinds[] = {
    {.kind = FIELD_NONE},
    {.kind = FIELD_BLANKS, .number = 1},
    {.kind = FIELD_CSV, .number = 1, .separator = ','},
};

/* Few different bytes, so that parts of strings are everywhere. */
static void fill(unsigned char *text, size_t len, unsigned rarity)
{
    for (size_t i = 0; i < len; i++)
        text[i] = random_below(rarity) == 0       ? '\n'
                  : random_below(8 * rarity) == 0 ? (unsigned char)"\",\r\""[random_below(4)]
                                                  : (unsigned char)("aab"[random_below(3)]);
}

/* Adds a condition on a field of such records, perhaps one that is found in another way than that
 * of their kind. */
static void add_condition(struct line_filter *filter, const struct field *kind)
{
    static const char *const values[] = {"\"a\"", "\"aab\"", "\"b\"", "\"\"", "\"ba\"", "1"};
    static const char *const names[] = {"1", "-1", ".", "s1", "s-1", "2"};
    static const struct field fields[] = {
        {.kind = FIELD_BLANKS, .number = 1},
        {.kind = FIELD_BLANKS, .number = -1},
        {.kind = FIELD_JSON},
        {.kind = FIELD_SEPARATED, .number = 1, .separator = ','},
        {.kind = FIELD_SEPARATED, .number = -1, .separator = ','},
        {.kind = FIELD_BLANKS, .number = 2},
    };
    const bool is_csv = kind->kind == FIELD_CSV;
    const unsigned which = random_below(is_csv ? 2 : 6);
    const char *value = values[random_below(6)];
    struct condition condition = {.name = names[which],
                                  .key.field = fields[which],
                                  .comparison = (enum comparison)random_below(6)};
    condition.key.field.kind = is_csv ? FIELD_CSV : condition.key.field.kind;
    condition.key.field.separator = ',';
    json_path_parse(".", &condition.key.field.path);
    condition_set_value(&condition, value, strlen(value));
    line_filter_add_condition(filter, &condition);
}

static void check_random(unsigned rounds)
{
    unsigned char *memory = guarded_memory(TEXT_SIZE);
    char strings[LINE_STRINGS_MAX][STRING_MAX];
    for (unsigned round = 0; round < rounds; round++) {
        const size_t len = random_below(random_below(4) == 0 ? TEXT_SIZE : 400);
        unsigned char *text = random_below(2) ? memory : memory + TEXT_SIZE - len;
        fill(text, len, 1 + random_below(200));
        const struct field *kind = &kinds[random_below(3)];
        struct line_filter filter = {.count = 0};
        for (unsigned count = random_below(3), i = 0; i < count; i++)
            add_condition(&filter, kind);
        const unsigned least = filter.condition_count == 0;
        for (unsigned count = least + random_below(5 - least), i = 0; i < count; i++) {
            const size_t size = 1 + random_below(random_below(8) == 0 ? STRING_MAX - 1 : 5);
            for (size_t k = 0; k < size; k++)
                strings[i][k] = "aab,\""[random_below(5 - 2 * (random_below(8) > 0))];
            strings[i][size] = '\0';
            line_filter_add(&filter, strings[i], random_below(2));
        }
        check(&filter, kind, text, len);
    }
}

static void check_long(void)
{
    unsigned char *text = guarded_memory(LONG_SIZE);
    struct line_filter with = {.count = 0}, without = {.count = 0};
    line_filter_add(&with, "ab", false);
    line_filter_add(&without, "ab", true);
    add_condition(&without, &kinds[1]);
    for (int delta = -1; delta <= 2; delta++)
        for (unsigned before = 0; before < 3; before++)
            for (unsigned kind = 0; kind < 3; kind++) {
                const size_t first = before * 700000u;
                memset(text, 'a', LONG_SIZE);
                text[first] = text[first + FIELD_RECORD_MAX + 1 + (size_t)(delta + 1) - 1] = '\n';
                text[LONG_SIZE - 300] = text[LONG_SIZE - 1300000] = '\n';
                text[LONG_SIZE - 1] = 'b';
                check(&with, &kinds[kind], text, LONG_SIZE);
                check(&without, &kinds[kind], text, LONG_SIZE);
                check(&with, &kinds[kind], text, first + FIELD_RECORD_MAX + 3);
                check(&without, &kinds[kind], text, first + FIELD_RECORD_MAX + 3);
            }
}

static void check_filter(void)
{
    struct line_filter filter = {.count = 0};
    char strings[LINE_STRINGS_MAX + 1][8];
    const unsigned char text[] = "10 11 12 x";
    for (int i = 0; i <= LINE_STRINGS_MAX; i++) {
        snprintf(strings[i], sizeof strings[i], "%d", 10 + i);
        const bool fits = line_filter_add(&filter, strings[i], false);
        if (!line_filter_add(&filter, strings[0], false) || fits != (i < LINE_STRINGS_MAX))
            fail(&number_parser_portable, &filter, 0, "how many strings fit");
    }
    filter = (struct line_filter){.count = 0};
    line_filter_add(&filter, "x", true);
    line_filter_add(&filter, "11", false);
    line_filter_add(&filter, "10", false);
    if (filter.count != 3 || strcmp(filter.strings[0].text, "10") != 0 ||
        filter.strings[1].is_unwanted || !filter.strings[2].is_unwanted)
        fail(&number_parser_portable, &filter, 0, "the order of strings");
    if (line_filter_keeps(&filter, text, text + 10, NULL) ||
        !line_filter_keeps(&filter, text, text + 9, NULL) ||
        line_filter_keeps(&filter, text + 1, text + 9, NULL))
        fail(&number_parser_portable, &filter, 10, "what the definition keeps");
    cases++;
}

int main(void)
{
    number_prepare();
    check_filter();
    check_random(scale_of(20000, 200000, 2000000));
    check_long();
    printf("test_line_spans: %lu cases, %lu wrong\n", cases, wrong);
    return wrong > 0;
}
