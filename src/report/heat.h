/* SPDX-License-Identifier: MIT */
/* A heat map: numbers by key, a row for each key and a column for each bin. All keys have the same
 * bins, which are those that a picture of all samples together would have, or as many as there is
 * room for. */
#ifndef GPUHISTO_HEAT_H
#define GPUHISTO_HEAT_H

#include "groups.h"
#include "picture.h"
#include "report.h"
#include "writer.h"

/* Rows of the histogram, which follow each other. */
struct heat_column {
    size_t begin, end;
    char label[PICTURE_LABEL]; /* of the first one */
};

struct heat {
    struct writer *out;
    const struct report_options *options;
    const struct groups *groups;
    char *name; /* memory for a name */
    struct heat_column *columns;
    size_t count;       /* of columns */
    size_t columns_max; /* how many there may be, unless that many more are not bins */
    uint64_t max;       /* samples of a group, at most */
    uint64_t largest;   /* cell of all; only if the format needs it */

    /* The group that is being written. */
    size_t group;
    uint64_t samples; /* with those in no column */
    uint64_t *cells;  /* a count for each column */

    /* Set by the format: characters of names, counts and of a cell. */
    size_t name_width, count_width, cell_width;
    bool utf8;
};

/* The functions of a format that writes heat maps. begin is called once, and row once for each
 * group. */
struct heat_format {
    bool needs_largest;
    size_t (*columns_max)(
        struct heat *heat); /* returns how many columns there may be, at least one */
    void (*begin)(struct heat *heat);
    void (*row)(struct heat *heat);
};

/* Writes the heat map of all groups, which are keys. `names` are theirs. It uses the tally, which
 * has blocks, as memory. Errors stay with the writer. */
void heat_write(struct writer *out, const struct report_options *options,
                const struct histogram_spec *spec, const struct row_names *names,
                struct tally *tally);

extern const struct heat_format heat_plot, heat_pgm; /* format_heat.c */

#endif
