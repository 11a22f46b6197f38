/* SPDX-License-Identifier: MIT */
#include "lines.h"
#include "field_parser.h"
#include "weight.h"
#include "src/base/byte_masks.h"

#include <math.h>
#include <string.h>

/* --- columns with names --- */

const struct field *line_spec_field(const struct line_spec *spec, size_t i)
{
    return i == 0                ? &spec->field
           : i <= KEY_FIELDS_MAX ? &spec->keys[i - 1].field
                                 : &spec->filter.conditions[i - 1 - KEY_FIELDS_MAX].key.field;
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
            ((struct field *)line_spec_field(spec, i))->number = columns->numbers[i];
}

/* --- records that a filter keeps --- */

static const unsigned char invalid[] = {'?', '\n'};

/* Returns where the record after the one that ends at `end` begins. */
static const unsigned char *after_record(const struct line_spans *spans, const unsigned char *end)
{
    return end < spans->limit ? end + 1 : end;
}

static bool next_by_definition(struct line_spans *spans, const unsigned char **from,
                               const unsigned char **to)
{
    bool keeps = false;
    while (!keeps && spans->at < spans->limit && !*spans->failure.text) {
        const unsigned char *end = field_record_end(&spans->spec->field, spans->at, spans->limit);
        const bool is_too_long = (size_t)(end - spans->at) > field_record_max(&spans->spec->field);
        keeps =
            is_too_long || line_filter_keeps(&spans->spec->filter, spans->at, end, &spans->failure);
        *from = spans->at;
        *to = spans->at = after_record(spans, end);
        if (is_too_long && spans->spec->field.kind == FIELD_NONE) { /* with many samples */
            *from = invalid;
            *to = invalid + sizeof invalid;
        }
    }
    return keeps;
}

/* Returns where a string is next, from spans->at on, or the limit. Of an expression, in that
 * record, or at its end: all lines are searched at once, if possible. Leaves to the definition what
 * cannot be decided. */
static const unsigned char *search_for(struct line_spans *spans, size_t i)
{
    const struct line_string *string = &spans->spec->filter.strings[i];
    const unsigned char **next = &spans->found[i], *limit = spans->limit;
    if (*next && *next >= spans->at)
        return *next;
    enum regex_found found = REGEX_MISSING;
    if (!string->regex) {
        *next = spans->parser->find(string, spans->at, limit);
    } else if (spans->has_lines && regex_searches_lines(string->regex)) {
        const size_t len = (size_t)(limit - spans->at), without = limit[-1] == '\n';
        size_t offset;
        found =
            regex_search_lines(string->regex, &spans->matcher, spans->at, len - without, &offset);
        *next = found != REGEX_FOUND ? limit : spans->at + (offset < len ? offset : len - 1);
    } else {
        for (*next = spans->at; *next < limit && found == REGEX_MISSING;) {
            const unsigned char *end = field_record_end(&spans->spec->field, *next, limit);
            found = line_string_match(string, &spans->matcher, *next, end);
            if (found != REGEX_FOUND)
                *next = found == REGEX_UNDECIDED ? limit : after_record(spans, end);
        }
    }
    spans->by_definition |= found == REGEX_UNDECIDED;
    return *next;
}

/* Returns where the last of the wanted strings is next, before which no record has all of them; or
 * where the first of the unwanted ones is. */
static const unsigned char *search(struct line_spans *spans, bool is_unwanted)
{
    const struct line_filter *filter = &spans->spec->filter;
    const unsigned char *at = is_unwanted ? spans->limit : spans->at;
    for (size_t i = 0; i < filter->count && (is_unwanted || at < spans->limit); i++) {
        if (filter->strings[i].is_unwanted != is_unwanted)
            continue;
        const unsigned char *found = search_for(spans, i);
        at = is_unwanted == (found < at) ? found : at;
    }
    return at;
}

/* Returns the beginning of the record that `byte` is in, at or after spans->at, and sets *next to
 * that of the one after it. Without quotes the records of CSV are lines. */
