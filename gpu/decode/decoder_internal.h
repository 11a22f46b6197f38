/* SPDX-License-Identifier: MIT */
/* A GPU's decoder, as its files see it: decoder.c (a file's bytes on their way in, content on its
 * way out, and waits) stands above queue.c (memory and batches), and that above content_check.c
 * (checksums).
 *
 * The engine's lock is held in all functions. An int that is returned is 1: it was done; 0: not
 * yet; or -1: the device is lost. */
#ifndef GPUHISTO_GPU_DECODE_DECODER_INTERNAL_H
#define GPUHISTO_GPU_DECODE_DECODER_INTERNAL_H

#include "decoder.h"
#include "device_decoding.h"
#include "plan.h"
#include "gpu/engine/engine_internal.h"
#include "src/tally/characters.h"
#include "src/input/records.h"

#include <stdatomic.h>
#include <time.h>

/* --- content_check.c: verifies the checksums of zstd frames whose content is on the device: it is
 * copied back, and hashed on the host. A frame's checksum is the lower half of the XXH64 of its
 * content, which is one chain from the first byte to the last.
 *
 * Threads do that, several if there are several frames at a time. Each copies in parts, so that one
 * part is hashed while the next ones are copied. */

struct content_check;

enum content_verdict {
    CONTENT_GOOD,
    CONTENT_CORRUPT, /* a frame does not have its checksum */
    CONTENT_LOST,    /* the device is lost */
    CONTENT_PENDING, /* this is not known yet */
};

/* A batch that is being verified. Nobody else changes it until it is done. */
struct content_job {
    unsigned slot;
    const struct decode_plan *plan;
    const uint32_t *frame_ends;   /* where the content of each frame ends */
    bool goes_on;                 /* the last frame does, and has a checksum */
    uint64_t number;              /* from 1, of the batches since content_check_open */
    uint32_t next;                /* the frame that no thread has taken yet */
    uint32_t frames;              /* how many there are */
    uint32_t ending;              /* frames that end in the batch, and are not verified yet */
    uint32_t left;                /* frames that are not hashed yet */
    enum content_verdict verdict; /* of those verified */
    struct content_job *after;
};

/* Copies numbered below this are the caller's own; the others have memory for a part each. */
#define CONTENT_FIRST_READ 4
#define CONTENT_PARTS_MAX (DEVICE_READS - CONTENT_FIRST_READ)

/* Opens it, and starts a first thread; `part` bytes are copied at a time. NULL if memory or threads
 * are short. */
struct content_check *content_check_open(struct gpu_engine *gpu, size_t part);

/* Begins a batch whose verdict is good: *job with its slot, plan, frame_ends and goes_on set. The
 * batches of a file come in order, without gaps. The engine's lock is held, as a thread that is
 * started needs pinned memory. */
void content_check_begin(struct content_check *check, struct content_job *job);

/* Returns whether the frames that end in the batch have their checksums. */
enum content_verdict content_check_verdict(struct content_check *check,
                                           const struct content_job *job);

/* True if the content of a job is no longer needed. */
bool content_check_is_done(struct content_check *check, const struct content_job *job);

/* Returns the seconds that threads have spent hashing, and the bytes of host memory that they have
 * taken. NULL is fine here and below. */
double content_check_seconds(struct content_check *check);
uint64_t content_check_memory(struct content_check *check);

/* Waits for the threads, and frees it. All jobs are done, or the device is lost; memory that a lost
 * device may still write to is not freed. Returns the seconds that were spent hashing. */
double content_check_close(struct content_check *check);

/* --- memory: opened for the first file, and once more when a large one comes after small ones ---
 */

/* The states of a batch. They are bits, so that one can look for several. */
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
    struct decode_plan plan;
    struct device_batch *decoding; /* the same, while it is decoded */
    struct decode_verdict *verdict;
    uint32_t *frame_ends;
    struct content_job job; /* of its content, if that is verified */
    bool is_dropped;        /* it is decoded in vain, as the file goes back to before it */
    int64_t begin;          /* of what is counted, from where the batch's content begins */
    uint32_t shared;        /* of pairs: bytes of it that are counted with the next batch, too */
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

/* The most bytes of a small file, which does with less memory. */
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

