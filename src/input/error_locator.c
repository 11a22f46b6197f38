/* SPDX-License-Identifier: MIT */
/* Newlines of chunks that follow each other are added up at once, so what is kept is an entry for
 * each gap, in which a chunk or a segment is out. Chunks after the first one known to have an
 * invalid sample are not searched. */
#include "engine.h"
#include "src/base/byte_masks.h"
#include "src/base/error.h"
#include "src/tally/histogram_spec.h"
#include "src/text/units.h"
#include "src/text/weight.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 40 /* bytes of a token, at most */

/* Bytes of these as show_text writes them, "...", and the NUL. */
#define SHOWN_SIZE (4 * SHOWN + 4)

/* The index of the end of a file, where no chunk stands. */
#define END_OF_FILE UINT64_MAX

/* Chunks [begin, end) of one file, all of which were added. */
struct run {
    struct position begin, end;
    uint64_t newlines; /* in these chunks */
};

struct error_locator {
    const struct histogram_spec *spec;
    bool of_filter;       /* lines that it cannot decide take the place of invalid samples */
    atomic_bool found;    /* an invalid sample */
    pthread_mutex_t lock; /* the rest */
    struct origin first;  /* of the first chunk known to have an invalid sample, if found */
    uint64_t newlines;    /* in it, before the sample */
    struct error what;    /* is wrong with the line */
    bool *added;          /* of each file: whether all of it was added */
    size_t first_out;     /* no file before it is known not to be */
    size_t count;
    struct run runs[]; /* of these others, ascending; what is still out are the gaps between them */
};

struct error_locator *error_locator_open(const struct histogram_spec *spec, size_t files,
                                         size_t chunks, size_t readers)
{
    /* In each gap is a chunk that is out, or the end of what was read of a segment. A file has one
     * run more than gaps; and a run is added before it is joined. */
    size_t max = 2 * (chunks + 2 * readers) + 1;
    struct error_locator *locator = calloc(1, sizeof *locator + max * sizeof locator->runs[0]);
    bool *added = calloc(files, sizeof *added);
    if (!locator || !added) {
        free(locator);
        free(added);
        return NULL;
    }
    locator->spec = spec;
    locator->added = added;
    pthread_mutex_init(&locator->lock, NULL);
    return locator;
}

void error_locator_seek_undecided(struct error_locator *locator)
{
    locator->of_filter = true;
}

void error_locator_close(struct error_locator *locator)
{
    if (!locator)
        return;
    pthread_mutex_destroy(&locator->lock);
    free(locator->added);
    free(locator);
}

/* --- positions --- */

static int compare_positions(const struct position *a, const struct position *b)
{
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->segment != b->segment)
        return a->segment < b->segment ? -1 : 1;
    return a->index == b->index ? 0 : a->index < b->index ? -1 : 1;
}

static bool is_start(const struct position *at)
{
    return at->segment == 0 && at->index == 0;
}

/* --- the first invalid sample --- */

/* Writes the beginning of a token: where a very long one ends depends on how chunks were cut. */
static void show_token(const unsigned char *token, size_t len, char shown[SHOWN_SIZE])
{
    size_t head = len;
    if (len > SHOWN)
        for (head = SHOWN; head > SHOWN - 3 && (token[head] & 0xc0) == 0x80;)
            head--; /* a character of UTF-8 stays whole */
    size_t length = show_text((const char *)token, head, shown, SHOWN_SIZE);
    if (head < len)
        memcpy(shown + length, "...", sizeof "...");
}

/* True if [token, token + len) is a number with K or KB. */
static bool has_k(const unsigned char *token, size_t len)
{
    len -= len > 0 && token[len - 1] == 'B';
    if (len < 2 || token[len - 1] != 'K')
        return false;
    for (len--; len > 1 && token[len - 1] == ' ';)
        len--;
    return number_is_digit(token[len - 1]);
}

