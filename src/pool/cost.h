/* What a byte costs a worker in each of the two places, as seen in this very run; and what follows
 * from it. */
#ifndef GPUHISTO_COST_H
#define GPUHISTO_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Any thread may learn and ask. The first three are running means, 0 as long as nothing was seen; a
 * lost update does not matter. */
struct costs {
    _Atomic double read;          /* seconds a byte of a file, into a worker's own buffer */
    _Atomic double cpu;           /* the same, and counting it there */
    _Atomic double gpu;           /* the same, into a slot, and handing it over */
    _Atomic uint64_t reading_ns;  /* that readers of streams have read or decompressed, or waited */
    _Atomic uint64_t counting_ns; /* that they have counted what they had read */
};

/* A worker has read len (at least 1) bytes of a file and had them counted, or handed them over. */
void costs_learn_file(struct costs *costs, bool on_gpu, size_t len, double read_seconds,
                      double count_seconds);

/* A worker has read from a stream, compressed or not, and counted that itself. */
void costs_learn_stream(struct costs *costs, double read_seconds, double count_seconds);

/* How much of their time the readers of streams spend on counting, 0 to 1. */
double costs_counting_share(const struct costs *costs);

/* Whether a worker's next piece of a file had better go to the GPU, where `feeders` others are on
 * their way. */
bool costs_prefer_gpu(const struct costs *costs, unsigned feeders);

/* Seconds that a GPU would save if it was opened now and ready after `start` seconds: `left` bytes
 * of files are still to come, `workers` deal with `rate` bytes a second without it. May be
 * negative. */
double costs_gpu_saves(const struct costs *costs, double left, double rate, unsigned workers,
                       double start);

#endif
