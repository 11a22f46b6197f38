/* SPDX-License-Identifier: MIT */
/* Samples and counts of each file, for --each. Engines count one file after the other into a table
 * of their own, and move what it contains to the file before they count another one.
 *
 * A small file has few counts, and there may be very many files. So a tally is kept as a text of
 * bytes: for each count that is not 0 the number of rows passed over, and the count, both as
 * integers of 7 bits a byte. */
#ifndef GPUHISTO_FILE_TALLIES_H
#define GPUHISTO_FILE_TALLIES_H

#include "tally.h"

#include <stdbool.h>
#include <stddef.h>

struct file_tallies;

/* Makes all-zero tallies of files, numbered from 0, by each of so many histograms, at least one,
 * and returns those by the first. Other functions are about the tallies by one histogram. NULL if
 * memory is short. */
struct file_tallies *file_tallies_open(size_t files, unsigned histograms);

/* Returns the tallies of the same files by the next histogram; NULL after the last one, and for
 * NULL. */
struct file_tallies *file_tallies_also(const struct file_tallies *files);

/* Frees the tallies and those by all further histograms; does nothing with NULL. */
void file_tallies_close(struct file_tallies *files);

/* Adds the samples, bytes, counts and moments of a tally without blocks to those of a file, and
 * makes them zero. If memory is short, counts of the file are lost (file_tallies_complete). Any
 * thread; the tally belongs to the caller. */
void file_tallies_move(struct file_tallies *files, size_t file, struct tally *tally);

/* Sets the samples, bytes, counts and moments of a tally to those of a file, and marks its blocks,
 * which it must have. The tally is all zeros, or has those of another file. Not while others are
 * moved. */
void file_tallies_load(const struct file_tallies *files, size_t file, struct tally *tally);

/* Records that counts are lost, as memory was short. Any thread. */
void file_tallies_lose(struct file_tallies *files);

/* True if nothing was lost, by any of these histograms. */
bool file_tallies_complete(const struct file_tallies *files);

/* Returns the sum of the counts of a row of all files. Not while others are moved. */
uint64_t file_tallies_count_of(const struct file_tallies *files, size_t row);

/* Returns the number of samples of all files if all are in one row, or 0. Not while others are
 * moved. */
uint64_t file_tallies_all_in(const struct file_tallies *files, size_t row);

/* Returns the number of files. */
size_t file_tallies_count(const struct file_tallies *files);

#endif