/* True if [token, token + len) is two numbers with a colon. */
static bool is_clock(const unsigned char *token, size_t len)
{
    size_t at = 0, colons = 0;
    for (; at < len && (number_is_digit(token[at]) || token[at] == ':'); at++)
        colons += token[at] == ':';
    return at == len && colons == 1;
}

/* True if [token, token + len) is a number whose decimals follow a comma. */
static bool is_with_comma(const unsigned char *token, size_t len)
{
    unsigned char swapped[NUMBER_MAX];
    if (len > NUMBER_MAX || !memchr(token, ',', len))
        return false;
    memcpy(swapped, token, len);
    len = number_swap_comma(swapped, len);
    return !isnan(number_of_token(swapped, swapped + len, swapped + len));
}

/* Returns advice about a token that is not a number: what to write or type instead. */
static const char *advice(const struct field *field, const unsigned char *token, size_t len)
{
    if (len >= 3 && memcmp(token, "\xef\xbb\xbf", 3) == 0)
        return "; to skip the byte order mark of a file, use --skip=3";
    unsigned char joined[NUMBER_MAX];
    const size_t joined_len = number_copy_words(token, token + len, joined);
    if (field->has_comma)
        return memchr(token, '.', len)
                   ? "; with --decimal=, points stand between thousands, as in 1.234,5"
                   : "";
    if (field->kind != FIELD_NONE && is_with_comma(token, len))
        return "; to read commas before decimals, use --decimal=,";
    if (!field->has_units)
        return joined_len > 0 && !isnan(number_with_units(joined, joined + joined_len))
                   ? "; to read units, use --units"
                   : "";
    return has_k(token, len)      ? "; write k for 1000 or Ki for 1024"
           : is_clock(token, len) ? "; write h:mm:ss, or m:ss with a fraction"
                                  : "";
}

/* True if the field that begins at `from` is no time, or `is_no_time`, but is one with the field
 * after it, or two. */
static bool has_blanks(const unsigned char *from, const unsigned char *end, bool is_no_time)
{
    const unsigned char *to = from;
    struct time time;
    bool is_time = false;
    for (int fields = 1; fields <= 3 && !is_time; fields++) {
        while (to < end && (*to == ' ' || *to == '\t'))
            to++;
        while (to < end && !number_is_space(*to))
            to++;
        is_time = time_read(from, to, &time) && (fields > 1 || !is_no_time);
        if (fields == 1 && is_time)
            return false;
    }
    return is_time;
}

/* Describes a field in a record that ends at `end`: it is not the time that it should be. */
static void describe_time(const struct field *field, const unsigned char *from, size_t len,
                          const unsigned char *end, struct error *what)
{
    char shown[SHOWN_SIZE];
    const unsigned char *to = from + len;
    struct time time;
    show_token(from, len, shown);
    const bool is_cut = field->kind == FIELD_BLANKS && has_blanks(from, end, field->is_time);
    field_strip(&from, &to);
    const bool is_time = time_read(from, to, &time);
    if (field->is_time && (is_cut || (is_time && time.zone == TIME_OF_A_YEAR)))
        error_set(what, "'%s' has no year, so it is no number; count by it, as in %s--by=%s:1d",
                  shown, is_cut ? "-t '\\x1f' " : "",
                  is_cut                      ? "1:1-15"
                  : field->kind == FIELD_JSON ? field->path.text
                                              : "1");
    else if (is_cut)
        error_set(what,
                  "'%s' is not a time; to take one with blanks, use -t '\\x1f' and its "
                  "characters, as in --by=1:1-15:5m",
                  shown);
    else if (!is_time || field->is_time)
        error_set(what, "'%s' is not a time", shown);
    else if (time.zone == TIME_OF_A_YEAR)
        error_set(what, "'%s' has no year, which buckets of several days need; use :1d", shown);
    else if (field->kind == FIELD_BLANKS)
        error_set(what,
                  "'%s' has no clock; to take one after a blank, use -t '\\x1f' and its "
                  "characters, as in --by=1:1-19:5m",
                  shown);
    else
        error_set(what, "'%s' has no clock; use :1d", shown);
}

