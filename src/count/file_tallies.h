/* SPDX-License-Identifier: MIT */
/* Samples and counts of each FILE, for --each. Engines count one FILE after the other into a table
 * of their own, and move what a table holds to the FILE before they go on with another one.
 *
 * Most counts of a small FILE are 0, and there may be very many FILEs: a tally is kept as a text of
 * bytes, for each count that is not 0 how many rows were passed over and the count, both as
 * integers of 7 bits a byte. */
#ifndef GPUHISTO_FILE_TALLIES_H
#define GPUHISTO_FILE_TALLIES_H

#include "tally.h"

#include <stdbool.h>
#include <stddef.h>

struct file_tallies;

/* All-zero tallies for so many FILEs, numbered from 0, and by so many histograms (at least one),
 * which have tallies of their own: all further functions but those that say so are about those of
 * one. These are the first one's. NULL if memory is short. */
struct file_tallies *file_tallies_open(size_t files, unsigned histograms);

/* The tallies of the same FILEs by the next histogram; NULL after the last one, and for NULL. */
struct file_tallies *file_tallies_also(const struct file_tallies *files);

/* Frees them, and those by all further histograms; does nothing with NULL. */
void file_tallies_close(struct file_tallies *files);

/* Moves the samples, bytes, counts and moments of a tally to a FILE: adds them there, and leaves
 * zeros. Newlines stay. The tally has no blocks. If memory is short, counts of the FILE are
 * lost, which file_tallies_complete tells. Any thread; the tally is the caller's own. */
void file_tallies_move(struct file_tallies *files, size_t file, struct tally *tally);

/* Makes a tally that of a FILE: its samples, bytes, counts and moments, and marks its blocks, which
 * it must have. Newlines stay. The tally is all zeros, or was made that of another FILE
 * before. Not while others are moved. */
void file_tallies_load(const struct file_tallies *files, size_t file, struct tally *tally);

/* Notes that counts are missing, because memory was short. Any thread. */
void file_tallies_lose(struct file_tallies *files);

/* Whether no tally was lost, of all these histograms. */
bool file_tallies_complete(const struct file_tallies *files);

/* The counts of a row, of all FILEs together. Not while others are moved. */
uint64_t file_tallies_count_of(const struct file_tallies *files, size_t row);

/* How many samples there are of all FILEs together, if all are in one row; 0 if others have some.
 * Not while others are moved. */
uint64_t file_tallies_all_in(const struct file_tallies *files, size_t row);

/* How many FILEs there are. */
size_t file_tallies_count(const struct file_tallies *files);

#endif
