/* SPDX-License-Identifier: MIT */
/* One of N shards of the files: its ranges of bytes. The files, laid end to end, are cut into
 * ranges of about the same size by their sizes alone, so that all processes make the same cuts.
 * Where records and compressed frames are cut follows from these in file_shard.c. */
#ifndef GPUHISTO_SHARD_H
#define GPUHISTO_SHARD_H

#include "src/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The choice of a shard. */
struct shard_choice {
    uint64_t part, of; /* the part-th of so many, from 1; of is 0: there are no shards */
    bool wants_fingerprints;
    bool is_whole; /* no file can be cut: it belongs to the shard that has its first byte */
};

/* Bytes [begin, end) of a file, as stored, that belong to the shard. */
struct file_shard {
    size_t index; /* among all files, from 0 */
    const char *name;
    uint64_t size; /* of the file */
    uint64_t begin, end;
    bool wants_fingerprint;
    uint64_t fingerprint; /* if it is wanted: set when the file is opened */
};

struct shard {
    struct shard_choice choice;
    uint64_t files, bytes, digest; /* of all files: how many, the sum of sizes, fingerprint_list */
    struct file_shard *list;       /* `count`, in order, owned */
    size_t count;
};

/* Finds the range that a shard has of a file of `size` bytes, before which `start` of all `bytes`
 * lie. An empty file belongs to one shard, with the range [0, 0). True if the shard has any. */
bool shard_range_of(const struct shard_choice *choice, uint64_t bytes, uint64_t start,
                    uint64_t size, uint64_t *begin, uint64_t *end);

/* Errors of shard_open. */
#define SHARD_REFUSED (-1) /* what cannot be shared: standard input, a pipe, a directory */
#define SHARD_FAILED (-2)

/* Looks at all files, and cuts them. The names must outlive the shard. 0; or one of the errors with
 * an error, and nothing to close. */
int shard_open(struct shard *shard, const struct shard_choice *choice, char *const *names,
               size_t count, struct error *error);

/* Frees the cuts. */
void shard_close(struct shard *shard);

#endif