/* Sets *what to what is wrong with a record of text[0..len), and what was probably meant instead of
 * --after. */
static void describe_record(const struct field *field, const unsigned char *text, size_t len,
                            const struct field_fault *fault, struct error *what)
{
    char shown[SHOWN_SIZE], hint[FIELD_HINT_SIZE];
    const unsigned char *record = text + fault->at;
    if (fault->what == FIELD_NO_TIME || (fault->what == FIELD_FOUND && field->is_time)) {
        describe_time(field, text + fault->from, fault->len,
                      field_record_end(field, record, text + len), what);
    } else if (fault->what == FIELD_FOUND) {
        show_token(text + fault->from, fault->len, shown);
        error_set(what, "'%s' is not a number%s", shown,
                  advice(field, text + fault->from, fault->len));
    } else if (fault->what == FIELD_NO_WEIGHT) {
        show_token(text + fault->from, fault->len, shown);
        error_set(what, "the weight '%s' is not a whole number from 0 to %" PRIu64, shown,
                  WEIGHT_MAX);
    } else if (fault->what == FIELD_TOO_LONG) {
        const bool is_key = fault->len > 0;
        error_set(what, is_key ? "a key of more than %zu bytes" : "longer than %zu bytes",
                  is_key ? KEY_SIZE_MAX : field_record_max(field));
    } else if (fault->what == FIELD_BROKEN) {
        error_set(what, "not valid JSON at byte %zu%s", fault->from - fault->at + 1,
                  *record == '[' ? "; to make lines of an array, use jq -c '.[]'" : "");
    } else if (field->kind == FIELD_JSON) {
        show_token((const unsigned char *)field->path.text, strlen(field->path.text), shown);
        error_set(what, "no %s", shown);
    } else if (field->kind == FIELD_AFTER) {
        show_token((const unsigned char *)field->after, field->after_len, shown);
        error_set(what, "no number after '%s'", shown);
    } else if (field->kind == FIELD_LINE) {
        line_part_describe(&field->part, record, field_record_end(field, record, text + len), what);
    } else {
        error_set(what, "no field %d", (int)field->number);
    }
    if (field->kind != FIELD_AFTER)
        return;
    field_hint(record, field_record_end(field, record, text + len), field->after, field->after_len,
               hint);
    const size_t used = strlen(what->text);
    if (*hint)
        snprintf(what->text + used, sizeof what->text - used, "; did you mean %s?", hint);
}

/* The text that is searched for invalid samples. */
struct searched {
    struct line_spec lines; /* with the columns of this file */
    bool has_numbers;       /* records have more than their keys */
};

static bool find_number(const struct field *field, const unsigned char *text, size_t len,
                        struct field_fault *fault)
{
    size_t at, token;
    if (field->kind != FIELD_NONE || field->has_units)
        return field_find_invalid(field, text, len, fault);
    if (!numbers_find_invalid(text, len, &at, &token))
        return false;
    *fault = (struct field_fault){.at = at, .what = FIELD_FOUND, .from = at, .len = token};
    return true;
}

/* Finds the first invalid sample of a text, all records of which count: one that is not a number,
 * or has no key. Returns the field that is wrong, perhaps that of a key; or NULL. */
static const struct field *find_in_all(const struct searched *searched, const unsigned char *text,
                                       size_t len, struct field_fault *fault)
{
    const struct line_spec *lines = &searched->lines;
    const struct field *field = &lines->field;
    const bool is_number = searched->has_numbers && find_number(field, text, len, fault);
    const struct field *wrong = is_number ? field : NULL;
    struct field_fault other;
    for (unsigned i = 0; i < lines->key_count + lines->has_weight; i++) {
        const struct key *key = &lines->keys[i];
        if (!key_find_missing(key, field, text, len, &other) || (wrong && fault->at <= other.at))
            continue;
        *fault = other;
        wrong = &key->field;
    }
    return wrong;
}