static const unsigned char *find_record(struct line_spans *spans, const unsigned char *byte,
                                        const unsigned char **next)
{
    const unsigned char *begin = spans->at, *end = byte_find(byte, spans->limit, '\n');
    if (spans->spec->field.kind == FIELD_CSV && (!spans->quote || spans->quote < begin))
        spans->quote = byte_find(begin, spans->limit, '"');
    if (spans->spec->field.kind == FIELD_CSV && spans->quote < end) {
        while ((end = field_record_end(&spans->spec->field, begin, spans->limit)) < byte)
            begin = end + 1;
    } else {
        const unsigned char *newline = memrchr(begin, '\n', (size_t)(byte - begin));
        begin = newline ? newline + 1 : begin;
    }
    *next = after_record(spans, end);
    return begin;
}

/* Moves to the next record with all strings that are wanted, and sets *next to the one after it.
 * False if there is none. */
static bool find_wanted(struct line_spans *spans, const unsigned char **next)
{
    const unsigned char *last = search(spans, false);
    while (last < spans->limit) {
        spans->at = find_record(spans, last, next);
        last = search(spans, false);
        if (last < *next)
            return true;
    }
    return false;
}

/* Sets [*from, *to) to the next span of records that the strings keep. False if there is none. */
static bool next_by_strings(struct line_spans *spans, const unsigned char **from,
                            const unsigned char **to)
{
    const struct line_filter *filter = &spans->spec->filter;
    const bool has_wanted = filter->count > 0 && !filter->strings[0].is_unwanted;
    while (spans->at < spans->limit && !spans->by_definition) {
        const unsigned char *next = spans->limit;
        if (has_wanted && !find_wanted(spans, &next))
            break;
        *from = spans->at;
        const unsigned char *unwanted = search(spans, true);
        if (spans->by_definition)
            break;
        if (unwanted < next)
            *to = find_record(spans, unwanted, &spans->at);
        else
            *to = spans->at = next;
        if (*from < *to)
            return true;
    }
    return spans->by_definition && next_by_definition(spans, from, to);
}

/* Finds fields of the first condition in the next records that the strings keep. False if there are
 * no more. */
static bool find_fields(struct line_spans *spans)
{
    if (spans->search_at == spans->search_end &&
        !next_by_strings(spans, &spans->search_at, &spans->search_end))
        return false;
    const unsigned char *at = spans->search_at, *limit = spans->search_end;
    while (spans->fields_max == 1) { /* past empty records of CSV */
        const bool has_return = limit - at > 1 && at[0] == '\r' && at[1] == '\n';
        if (!has_return && (at == limit || *at != '\n'))
            break;
        at += 1 + has_return;
    }
    struct record_text text = {at, at, limit};
    spans->record = text.at;
    spans->field_count = spans->parser->read_fields(&spans->spec->filter.conditions[0].key.field,
                                                    &text, NULL, spans->fields, spans->fields_max);
    spans->field_at = 0;
    spans->search_at = text.at;
    return true;
}

/* True if the conditions on the first one's field hold for it, in a record that ends at `end`.
 * Fields of lines that follow each other are often the same. */
static bool hold_in_field(struct line_spans *spans, const struct key_span *field,
                          const unsigned char *end)
{
    const struct key_span *last = &spans->last;
    if (last->from && !spans->goes_on && field->len == last->len &&
        memcmp(field->from, last->from, last->len) == 0)
        return spans->last_holds;
    spans->last = *field;
    spans->last_holds = true;
    for (size_t i = 0; i < spans->on_first && spans->last_holds; i++)
        spans->last_holds = condition_holds_in(&spans->spec->filter.conditions[i], field->from,
                                               field->from + field->len, end);
    return spans->last_holds;
}

/* True if the conditions on other fields hold for a record [begin, end). */
static bool others_hold(const struct line_spans *spans, const unsigned char *begin,
                        const unsigned char *end)
{
    for (size_t i = spans->on_first; i < spans->spec->filter.condition_count; i++)
        if (!condition_holds(&spans->spec->filter.conditions[i], begin, end))
            return false;
    return true;
}

