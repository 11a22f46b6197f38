/* SPDX-License-Identifier: MIT */
/* A GPU's decoder, as its files see it: decoder.c (memory, a file's bytes on their way in, content
 * on its way out, and waits) stands above queue.c (batches), and that above content_check.c
 * (checksums).
 *
 * The engine's lock is held in all functions. Once the device is lost, which the engine knows,
 * what they return means nothing. */
#ifndef GPUHISTO_GPU_DECODE_DECODER_INTERNAL_H
#define GPUHISTO_GPU_DECODE_DECODER_INTERNAL_H

#include "decoder.h"
#include "plan.h"
#include "gpu/engine/engine_internal.h"
#include "src/hash/xxh64.h"
#include "src/input/records.h"
#include "src/tally/characters.h"

/* --- batches --- */

/* The states of a batch. They are bits, so that one can look for several. */
enum batch_state {
    BATCH_FREE = 0,
    BATCH_PLANNED = 1, /* blocks are being added */
    BATCH_DECODING = 2,
    BATCH_DECODED = 4, /* its verdict was seen */
    BATCH_COUNTING = 8,
    BATCH_HASHING = 16, /* all that is left to do */
};

/* A batch. It lies in pinned memory, as a device that is lost may still read of it. */
struct decoder_batch {
    struct slot slot; /* first. Its chunk has the length of the content that is counted with the
                       * batch, and no data */
    enum batch_state state;
    struct device_batch work;
    bool is_dropped; /* it is decoded in vain, as the file goes back to before it */
    int64_t begin;   /* of what is counted, from where the batch's content begins */

    /* Of content that is verified: */
    bool goes_on;      /* the last frame does, and has a checksum */
    uint32_t next;     /* the frame that no thread has taken yet */
    uint32_t ending;   /* frames that end in the batch, and are not verified yet */
    uint32_t left;     /* frames that are not hashed yet */
    bool is_corrupt;   /* a frame does not have its checksum */
    bool has_hash;     /* that of the frame which goes on is there */
    struct xxh64 hash; /* of that, up to the end of the batch */
    struct decoder_batch *before, *after;
};

/* --- content_check.c: verifies the checksums of zstd frames whose content is on the device: it is
 * copied back, and hashed on the host. A frame's checksum is the lower half of the XXH64 of its
 * content, which is one chain from the first byte to the last.
 *
 * Threads do that, several if there are several frames at a time. Each copies in parts, so that one
 * part is hashed while the next ones are copied. --- */

/* The most threads. A core hashes 10 GB/s and more, so this many keep up with the device. */
#define CHECK_THREADS 4

/* Parts that a thread has under way. The copies of three hide how long one takes to be seen. */
#define CHECK_PARTS 4

struct check_thread {
    struct gpu_decoder *decoder;
    pthread_t thread;
    struct pinned pinned; /* parts, one after the other */
};

struct content_check {
    struct check_thread threads[CHECK_THREADS];
    unsigned count;                        /* of these; 0: nothing is verified */
    unsigned busy;                         /* that have a run */
    struct decoder_batch *oldest, *newest; /* of those that have frames no thread has taken */
    struct decoder_batch *last;            /* the last one that was begun */
    bool is_closing;
    pthread_cond_t changed;
};

/* Starts a first thread, unless memory or threads are short. */
void content_check_open(struct gpu_decoder *decoder);

/* Begins a batch whose verdict is good, with goes_on set. The batches of a file come in order,
 * without gaps. `left` and `ending` then go down to 0. */
void content_check_begin(struct gpu_decoder *decoder, struct decoder_batch *batch);

/* Waits for the threads, without the lock. No batch is under way, or the device is lost; memory
 * that a lost device may still write to is not freed. */
void content_check_close(struct gpu_decoder *decoder);

/* --- memory: opened for the first file, and anew when a large one comes after small ones --- */

enum input_state { INPUT_FREE, INPUT_FILLING, INPUT_COPYING };

/* Compressed bytes on their way to the device. */
struct decoder_input {
    struct chunk chunk; /* first: what is filled */
    enum input_state state;
    uint64_t planned; /* bytes that the walk has seen; may be more than there are */
    struct pinned pinned;
};