/* True if the record [begin, end) does not count. */
static bool is_left_out(const struct line_spec *lines, const unsigned char *begin,
                        const unsigned char *end)
{
    return !line_filter_keeps(&lines->filter, begin, end, NULL) ||
           (lines->has_weight && weight_is_zero(&lines->keys[lines->key_count].field, begin, end));
}

/* Finds the first invalid sample as find_in_all does, among the records that count. */
static const struct field *find_in_kept(const struct searched *searched, const unsigned char *text,
                                        size_t len, struct field_fault *fault)
{
    const struct field *field = &searched->lines.field;
    const unsigned char *limit = text + len;
    for (const unsigned char *at = text, *end; at < limit; at = end + 1) {
        end = field_record_end(field, at, limit);
        const bool is_long = (size_t)(end - at) > field_record_max(field);
        if (!is_long && is_left_out(&searched->lines, at, end))
            continue;
        *fault = (struct field_fault){.what = FIELD_TOO_LONG};
        const struct field *wrong =
            is_long ? field : find_in_all(searched, at, (size_t)(end - at), fault);
        if (!wrong)
            continue;
        fault->at += (size_t)(at - text);
        fault->from += (size_t)(at - text);
        return wrong;
    }
    return NULL;
}

/* Finds the first record that the filter cannot decide, and sets *what to why. */
static bool find_undecided(const struct line_spec *lines, const unsigned char *text, size_t len,
                           size_t *at, struct error *what)
{
    const unsigned char *limit = text + len;
    what->text[0] = '\0';
    for (const unsigned char *from = text, *end; from < limit && !*what->text; from = end + 1) {
        end = field_record_end(&lines->field, from, limit);
        *at = (size_t)(from - text);
        if ((size_t)(end - from) <= field_record_max(&lines->field))
            (void)line_filter_keeps(&lines->filter, from, end, what);
    }
    return *what->text;
}

/* Finds the first invalid sample of a chunk: *at is where it, or its line, begins. */
static bool find_invalid(const struct error_locator *locator, const struct chunk *chunk, size_t *at,
                         struct error *what)
{
    const struct histogram_spec *spec = locator->spec;
    const struct origin *origin = &chunk->origin;
    struct searched searched = {.lines = spec->lines, .has_numbers = spec->mode != &mode_lines};
    struct field_fault fault;
    size_t begin = chunk->begin;
    line_spec_set_columns(&searched.lines, &origin->columns);
    if (origin->has_header)
        begin += field_header_len(&searched.lines.field, chunk->data + begin, chunk->len - begin);
    const unsigned char *text = chunk->data + begin;
    const size_t len = chunk->len - begin;
    if (locator->of_filter) {
        const bool is_found = find_undecided(&searched.lines, text, len, at, what);
        *at += begin;
        return is_found;
    }
    const struct field *wrong =
        line_filter_is_used(&searched.lines.filter) || searched.lines.has_weight
            ? find_in_kept(&searched, text, len, &fault)
            : find_in_all(&searched, text, len, &fault);
    if (!wrong)
        return false;
    *at = begin + fault.at;
    describe_record(wrong, text, len, &fault, what);
    return true;
}

/* --- what was added --- */

static void remove_run(struct error_locator *locator, size_t i)
{
    locator->count--;
    memmove(&locator->runs[i], &locator->runs[i + 1],
            (locator->count - i) * sizeof locator->runs[0]);
}

/* Joins run i with the next one if no chunk is missing between the two. True if it did. */
static bool join_runs(struct error_locator *locator, size_t i)
{
    struct run *run = &locator->runs[i], *next = run + 1;
    if (i + 1 >= locator->count || compare_positions(&run->end, &next->begin) != 0)
        return false;
    run->newlines += next->newlines;
    run->end = next->end;
    remove_run(locator, i + 1);
    return true;
}

