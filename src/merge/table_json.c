/* SPDX-License-Identifier: MIT */
#include "src/base/library.h"
#include "table_parser.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes without any value: no table has so many, as the longest is a key whose bytes are all
 * escaped.
 */
#define QUIET_MAX ((uint64_t)8 << 20)

/* Left out, as clang-format breaks the list otherwise each time that it is run. */
/* clang-format off */
#define FUNCTIONS(FUNCTION) \
    FUNCTION(yajl_alloc) \
    FUNCTION(yajl_complete_parse) \
    FUNCTION(yajl_config) \
    FUNCTION(yajl_free) \
    FUNCTION(yajl_free_error) \
    FUNCTION(yajl_get_bytes_consumed) \
    FUNCTION(yajl_get_error) \
    FUNCTION(yajl_parse)
/* clang-format on */

LIBRARY(libyajl, LIBYAJL_FILE, FUNCTIONS)

int table_json_load(struct reason *why)
{
    return libyajl_load(why);
}

/* --- the library, which uses memory without checking whether it got any --- */

static void *json_reallocate(void *arg, void *old, size_t size)
{
    struct table_json *json = arg;
    void *memory = realloc(old, size);
    if (!memory)
        longjmp(json->no_memory, 1);
    return memory;
}

static void *json_allocate(void *arg, size_t size)
{
    return json_reallocate(arg, NULL, size);
}

static void json_release(void *arg, void *memory)
{
    (void)arg;
    free(memory);
}

static void json_make_parser(struct table_json *json)
{
    yajl_alloc_funcs memory = {json_allocate, json_reallocate, json_release, json};
    json->parser = libyajl.yajl_alloc(&json_callbacks, &memory, json);
    libyajl.yajl_config(json->parser, yajl_allow_multiple_values, 1);
}

/* Makes the library's message the reason. */
static void json_copy_error(struct table_json *json)
{
    unsigned char *error = libyajl.yajl_get_error(json->parser, 0, NULL, 0);
    const char *text = (const char *)error;
    reason_set(&json->why, "not JSON: %.*s", (int)strcspn(text, "\n"), text);
    libyajl.yajl_free_error(json->parser, error);
}

/* Lets the library read text, or end if that is NULL. The reason is in json->why. If memory is
 * short, that is as if a callback had refused, and the run fails: what the library has then is in
 * an unknown state, and is left to the end of the process. */
static yajl_status json_parse(struct table_json *json, const unsigned char *text, size_t len)
{
    if (setjmp(json->no_memory) != 0) {
        json->parser = NULL;
        reason_set(&json->why, "out of memory");
        return yajl_status_client_canceled;
    }
    if (!json->parser)
        json_make_parser(json);
    const yajl_status status = text ? libyajl.yajl_parse(json->parser, text, len)
                                    : libyajl.yajl_complete_parse(json->parser);
    if (status == yajl_status_error)
        json_copy_error(json);
    return status;
}

/* --- a file --- */

struct table_json *table_json_open(const struct table_reader *reader)
{
    struct table_json *json = calloc(1, sizeof *json);
    if (json)
        json->reader = *reader;
    return json;
}

/* Says what is wrong, and at which byte, unless it is about a whole table. -1. */
static int json_explain(struct table_json *json, yajl_status status, struct reason *why)
{
    const uint64_t at =
        json->consumed + (json->parser ? libyajl.yajl_get_bytes_consumed(json->parser) : 0);
    if (status == yajl_status_client_canceled && json->tables > 0 && json->depth == 0)
        *why = json->why;
    else
        reason_set(why, "byte %" PRIu64 ": %.900s", at, json->why.text);
    return -1;
}

/* Reads known rows that follow the one that has just ended, and returns how many bytes they have.
 * The library does not notice: after a row, a comma and a row lead back to where it is. */
static size_t json_read_known(struct table_json *json, const char *text, size_t len)
{
    struct read_table *table = json->reader.table;
    const struct known_rows *known = json->reader.known;
    size_t done = 0, row_len;
    uint64_t count;
    while ((row_len = known_rows_read(known, text + done, len - done, &json->row, &count)) > 0) {
        /* What cannot be added is left to the library, so that there is one way to fail. */
        if (read_table_add_known(table, json->row, count, &json->why) != 0)
            break;
        done += row_len;
    }
    json->finder.next = table->rows[table->row_count - 1].row + 1;
    json->row = 0;
    return done;
}

/* Lets the library read all of text[0..len). While rows are known it reads only up to the end of
 * the next object, so that json->row tells whether this slice ends with a row. As the library reads
 * a string that is cut short anew each time, slices grow as long as none ends. Returns the bytes;
 * or 0 with a reason. */
static size_t json_read_slice(struct table_json *json, const char *text, size_t len,
                              struct reason *why)
{
    const size_t skip = json->open < len ? (size_t)json->open : len;
    const char *end = json->reader.known->rows > 0 ? memchr(text + skip, '}', len - skip) : NULL;
    const size_t slice = end ? (size_t)(end - text) + 1 : len;
    json->is_quiet = true;
    json->row = 0;
    const yajl_status status = json_parse(json, (const unsigned char *)text, slice);
    if (!end || skip > 0)
        json->row = 0; /* of a row before the slice's end */
    json->open = json->is_quiet ? json->open + slice : 0;
    if (status == yajl_status_ok)
        return slice;
    json_explain(json, status, why);
    return 0;
}

int table_json_read(struct table_json *json, const unsigned char *text, size_t len,
                    struct reason *why)
{
    const char *at = (const char *)text, *const end = at + len;
    while (at < end) {
        size_t done = json->row > 0 ? json_read_known(json, at, (size_t)(end - at)) : 0;
        if (done == 0)
            done = json_read_slice(json, at, (size_t)(end - at), why);
        if (done == 0)
            return -1;
        at += done;
        json->consumed += done;
        if (!json->is_quiet)
            json->last = json->consumed;
        if (json->consumed - json->last > QUIET_MAX)
            return reason_set(why, "byte %" PRIu64 ": more than 8 MiB without a value", json->last);
    }
    return 0;
}

int table_json_end(struct table_json *json, struct reason *why)
{
    /* A newline ends a number, and shows that a string or a word has no end. */
    yajl_status status = json_parse(json, (const unsigned char *)"\n", 1);
    const bool is_open = status == yajl_status_error;
    if (status == yajl_status_ok)
        status = json_parse(json, NULL, 0);
    if (status == yajl_status_client_canceled)
        return json_explain(json, status, why);
    if (is_open || (status != yajl_status_ok && json->last > 0) || json->depth > 0)
        return reason_set(why, "byte %" PRIu64 ": the table is truncated", json->consumed);
    if (json->tables == 0)
        return reason_set(why, "there is no table");
    return 0;
}

void table_json_close(struct table_json *json)
{
    if (json && json->parser)
        libyajl.yajl_free(json->parser);
    free(json);
}
