/* SPDX-License-Identifier: MIT */
/* Samples and counts of each file, or of each block of a file, for --each. Engines count one block
 * after the other into a table of their own, and move what it contains to the block before they
 * count another one.
 *
 * A small file, or a block, has few counts, and there may be very many. So a tally is kept as a
 * text of bytes: for each count that is not 0 the number of rows passed over, and the count, both
 * as integers of 7 bits a byte, or as one integer if the count is small. */
#ifndef GPUHISTO_FILE_TALLIES_H
#define GPUHISTO_FILE_TALLIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct file_tallies;
struct histogram_spec;
struct tally;

/* The division of files into blocks. */
struct file_division {
    uint64_t
        block_size;     /* bytes of content in a block, but for the last one; 0: each file is one */
    uint64_t max_bytes; /* that the blocks by one histogram may take; only if there is a size */
};

/* A block of a file. */
struct file_block {
    size_t file;     /* from 0 */
    uint64_t number; /* among the blocks of the file, from 0; 0 if a file is one block */
    uint64_t first;  /* bytes of content before block 0: the same for all blocks of a file */
};

/* Makes all-zero tallies of files, numbered from 0, by each of so many histograms, at least one,
 * and returns those by the first. Other functions are about the tallies by one histogram. NULL if
 * memory is short. */
struct file_tallies *file_tallies_open(size_t files, unsigned specs, struct file_division division);

/* Returns the tallies of the same files by the next histogram; NULL after the last one, and for
 * NULL. */
struct file_tallies *file_tallies_also(const struct file_tallies *files);

/* Frees the tallies and those by all further histograms; does nothing with NULL. */
void file_tallies_close(struct file_tallies *files);

/* Returns the size of a block; 0: each file is one. */
uint64_t file_tallies_block_size(const struct file_tallies *files);

/* Adds the samples, bytes, counts and moments of a tally without blocks to those of a block of a
 * file, and makes them zero. If memory is short, or there is too much, counts are lost
 * (file_tallies_check). Any thread; the tally belongs to the caller. */
void file_tallies_move(struct file_tallies *files, struct file_block block, struct tally *tally);

/* Records that counts are lost, as memory was short. Any thread. */
void file_tallies_lose(struct file_tallies *files);

/* 0, or -1 with the error why counts were lost, by any of these histograms, so that no table is
 * right. NULL: there are none. Any thread. */
int file_tallies_check(const struct file_tallies *files, struct error *error);

/* Numbers the results from 0, in the order of the files: one for each file, or one for each of its
 * blocks up to the last one that was moved. By all of these histograms, once all is moved; before
 * that there is none. */
void file_tallies_end(struct file_tallies *files);

/* --- what follows is for results that were numbered --- */

/* Returns the number of results. */
size_t file_tallies_count(const struct file_tallies *files);

/* Returns the file that a result is of, and how many bytes of its content come before the block. */
struct file_position {
    size_t file;
    uint64_t offset;
} file_tallies_position(const struct file_tallies *files, size_t result);

/* Sets the samples, bytes, counts and moments of a tally to those of a result, and marks its
 * blocks, which it must have. The tally is all zeros, or has those of another result. */
void file_tallies_load(const struct file_tallies *files, size_t result, struct tally *tally);

/* Returns the sum of the counts of a row of all files. */
uint64_t file_tallies_count_of(const struct file_tallies *files, size_t row);

/* Returns the number of samples of all files. */
uint64_t file_tallies_samples(const struct file_tallies *files);

#endif