/* True if the conditions hold for the record that `field` is in: [*from, *to), with its newline. */
static bool hold_in_record(struct line_spans *spans, const struct key_span *field,
                           const unsigned char **from, const unsigned char **to)
{
    const unsigned char *limit = spans->search_end, *end;
    if (!field->from)
        return false;
    if (spans->fields_max == 1) {
        *from = spans->record;
        *to = spans->search_at;
        end = *to - (*to > *from && (*to)[-1] == '\n');
        return hold_in_field(spans, field, end) && others_hold(spans, *from, end);
    }
    end = field->from + field->len;
    if (spans->goes_on)
        end = byte_find(end, limit, '\n');
    if (!hold_in_field(spans, field, end))
        return false;
    const unsigned char *newline =
        memrchr(spans->record, '\n', (size_t)(field->from - spans->record));
    end = byte_find(end, limit, '\n');
    *from = newline ? newline + 1 : spans->record;
    *to = spans->record = end < limit ? end + 1 : end;
    return others_hold(spans, *from, end);
}

/* Sets [*from, *to) to the next record that the strings keep and for which all conditions hold.
 * False if there is none. */
static bool next_by_conditions(struct line_spans *spans, const unsigned char **from,
                               const unsigned char **to)
{
    do {
        while (spans->field_at < spans->field_count)
            if (hold_in_record(spans, &spans->fields[spans->field_at++], from, to))
                return true;
    } while (find_fields(spans));
    return false;
}

/* Sets [*from, *to) to the next span, with its last newline. It is in the text; but where numbers
 * are tokens, a record that is too long is replaced by one that is invalid. False if there is none.
 */
static bool next_span(struct line_spans *spans, const unsigned char **from,
                      const unsigned char **to)
{
    const bool is_between =
        spans->field_at < spans->field_count || spans->search_at < spans->search_end;
    if (spans->by_definition && !is_between)
        return next_by_definition(spans, from, to);
    if (spans->spec->filter.condition_count > 0)
        return next_by_conditions(spans, from, to);
    return next_by_strings(spans, from, to);
}

/* --- texts of records that count --- */

#define LONG_SPAN ((size_t)16 << 10) /* bytes of one that is read where it is */

void line_reader_open(struct line_reader *reader, const struct line_spec *spec,
                      const struct number_parser *parser, struct weight_total *total,
                      struct line_buffers *buffers, const unsigned char *text, size_t len)
{
    reader->spec = spec;
    reader->parser = parser;
    reader->weight_total = total;
    reader->buffers = buffers;
    reader->all = reader->text = (struct record_text){text, text, text + len};
    reader->list_count = reader->list_at = 0;
    reader->has_span = false;
    reader->is_filtered = line_filter_is_used(&spec->filter);
    if (!reader->is_filtered)
        return;
    reader->text.limit = text;
    struct line_spans *spans = &buffers->spans;
    const struct line_filter *filter = &spec->filter;
    const struct condition *conditions = filter->conditions;
    const bool is_csv = spec->field.kind == FIELD_CSV, is_quoted = is_csv && memchr(text, '"', len);
    const size_t max = field_record_max(&spec->field);
    *spans = (struct line_spans){.spec = spec, .parser = parser, .at = text, .limit = text + len};
    /* A record may be too long; where records are lines, if no newline is among as many bytes as a
     * record may have. */
    for (const unsigned char *at = text; (size_t)(spans->limit - at) > max;) {
        const unsigned char *newline = memrchr(at, '\n', max + 1);
        spans->by_definition = !newline || is_csv;
        if (spans->by_definition)
            break;
        at = newline + 1;
    }
    spans->fields_max = is_quoted ? 1 : SPANS_FIELDS_MAX;
    for (size_t i = 0; i < filter->count; i++)
        spans->has_lines |= filter->strings[i].regex != NULL;
    spans->has_lines = spans->has_lines && !is_quoted && !memchr(text, '\r', len);
    const struct condition *at = conditions, *const end = conditions + filter->condition_count;
    for (; at < end && strcmp(at->name, conditions->name) == 0; at++)
        spans->goes_on |= condition_goes_on(at);
    spans->on_first = (size_t)(at - conditions);
}

