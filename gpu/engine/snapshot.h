/* SPDX-License-Identifier: MIT */
/* Snapshots: copies of the device's histogram in host memory, and the proof that they can be
 * believed.
 *
 * The snapshot after chunk k holds chunks 1 to k. Once it has arrived, and can be believed, it
 * becomes `good`, the last good tally. If the device is lost, `good` is what was counted there.
 *
 * A snapshot of many counts takes long to copy and to check. Where chunks come fast, only every few
 * of them have one. For text the others have only the end, the counts of invalid samples and of
 * newlines, which tell what is in the chunk.
 *
 * For characters a snapshot has the pages of rows that are in use (device.h), as many as are
 * expected. If there are more, it is not whole and is dropped: one with more pages follows. Few of
 * these are under way at a time, in memory that they share. */
#ifndef GPUHISTO_GPU_ENGINE_SNAPSHOT_H
#define GPUHISTO_GPU_ENGINE_SNAPSHOT_H

#include "gpu_engine.h"
#include "src/input/engine.h"
#include "src/tally/histogram_spec.h"
#include "src/tally/tally.h"

struct file_tallies;

struct snapshots {
    const struct histogram_spec *spec;
    struct tally good; /* the last snapshot that was believed, at first all zeros. Its counts may be
                        * in pages. Without snapshots on the way it has no counts, but the samples
                        * and bytes counted so far */
    size_t file;       /* of the last chunk that was kept */
    struct tally moved; /* what of `good` was moved to files; at first without counts */
    struct tally saved; /* `good`, as it was; at first without counts */
    uint64_t *last; /* where the only snapshot goes, at the end; NULL: there are some on the way */
    size_t pages;   /* that the next snapshot has, of those in pages */
};

/* Returns the bytes of a snapshot, at most. */
size_t snapshot_size(const struct histogram_spec *spec);

/* Returns the number of snapshots for which there is memory beyond those of chunks: one; or if
 * chunks have none, but there are some on the way, one more than may be under way. */
#define SNAPSHOTS_SHARED 3
static inline unsigned snapshot_spares(const struct histogram_spec *spec)
{
    const bool are_shared = snapshot_is_small(spec) && !snapshot_is_of_chunk(spec);
    return are_shared ? SNAPSHOTS_SHARED : 1;
}

/* Returns the most chunks in a row that one snapshot of all counts may stand for, in an engine with
 * `slots` slots: 1 if snapshots are small. */
unsigned snapshot_interval(const struct snapshots *snapshots, size_t chunk_size, unsigned slots);

/* Returns the words that the next snapshot of all counts has. */
size_t snapshot_words(const struct snapshots *snapshots);

/* True if a snapshot of `count` words that arrived has all counts. If not, the next one is to have
 * more pages. */
bool snapshot_is_whole(struct snapshots *snapshots, const uint64_t *words, size_t count);

/* Returns the word at which the end of a snapshot begins that every chunk has. */
size_t snapshot_tail(const struct histogram_spec *spec);

/* Initializes *snapshots. `words` is memory for a snapshot, all zeros, beyond those of the slots;
 * it and the histogram must live as long. */
void snapshots_init(struct snapshots *snapshots, const struct histogram_spec *spec,
                    uint64_t *words);

/* The growth that is possible by the chunks that a snapshot stands for. Begins with all zeros. */
struct snapshot_growth {
    uint64_t samples_max, bytes;
    bool cannot_be; /* the end of a snapshot shows more than a chunk can hold */
};

/* The contents of a chunk of text, if its snapshot tells. */
struct chunk_text {
    bool is_known;
    uint64_t newlines, invalid;
};

/* Adds a chunk to *growth, in the order of counting, and returns what is in it. `words` is what
 * arrived after the chunk, all of a snapshot or the end of one, and `before` what arrived after the
 * chunk before it, of the same growth (NULL: it is the first). `words` is NULL where there is only
 * one snapshot, at the end. */
struct chunk_text snapshots_grow(const struct snapshots *snapshots, struct snapshot_growth *growth,
                                 const struct chunk *chunk, const uint64_t *before,
                                 const uint64_t *words);

/* True if the snapshot `words`, of all counts, can be true after this growth. Then *seen is the
 * tally, whose counts stay where they are. With NULL, the counts are those so far. */
bool snapshots_believe(const struct snapshots *snapshots, const struct snapshot_growth *growth,
                       uint64_t *words, struct tally *seen);

/* Makes *seen, whose counts are in *words, the last good tally, and exchanges *words for the memory
 * of the one before. The chunks were of file number `file`. If the ones before were of another,
 * what was counted of them is moved to `files` (NULL: to none), which needs a snapshot for each
 * chunk. */
void snapshots_keep(struct snapshots *snapshots, uint64_t **words, const struct tally *seen,
                    size_t file, struct file_tallies *files);

/* Moves what was counted, but not moved yet, to the file of the last chunk. */
void snapshots_move(struct snapshots *snapshots, struct file_tallies *files);

/* Saves the last good tally, which has all that was counted; and goes back to it. 0, or -1: memory
 * is short. */
int snapshots_save(struct snapshots *snapshots);
void snapshots_go_back(struct snapshots *snapshots);

/* Frees what moving and saving took. */
void snapshots_close(struct snapshots *snapshots);

/* Reports and adds a chunk without samples, which never was on the device. */
void snapshots_add_empty(struct snapshots *snapshots, const struct chunk *chunk,
                         struct error_locator *locator);

/* Adds bytes of input that were the end of samples of chunks before. */
void snapshots_add_bytes(struct snapshots *snapshots, uint64_t bytes);

/* Adds the last good tally to another one, if there are snapshots on the way. */
void snapshots_add_good(const struct snapshots *snapshots, struct tally *tally);

/* Sets *tally to the only snapshot, which has arrived in `last`. False if it cannot be believed. */
bool snapshots_read_last(const struct snapshots *snapshots, struct tally *tally);

#endif
