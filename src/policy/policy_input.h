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

/* The part that a GPU could decompress of a file that it does not have, in bytes of content. */
struct offload_offer {
    double gpu_rate;   /* bytes a second that the GPU decompresses */
    double again;      /* what the frame that it would begin with has given already */
    double frame_left; /* what is left of that frame: after it nothing is done again */
    double left;       /* what is left of the file; HUGE_VAL: not known */
    double rate;       /* bytes a second at which that comes otherwise; 0: not measured */
    bool is_last;      /* no other file is left to be begun: workers have nothing else to do */
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
    double done;     /* decompressed by workers so far */
    double left;     /* still to come, if files go on, and are, as those before */
    double gpu_rate; /* bytes a second that a GPU decompresses, of the slowest format */
};

/* Content of pipes, while one is decoded whose frame a GPU could begin anew. */
struct stream_content {
    double taken;   /* bytes of pipes that were decoded, */
    double done;    /* and of content that they gave, */
    double seconds; /* while decoders were at work for so long */
    double again;   /* of that content, what the frame that is being decoded has given */
    double left;    /* content still to come: what the frame states, or as much as it has given; and
                     * as much as came before it; 0: no frame could begin anew */
    double capacity; /* bytes of the frame that can still be kept: with more it cannot begin anew */
    double gpu_rate; /* content a second that a GPU decompresses */
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
    struct stream_content stream;
    unsigned gpus_max; /* that could each have a compressed file */

    /* The GPU, if it is open. */
    bool gpu_decodes;     /* it was opened to decompress */
    unsigned gpu_files;   /* compressed files that GPUs have now */
    unsigned gpu_feeders; /* workers that fill a slot with a piece of a file */
    size_t chunk_size;    /* bytes of a slot */
};

#endif
