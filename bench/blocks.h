/* SPDX-License-Identifier: MIT */
/* What blocks.c and the formats that it measures share. */
#ifndef GPUHISTO_BENCH_BLOCKS_H
#define GPUHISTO_BENCH_BLOCKS_H

#include "src/parallel/block_loops.h"

struct bytes_of_file {
    unsigned char *data;
    size_t len;
};

/* What a round took, in seconds, and how much it made. */
struct taken {
    double find, parse, execute; /* find: 0 if nothing is searched */
    uint64_t content, operations;
};

/* A compressed format. Any failure ends the process. */
struct block_format {
    const char *library;
    bool (*recognises)(const struct bytes_of_file *file);
    /* Parses and executes the file's first frame, or all of its members. */
    struct taken (*run)(const struct block_loops *loops, const struct bytes_of_file *file);
    /* Returns the seconds that the library takes for the same; 0: it cannot be had. */
    double (*run_library)(const struct bytes_of_file *file);
};

extern const struct block_format zstd_blocks, gzip_blocks;

_Noreturn void die(const char *name, const char *why);

/* Memory that is freed by free. */
void *memory_of(size_t size);

/* Seconds of this thread's processor time. */
double now(void);

/* Where content goes: at the end of `size` bytes it begins anew, after a copy of the window. */
struct window_ring {
    unsigned char *data;
    size_t size, at;
    uint64_t window, content;
};

/* Makes room for a run. Returns where it goes. */
unsigned char *ring_make_room(struct window_ring *ring, size_t len);

#endif
