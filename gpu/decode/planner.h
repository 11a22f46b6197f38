/* SPDX-License-Identifier: MIT */
/* The planner of each format, which cuts a file into batches on the host. One thread for each
 * file. */
#ifndef GPUHISTO_DECODE_PLANNER_H
#define GPUHISTO_DECODE_PLANNER_H

#include "gpu/decode/gzip/gzip_plan.h"
#include "gpu/decode/zstd/zstd_plan.h"
#include "src/codec/codec.h"

/* The host's position in a file. */
struct decode_walk {
    const struct decode_planner *planner;
    union {
        struct zstd_walk zstd;
        struct gzip_walk gzip;
    };
};

struct decode_limits {
    uint32_t window_max; /* bytes; frames with a larger window are left, */
    bool no_check;       /* the host need not compare checksums; otherwise, */
    bool can_hash;       /* it can */
};

/* The bytes that a file goes on with after all that was planned. */
struct decode_ahead {
    uint64_t at;    /* where that begins in the file */
    bool in_frame;  /* a frame goes on: the file must not end here; */
    bool is_hashed; /* and the host is to hash its content */
};

struct decode_planner {
    enum decode_format format;
    const struct codec *codec;

    /* Begins a file with the frame at byte `at`. */
    void (*begin)(struct decode_walk *walk, uint64_t at, const struct decode_limits *limits);

    /* Adds to a plan as much of in[0..len) as there is and fits. in[0] is the byte that follows in
     * the file after all that was taken; is_end: the file ends with in[len]. Bytes that are added
     * now, plan->in_size - plan->in_at from in[0] on, will be in the batch's memory at DECODE_CARRY
     * + plan->in_at. Goes on from what was taken, also with DECODE_NEEDS_MORE. */
    enum decode_planned (*plan)(struct decode_walk *walk, struct decode_plan *plan,
                                const unsigned char *in, size_t len, bool is_end);

    struct decode_ahead (*peek)(const struct decode_walk *walk);

    /* Learns that a batch was good, and has so much content. NULL: that is of no use. */
    void (*learn)(struct decode_walk *walk, const struct decode_plan *plan, uint32_t content);

    /* Goes back to where a batch began for which there was no room, and plans a smaller one. False:
     * it cannot be smaller. NULL: there always is room. */
    bool (*plan_again)(struct decode_walk *walk, const struct decode_plan *plan);
};

/* Returns the planner for a codec, or NULL: no GPU decompresses that. */
const struct decode_planner *decode_planner_find(const struct codec *codec);

#endif
