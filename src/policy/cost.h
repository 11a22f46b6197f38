/* SPDX-License-Identifier: MIT */
/* What a byte costs a worker on the CPU and on the GPU, as measured in this run, and what follows
 * from it. */
#ifndef GPUHISTO_COST_H
#define GPUHISTO_COST_H

#include "src/work/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Any thread may use it. read, cpu and gpu are running means, 0 before anything was measured; a
 * lost update does not matter. */
struct costs {
    _Atomic double read;          /* seconds a byte: reading a file into a CPU buffer */
    _Atomic double cpu;           /* seconds a byte: that, and counting it */
    _Atomic double gpu;           /* seconds a byte: reading it into a slot, and submitting that */
    _Atomic uint64_t reading_ns;  /* readers of streams spent on reading, decompressing, waiting */
    _Atomic uint64_t counting_ns; /* they spent on counting what they had read */
};

/* A worker has read len (at least 1) bytes of a file and counted them, or submitted them to the
 * GPU.
 */
void costs_learn_file(struct costs *costs, bool on_gpu, size_t len, double read_seconds,
                      double count_seconds);

/* A worker has read from a stream, compressed or not, and counted that itself. */
void costs_learn_stream(struct costs *costs, double read_seconds, double count_seconds);

/* How much of their time the readers of streams spend on counting, 0 to 1. */
double costs_counting_share(const struct costs *costs);

/* Whether a worker's next piece of a file should go to the GPU, while `feeders` other workers have
 * one that does. */
bool costs_prefer_gpu(const struct costs *costs, unsigned feeders);

/* How long a worker takes for a byte of a file that goes to the GPU, as a share of what it takes if
 * it counts the byte: 1 at most, and as long as that is not known. */
double costs_feeding_share(const struct costs *costs);

/* Seconds that a GPU saves that decompresses `rate` bytes of content a second (0: any number at
 * once), after `start` seconds, if it takes what is offered; negative: it should not. Nothing is
 * lost by waiting for the next unit where that comes sooner than what would be done again. */
double costs_decoding_saves(const struct offload_offer *offer, double rate, double start);

/* How many GPUs, at most `most`, should decompress `left` bytes of content beside cores that do
 * `rate` bytes a second. Each does `gpu_rate`; the first is ready after `start` seconds, and each
 * further one `more` seconds after the one before; it must save at least `least` seconds. */
unsigned costs_decoding_gpus(double left, double rate, double gpu_rate, double start, double more,
                             double least, unsigned most);

/* Seconds that a GPU would save if it was opened now and ready after `start` seconds: `left` bytes
 * of files are still to come, and without it `workers` workers count `rate` bytes a second. May be
 * negative. */
double costs_gpu_saves(const struct costs *costs, double left, double rate, unsigned workers,
                       double start);

#endif
