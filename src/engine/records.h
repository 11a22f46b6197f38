/* Cuts a stream into chunks that hold whole records: values of a fixed size, or the tokens of a
 * text.
 */
#ifndef GPUHISTO_RECORDS_H
#define GPUHISTO_RECORDS_H

#include "src/histogram/number.h"

#include <stdbool.h>
#include <stddef.h>

#define RECORD_SIZE_MAX 512 /* bytes of a value, or of the values of all channels */
#define RECORD_TOKENS 0     /* instead of a size: tokens, which end before white space */

/* Memory that a chunk of tokens has beyond its cap, bytes: for the one that it is cut in. */
#define RECORDS_ROOM ((size_t)NUMBER_MAX + 1)

/* What a chunk of records of a size (as in struct records) has beyond its cap, bytes. */
static inline size_t records_room(size_t size)
{
    return size == RECORD_TOKENS ? RECORDS_ROOM : 0;
}

/* How far a stream was cut that is read in order. */
struct records {
    size_t size;    /* bytes of a value, or of one of each channel, 1 to RECORD_SIZE_MAX, or
                       RECORD_TOKENS */
    bool too_long;  /* the stream continues with the rest of a token that is longer than NUMBER_MAX
                     * and was given out without it: the rest is blanked */
    size_t cut_len; /* bytes in cut: the beginning of a record that waits for its end */
    unsigned char cut[NUMBER_MAX];
};

/* Moves the beginning of a record that waits for its end to data, which has room for a value, or
 * for NUMBER_MAX bytes. Returns its length. */
size_t records_resume(struct records *records, unsigned char *data);

/* Cuts data[0..len) after its last whole record; the rest waits for records_resume. At the end of a
 * stream a token is whole. Returns the length up to the cut. */
size_t records_cut(struct records *records, unsigned char *data, size_t len, bool at_end);

/* Returns how many bytes at the end of data[0..len) belong to a record that may not be whole yet.
 * The last NUMBER_MAX + 1 bytes are enough to know. A token longer than NUMBER_MAX counts as whole,
 * as what follows of it will be blanked. */
size_t records_tail(struct records *records, const unsigned char *data, size_t len);

/* The length of the part of a token that data[0..len) begin with: up to the first white space. */
size_t records_head(const unsigned char *data, size_t len);

/* Makes whole tokens of a piece of a text, data[1..1 + piece), where a token belongs to the piece
 * that it begins in. data[0] is the byte before the piece, and up to NUMBER_MAX bytes after it
 * follow, to data[len). Blanks data[0] and the end of a token from before. Returns the length up to
 * the end of the last token. */
size_t records_of_piece(unsigned char *data, size_t piece, size_t len);

#endif
