/* SPDX-License-Identifier: MIT */
/* The part of a line that is the number: a field, as in sort and cut, the text after a string, a
 * part that --line names, or the value that a path into JSON leads to. These functions define it;
 * the CPU's fast ways (lines_loop.h, line_format_loop.h, json_loop.h) and the GPU's find the same.
 *
 * A record is a line, up to its newline or the end of the text. In CSV a quoted field may contain
 * newlines; its content is what field_csv_text says. A carriage return at the end of a record does
 * not belong to it. Empty records do not count; where blanks separate fields, and in JSON, neither
 * do records of white space. Every other record is one sample, the number in its field. It is
 * invalid if the field is missing or not a number, if the record is longer than field_record_max
 * bytes, or if it should be JSON and is not. */
#ifndef GPUHISTO_FIELD_H
#define GPUHISTO_FIELD_H

#include "json_reader.h"
#include "line_format.h"
#include "number.h"
#include "time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIELD_RECORD_MAX ((size_t)1 << 20)       /* bytes, without the newline */
#define FIELD_JSON_RECORD_MAX ((size_t)16 << 20) /* of JSON, which nests what others list */
#define FIELD_BOM_SIZE 3                         /* bytes of a byte order mark of UTF-8 */

enum field_kind {
    FIELD_NONE,      /* numbers are tokens between white space, wherever lines end */
    FIELD_BLANKS,    /* fields stand between runs of spaces and tabs, as in awk */
    FIELD_SEPARATED, /* between single separators */
    FIELD_CSV,       /* by RFC 4180: quoted fields may contain separators and newlines */
    FIELD_AFTER,     /* the token after the first occurrence of a string (field_token_end) */
    FIELD_JSON,      /* what a path leads to; each record is a value of JSON */
    FIELD_LINE,      /* what a name of --line stands for (line_format.h) */
};

/* What is done with a list of numbers (list_next). */
enum list_kind {
    LIST_NONE, /* the field is one number */
    LIST_EACH,
    LIST_SUM,
    LIST_LAST,
};

struct field {
    enum field_kind kind;
    enum list_kind list;
    int32_t number;          /* from 1; -1 is the last one; 0: the column called `name` */
    unsigned char separator; /* SEPARATED, CSV */
    bool has_header;         /* the first record of each file is not counted */
    const char *name;        /* or NULL */
    const char *after;       /* AFTER: the string, of after_len bytes, without a newline */
    size_t after_len;
    bool has_units;        /* numbers may have units (units.h) */
    bool has_comma;        /* before decimals (number_swap_comma) */
    bool is_time;          /* numbers are times (time.h), in seconds since 1970 */
    struct json_path path; /* JSON */
    struct line_part part; /* LINE */
};

/* Returns the bytes of the longest record that can be valid. */
static inline size_t field_record_max(const struct field *field)
{
    return field->kind == FIELD_JSON ? FIELD_JSON_RECORD_MAX : FIELD_RECORD_MAX;
}

/* True if a record may have several numbers, or none, or one that is made of several. */
static inline bool field_is_list(const struct field *field)
{
    return field->list != LIST_NONE || field->path.all > field->path.count;
}

/* The outcome of looking for a field in a record. */
enum field_found {
    FIELD_FOUND,
    FIELD_EMPTY, /* the record does not count */
    FIELD_MISSING,
    FIELD_TOO_LONG,  /* the record is */
    FIELD_BROKEN,    /* the record is not JSON */
    FIELD_NO_TIME,   /* the field of a key is not the time that it should be, */
    FIELD_NO_WEIGHT, /* or that of a weight is none (weight.h) */
};

/* The state of a scan of CSV between two bytes. */
enum csv_state {
    CSV_FIELD_START, /* a quote would open a quoted field */
    CSV_PLAIN,
    CSV_QUOTED,
    CSV_QUOTE, /* after a quote in a quoted field: it ends the field or is half of a doubled one */
};

/* The progress of a scan of CSV. All zeros at the beginning. */
struct csv_scan {
    enum csv_state state;
    bool is_odd;       /* text followed the closing quote of a field; set by field_scan_csv */
    uint64_t newlines; /* passed so far */

    /* Set by field_end_csv, as numbers of newlines before a quote: */
    uint64_t opened;    /* the one that opened the last quoted field */
    uint64_t unmatched; /* the one that opened the first field with newlines that is followed by
                         * text: a quote is probably missing */
    uint64_t matched;   /* the one that closed that field; 0: there is no such field */
};

/* Scans data[from..len) of CSV for newlines that end a record, and moves *scan to len. Returns the
 * offset after the last one, or 0 if there is none. */
