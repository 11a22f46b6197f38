/* SPDX-License-Identifier: MIT */
/* What samples of several channels add to a table: a count for each of them. */
#ifndef GPUHISTO_CHANNELS_H
#define GPUHISTO_CHANNELS_H

#include "format.h"

/* The column of the mode's that has the count: there is one for each channel instead. */
#define COUNT_COLUMN 1

/* Writes the names of these columns, with `between` between them. */
void channels_write_names(struct table *table, char between);

/* Writes the names of the columns that say whose statistics a row has: of which file, and channel.
 */
void channels_write_keys(struct table *table, char between);

/* Writes the counts of a row in these columns. */
void channels_write_counts(struct table *table, const struct row *row, char between);

/* The totals of one channel, from 0. */
struct totals channel_totals(const struct table *table, unsigned channel);

#endif
