/* SPDX-License-Identifier: MIT */
/* How much was read, and how much is left: counters that any thread reads without waiting. */
#ifndef GPUHISTO_LEFT_H
#define GPUHISTO_LEFT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct file;
struct source;

/* Of files that a GPU could decompress. */
struct compressed_left {
    _Atomic uint64_t opened;      /* bytes of all regular files that were opened, */
    _Atomic uint64_t offloadable; /* and of those such files, as they are; */
    _Atomic int64_t left;         /* of the latter, bytes that were not decoded */
    _Atomic uint64_t unopened;    /* bytes of files that were not opened, as they are */
    _Atomic uint64_t in, out;     /* bytes that were decoded, and of content that they gave */
};

/* Of pipes, what source_stream_content tells. */
struct streamed {
    _Atomic uint64_t in, out; /* bytes that were decoded, and of content that they gave; */
    _Atomic uint64_t ns;      /* how long that took */
    _Atomic uint64_t again;   /* of that content, what a frame has given that could begin anew, */
    _Atomic uint64_t left;    /* and has still to give; both 0: there is none */
    _Atomic uint64_t kept;    /* bytes of it that are kept */
};

struct left {
    uint64_t size;          /* of all files, bytes to read; 0: one of them is not a regular file */
    _Atomic uint64_t read;  /* of these */
    atomic_bool is_unsized; /* how many of these are to be read is not known, as a range of the
                             * content of a compressed file is counted */
    _Atomic uint64_t plain; /* bytes of files, compressed as far as not opened, still to be taken */
    struct compressed_left compressed;
    struct streamed streamed;
};

/* A file was opened; with is_offloadable set. */
void left_add_file(struct source *source, const struct file *file);

/* `in` compressed bytes were read (negative: are to be read again) and gave `out` of content. */
void left_add_read(struct source *source, const struct file *file, int64_t in, uint64_t out);

/* Returns the bytes of content that a compressed one has given so far; 1: none was decoded. */
double left_content_ratio(struct source *source);

/* Returns the most bytes of a stream that are kept so that a GPU can begin a frame anew. */
uint64_t left_replay_most(const struct source *source);

#endif