/* --- file: what was planned, and what was counted ---
 *
 * Content that is counted ends after a whole record. The rest, the tail, stays on the device before
 * the next batch, and is counted with that. */

enum file_end {
    FILE_GOES_ON,
    FILE_WHOLE,   /* all of it was planned */
    FILE_LEFT,    /* what follows is not for the device */
    FILE_REFUSED, /* the device, or a checksum, refused a batch: no other one is launched */
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
    uint64_t launched; /* batches; */
    uint64_t judged;   /* of these, counted or empty */
    uint64_t content;  /* bytes of batches that were found good */
    uint64_t counted;  /* of these, as far as snapshots tell */
    bool goes_back;    /* the reader does not know yet that what comes next was there before */
    bool is_cut_off;   /* a batch was not counted; nor are those after it */
    struct content_tail tail;
};

/* --- the decoder --- */

/* The batches, which take turns. Those on their way come right before the next one, in order. */
struct decoder_queue {
    unsigned turn;                 /* the batch that is planned next */
    struct decoder_batch *planned; /* to which blocks are added; or NULL */
};

/* Content that is copied to the host's memory, a piece at a time. */
struct decoder_fetch {
    unsigned slot;
    struct device_content left; /* to be copied; of no bytes: there is nothing to fetch */
    size_t under_way;           /* bytes of it */
};

struct gpu_decoder {
    struct gpu_engine *gpu; /* whose it is */
    uint64_t bytes;         /* of content that was decompressed and counted */
    struct decoder_memory memory;
    struct decoder_file file;
    struct decoder_queue queue;
    struct decoder_fetch fetch;
    struct timespec filling; /* when the last chunk was given out */
};

/* --- queue.c: memory --- */

/* Takes memory of that size, and gives back the memory before. If memory is short, there are no
 * batches. 0, or -1: the device is lost. */
int decoder_memory_open(struct gpu_decoder *decoder, enum decoder_size size);

/* Takes memory for one more input. NULL: there are as many as there may be. */
struct decoder_input *decoder_memory_add_input(struct gpu_decoder *decoder);

/* Frees the memory, except for what a lost device may still write to. */
void decoder_memory_close(struct decoder_memory *memory);

/* --- queue.c: batches are planned, launched, judged, counted and freed ---
 *
 * A batch is counted once its verdict is good and the checksums of all frames that end in it are
 * right. Then it is a slot in flight without bytes on the host: if the device is lost, the file is
 * begun anew. Content of a frame that goes on is hashed meanwhile. */

/* Begins to plan a batch of that origin, unless one is planned. False if no batch is free. */
bool decoder_queue_open_batch(struct gpu_decoder *decoder, const struct origin *origin);

/* Launches the batch that is planned, once the next one is free. */
int decoder_queue_launch(struct gpu_decoder *decoder);

/* Launches the batch if that is due. With nothing to launch, returns 0. */
int decoder_queue_launch_due(struct gpu_decoder *decoder);

/* Polls verdicts and hashes, and has the oldest batch counted if it can be. Sets *good to the slot
 * of one that was sent to be counted, or is empty, as it ends no record; or to NULL. */
int decoder_queue_poll(struct gpu_decoder *decoder, struct slot **good);

/* Frees a batch whose snapshot was believed. */
void decoder_queue_count(struct gpu_decoder *decoder, struct slot *slot);

/* Returns how many batches are in one of these states, a sum of enum batch_state. */
unsigned decoder_queue_count_in(const struct gpu_decoder *decoder, unsigned states);

/* True while a batch is to be launched, decoded, judged, counted or hashed. */
bool decoder_queue_is_busy(const struct gpu_decoder *decoder);

/* True if nothing but hashing is waited for. */
bool decoder_queue_is_hashing(const struct gpu_decoder *decoder);

/* True if the file may go back to a batch that is being decoded, or is to be. */
bool decoder_queue_may_go_back(const struct gpu_decoder *decoder);

/* Returns the first byte of the file that may be needed again if the device goes on. */
uint64_t decoder_queue_again(const struct gpu_decoder *decoder);

/* Drops the batch that is planned, as the file has ended. */
void decoder_queue_drain(struct gpu_decoder *decoder);

#endif
