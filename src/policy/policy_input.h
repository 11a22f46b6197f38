/* SPDX-License-Identifier: MIT */
/* The numbers that decisions are made of; src/work and src/pool fill them in. Bytes are doubles, as
 * many of them are estimates. */
#ifndef GPUHISTO_POLICY_INPUT_H
#define GPUHISTO_POLICY_INPUT_H

#include <stdbool.h>
#include <stddef.h>

/* The way in which the bytes of a chunk come. */
enum flow {
    FLOW_FILE,    /* workers read side by side, and it is known how much is left */
    FLOW_PIPE,    /* workers take turns */
    FLOW_DECODED, /* workers decompress, side by side if they can; those that cannot count */
};

/* A compressed file of which nothing was read, in bytes of content. */
struct offload_offer {
    double gpu_rate; /* bytes a second that a GPU decompresses */
    double content;  /* in the file; HUGE_VAL: it is a pipe */
    double counted;  /* of that, what is in struct source_content: */
    bool has_waited; /* in on_gpus, as it waits for one; otherwise in on_cores */
};

/* A frame that a worker is about to decode, with which others could help. */
struct frame_offer {
    double compressed; /* bytes, at most */
    double content;    /* the same of content, as far as known */
    double rest; /* compressed bytes of all files that are left, this one's, too; 0: not known */
    unsigned workers_max; /* that there may be; */
    unsigned taken;       /* of those, who have or will have a file or frame of their own */
};

/* Content of compressed files that a GPU could decompress, in bytes. */
struct source_content {
    double unopened; /* of files still to be opened, if they are as those before */
    double on_cores; /* of open ones that workers decompress, not decompressed yet, */
    double on_gpus;  /* and of those that GPUs have, or that wait for one */
    double gpu_rate; /* bytes a second that a GPU decompresses, of the slowest format */
};

/* The time that bytes cost a worker, as measured in this run. */
struct costs {
    double read;     /* seconds a byte: reading a file into a CPU buffer; 0: not measured; */
    double cpu;      /* that, and counting it; */
    double gpu;      /* reading it into a slot of a GPU, and submitting that */
    double counting; /* fraction of their time that readers of streams spend on counting */
};

/* The facts at a time. A decision (policy.h) says if it needs more than the first group. */
struct policy_input {
    enum flow flow;       /* of what is read */
    unsigned workers;     /* that were started */
    unsigned workers_max; /* that there may be */
    unsigned processors;  /* that they may use */
    struct costs costs;
    double rate;        /* bytes a second that workers read without a GPU; 0: not measured; */
    double worker_rate; /* and that one of them reads */

    double seconds; /* since the run began */
    bool has_work;  /* one more worker would find something to read or decompress */

    /* What is left. */
    double plain_remaining; /* bytes of plain files */
    struct source_content content;
    unsigned gpus_max; /* that could each have a compressed file */

    /* The GPUs; but for the first two, once they are open. */
    double gpu_ready;     /* seconds until they are; negative: none was asked for */
    unsigned gpus;        /* that there are, or will be; at least 1 */
    bool gpu_decodes;     /* they were opened to decompress */
    unsigned gpu_files;   /* compressed files that GPUs have now */
    unsigned gpu_feeders; /* workers that fill a slot with a piece of a file */
    size_t chunk_size;    /* bytes of a slot */
};

#endif
