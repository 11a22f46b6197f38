/* SPDX-License-Identifier: MIT */
/* A run: frames of one batch, one after the other, that one thread copies back and hashes. */
#ifndef GPUHISTO_CONTENT_RUN_H
#define GPUHISTO_CONTENT_RUN_H

#include "content_check.h"
#include "src/hash/xxh64.h"

#include <pthread.h>

/* Parts that a thread has under way. The copies of three hide how long one takes to be seen. */
#define CONTENT_PARTS 4

/* The memory for these parts, one after the other. */
struct content_parts {
    unsigned char *memory; /* pinned */
    size_t size;           /* bytes, of each */
    unsigned first_read;   /* the number of the first one's copies; the others' follow */
};

/* Places for frames that go on in the next batch: more than there are batches. */
#define CONTENT_LINKS 16

/* The state of a frame between two batches. */
struct content_link {
    struct xxh64 hash;
    bool is_lost;    /* the device was lost before it was known */
    uint64_t number; /* of the batch in which the frame goes on, once the state is there */
};

struct content_links {
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t left;
    struct content_link link[CONTENT_LINKS];
};

/* A run: frames [frame, end) of a job, and its progress. The caller sets the first five members. */
struct content_run {
    struct content_links *links;
    struct content_job *job;
    uint32_t frame, end;
    uint32_t at; /* bytes of the batch's content before what comes next */
    bool is_in_frame;
    enum content_verdict verdict;
    struct xxh64 hash;
    double seconds; /* spent hashing */
};

/* Returns the graver verdict, as counts cannot be taken back. */
static inline enum content_verdict content_graver(enum content_verdict a, enum content_verdict b)
{
    return a > b ? a : b;
}

/* These open links, of no frame yet, and close them. */
void content_links_open(struct content_links *links);
void content_links_close(struct content_links *links);

/* Copies and hashes the frames, and sets the verdict. Waits for the batch before if the first frame
 * has begun there. */
void content_run_hash(struct content_run *run, const struct content_source *source,
                      const struct content_parts *parts);

#endif
