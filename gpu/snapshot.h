/* Snapshots: copies of the device's histogram in host memory, and which of them can be believed.
 *
 * The snapshot after chunk k holds chunks 1 to k, no more and no less. Once it was seen to arrive,
 * and can be believed, it becomes `good`, the last good tally. If the device is lost, `good` is
 * what was counted there. */
#ifndef GPUHISTO_SNAPSHOT_H
#define GPUHISTO_SNAPSHOT_H

#include "src/engine/chunk.h"
#include "src/engine/lines.h"
#include "src/histogram/histogram.h"

struct file_tallies;

struct snapshots {
    const struct histogram *histogram;
    struct tally
        good;    /* the last snapshot that arrived, the first one all zeros. Without a snapshot
                  * for each chunk it has no counts, but the samples and bytes counted so far */
    size_t file; /* of the last chunk that was kept */
    struct tally moved; /* what of `good` was moved to FILEs; no counts before the first one was */
    uint64_t
        *last; /* where the only snapshot goes, at the end; NULL: there is one for each chunk */
};

/* Whether there is a snapshot for each chunk. With very many bins that would take too long: then
 * there is one, at the end, and nothing can replace a lost device. */
bool snapshot_each(const struct histogram *histogram);

/* Bytes of a snapshot. */
size_t snapshot_size(const struct histogram *histogram);

/* Initializes *snapshots. `words` is memory for a snapshot, all zeros, beyond those of the slots;
 * it and the histogram must live as long. */
void snapshots_init(struct snapshots *snapshots, const struct histogram *histogram,
                    uint64_t *words);

/* Makes what was counted up to a chunk the last good tally. *snapshot is what arrived after the
 * chunk, and is exchanged for the memory of the last good one; or NULL where there is none for each
 * chunk. Reports the chunk to `lines` (NULL: to none). If it begins another FILE, what was counted
 * before is moved to `files` (NULL: to none), which takes a snapshot for each chunk. Whether the
 * snapshot can be believed; otherwise nothing is changed. */
bool snapshots_keep(struct snapshots *snapshots, uint64_t **snapshot, const struct chunk *chunk,
                    struct lines *lines, struct file_tallies *files);

/* Whether the bytes of a chunk of text must be looked at when its snapshot is kept: it may not be
 * believed yet, or be NULL. */
bool snapshots_may_show_invalid(const struct snapshots *snapshots, const uint64_t *snapshot);

/* Moves what was counted, but not moved yet, to the FILE of the last chunk. */
void snapshots_move(struct snapshots *snapshots, struct file_tallies *files);

/* Frees what moving took. */
void snapshots_close(struct snapshots *snapshots);

/* The same for a chunk without samples, which never was on the device. */
void snapshots_add_empty(struct snapshots *snapshots, const struct chunk *chunk,
                         struct lines *lines);

/* Makes a tally of the only snapshot, which has arrived in `last`. Whether it can be believed. */
bool snapshots_read_last(const struct snapshots *snapshots, struct tally *tally);

#endif