size_t field_scan_csv(unsigned char separator, const unsigned char *data, size_t from, size_t len,
                      struct csv_scan *scan);

/* Returns the offset in data[0..len) of the newline that ends the record *scan is in, or len if it
 * is not there, and moves *scan to it. Slow. */
size_t field_end_csv(unsigned char separator, const unsigned char *data, size_t len,
                     struct csv_scan *scan);

/* Returns where the record at `at` ends: at its newline, or at limit. */
const unsigned char *field_record_end(const struct field *field, const unsigned char *at,
                                      const unsigned char *limit);

/* Finds the field of the record [begin, end). If it is FIELD_FOUND, sets [*from, *to) to it, which
 * may be empty. Its token (field_token) should be a number. If the record is FIELD_BROKEN, sets
 * *from to where. */
enum field_found field_find(const struct field *field, const unsigned char *begin,
                            const unsigned char *end, const unsigned char **from,
                            const unsigned char **to);

/* Writes the content of a field [from, to) of CSV: without the quotes around it, doubled quotes are
 * one, and text after the closing quote is appended, as by Python's csv. `text` has room for to -
 * from bytes. Returns the length. */
size_t field_csv_text(const unsigned char *from, const unsigned char *to, unsigned char *text);

/* Removes white space, colours and a pair of quotes around the content of a field [*from, *to). */
void field_strip(const unsigned char **from, const unsigned char **to);

/* Reads the time that begins at `from`, where blanks separate fields: of as many words as make one,
 * of those up to `end`. False if there is none. */
bool field_time_of_words(const unsigned char *from, const unsigned char *end, struct time *found);

/* Copies the number in the field [*from, *to) of a record that ends at `end` as a token of 1 to
 * NUMBER_MAX bytes without white space. Returns its length, or 0 if the field is no token. Sets
 * [*from, *to) to what it was read from.
 *
 * White space, colours (number_colour_end) and a pair of quotes around the number are left out, and
 * escapes in strings of JSON are decoded. With units, it may be several words (units.h); and
 * where blanks separate fields, and after a string, also those that follow it in the record.
 * Otherwise only the unit may be in the next field, which then has nothing else. A decimal comma
 * stays as it is. Where blanks separate fields, a time is that of field_time_of_words. */
size_t field_token(const struct field *field, const unsigned char **from, const unsigned char **to,
                   const unsigned char *end, unsigned char *token);

/* Copies the next number of the lines [begin, limit) from *at on, where numbers are tokens that may
 * have units (FIELD_NONE), as field_token does, and moves *at past it. Sets *from to where it
 * begins, or to NULL if there is none. A line that is too long is one token, and no number. */
size_t field_next_token(const unsigned char *begin, const unsigned char **at,
                        const unsigned char *limit, const unsigned char **from,
                        unsigned char *token);

/* Returns where the number begins after a string that ends at `at`: behind blanks, colours and a
 * quote. */
const unsigned char *field_after_gap(const unsigned char *at, const unsigned char *limit);

/* Returns where the token at `at` ends, as field_token_end, if the number may have units: a colon
 * between digits belongs to it. */
const unsigned char *field_clock_end(const unsigned char *at, const unsigned char *limit);

/* True if a token ends before c, whatever follows. */
static inline ON_BOTH bool field_ends_token(unsigned char c)
{
    const uint64_t low = UINT64_C(1) << NUMBER_ESCAPE | UINT64_C(1) << '"' | UINT64_C(1) << '&' |
                         UINT64_C(1) << '\'' | UINT64_C(1) << ')' | UINT64_C(1) << ':' |
                         UINT64_C(1) << ';' | UINT64_C(1) << '<' | UINT64_C(1) << '>';
    const uint64_t high = UINT64_C(1) << ('\\' - 64) | UINT64_C(1) << (']' - 64) |
                          UINT64_C(1) << ('|' - 64) | UINT64_C(1) << ('}' - 64);
    return number_is_space(c) || (c < 128 && ((c < 64 ? low : high) >> c % 64 & 1));
}

/* Returns where the token ends that follows a string, begins at `at` and should be a number; `at`
 * if there is none. Everything that could belong to it does, so 0x1F and 1,234 are no numbers,
 * rather than 0 and 1. */
static inline ON_BOTH const unsigned char *field_token_end(const unsigned char *at,
                                                           const unsigned char *limit)
{
    const unsigned char *end = at;
    for (; end < limit; end++) {
        const unsigned char c = *end;
        if (number_is_digit(c))
            continue;
        if (field_ends_token(c))
            break;
        if ((c == ',' || c == '%') && !(limit - end > 1 && number_is_digit(end[1])))
            break;
    }
    return end > at && end[-1] == '.' ? end - 1 : end; /* the end of a sentence */
}

