/* SPDX-License-Identifier: MIT */
/* Decides how many workers and GPUs there are, and which of them counts or decompresses what: by
 * pure functions of the situation and the tuning. */
#ifndef GPUHISTO_POLICY_H
#define GPUHISTO_POLICY_H

#include "policy_input.h"

#include <stdint.h>

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
