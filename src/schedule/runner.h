/* SPDX-License-Identifier: MIT */
/* What the runners share: copy.c (bytes as they are), serial.c (compressed bytes, one decoder) and
 * gpu.c (compressed bytes for a GPU). */
#ifndef GPUHISTO_RUNNER_H
#define GPUHISTO_RUNNER_H

#include "gpu/decoder.h"
#include "worker.h"

/* What one worker decodes of a compressed file: a part between records that may be cut, or all of
 * it as one stream. */
struct segment {
    struct worker *worker;
    struct file *file;
    struct records *records; /* where the chunk before was cut: the worker's, or a stream's own */
    struct position at;      /* of the next chunk */
    struct span *span;       /* what it begins and ends with; NULL: nothing can be cut */
    uint64_t begin;          /* bytes of content before it, as far as that must be known */
    uint64_t content;        /* bytes of content that were decoded of it */
};

/* The frame that is being decoded, or the next one. */
struct current_frame {
    uint64_t offset; /* where in the file it begins, */
    uint64_t made;   /* and how many bytes of content it has given */
};

/* A part of a file that one worker runs to its end, or of which several take pieces. */
struct extent {
    /* The runner; NULL: nothing is left for the worker. What it leaves of the file is parked for
     * whoever comes next. 0, or -1: the run has failed. */
    int (*run)(struct extent *extent);
    struct worker *worker;
    struct file *file;

    /* copy */
    uint64_t changes; /* of source.current */

    /* serial: the batch is in worker->batch, and its decoder is the worker's */
    struct current_frame frame;
    bool pending;  /* the decoder may give more without being fed */
    uint64_t skip; /* bytes of content that come again, and were counted */
    bool is_again; /* the frame was given in part, and its decoder begins it anew */

    /* gpu */
    double stated; /* bytes of content that the first frame of the file states; 0: it does not */
    struct gpu_decoder *gpu;
    struct compressed_next next;    /* what it wants next of the file */
    struct parallel_read *parallel; /* of a regular file, or NULL */

    struct segment segment; /* of the last two */
};

/* Takes the next extent of extent->file, the current one, which is compressed; under the read lock.
 * 1; 0: there is nothing to take now; or -1: the run has failed. */
int serial_acquire(struct extent *extent);

/* The same of all of a file that a GPU should decompress. 0: it should not. */
int gpu_acquire(struct extent *extent);

/* Copies what is left of a file that is not compressed, beside others. */
int copy_run(struct extent *extent);

/* Chooses the memory for a chunk. NULL: the run has failed. */
static inline struct chunk *runner_choose(struct worker *worker, enum flow flow)
{
    struct chunk *chunk = worker->sink->choose(worker->sink->arg, flow);
    if (!chunk)
        source_fail(worker, &(struct error){""});
    return chunk;
}

/* Has a chunk counted that the sink chose: by an idle worker, if it may be handed off. 0 or -1. */
static inline int runner_push(struct worker *worker, struct chunk *chunk, enum flow flow)
{
    if (flow == FLOW_DECODED && chunk->give && work_queue_hand_off(&worker->source->queue, chunk))
        return 0;
    return worker->sink->count(worker->sink->arg, chunk, flow);
}

/* Counts a chunk that was handed off; NULL is fine. 0 or -1. */
static inline int runner_count_handed_off(struct worker *worker, struct chunk *chunk)
{
    if (!chunk)
        return 0;
    const int rc = worker->sink->count(worker->sink->arg, chunk, FLOW_DECODED);
    work_queue_counted(&worker->source->queue);
    return rc;
}

/* Runs the jobs that there are. 0, or -1: the run has failed. */
static inline int runner_run_jobs(struct worker *worker)
{
    struct job *job;
    int rc = 0;
    while (rc == 0 && (job = work_queue_take(&worker->source->queue, worker)) != NULL)
        rc = job->run(job, worker);
    return rc;
}

/* --- segment.c: cuts records; src/input joins what segments begin and end with --- */

/* Begins the next segment of a file; under the read lock, or by a worker that has the file to
 * itself. 0, or -1: out of memory, and nothing has changed. */
int segment_begin(struct segment *segment, struct worker *worker, struct file *file);

/* Goes on with a file that is decoded as one stream, before which so much content stands. */
void segment_begin_stream(struct segment *segment, struct worker *worker, struct file *file,
                          uint64_t content);

/* Begins the segment of such a number, before which so much content stands, and which begins with
 * `skip` bytes that come again; any thread. As segment_begin. */
int segment_begin_at(struct segment *segment, struct worker *worker, struct file *file,
                     uint64_t number, uint64_t content, uint64_t skip);

/* True if the file is decoded as one stream. */
bool segment_is_stream(const struct segment *segment);

/* Begins a chunk with what the one before was cut from. Returns how many bytes that is. */
size_t segment_begin_chunk(struct segment *segment, struct chunk *chunk);

/* Cuts a chunk after its last whole record; `waited` is what segment_begin_chunk returned. Keeps
 * for the joiner what belongs to a record before the segment. 0, or -1: the run has failed. */
int segment_cut(struct segment *segment, struct chunk *chunk, size_t waited, bool at_end);

/* Ends the segment, and pushes the records that this completes. 0, or -1: the run has failed. */
int segment_end(struct segment *segment);

/* The file ends with the last segment: pushes its last record. 0, or -1: the run has failed. */
int segment_end_file(struct worker *worker, struct file *file);

/* Frees what it has, after a failure. */
void segment_close(struct segment *segment);

#endif
