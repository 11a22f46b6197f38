/* SPDX-License-Identifier: MIT */
/* Decides how many workers and GPUs there are, and which of them counts or decompresses what: by
 * pure functions of the situation and the tuning. source.c and engines.c fill in the situation;
 * its bytes are doubles, as many of them are estimates. */
#ifndef GPUHISTO_POLICY_H
#define GPUHISTO_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- the situation --- */

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

/* --- the tuning --- */

/* The tuning: when to start more threads, and when to open the GPU. Seconds, bytes, and bytes a
 * second. */
struct policy_tuning {
    uint64_t short_input;     /* one worker counts so much before others are started */
    double gpu_start;         /* what a GPU takes until it is ready */
    double gpu_start_busy;    /* so much more while all processors are busy */
    double gpu_more;          /* what each further one takes */
    double break_even;        /* what it must save to be worth opening; */
    double stream_break_even; /* for pipes and decompressed data: how long they have lasted */
    double stream_counting;   /* fraction of readers' time above which others do the counting */
    double decoding_time;     /* of a GPU, how many times what its rate says; 0: none */
    double decoding_start;    /* what it takes to begin and end a file */
};

/* The tuning that was measured. */
extern const struct policy_tuning policy_defaults;

/* --- the decisions --- */

/* The purpose that GPUs are to be opened for. */
struct gpu_wish {
    unsigned gpus; /* how many; 0: none */
    bool decodes;  /* to decompress; otherwise to count what others read */
};

/* Returns how many seconds to measure a rate before asking for a wish, and before asking again. */
double policy_ask_seconds(const struct policy_tuning *tuning);

/* True if the first rate after workers were started should be measured again. Needs has_work. */
bool policy_doubts_rate(const struct policy_input *now, const struct policy_tuning *tuning);

/* Returns the purpose to open GPUs for. Needs the seconds and what is left. */
struct gpu_wish policy_wish(const struct policy_input *now, const struct policy_tuning *tuning);

/* True if the open GPU should count the next chunk. Needs plain_remaining and the GPU. */
bool policy_counts_on_gpu(const struct policy_input *now);

/* Returns how many seconds a GPU takes to start. */
double policy_gpu_start(const struct policy_input *now, const struct policy_tuning *tuning);

/* Returns how many GPUs, at least one, save more time than they take to start, with so much content
 * left that each decompresses at this rate. Until the last is ready the others work already, which
 * is left out: so a GPU gains no less than this says. Needs gpus_max. */
unsigned policy_gpus(const struct policy_input *now, const struct policy_tuning *tuning,
                     double content, double gpu_rate);

/* True if a GPU should decompress a file, now or when it is ready. Needs the content. */
bool policy_offloads(const struct policy_input *now, const struct policy_tuning *tuning,
                     const struct offload_offer *offer);

/* True if several workers should decode a frame. */
bool policy_helps(const struct frame_offer *offer);

/* True if readers of streams should leave the counting to idle workers. */
bool policy_hands_off(const struct policy_input *now, const struct policy_tuning *tuning);

/* Returns how many workers there should be. Needs has_work and the GPU. */
unsigned policy_workers(const struct policy_input *now, const struct policy_tuning *tuning);

/* Returns how many workers there may be beside GPUs that decompress; at least one feeds none. Needs
 * has_work and the GPU. */
unsigned policy_workers_beside_gpus(const struct policy_input *now);

#endif