enum decoder_size {
    DECODER_CLOSED,
    DECODER_SMALL,
    DECODER_LARGE,
};

struct decoder_memory {
    enum decoder_size size;
    struct device_decoding decoding; /* without batches: the device decompresses nothing */
    struct decoder_batch *batch;
    struct pinned pinned; /* the batches, and `fetched` */
    struct pinned
        earlier; /* that of smaller ones: snapshots change places, so good ones are there */
    struct decoder_input input[DEVICE_INPUTS];
    unsigned inputs;        /* that are open */
    size_t input_size;      /* bytes of each */
    unsigned char *fetched; /* fetch_size bytes: content that comes back */
    size_t fetch_size;
};

/* --- file: what was planned, and what was counted ---
 *
 * Content that is counted ends after a whole record. The rest, the tail, stays on the device before
 * the next batch, and is counted with that. */

enum file_end {
    FILE_GOES_ON,
    FILE_WHOLE,   /* all of it was planned */
    FILE_REFUSED, /* some of it is not for the device, or was refused: nothing more is launched or
                   * counted */
};

/* Content after the last whole record. */
struct content_tail {
    uint32_t len;
    unsigned char cut[CHARACTER_SIZE_MAX]; /* these bytes, of characters */
    const struct decoder_batch *last;      /* the batch that they end; NULL: there is none yet */
    unsigned char *bytes;                  /* room for them at the end of the file */
};

struct decoder_file {
    struct compressed_start start;
    struct record_kind kind; /* what the content is cut into */
    struct decode_walk walk;
    uint64_t need; /* compressed bytes, to go on */
    enum file_end end;
    uint64_t launched; /* batches */
    uint64_t counted;  /* bytes of content that were sent to be counted */
    bool goes_back;    /* the reader does not know yet that what comes next was there before */
    struct content_tail tail;
};

/* Content that is copied to the host's memory, a piece at a time. */
struct decoder_fetch {
    size_t done;      /* bytes that are there */
    size_t under_way; /* and that come next */
};

struct gpu_decoder {
    struct gpu_engine *gpu; /* whose it is */
    struct decoder_memory memory;
    struct content_check check;
    struct decoder_file file;
    unsigned turn; /* the batch that is planned next: batches take turns. Those on their way come
                    * right before it, in order */
    struct decoder_batch *planned; /* to which blocks are added; or NULL */
    struct decoder_fetch fetch;
    struct timespec filling; /* when the last chunk was given out */
};

/* --- queue.c: batches are planned, launched, judged, counted and freed ---
 *
 * A batch is counted once its verdict is good and the checksums of all frames that end in it are
 * right. Then it is a slot in flight without bytes on the host: if the device is lost, the file is
 * begun anew. Content of a frame that goes on is hashed meanwhile. */

/* Plans a chunk of the file from byte `offset` on. That is copied, and decoded when it is due.
 * False: no batch is free, and it must be called again. */
bool decoder_queue_take(struct gpu_decoder *decoder, struct decoder_input *input, uint64_t offset);

/* Launches the batch that is planned, if there is one and that is due. True if it was launched. */
bool decoder_queue_launch_due(struct gpu_decoder *decoder);

/* Polls verdicts and hashes, and sends the oldest batch to be counted if it can be. True if
 * something has come of it. */
bool decoder_queue_poll(struct gpu_decoder *decoder);

/* Frees a batch that is neither decoded nor counted any more, once its content was hashed. */
void decoder_queue_release(struct decoder_batch *batch);

/* Returns the oldest batch that is in one of these states, a sum of enum batch_state; or NULL. */
struct decoder_batch *decoder_queue_oldest(const struct gpu_decoder *decoder, unsigned states);

/* True if a batch is to be launched, now or later. */
bool decoder_queue_has_planned(const struct gpu_decoder *decoder);

/* Returns the bytes of the file that come next. */
struct compressed_next decoder_queue_next(struct gpu_decoder *decoder);

/* Drops the batch that is planned. */
void decoder_queue_drop_planned(struct gpu_decoder *decoder);

#endif