/* Takes run i away if it is all of its file. */
static void finish_file(struct error_locator *locator, size_t i)
{
    const struct run *run = &locator->runs[i];
    if (!is_start(&run->begin) || run->end.segment != END_OF_FILE)
        return;
    locator->added[run->begin.file] = true;
    remove_run(locator, i);
}

static void add_run(struct error_locator *locator, const struct run *added)
{
    size_t at = locator->count;
    while (at > 0 && compare_positions(&locator->runs[at - 1].begin, &added->begin) > 0)
        at--;
    memmove(&locator->runs[at + 1], &locator->runs[at], (locator->count - at) * sizeof *added);
    locator->runs[at] = *added;
    locator->count++;
    join_runs(locator, at);
    finish_file(locator, at > 0 && join_runs(locator, at - 1) ? at - 1 : at);
}

void error_locator_add(struct error_locator *locator, const struct chunk *chunk, uint64_t newlines,
                       bool invalid)
{
    const struct position at = chunk->origin.at;
    struct run run = {at, {at.file, at.segment, at.index + 1}, newlines};
    if (chunk->origin.end == ENDS_FILE)
        run.end = (struct position){at.file, END_OF_FILE, 0};
    else if (chunk->origin.end == ENDS_SEGMENT)
        run.end = (struct position){at.file, at.segment + 1, 0};
    size_t invalid_at;
    pthread_mutex_lock(&locator->lock);
    const bool is_first = !locator->found || compare_positions(&at, &locator->first.at) < 0;
    if (is_first && !invalid) {
        add_run(locator, &run);
    } else if (is_first && find_invalid(locator, chunk, &invalid_at, &locator->what)) {
        atomic_store(&locator->found, true);
        locator->first = chunk->origin;
        locator->newlines = byte_count(chunk->data + chunk->begin, invalid_at - chunk->begin, '\n');
        while (locator->count > 0 &&
               compare_positions(&locator->runs[locator->count - 1].begin, &at) > 0)
            locator->count--;
    }
    pthread_mutex_unlock(&locator->lock);
}

void error_locator_add_unseen(struct error_locator *locator, const struct chunk *chunk)
{
    struct error unused;
    size_t at;
    if (!locator || !chunk->origin.name)
        return;
    error_locator_add(locator, chunk,
                      byte_count(chunk->data + chunk->begin, chunk->len - chunk->begin, '\n'),
                      find_invalid(locator, chunk, &at, &unused));
}

/* If the first invalid sample was there, another one is looked for up to the end of the file. */
void error_locator_forget(struct error_locator *locator, size_t file)
{
    if (!locator)
        return;
    pthread_mutex_lock(&locator->lock);
    for (size_t i = locator->count; i-- > 0;)
        if (locator->runs[i].begin.file == file)
            remove_run(locator, i);
    if (locator->found && locator->first.at.file == file)
        locator->first.at = (struct position){file, END_OF_FILE, 0};
    pthread_mutex_unlock(&locator->lock);
}

bool error_locator_first(struct error_locator *locator, struct error *what)
{
    if (!atomic_load(&locator->found))
        return false;
    pthread_mutex_lock(&locator->lock);
    const struct run *front = &locator->runs[0];
    const struct origin *first = &locator->first;
    while (locator->first_out < first->at.file && locator->added[locator->first_out])
        locator->first_out++;
    bool at_start = is_start(&first->at);
    bool reaches = locator->count > 0 && is_start(&front->begin) &&
                   compare_positions(&front->end, &first->at) == 0;
    bool known = locator->first_out == first->at.file && (at_start || reaches);
    uint64_t line = 1 + locator->newlines + (known && !at_start ? front->newlines : 0);
    if (known && first->counted_from > 0)
        error_of(what, first->name, "line %" PRIu64 " after byte %" PRIu64 ": %s", line,
                 first->counted_from, locator->what.text);
    else if (known)
        error_of(what, first->name, "line %" PRIu64 ": %s", line, locator->what.text);
    pthread_mutex_unlock(&locator->lock);
    return known;
}