int line_reader_close(struct line_reader *reader, struct error *error)
{
    if (!reader->is_filtered)
        return 0;
    regex_matcher_close(&reader->buffers->spans.matcher);
    *error = reader->buffers->spans.failure;
    return *error->text ? -1 : 0;
}

/* Sets the text to the next records that the filter keeps. Short spans of them are gathered, as a
 * batch ends with the text. False if there are none. */
static bool next_text(struct line_reader *reader)
{
    struct line_buffers *buffers = reader->buffers;
    size_t used = 0;
    if (!reader->is_filtered)
        return false;
    while (reader->has_span || next_span(&buffers->spans, &buffers->from, &buffers->to)) {
        const size_t size = (size_t)(buffers->to - buffers->from);
        reader->has_span = used > 0 && (size >= LONG_SPAN || size > GATHERED_SIZE - used);
        if (reader->has_span)
            break;
        if (size >= LONG_SPAN) {
            reader->text = (struct record_text){buffers->from, buffers->from, buffers->to};
            return true;
        }
        memcpy(buffers->gathered + used, buffers->from, size);
        used += size;
    }
    const unsigned char *begin = buffers->gathered;
    reader->text = (struct record_text){begin, begin, begin + used};
    return used > 0;
}

/* --- batches --- */

/* Reads records from reader->text. */
static void read_records(struct line_reader *reader, struct line_batch *batch)
{
    const struct number_parser *parser = reader->parser;
    const struct field *field = &reader->spec->field;
    const struct key *keys = reader->spec->keys;
    const unsigned fields = reader->spec->key_count + reader->spec->has_weight;
    const struct field *key = fields > 0 ? &keys[0].field : NULL;
    struct key_span *spans = fields > 0 ? batch->keys[0] : NULL;
    const struct record_text begin = reader->text;
    batch->count = batch->values ? fields_parse(parser, field, key, &reader->text, batch->values,
                                                spans, LINES_MAX)
                                 : parser->read_fields(key, &reader->text, NULL, spans, LINES_MAX);
    for (unsigned i = 1; i < fields; i++)
        fields_find_keys(parser, field, &keys[i].field, begin, batch->keys[i], batch->count);
    if (reader->spec->has_weight)
        weights_read(batch, reader->weight_total);
    reader->read = (struct record_text){begin.at, begin.at, reader->text.at};
    reader->read_field = field;
}

/* Moves to the list of the next record. False if there is none. */
static bool next_list(struct line_reader *reader)
{
    const struct line_spec *spec = reader->spec;
    struct line_buffers *buffers = reader->buffers;
    const struct record_text begin = reader->text;
    if (reader->list_at == reader->list_count || ++reader->list_at == reader->list_count) {
        reader->list_at = 0;
        reader->list_count = reader->parser->read_fields(&spec->field, &reader->text, NULL,
                                                         buffers->lists, LISTS_MAX);
        for (unsigned i = 0; i < spec->key_count; i++)
            fields_find_keys(reader->parser, &spec->field, &spec->keys[i].field, begin,
                             buffers->list_keys[i], reader->list_count);
    }
    const struct key_span *list = &buffers->lists[reader->list_at];
    if (reader->list_count == 0)
        return false;
    list_open(&buffers->list, &spec->field, list->from, list->from ? list->from + list->len : NULL);
    return true;
}

