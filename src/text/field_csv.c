/* SPDX-License-Identifier: MIT */
/* Finds the ends of records of CSV, in text that is read in order. */
#include "field.h"
#include "src/base/byte_masks.h"

/* A text that is scanned, and what was found. */
struct scanned {
    const unsigned char *data;
    unsigned char separator;
    struct csv_scan *scan;
    size_t newline; /* the offset after the last newline that ends a record; 0: none yet */
};

/* True if a byte may not follow the closing quote of a field. */
static bool is_text_after_quote(unsigned char separator, unsigned char byte)
{
    return byte != separator && byte != '\n' && byte != '\r';
}

/* Returns the offset of the first quote in [from, to), or `to`. */
static size_t find_quote(const struct scanned *text, size_t from, size_t to)
{
    const unsigned char *quote = from < to ? memchr(text->data + from, '"', to - from) : NULL;
    return quote ? (size_t)(quote - text->data) : to;
}

/* Scans from a place that is not in a quoted field. Returns the offset after the quote that opens
 * one, or `to`. */
static size_t scan_plain(struct scanned *text, size_t from, size_t to)
{
    const unsigned char *data = text->data, separator = text->separator;
    size_t at = from;
    bool opens = false;
    while (!opens && at < to) {
        const size_t quote = find_quote(text, at, to);
        const bool starts = quote > from ? data[quote - 1] == separator || data[quote - 1] == '\n'
                                         : text->scan->state == CSV_FIELD_START;
        opens = quote < to && starts;
        at = quote < to ? quote + 1 : to;
    }
    const unsigned char *last = memrchr(data + from, '\n', at - from);
    if (last)
        text->newline = (size_t)(last - data) + 1;
    if (at > from)
        text->scan->state = opens                                               ? CSV_QUOTED
                            : data[at - 1] == separator || data[at - 1] == '\n' ? CSV_FIELD_START
                                                                                : CSV_PLAIN;
    return at;
}

/* Scans [from, to) a field at a time. */
static void scan_fields(struct scanned *text, size_t from, size_t to)
{
    const unsigned char *data = text->data;
    struct csv_scan *scan = text->scan;
    scan->newlines += byte_count(data + from, to - from, '\n');
    for (size_t at = from; at < to;) {
        if (scan->state == CSV_QUOTED) {
            at = find_quote(text, at, to) + 1;
            scan->state = at <= to ? CSV_QUOTE : CSV_QUOTED;
        } else if (scan->state == CSV_QUOTE) {
            bool doubled = data[at] == '"';
            scan->is_odd |= !doubled && is_text_after_quote(text->separator, data[at]);
            scan->state = doubled ? CSV_QUOTED : CSV_PLAIN;
            at += doubled;
        } else {
            at = scan_plain(text, at, to);
        }
    }
}

#define BLOCK 64

/* Scans BLOCK bytes by the parity of quotes. False, and nothing is changed, if there is a quote
 * where none should be. */
static bool scan_block(struct scanned *text, size_t from)
{
    struct csv_scan *scan = text->scan;
    const unsigned char *at = text->data + from, last = at[BLOCK - 1], separator = text->separator;
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
        text->newline = from + BLOCK - (size_t)__builtin_clzll(newlines & ~inside);
    scan->state = inside >> 63                        ? CSV_QUOTED
                  : last == '"'                       ? CSV_QUOTE
                  : last == '\n' || last == separator ? CSV_FIELD_START
                                                      : CSV_PLAIN;
    return true;
}

size_t field_scan_csv(unsigned char separator, const unsigned char *data, size_t from, size_t len,
                      struct csv_scan *scan)
{
    struct scanned text = {.data = data, .separator = separator, .scan = scan};
    size_t at = from;
    for (; len - at >= BLOCK; at += BLOCK)
        if (!scan_block(&text, at))
            scan_fields(&text, at, at + BLOCK);
    scan_fields(&text, at, len);
    return text.newline;
}

/* Records a field with newlines whose closing quote is followed by text other than blanks. */
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
