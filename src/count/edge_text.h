/* SPDX-License-Identifier: MIT */
/* Edges and samples as tables show them, read back. */
#ifndef GPUHISTO_EDGE_TEXT_H
#define GPUHISTO_EDGE_TEXT_H

#include "binning.h"

/* Reads all of a text as a whole number of at most 38 digits, with a sign or without. */
bool edge_read_whole(const char *text, whole *value);

/* Reads all of a text as a decimal number, "inf" or "-inf": the nearest double. What is too large
 * for one is refused. */
bool edge_read(const char *text, double *value);

#endif