/* Reads samples of lists, which become tokens of a line each. */
static void read_lists(struct line_reader *reader, struct line_batch *batch)
{
    static const struct field tokens[] = {{.has_units = false}, {.has_units = true}};
    struct line_buffers *buffers = reader->buffers;
    struct list *list = &buffers->list;
    size_t count = 0;
    list->token = buffers->tokens;
    while (count < LINES_MAX &&
           list->token < buffers->tokens + LIST_TOKENS_SIZE - LIST_TOKEN_SIZE) {
        if (reader->list_at == reader->list_count || !list_next(list)) {
            if (!next_list(reader))
                break;
            continue;
        }
        for (unsigned i = 0; i < reader->spec->key_count; i++)
            batch->keys[i][count] = buffers->list_keys[i][reader->list_at];
        if (list->len == 0)
            list->token[list->len++] = '?';
        list->token[list->len] = '\n';
        list->token += list->len + 1;
        count++;
    }
    struct record_text text = {buffers->tokens, buffers->tokens, list->token};
    reader->read = text;
    reader->read_field = &tokens[reader->spec->field.has_units];
    batch->count = fields_parse(reader->parser, reader->read_field, NULL, &text, batch->values,
                                NULL, LINES_MAX);
}

bool line_reader_next(struct line_reader *reader, struct line_batch *batch)
{
    const bool has_lists = batch->values && field_is_list(&reader->spec->field);
    batch->spec = reader->spec;
    do {
        if (reader->list_at == reader->list_count && reader->text.at == reader->text.limit &&
            !next_text(reader))
            return false;
        (has_lists ? read_lists : read_records)(reader, batch);
    } while (batch->count == 0);
    return true;
}

/* --- large numbers --- */

/* Sets *number to the token [begin, end). False if that is not an integer of at most 64 bits. */
static bool read_whole(const unsigned char *begin, const unsigned char *end, int128 *number)
{
    const unsigned char *const first = begin + (*begin == '-' || *begin == '+');
    uint64_t magnitude = 0;
    size_t count;
    for (const unsigned char *at = first; at < end; at += count) {
        uint64_t digits = (unsigned char)(*at - '0'), scale = 10;
        const uint64_t word = end - at >= 8 ? byte_word(at) ^ EACH_BYTE('0') : UINT64_MAX;
        count = 1;
        /* The highest bit of each byte that is not a digit. */
        if (((((word & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | word) & EACH_BYTE(0x80)) == 0) {
            digits = number_of_digits(word);
            scale = 100000000;
            count = 8;
        } else if (digits > 9) {
            return false;
        }
        if (__builtin_mul_overflow(magnitude, scale, &magnitude) ||
            __builtin_add_overflow(magnitude, digits, &magnitude))
            return false;
    }
    *number = *begin == '-' ? -(int128)magnitude : (int128)magnitude;
    return first < end;
}

/* Lists the tokens of text[0..len). One with a point or an exponent is the whole number that its
 * double is, unless that has more than 64 bits. Returns the end of the list. */
static struct listed_number *list_tokens(const unsigned char *text, size_t len,
                                         struct listed_number *numbers)
{
    const unsigned char *const limit = text + len;
    for (const unsigned char *at = text, *end; at < limit; at = end) {
        end = at + 1;
        if (number_is_space(*at))
            continue;
        end = number_token_end(at, limit);
        numbers->is_whole = read_whole(at, end, &numbers->number);
        if (!numbers->is_whole) {
            const double value = number_of_token(at, end, end);
            numbers->is_whole = fabs(value) <= 0x1p64;
            numbers->number = numbers->is_whole ? (int128)value : 0;
        }
        numbers++;
    }
    return numbers;
}

/* Not inlined, as the tokens take some pages of the stack. */
__attribute__((noinline)) const struct listed_number *line_reader_list(struct line_reader *reader)
{
    const struct field *field = reader->read_field;
    struct record_text text = reader->read;
    struct listed_number *numbers = reader->numbers;
    struct field_tokens tokens;
    if (field->kind == FIELD_NONE && !field->has_units)
        list_tokens(text.at, (size_t)(text.limit - text.at), numbers);
    else
        while (text.at < text.limit) {
            fields_gather(reader->parser, field, &text, &tokens, NULL, SIZE_MAX);
            numbers = list_tokens(tokens.bytes, tokens.len, numbers);
        }
    return reader->numbers;
}
