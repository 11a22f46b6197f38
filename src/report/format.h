/* How a table is written: a format is given rows, which are chosen, in order and named already.
 *
 * To add one: a line in formats.def, and a file format_NAME.c with its struct format, in
 * src/local.mk. */
#ifndef GPUHISTO_FORMAT_H
#define GPUHISTO_FORMAT_H

#include "rows.h"
#include "src/histogram/facts.h"
#include "writer.h"

/* What a format knows of the table beside its rows. */
struct table {
    struct writer *out;
    const struct histogram *histogram; /* the mode's name and columns, the type of values */
    struct totals totals;
    bool header;    /* a first row with the columns' names is wanted; for formats that can */
    bool has_facts; /* set and looked at by formats that must close what they began with them */
    size_t written; /* 0 when a list begins: how much of it is written is the format's to count */
};

/* A quantile as text: numbers, or "inf", "-inf" and "nan". */
struct quantile_row {
    char q[ROW_TEXT];     /* 0 to 1 */
    char value[ROW_TEXT]; /* the quantile of that order */
    char error[ROW_TEXT]; /* its greatest relative error */
};

/* Functions are called in this order. They write to table->out, where errors are kept. With --stats
 * facts take the place of what comes before them, unless the format has_both. */
struct format {
    bool has_both;
    void (*begin)(struct table *table);
    void (*row)(struct table *table, const struct row *row); /* once for each row */
    void (*begin_quantiles)(struct table *table);            /* if there are any */
    void (*quantile)(struct table *table, const struct quantile_row *quantile);
    void (*begin_facts)(struct table *table); /* with --stats */
    void (*fact)(struct table *table, const struct fact *fact);
    void (*end)(struct table *table);
};

/* All formats, and their names, which end with NULL: by the same index, in the order of
 * formats.def. */
extern const struct format *const format_table[];
extern const char *const format_names[];

#define FORMAT(name) extern const struct format format_##name;
#include "src/report/formats.def"
#undef FORMAT

#endif
