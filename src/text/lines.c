/* SPDX-License-Identifier: MIT */
#include "lines.h"
#include "weight.h"

#include <math.h>
#include <string.h>

/* --- columns with names --- */

static struct field *field_at(struct line_spec *spec, size_t i)
{
    return i == 0                ? &spec->field
           : i <= KEY_FIELDS_MAX ? &spec->keys[i - 1].field
                                 : &spec->filter.conditions[i - 1 - KEY_FIELDS_MAX].key.field;
}

const struct field *line_spec_field(const struct line_spec *spec, size_t i)
{
    return field_at((struct line_spec *)spec, i);
}

bool line_spec_has_names(const struct line_spec *spec)
{
    bool has_names = false;
    for (size_t i = 0; i < LINE_FIELDS_MAX; i++)
        has_names |= line_spec_field(spec, i)->name != NULL;
    return has_names;
}

void line_spec_set_columns(struct line_spec *spec, const struct line_columns *columns)
{
    for (size_t i = 0; i < LINE_FIELDS_MAX; i++)
        if (columns->numbers[i] != 0)
            field_at(spec, i)->number = columns->numbers[i];
}

/* --- texts of records that count --- */

#define LONG_SPAN ((size_t)16 << 10) /* bytes of one that is read where it is */

void line_reader_open(struct line_reader *reader, const struct line_spec *spec,
                      const struct number_parser *parser, struct weight_total *total,
                      const unsigned char *text, size_t len)
{
    const bool has_tokens = spec->field.kind == FIELD_NONE && spec->key_count == 0;
    reader->spec = spec;
    reader->parser = parser;
    reader->weight_total = total;
    reader->all = reader->text = (struct record_text){text, text, text + len};
    reader->list_count = reader->list_at = 0;
    reader->is_filtered = line_filter_is_used(&spec->filter);
    if (!reader->is_filtered)
        return;
    reader->text.limit = text;
    reader->has_span = false;
    line_spans_begin(&reader->spans, &spec->filter, &spec->field, has_tokens, parser, text, len);
}

int line_reader_close(struct line_reader *reader, struct error *error)
{
    if (!reader->is_filtered)
        return 0;
    line_spans_end(&reader->spans);
    if (!*reader->spans.failure.text)
        return 0;
    *error = reader->spans.failure;
    return -1;
}

/* Sets the text to the next records that the filter keeps. Short spans of them are gathered, as a
 * batch ends with the text. False if there are none. */
static bool next_text(struct line_reader *reader)
{
    const unsigned char *begin = reader->gathered;
    size_t used = 0;
    if (!reader->is_filtered)
        return false;
    for (;; reader->has_span = false) {
        if (!reader->has_span && !line_spans_next(&reader->spans, &reader->from, &reader->to))
            break;
        const size_t size = (size_t)(reader->to - reader->from);
        reader->has_span = used > 0 && (size >= LONG_SPAN || size > GATHERED_SIZE - used);
        if (reader->has_span)
            break;
        if (size >= LONG_SPAN) {
            reader->text = (struct record_text){reader->from, reader->from, reader->to};
            return true;
        }
        memcpy(reader->gathered + used, reader->from, size);
        used += size;
    }
    reader->text = (struct record_text){begin, begin, begin + used};
    return used > 0;
}

/* --- batches --- */

/* Reads records from reader->text into a batch. */
static void read_records(struct line_reader *reader, struct line_batch *batch)
{
    const struct number_parser *parser = reader->parser;
    const struct key *keys = batch->spec->keys;
    const unsigned fields = batch->spec->key_count + batch->spec->has_weight;
    struct record_text *text = &reader->text;
    const struct record_text begin = *text;
    if (!batch->values)
        batch->count = parser->find_fields(&keys[0].field, text, batch->keys[0], LINES_MAX);
    else if (fields > 0)
        batch->count = fields_parse_keyed(parser, batch->field, &keys[0].field, text, batch->values,
                                          batch->keys[0], LINES_MAX);
    else
        batch->count = fields_parse(parser, batch->field, text, batch->values, LINES_MAX);
    for (unsigned i = 1; i < fields; i++)
        fields_find_keys(parser, batch->field, &keys[i].field, begin, batch->keys[i], batch->count);
    if (batch->spec->has_weight)
        weights_read(batch, reader->weight_total);
    batch->text = (struct record_text){begin.at, begin.at, text->at};
}

/* Moves to the list of the next record. False if there is none. */
static bool next_list(struct line_reader *reader)
{
    const struct line_spec *spec = reader->spec;
    const struct record_text begin = reader->text;
    if (++reader->list_at >= reader->list_count) {
        reader->list_at = 0;
        reader->list_count =
            reader->parser->find_fields(&spec->field, &reader->text, reader->lists, LISTS_MAX);
        for (unsigned i = 0; i < spec->key_count; i++)
            fields_find_keys(reader->parser, &spec->field, &spec->keys[i].field, begin,
                             reader->list_keys[i], reader->list_count);
    }
    if (reader->list_count == 0)
        return false;
    const struct key_span *list = &reader->lists[reader->list_at];
    list_open(&reader->list, &spec->field, list->from, list->from ? list->from + list->len : NULL);
    return true;
}

