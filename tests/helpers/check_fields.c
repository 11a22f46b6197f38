/* SPDX-License-Identifier: MIT */
#include "tests/helpers/check_fields.h"
#include "src/text/field_parser.h"
#include "tests/helpers/naive_field.h"
#include "tests/helpers/naive_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct naive_fields naive_of(const struct field *field)
{
    static const enum naive_way ways[] = {[FIELD_BLANKS] = NAIVE_BLANKS,
                                          [FIELD_SEPARATED] = NAIVE_SEPARATED,
                                          [FIELD_CSV] = NAIVE_CSV,
                                          [FIELD_AFTER] = NAIVE_AFTER};
    return (struct naive_fields){ways[field->kind], field->number, field->separator, field->after};
}

static bool complain(const struct field *field, const char *who, size_t at, const char *what)
{
    fprintf(stderr, "FAIL: %s: kind %d, field %d, separator 0x%02x: at %zu: %s\n", who,
            (int)field->kind, (int)field->number, field->separator, at, what);
    return false;
}

/* Returns the number with units of a record, by field_token. (oracle_units.py tells which words
 * belong to it.) */
static double value_with_units(const struct field *field, const unsigned char *begin,
                               const unsigned char *end)
{
    unsigned char token[NUMBER_MAX];
    const unsigned char *from, *to;
    if (field_find(field, begin, end, &from, &to) != FIELD_FOUND)
        return NAN;
    const size_t len = field_token(field, &from, &to, end, token);
    return len > 0 ? naive_number_with_units(token, len) : NAN;
}

/* The next record that counts. */
static bool next_sample(const struct field *field, const unsigned char *text, size_t len,
                        size_t *at, struct naive_record *record)
{
    const struct naive_fields fields = naive_of(field);
    while (naive_record(&fields, text, len, at, record))
        if (record->what != NAIVE_EMPTY) {
            if (field->has_units)
                record->value = value_with_units(field, text + record->begin, text + record->end);
            return true;
        }
    return false;
}

static bool check_parser(const struct number_parser *parser, const struct field *field,
                         const unsigned char *text, size_t len, size_t cap, double *values)
{
    struct record_text rest = {text, text, text + len};
    size_t at = 0, count;
    struct naive_record record;
    do {
        const size_t done = (size_t)(rest.at - text);
        count = fields_parse(parser, field, NULL, &rest, values, NULL, cap);
        if (count > cap)
            return complain(field, parser->name, done, "too many values");
        for (size_t i = 0; i < count; i++) {
            if (!next_sample(field, text, len, &at, &record))
                return complain(field, parser->name, done, "more values than records");
            if (!naive_same(values[i], record.value))
                return complain(field, parser->name, record.begin, "another value");
        }
    } while (count == cap);
    if (rest.at != rest.limit || next_sample(field, text, len, &at, &record))
        return complain(field, parser->name, (size_t)(rest.at - text), "fewer values than records");
    return true;
}

static bool check_invalid(const struct field *field, const unsigned char *text, size_t len)
{
    struct naive_record record;
    struct field_fault fault;
    size_t at = 0;
    bool invalid = false;
    while (!invalid && next_sample(field, text, len, &at, &record))
        invalid = isnan(record.value);
    if (field_find_invalid(field, text, len, &fault) != invalid)
        return complain(field, "invalid", 0, invalid ? "not found" : "found one");
    if (!invalid)
        return true;
    bool same =
        fault.at == record.begin && (fault.what == FIELD_FOUND) == (record.what == NAIVE_FIELD);
    if (same && fault.what == FIELD_FOUND && !field->has_units)
        same = fault.from == record.from && fault.len == record.to - record.from;
    return same || complain(field, "invalid", record.begin, "another one");
}

/* Returns where the last record that ends before len ends, and the next one begins; 0: there is
 * none. */
