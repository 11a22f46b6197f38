/* SPDX-License-Identifier: MIT */
/* The ends of CSV records in text that is read in order. */
#include "field.h"
#include "src/base/byte_masks.h"

#include <string.h>

/* Finds a byte in [at, end); end if it is not there. */
static const unsigned char *csv_find_byte(const unsigned char *at, const unsigned char *end,
                                          unsigned char byte)
{
    const unsigned char *found = at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

/* Where a scan that is not in a quoted field goes on: after the quote that opens one, or at len, if
 * there is none; *newline is set to the byte after the last newline before that. */
static size_t scan_plain(unsigned char separator, const unsigned char *data, size_t from,
                         size_t len, enum csv_state *state, size_t *newline)
{
    size_t at = from;
    bool opens = false;
    while (!opens && at < len) {
        size_t quote = (size_t)(csv_find_byte(data + at, data + len, '"') - data);
        unsigned char before = quote > from ? data[quote - 1] : '"';
        bool starts =
            quote > from ? before == separator || before == '\n' : *state == CSV_FIELD_START;
        opens = quote < len && starts;
        at = quote < len ? quote + 1 : len;
    }
    const unsigned char *last = memrchr(data + from, '\n', at - from);
    if (last)
        *newline = (size_t)(last - data) + 1;
    if (at > from)
        *state = opens                                               ? CSV_QUOTED
                 : data[at - 1] == separator || data[at - 1] == '\n' ? CSV_FIELD_START
                                                                     : CSV_PLAIN;
    return at;
}

/* True if a byte is not what may follow the closing quote of a field. */
static bool is_text_after_quote(unsigned char separator, unsigned char byte)
{
    return byte != separator && byte != '\n' && byte != '\r';
}

/* As field_scan_csv, a field at a time. */
static size_t scan_fields(unsigned char separator, const unsigned char *data, size_t from,
                          size_t len, struct csv_scan *scan)
{
    size_t newline = 0;
    for (size_t at = from; at < len;) {
        if (scan->state == CSV_QUOTED) {
            at = (size_t)(csv_find_byte(data + at, data + len, '"') - data) + 1;
            scan->state = at <= len ? CSV_QUOTE : CSV_QUOTED;
        } else if (scan->state == CSV_QUOTE) {
            bool doubled = data[at] == '"';
            scan->is_odd |= !doubled && is_text_after_quote(separator, data[at]);
            scan->state = doubled ? CSV_QUOTED : CSV_PLAIN;
            at += doubled;
        } else {
            at = scan_plain(separator, data, at, len, &scan->state, &newline);
        }
    }
    return newline;
}

#define BLOCK 64

/* As field_scan_csv, of the BLOCK bytes at `from`, by the parity of quotes. False, and nothing is
 * set, if there is a quote where none should be. */
static bool scan_block(unsigned char separator, const unsigned char *data, size_t from,
                       struct csv_scan *scan, size_t *newline)
{
    const unsigned char *at = data + from, last = at[BLOCK - 1];
    const uint64_t quotes = byte_mask_equal(at, '"'), newlines = byte_mask_equal(at, '\n');
    const bool begins_inside = scan->state == CSV_QUOTED, may_open = scan->state != CSV_PLAIN;
    uint64_t inside = begins_inside ? UINT64_MAX : 0;
    if (quotes) {
        const uint64_t starts = quotes | newlines | byte_mask_equal(at, separator);
        inside ^= mask_parity(quotes);
        if (quotes & inside & ~(starts << 1 | may_open))
            return false;
        const uint64_t after = (quotes & ~inside) << 1 & ~starts;
        if (after)
            scan->is_odd |= (after & ~byte_mask_equal(at, '\r')) != 0;
    }
    if (scan->state == CSV_QUOTE && *at != '"')
        scan->is_odd |= is_text_after_quote(separator, *at);
    if (newlines)
        scan->newlines += mask_count(newlines);
    if (newlines & ~inside)
        *newline = from + BLOCK - (size_t)__builtin_clzll(newlines & ~inside);
    scan->state = inside >> 63                        ? CSV_QUOTED
                  : last == '"'                       ? CSV_QUOTE
                  : last == '\n' || last == separator ? CSV_FIELD_START
                                                      : CSV_PLAIN;
    return true;
}

/* The same a field at a time, up to len. */
static void scan_rest(unsigned char separator, const unsigned char *data, size_t from, size_t len,
                      struct csv_scan *scan, size_t *newline)
{
    size_t last = scan_fields(separator, data, from, len, scan);
    scan->newlines += byte_count(data + from, len - from, '\n');
    *newline = last ? last : *newline;
}

size_t field_scan_csv(unsigned char separator, const unsigned char *data, size_t from, size_t len,
                      struct csv_scan *scan)
{
    size_t newline = 0, at = from;
    for (; len - at >= BLOCK; at += BLOCK)
        if (!scan_block(separator, data, at, scan, &newline))
            scan_rest(separator, data, at, at + BLOCK, scan, &newline);
    scan_rest(separator, data, at, len, scan, &newline);
    return newline;
}

/* Notes a field with newlines whose closing quote is followed by text other than blanks. */
static void check_text_after(unsigned char separator, unsigned char byte, struct csv_scan *scan)
{
    bool is_text = is_text_after_quote(separator, byte) && byte != ' ' && byte != '\t';
    if (!is_text || scan->newlines == scan->opened || scan->matched > 0)
        return;
    scan->unmatched = scan->opened;
    scan->matched = scan->newlines;
}

size_t field_end_csv(unsigned char separator, const unsigned char *data, size_t len,
                     struct csv_scan *scan)
{
    for (size_t at = 0; at < len; at++) {
        const unsigned char byte = data[at];
        if (scan->state == CSV_QUOTED) {
            scan->state = byte == '"' ? CSV_QUOTE : CSV_QUOTED;
            scan->newlines += byte == '\n';
            continue;
        }
        if (byte == '\n')
            return at;
        bool opens = byte == '"' && scan->state != CSV_PLAIN; /* or it is half of a doubled one */
        if (opens && scan->state == CSV_FIELD_START)
            scan->opened = scan->newlines;
        if (!opens && scan->state == CSV_QUOTE)
            check_text_after(separator, byte, scan);
        scan->state = opens ? CSV_QUOTED : byte == separator ? CSV_FIELD_START : CSV_PLAIN;
    }
    return len;
}