/* Returns the length of the byte order mark that a text begins with, or 0. */
size_t field_bom_len(const unsigned char *text, size_t len);

/* Returns the number, from 1, of the first column of the header [begin, end) that is called
 * field->name; 0 if there is none. */
int32_t field_column(const struct field *field, const unsigned char *begin,
                     const unsigned char *end);

/* Returns the length of the header that text[0..len) begins with, without its newline. */
size_t field_header_len(const struct field *field, const unsigned char *text, size_t len);

/* A record that counts as invalid. */
struct field_fault {
    size_t at;             /* where it begins in the text */
    enum field_found what; /* FOUND: its field is not a number */
    size_t from, len;      /* of the field; BROKEN: where; TOO_LONG: of a key, or 0, 0 */
};

/* Finds the first invalid record of text[0..len). False if there is none. Slow. Any thread. */
bool field_find_invalid(const struct field *field, const unsigned char *text, size_t len,
                        struct field_fault *fault);

#define FIELD_HINT_SIZE 96

/* Sets the hint to the option that was probably meant by a name, or to an empty string. It is
 * --field with a path if that leads to a value in the line; or --after with a string up to the
 * number, if the name is followed by quotes, blanks, a ':' or '=', and a number. */
void field_hint(const unsigned char *begin, const unsigned char *end, const char *name, size_t len,
                char hint[FIELD_HINT_SIZE]);

/* --- lists --- */

/* Lists of numbers: a field with a modifier, and a path with [] into JSON.
 *
 * A list is text such as "0.004, 0.012 : -": elements between commas, colons and semicolons, which
 * must be numbers, or "-" for none; in JSON, a string of these or an array. One that has an escape
 * is a single element, as is any other field. :each makes a sample of each element, :sum one of
 * their exact sum, :last one of the last element. A list without numbers is one invalid sample, and
 * so is a sum with a digit before that of 1e399 or behind that of 1e-400.
 *
 * A path with [] leads to each element of an array, from where its other steps go on. Where they
 * lead nowhere, and where there is no array, is one invalid sample; an empty array has none. */

#define LIST_TOKEN_SIZE (NUMBER_MAX + 1)

/* An array whose elements are walked through, and where the path goes on in each. */
struct list_level {
    struct json json;
    const struct json_step *begin, *end; /* the steps up to the next [] */
};

/* A field whose samples are read one by one. */
struct list {
    unsigned char *token;           /* set it: LIST_TOKEN_SIZE bytes, which get the next sample */
    size_t len;                     /* of that; perhaps it is no number; 0: it is none */
    const unsigned char *from, *to; /* what it was read from; NULL: it is missing */

    const struct field *field;
    bool is_first; /* no sample was read */
    unsigned depth;
    struct list_level levels[JSON_STEPS_MAX];
    bool has_more;                 /* each element of the list is a sample, */
    bool is_array, is_text;        /* which is an array of JSON, or text with separators */
    const unsigned char *at, *end; /* the elements to come, unless it is an array; NULL: none */
    struct json array;
};

/* Begins with a field [from, to), as field_find gives it; or with NULL, a field that is missing,
 * which is one sample. What it is given must outlive the list. */
void list_open(struct list *list, const struct field *field, const unsigned char *from,
               const unsigned char *to);

/* Reads the next sample. False if there is none. After number_prepare. */
bool list_next(struct list *list);

/* True if such a field has no samples, which are then not missing. */
bool list_is_empty(const struct field *field, const unsigned char *from, const unsigned char *to);

/* Whole records that are read from `at` on. */
struct record_text {
    const unsigned char *begin, *at, *limit;
};

/* The field with the key of a record, as field_find gives it; `from` is NULL if there is none. */
struct key_span {
    const unsigned char *from;
    size_t len;
};

/* --- keys --- */

/* The key of a record, for a result by key: a field, or what modifiers make of it. A record that
 * counts has no key, which differs from an empty one, if it is too long, lacks the field, has a
 * field of more than KEY_SIZE_MAX bytes, or one that should be a time and is none. */

#define KEY_SIZE_MAX FIELD_RECORD_MAX /* bytes of a field, as written */
#define KEY_MODIFIERS_MAX 4
#define KEY_PARTS_MAX 4 /* keys by which a record is counted together (key_parts_join) */
#define KEY_FIELDS_MAX (KEY_PARTS_MAX + 1) /* the weight follows the keys */