static size_t last_end(const struct field *field, const unsigned char *text, size_t len)
{
    const struct naive_fields fields = naive_of(field);
    struct naive_record record;
    size_t at = 0, end = 0;
    while (naive_record(&fields, text, len, &at, &record))
        end = record.end < len ? record.end + 1 : end;
    return end;
}

/* Returns where the record ends that goes on, or begins, at `cut`. */
static size_t end_after(const struct field *field, const unsigned char *text, size_t len,
                        size_t cut)
{
    const struct naive_fields fields = naive_of(field);
    struct naive_record record;
    for (size_t at = 0; naive_record(&fields, text, len, &at, &record);)
        if (record.end >= cut)
            return record.end;
    return len;
}

/* The state of a text of CSV up to some place, a byte at a time. */
struct naive_quotes {
    bool inside;               /* it ends in a quoted field */
    bool is_odd;               /* a quoted field was followed by text */
    uint64_t newlines, opened; /* in it, and before the quote of the last quoted field */
};

static struct naive_quotes naive_quotes_of(const struct field *field, const unsigned char *text,
                                           size_t end)
{
    struct naive_quotes quotes = {.inside = false};
    bool at_start = true, after_quote = false;
    for (size_t at = 0; at < end; at++) {
        const unsigned char c = text[at];
        const bool was_inside = quotes.inside, was_after = after_quote;
        after_quote = was_inside && c == '"';
        quotes.inside = was_inside ? c != '"' : c == '"' && (at_start || was_after);
        if (c == '"' && at_start)
            quotes.opened = quotes.newlines;
        quotes.is_odd |= was_after && c != '"' && c != '\n' && c != '\r' && c != field->separator;
        at_start = !was_inside && (c == '\n' || c == field->separator);
        quotes.newlines += c == '\n';
    }
    return quotes;
}

/* The record that `cut` is in, from its beginning on, by field_end_csv: in the same state as after
 * the scan, and it knows where the quote is. */
static bool check_quote(const struct field *field, const unsigned char *text, size_t begin,
                        size_t cut, const struct csv_scan *scan)
{
    const struct naive_quotes before = naive_quotes_of(field, text, begin),
                              quotes = naive_quotes_of(field, text, cut);
    struct csv_scan again = {.newlines = before.newlines};
    field_end_csv(field->separator, text + begin, cut - begin, &again);
    return quotes.inside == (scan->state == CSV_QUOTED) && quotes.is_odd == scan->is_odd &&
           quotes.newlines == scan->newlines && quotes.newlines == again.newlines &&
           again.state == scan->state && (!quotes.inside || again.opened == quotes.opened);
}

static bool check_scan(const struct field *field, const unsigned char *text, size_t len, size_t cut)
{
    struct csv_scan scan = {.state = CSV_FIELD_START};
    size_t first = field_scan_csv(field->separator, text, 0, cut, &scan);
    if (first != last_end(field, text, cut))
        return complain(field, "scan", cut, "another end of a record");
    if (!check_quote(field, text, first, cut, &scan))
        return complain(field, "scan", cut, "another quote, or number of newlines");
    struct csv_scan at_cut = scan;
    if (cut + field_end_csv(field->separator, text + cut, len - cut, &at_cut) !=
        end_after(field, text, len, cut))
        return complain(field, "scan", cut, "another end of the record at a cut");
    size_t second = field_scan_csv(field->separator, text, cut, len, &scan);
    if ((second ? second : first) != last_end(field, text, len))
        return complain(field, "scan", len, "another end of a record after a cut");
    return true;
}

bool check_fields(const struct field *field, const unsigned char *text, size_t len, size_t cap,
                  size_t cut)
{
    double *values = malloc(cap * sizeof *values); /* of that size, for a sanitizer */
    if (!values)
        abort();
    bool right = check_invalid(field, text, len);
    if (field->kind == FIELD_CSV)
        right &= check_scan(field, text, len, cut);
    for (const struct number_parser *const *parser = number_parsers; *parser; parser++)
        if ((*parser)->runs_here())
            right &= check_parser(*parser, field, text, len, cap, values);
    free(values);
    return right;
}
