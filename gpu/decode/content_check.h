/* SPDX-License-Identifier: MIT */
/* Verifies the checksums of zstd frames whose content is on the device: it is copied back, and
 * hashed on the host. A frame's checksum is the lower half of the XXH64 of its content, which is
 * one chain from the first byte to the last.
 *
 * Threads do that, several if there are several frames at a time. Each copies in parts, so that one
 * part is hashed while the next ones are copied. */
#ifndef GPUHISTO_GPU_DECODE_CONTENT_CHECK_H
#define GPUHISTO_GPU_DECODE_CONTENT_CHECK_H

#include "device_decoding.h"
#include "gpu/engine/engine_internal.h"

#include <stdbool.h>
#include <stdint.h>

struct content_check;

enum content_verdict {
    CONTENT_GOOD,
    CONTENT_CORRUPT, /* a frame does not have its checksum */
    CONTENT_LOST,    /* the device is lost */
    CONTENT_PENDING, /* this is not known yet */
};

/* The functions that copy content. Any thread calls them; they wait for nothing but a lock. */
struct content_source {
    void *arg;
    /* These do the same as device_enqueue of WORK_READ_CONTENT, and device_arrived of that. */
    int (*read)(void *arg, const struct device_work *work);
    int (*arrived)(void *arg, unsigned number);
};

/* A batch that is being verified. Nobody else changes it until it is done. */
struct content_job {
    unsigned slot;
    const struct decode_plan *plan;
    const uint32_t *frame_ends;   /* where the content of each frame ends */
    bool goes_on;                 /* the last frame does, and has a checksum */
    uint64_t number;              /* from 1, of the batches since content_check_open */
    uint32_t next;                /* the frame that no thread has taken yet */
    uint32_t frames;              /* how many there are */
    uint32_t ending;              /* frames that end in the batch, and are not verified yet */
    uint32_t left;                /* frames that are not hashed yet */
    enum content_verdict verdict; /* of those verified */
    struct content_job *after;
};

/* Copies numbered below this are the caller's own; the others have memory for a part each. */
#define CONTENT_FIRST_READ 4
#define CONTENT_PARTS_MAX (DEVICE_READS - CONTENT_FIRST_READ)

/* Opens it, and starts a first thread; `part` bytes are copied at a time. NULL if memory or threads
 * are short. */
struct content_check *content_check_open(struct device_thread *thread,
                                         const struct content_source *source, size_t part);

/* Begins a batch whose verdict is good: *job with its slot, plan, frame_ends and goes_on set. The
 * batches of a file come in order, without gaps. The engine's lock is held, as a thread that is
 * started needs pinned memory. */
void content_check_begin(struct content_check *check, struct content_job *job);

/* Returns whether the frames that end in the batch have their checksums. */
enum content_verdict content_check_verdict(struct content_check *check,
                                           const struct content_job *job);

/* True if the content of a job is no longer needed. */
bool content_check_is_done(struct content_check *check, const struct content_job *job);

/* Returns the seconds that threads have spent hashing, and the bytes of host memory that they have
 * taken. NULL is fine here and below. */
double content_check_seconds(struct content_check *check);
uint64_t content_check_memory(struct content_check *check);

/* Waits for the threads, and frees it. All jobs are done, or the device is lost; memory that a lost
 * device may still write to is not freed. Returns the seconds that were spent hashing. */
double content_check_close(struct content_check *check);

#endif
