/* SPDX-License-Identifier: MIT */
/* The part of a job's input that a table counts, as JSON shows it. When shards are merged, these
 * records prove that every byte was counted once. */
#ifndef GPUHISTO_SHARD_RECORD_H
#define GPUHISTO_SHARD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer;

#define SHARDS_MAX 1000000             /* of a job */
#define SHARD_NAME_MAX (4 * 4096 + 16) /* bytes of a file's name as printable text */

/* Bytes [begin, end); or shards from begin to end, both included. */
struct shard_range {
    uint64_t begin, end;
};

/* A file that is in the shard, or a part of it. */
struct shard_file {
    uint64_t index; /* among the files of the command line, from 1 */
    char *name;     /* as printable text (show_text) */
    uint64_t size;  /* bytes, as stored */
    uint64_t fingerprint;
    struct shard_range *ranges; /* of bytes as stored, ascending; [0,0) of an empty file */
    size_t range_count;
};

/* The input that was divided: the same in all shards of a job. */
struct shard_job {
    uint64_t of;                   /* how many shards there are */
    uint64_t files, bytes, digest; /* of all files together */
};

struct shard_record {
    struct shard_job job;
    struct shard_range *shards; /* which shards these are, from 1, ascending */
    size_t shard_count;
    struct shard_file *files; /* in the order of the command line */
    size_t file_count;
};

/* True if the record is that of all shards of its job. */
static inline bool shard_record_is_complete(const struct shard_record *record)
{
    return record->shard_count == 1 && record->shards[0].begin == 1 &&
           record->shards[0].end == record->job.of;
}

/* Writes the record as a JSON object. Errors stay with the writer. */
void shard_record_write(struct writer *out, const struct shard_record *record);

/* Frees the lists and names of a record that owns them, and empties it. */
void shard_record_free(struct shard_record *record);

#endif