enum key_modifier_kind {
    KEY_CHARACTERS, /* some characters */
    KEY_ROUTE,      /* the route of a path */
    KEY_BUCKET,     /* the beginning of the bucket that a time is in (time.h) */
};

/* What is done with a text. A character is a byte that does not continue one of UTF-8, and those
 * after it that do. The first byte always begins a character. Before the beginning and past the end
 * there are no characters. */
struct key_modifier {
    enum key_modifier_kind kind;
    int32_t first, last; /* CHARACTERS: from 1, or negative from the end: -1 is the last one */
    uint32_t seconds;    /* BUCKET */
    bool is_fine;        /* BUCKET: made as fine as other offsets need (time_floor_twice) */
};

struct key {
    struct field field;
    struct key_modifier modifiers[KEY_MODIFIERS_MAX]; /* each is for what the one before made */
    unsigned modifier_count;
    bool is_weight; /* it is no key: its field is a weight (weight.h) */
};

/* The bytes of a key, any bytes. */
struct key_name {
    const unsigned char *bytes; /* NULL: that of records without a key */
    size_t len;
};

/* True if a field [from, to), as field_find gives it, may not be the key as it is. */
static inline bool key_is_part(const struct key *key, const unsigned char *from,
                               const unsigned char *to)
{
    if (key->modifier_count > 0 || from == to)
        return key->modifier_count > 0;
    const unsigned char last = to[-1]; /* of a colour: m or K */
    if (*from > '"' && last != 'm' && last != 'K')
        return false;
    const enum field_kind kind = key->field.kind;
    const bool is_quoted =
        *from == '"' && (kind == FIELD_CSV || kind == FIELD_JSON || kind == FIELD_LINE);
    return is_quoted || *from == NUMBER_ESCAPE || number_colour_begin(from, to) < to;
}

/* A field and its key, which is not in the field, as long as both are where they were. All zeros:
 * none. If the key is that of a clock, it does not depend on the last digits of the seconds, and on
 * a fraction after them. */
struct key_memo {
    const unsigned char *from, *to; /* the field; NULL: there is none */
    size_t seconds;                 /* where in it these digits begin; 0: there is no clock */
    unsigned digits;                /* how many they are, up to 2 */
    struct key_name name;
};

/* True if the field [from, to) has the key that the memo has. Perhaps false even so. */
bool key_memo_has(const struct key_memo *memo, const unsigned char *from, const unsigned char *to);

/* Returns the bytes of `scratch` that the key of a field of `len` bytes may take. */
static inline size_t key_scratch_size(size_t len)
{
    return len > TIME_TEXT_MAX ? len : TIME_TEXT_MAX;
}

/* Returns the content of such a field, without colours around it (number_colour_end): of a quoted
 * field of CSV (field_csv_text), of a string of JSON (json_decode) or logfmt (line_value_text) what
 * is in it. It is in the field, or in `scratch`, which has as many bytes as the field, or `max`: of
 * a longer one there may be only the first `max` bytes less two escapes. */
struct key_name key_content(const struct field *field, const unsigned char *from,
                            const unsigned char *to, size_t max, unsigned char *scratch);

/* Returns the key in such a field: what the modifiers make of its content. It is in the field, or
 * in `scratch`, which has key_scratch_size bytes; its bytes are NULL if a modifier needs a time,
 * and there is none. Sets *memo unless it is NULL. */
struct key_name key_of_field(const struct key *key, const unsigned char *from,
                             const unsigned char *to, unsigned char *scratch,
                             struct key_memo *memo);

/* Finds the first record of text[0..len) that has no key, among those that count as records of
 * `field`; or that has no weight, if the key is one. False if there is none, or memory is short.
 * Slow. Any thread. */
bool key_find_missing(const struct key *key, const struct field *field, const unsigned char *text,
                      size_t len, struct field_fault *fault);

/* Names of keys of several fields, such as status and path: the part of each field, one after the
 * other, and then the length of each but the last. So no two lists of parts have one name, and
 * whatever bytes a part has, nothing is escaped. A key of one field is its own only part. */

/* Returns the bytes of a name whose `count` parts have `len` bytes together. */
static inline size_t key_parts_size(unsigned count, size_t len)
{
    return len + (count - 1) * sizeof(uint32_t);
}

/* Writes a name of 1 to KEY_PARTS_MAX parts to `to`, which has key_parts_size bytes and is none of
 * the parts. Returns it. Any thread. */
struct key_name key_parts_join(const struct key_name *parts, unsigned count, unsigned char *to);

/* Returns part i of a name that was joined of `count` parts. Any thread. */
struct key_name key_parts_get(struct key_name name, unsigned count, unsigned i);

#endif
