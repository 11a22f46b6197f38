/* SPDX-License-Identifier: MIT */
/* The kind of a row of a table, and its texts. */
#ifndef GPUHISTO_ROW_LABEL_H
#define GPUHISTO_ROW_LABEL_H

#include <stddef.h>

/* The kinds of rows. All but bins are the table's "other". */
enum row_kind {
    ROW_KIND_BIN,
    ROW_KIND_BELOW,   /* numbers below the first edge */
    ROW_KIND_ABOVE,   /* numbers from the last edge on */
    ROW_KIND_INVALID, /* not a number, or not UTF-8 */
    ROW_KIND_REST,    /* keys that have no row of their own */
    ROW_KINDS,
};

#define ROW_TEXT 64 /* bytes of each text in a label, with its end; block names have up to 48 */

/* The texts of a row, empty where a row has none. */
struct row_label {
    enum row_kind kind;
    size_t next;         /* the row after this one, if the mode uses that; otherwise 0 */
    char name[ROW_TEXT]; /* column 1 of a table: "a-d", "0x41", a lower edge, "invalid" */
    char lo[ROW_TEXT];   /* the lower edge or first value: a number, or "-inf" */
    char hi[ROW_TEXT];   /* the upper edge, which is not in the row, or the last value, which is */
    char note[ROW_TEXT]; /* column 3 of a table: the upper edge; of bytes the character */
};

/* Sets the label of the byte values, or code points, from lo to hi, without name and note. */
void row_label_set(struct row_label *label, unsigned lo, unsigned hi);

/* Writes a byte as tables show it: itself, as C escapes it, or ' ' in quotes. */
void byte_show(unsigned byte, char text[ROW_TEXT]);

#endif
