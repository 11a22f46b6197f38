/* SPDX-License-Identifier: MIT */
/* Cuts records in what one worker decodes of a compressed file: a segment, or the whole file as one
 * stream. src/records joins what segments begin and end with. */
#ifndef GPUHISTO_SEGMENT_H
#define GPUHISTO_SEGMENT_H

#include "src/work/worker.h"

struct extent;

struct segment {
    struct records *records; /* where the chunk before was cut: the worker's, or a stream's own */
    struct position at;      /* of the next chunk */
    struct span *span;       /* what it begins and ends with; NULL: nothing can be cut */
    uint64_t begin;          /* bytes of content before it, as far as that must be known */
    uint64_t content;        /* bytes of content that were decoded of it */
};

/* Begins the extent's next segment; in turn, or by a worker that has the file to itself. 0, or -1:
 * out of memory, and nothing has changed. */
int segment_begin(struct extent *extent);

/* True if the file is decoded as one stream. */
bool segment_is_stream(const struct extent *extent);

/* Begins a chunk with what the one before was cut from. Returns how many bytes that is. */
size_t segment_begin_chunk(struct extent *extent, struct chunk *chunk);

/* Cuts a chunk after its last whole record; `waited` is what segment_begin_chunk returned. Keeps
 * for the seam what belongs to a record before the segment. 0, or -1: the run has failed. */
int segment_cut(struct extent *extent, struct chunk *chunk, size_t waited, bool at_end);

/* Ends the segment, and pushes the records that this completes. 0, or -1: the run has failed. */
int segment_end(struct extent *extent);

/* The file ends after the last segment that was begun; pushes its last record. 0, or -1: the run
 * has failed. */
int segment_end_file(struct extent *extent);

/* Frees what it has, after a failure. */
void segment_close(struct extent *extent);

#endif
