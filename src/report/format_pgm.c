/* SPDX-License-Identifier: MIT */
/* An image of pairs of bytes, in the format PGM of Netpbm: a pixel for each pair, 256 by 256, with
 * the first byte as the line and the second as the column. A pixel has 16 bits and grows with the
 * logarithm of the count, as counts of pairs span many orders of magnitude. */
#include "format.h"
#include "heat.h"

#include <inttypes.h>
#include <math.h>

#define PIXEL_MAX 65535

static void pgm_measure(struct table *table, const struct row *row)
{
    if (row->count > table->picture.largest)
        table->picture.largest = row->count;
}

static void pgm_begin(struct table *table)
{
    struct writer *out = table->out;
    writer_text(out, "P5\n");
    if (table->groups) {
        writer_text(out, "# ");
        format_name_group(table);
        writer_char(out, '\n');
    }
    writer_format(out, "# pairs %" PRIu64 ", largest count %" PRIu64 "\n", table->totals.samples,
                  table->picture.largest);
    writer_text(out, "# line: first byte; column: second byte\n"
                     "# pixel: 65535 * log(1 + count) / log(1 + largest count)\n");
    writer_format(out, "256 256\n%d\n", PIXEL_MAX);
}

/* Writes 16 bits, the higher byte first. */
static void pgm_pixel(struct table *table, unsigned pixel)
{
    writer_char(table->out, (char)(unsigned char)(pixel >> 8));
    writer_char(table->out, (char)(unsigned char)(pixel & 0xff));
    table->written++;
}

/* Writes black pixels up to this pair, for those that have no row. */
static void pgm_fill(struct table *table, size_t upto)
{
    while (table->written < upto)
        pgm_pixel(table, 0);
}

static void pgm_row(struct table *table, const struct row *row)
{
    const double largest = log1p((double)table->picture.largest);
    pgm_fill(table, row->index);
    pgm_pixel(table, (unsigned)lround(PIXEL_MAX * (log1p((double)row->count) / largest)));
}

static void pgm_end(struct table *table)
{
    pgm_fill(table, PAIR_ROWS);
}

const struct format format_pgm = {
    .name = "pgm",
    .is_binary = true,
    .mode = &mode_pairs,
    .heat = &heat_pgm,
    .measure = pgm_measure,
    .begin = pgm_begin,
    .row = pgm_row,
    .end = pgm_end,
};