/* Reads samples of lists into a batch, as tokens of a line each. */
static void read_lists(struct line_reader *reader, struct line_batch *batch)
{
    static const struct field numbers = {.kind = FIELD_NONE},
                              with_units = {.kind = FIELD_NONE, .has_units = true};
    struct list_sample sample = {.token = reader->tokens};
    unsigned char *const end = reader->tokens + LIST_TOKENS_SIZE - LIST_TOKEN_SIZE;
    size_t count = 0;
    while (count < LINES_MAX && sample.token < end) {
        if (reader->list_at >= reader->list_count || !list_next(&reader->list, &sample)) {
            if (!next_list(reader))
                break;
            continue;
        }
        for (unsigned i = 0; i < reader->spec->key_count; i++)
            batch->keys[i][count] = reader->list_keys[i][reader->list_at];
        if (sample.len == 0)
            sample.token[sample.len++] = '?';
        sample.token[sample.len] = '\n';
        sample.token += sample.len + 1;
        count++;
    }
    batch->field = reader->spec->field.has_units ? &with_units : &numbers;
    batch->text = (struct record_text){reader->tokens, reader->tokens, sample.token};
    struct record_text text = batch->text;
    batch->count = fields_parse(reader->parser, batch->field, &text, batch->values, LINES_MAX);
}

bool line_reader_next(struct line_reader *reader, struct line_batch *batch)
{
    const bool has_lists = batch->values && field_is_list(&reader->spec->field);
    batch->spec = reader->spec;
    batch->field = &reader->spec->field;
    do {
        if (reader->list_at >= reader->list_count && reader->text.at == reader->text.limit &&
            !next_text(reader))
            return false;
        if (has_lists)
            read_lists(reader, batch);
        else
            read_records(reader, batch);
    } while (batch->count == 0);
    return true;
}

/* --- large numbers --- */

/* Reads up to eight digits at `at`. Returns how many there are: fewer if end or another character
 * follows. */
static size_t read_digits(const unsigned char *at, const unsigned char *end, uint64_t *number)
{
    size_t count = 0;
    if (end - at >= 8) {
        const uint64_t word = byte_word(at) ^ EACH_BYTE('0');
        /* The highest bit of each byte that is not a digit. */
        if (((((word & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | word) & EACH_BYTE(0x80)) == 0) {
            *number = number_of_digits(word);
            return 8;
        }
    }
    for (*number = 0; count < 8 && at < end && (unsigned char)(*at - '0') <= 9; count++, at++)
        *number = *number * 10 + (unsigned char)(*at - '0');
    return count;
}

/* Sets *number to the token [begin, end). False if that is not an integer of at most 64 bits. */
static bool read_whole(const unsigned char *begin, const unsigned char *end, int128 *number)
{
    static const uint64_t ten_to[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const unsigned char *at = begin + (*begin == '-' || *begin == '+');
    uint64_t magnitude = 0, digits;
    if (at == end)
        return false;
    while (at < end) {
        const size_t count = read_digits(at, end, &digits);
        if (count == 0 || __builtin_mul_overflow(magnitude, ten_to[count], &magnitude) ||
            __builtin_add_overflow(magnitude, digits, &magnitude))
            return false;
        at += count;
    }
    *number = *begin == '-' ? -(int128)magnitude : (int128)magnitude;
    return true;
}

/* Sets *number to a token. One with a point or an exponent is the whole number that its double is.
 * False if it has more than 64 bits, or is no number. */
static bool whole_of_token(const unsigned char *begin, const unsigned char *end, int128 *number)
{
    if (read_whole(begin, end, number))
        return true;
    const double value = number_of_token(begin, end, end);
    const bool fits = fabs(value) <= 0x1p64;
    *number = fits ? (int128)value : 0;
    return fits;
}

/* Lists the tokens of text[0..len). Returns the end of the list. */
static struct listed_number *list_tokens(const unsigned char *text, size_t len,
                                         struct listed_number *numbers)
{
    const unsigned char *const limit = text + len;
    for (const unsigned char *at = text, *end; at < limit; at = end) {
        end = at + 1;
        if (number_is_space(*at))
            continue;
        end = number_token_end(at, limit);
        numbers->is_whole = whole_of_token(at, end, &numbers->number);
        numbers++;
    }
    return numbers;
}

void line_reader_list(const struct line_reader *reader, const struct line_batch *batch,
                      struct listed_number *numbers)
{
    struct field_tokens tokens;
    struct record_text text = batch->text;
    const bool is_gathered = batch->field->kind != FIELD_NONE || batch->field->has_units;
    tokens.field = batch->field;
    tokens.cap = SIZE_MAX;
    tokens.keys = NULL;
    if (!is_gathered)
        list_tokens(text.at, (size_t)(text.limit - text.at), numbers);
    while (is_gathered && text.at < text.limit) {
        fields_gather(reader->parser, batch->field, &text, &tokens);
        numbers = list_tokens(tokens.bytes, tokens.len, numbers);
    }
}
