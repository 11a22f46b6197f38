/* SPDX-License-Identifier: MIT */
/* A decoder's memory: batches on the device and on the host, inputs for compressed bytes, and room
 * for content that comes back. It is opened for the first file, and once more when a large file
 * comes after small ones. The engine's lock is held in all functions. */
#ifndef GPUHISTO_DECODER_MEMORY_H
#define GPUHISTO_DECODER_MEMORY_H

#include "content_check.h"
#include "gpu/device.h"
#include "gpu/pinned.h"
#include "gpu/slots.h"

/* Bits, so that one can look for several. */
enum batch_state {
    BATCH_FREE = 0,
    BATCH_PLANNED = 1, /* blocks are being added */
    BATCH_DECODING = 2,
    BATCH_DECODED = 4, /* its verdict was seen */
    BATCH_COUNTING = 8,
    BATCH_HASHING = 16, /* all that is left to do */
};

struct decoder_batch {
    struct slot slot; /* first. Its chunk has the length of the content that is counted with the
                       * batch, and no data */
    enum batch_state state;
    struct zstd_plan plan;
    struct zstd_verdict *verdict;
    uint32_t *frame_ends;
    bool is_hashed; /* by `job` */
    struct content_job job;
    uint64_t next_at; /* where in the file the frame begins that follows the batch, or goes on */
    int64_t begin;    /* of what is counted, from where the batch's content begins */
    uint32_t shared;  /* of pairs: bytes of it that are counted with the next batch, too */
};

enum input_state { INPUT_FREE, INPUT_FILLING, INPUT_COPYING };

/* Compressed bytes on their way to the device. */
struct decoder_input {
    struct chunk chunk; /* first: what is filled */
    unsigned index;
    enum input_state state;
    uint64_t planned; /* bytes that the planner has seen; may be more than there are */
    bool is_copied;   /* some of them were sent to the device */
    struct pinned pinned;
};

/* What a decoder is opened with. */
struct decoder_options {
    const struct histogram *histogram;
    struct engine *engine; /* to which chunks belong */
    struct calls *calls;
    struct content_source source;  /* of what is hashed */
    unsigned slots;                /* the number of the first batch's slot */
    bool verifies;                 /* content checksums */
    uint64_t (*memory_left)(void); /* as in struct gpu_options */
    unsigned sharers;              /* likewise */
};

/* Files of at most so many bytes do with less memory. */
#define DECODER_SMALL_FILE ((uint64_t)8 << 20)

enum decoder_size {
    DECODER_CLOSED,
    DECODER_SMALL, /* for files of DECODER_SMALL_FILE bytes */
    DECODER_LARGE,
};

struct decoder_memory {
    enum decoder_size size;
    struct device_decoding decoding; /* without batches: the device decompresses nothing */
    struct decoder_batch *batch;
    struct pinned pinned; /* the batches' memory */
    struct pinned
        earlier; /* that of smaller ones: snapshots change places, so good ones are there */
    struct decoder_input input[DEVICE_INPUTS];
    unsigned inputs;        /* that are open */
    size_t input_size;      /* bytes of each */
    unsigned char *fetched; /* pinned, fetch_size bytes: content that comes back */
    size_t fetch_size;
    struct content_check *check; /* NULL: nothing is verified */
    uint64_t host_bytes;         /* taken, without those of `check` */
    double hash_seconds;         /* of threads that have ended */
};

/* Takes memory of that size, and gives back what there was. If memory is short, there are no
 * batches. 0, or -1: the device is lost. */
int decoder_memory_open(struct decoder_memory *memory, const struct decoder_options *options,
                        enum decoder_size size);

/* Takes memory for one more input. NULL: there are as many as there may be. */
struct decoder_input *decoder_memory_add_input(struct decoder_memory *memory, struct calls *calls);

/* Returns the bytes of host memory that were taken. */
uint64_t decoder_memory_host_bytes(const struct decoder_memory *memory);

/* Returns the seconds that threads have spent hashing. */
double decoder_memory_hash_seconds(const struct decoder_memory *memory);

/* Frees everything, but not what a lost device may still write to. */
void decoder_memory_close(struct decoder_memory *memory, struct calls *calls);

#endif
