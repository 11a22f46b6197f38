/* SPDX-License-Identifier: MIT */
/* What the files of this room share: the files, the read lock, one worker's own.
 *
 * Two locks, in this order:
 *   source.read_lock  may be held for long: while a stream is read, or memory is waited for. That
 *                     may come free only when workers without the read lock go on, so what those
 *                     need is under the other one.
 *   source.lock       held for a moment only: failure, which files are open and who uses them,
 *                     decode memory, jobs, chunks that are handed off, and who waits for them. */
#ifndef GPUHISTO_WORKER_H
#define GPUHISTO_WORKER_H

#include "schedule.h"
#include "gpu/decode/decoder.h"
#include "src/input/engine.h"
#include "src/input/input.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* --- jobs, and chunks that are handed off --- */

struct worker;

/* The order in which jobs are taken. A worker's own rests come before new pieces, as its cache has
 * what they need; those of others come last. */
enum job_kind {
    JOB_REST,  /* the rest of a piece: its memory is then free for another one */
    JOB_PIECE, /* a piece of a frame or member, or some other part of one */
};

/* Something that any worker can do. Whoever offers it owns it. */
struct job {
    int (*run)(struct job *job, struct worker *worker); /* 0, or -1: the run has failed */
    enum job_kind kind;
    const struct worker *owner; /* of a rest: who has begun the piece */
    struct job *next;           /* under the lock */
};

/* All under source.lock. */
struct work_queue {
    unsigned count; /* workers that wait, or count what others handed off */
    struct chunk *handed_off[HANDED_OFF_MAX];
    unsigned handed_off_count;
    unsigned taken_count; /* of those that were handed off and taken, and are not counted yet */
    struct job *jobs, **last_job; /* that nobody has begun, the oldest first */
};

/* --- files, and one worker --- */

/* Where something is in the input: its file in the order in which files are read, and the byte of
 * that, as stored. */
struct source_offset {
    size_t file;
    uint64_t byte;
};

/* An open file. A worker may still be at an old one when others have gone on to the next. */
struct file {
    struct input input;
    size_t order;       /* how many files were opened before it */
    struct position at; /* of the next chunk, if it is not compressed; otherwise the segment of the
                         * next batch */
    uint64_t content;   /* bytes of content before that batch, as far as it must be known */
    uint64_t skip;      /* bytes of content that come next, and were counted */
    struct record_joiner joiner; /* of a compressed one, if records can be cut */
    bool in_stream; /* it is decoded as one stream: input.records has where that was cut */
    bool is_rest;  /* a GPU has decompressed it: its last record is left, or what was added since */
    bool is_alone; /* its codec's own decoder goes on: in pieces it could not be decoded further */
    bool is_offloadable; /* regular, and a GPU could decompress it, as far as known at first */
    bool is_on_gpu;      /* a GPU has it, or it waits for one */
    bool is_refused;     /* a GPU could not decompress it: it is not offered again */
    bool is_wrong;       /* what was counted is not what its checksum says, if it can be decoded */
    unsigned users;      /* the source, and all workers with a part of it; the last one closes it */
    struct file *next;   /* in source.parked, or source.in_pieces */
};

/* The largest decoder, in bytes, that a worker keeps when it goes on to something else. */
#define DECODER_KEPT ((size_t)16 << 20)

/* How much was read, and how much is left: counters that any thread reads without waiting. */
struct remaining {
    uint64_t size;          /* of all files, bytes to read; 0: one of them is not a regular file */
    _Atomic uint64_t read;  /* of these */
    atomic_bool is_unsized; /* how many of these are to be read is not known, as a range of the
                             * content of a compressed file is counted */
    _Atomic uint64_t plain; /* bytes of open files that are not compressed, still to be taken */

    _Atomic uint64_t unopened;    /* bytes, as stored, of files that were not opened, */
    _Atomic uint64_t opened;      /* of all regular files that were, */
    _Atomic uint64_t offloadable; /* and of those that a GPU could decompress; */
    _Atomic double gpu_rate;      /* of their formats' the slowest (struct codec); */
    atomic_bool is_shared;        /* with GPUs: they may have those that are not open yet; */
    _Atomic int64_t left[2];      /* of them, bytes not decoded, by is_on_gpu; */
    _Atomic uint64_t in, out;     /* bytes that were decoded, and of content that they gave */
};

/* Memory for decoding, and descriptors: both are bounded, and may be short. */
struct decode_memory {
    size_t used;               /* bytes that all workers have reserved, */
    size_t shared;             /* of these, for files in pieces */
    size_t limit;              /* that they may reserve, as the system refused more; or SIZE_MAX */
    unsigned files, files_max; /* open ones; how many there may be, 0: not known */
    unsigned busy;             /* workers that have a part of a compressed file to themselves; */
    unsigned waiting;          /* and those that wait for a GPU, and help others meanwhile */
};

struct operand {
    struct preopened file;
    size_t number;            /* as given, from 0; of a shard, among those that it has */
    struct file_shard *shard; /* what the shard has of it; NULL: there are no shards */
    uint64_t size;            /* of a regular file, bytes to read as far as known; otherwise 0 */
    bool is_alone; /* not opened while another file is open: a stream that is read in order, whose
                    * writer may count on that, and standard input, which may be given twice */
};

/* Files of which all lines end with carriage returns alone; zeroed, there are none. */
struct one_line {
    const char *name; /* of the first one */
    size_t number;    /* where it stands among the files */
    size_t count;     /* how many there are */
};

struct source {
    struct operand *operands; /* `count`, in the order in which they are read */
    size_t count;
    struct input_options options;
    struct remaining remaining;

    /* Under the read lock; the first two are changed under `lock` as well. */
    pthread_mutex_t read_lock;
    size_t opened;        /* operands */
    struct file *current; /* what is read under the read lock; NULL: another file must be found */
    struct unsupported_seen unsupported; /* files that another program should decompress */
    bool has_decoded;                    /* one of the files is decompressed */

    pthread_mutex_t lock;         /* what follows, and file.users */
    pthread_cond_t wake;          /* of what a worker waits for, some has changed */
    atomic_bool failed;           /* set under it */
    struct source_offset failure; /* if failed: where the work began, the first that is known */
    struct error error;           /* it did; empty: the sink knows why */
    struct worker *workers;       /* that have not ended */
    struct one_line one_line;     /* files that are one line */
    struct work_queue queue;
    uint64_t changes;       /* of `current` */
    struct file *in_pieces; /* are decoded in pieces */
    struct file *parked;    /* were decoded in order for a while; may be `current` again */
    struct decode_memory memory;
};

struct worker {
    struct source *source;
    const struct sink *sink;

    /* Under source.lock. */
    struct worker *next;        /* in source.workers */
    bool counts;                /* it is one of queue.count */
    bool is_at_work;            /* on what begins in the input */
    struct source_offset begin; /* here */

    size_t wanted;            /* bytes that it found no memory for; 0: it did not look for any */
    uint64_t changes;         /* of the current file, when the worker found nothing to do */
    size_t reserved;          /* bytes, for what follows */
    struct decoder *decoder;  /* kept from batch to batch, like the next two; NULL: none yet */
    struct frame_batch batch; /* compressed bytes */
    struct records records;   /* where the chunk before was cut */
    void *scratch;            /* of the job that it runs, if that is of a file in pieces */
};

/* --- source.c: the files --- */

/* Makes source->current an open file: the one that it is, a parked one, or the next operand; NULL:
 * all were opened. Under the read lock. 1; 0: the worker should count what others hand off; or -1:
 * the run has failed. */
int source_find(struct worker *worker);

/* True if a GPU can have the file: it finds no header, and leaves out no range. */
bool source_is_offloadable(const struct input *input);

/* Bytes that are looked at for what a frame states: the longest header of zstd. More than so many
 * bytes for each compressed one are not believed, and would take no time anyway. */
#define STATED_WITHIN 18
#define STATED_RATIO 32

/* Returns how many bytes of content a second a GPU decompresses of files that begin with a frame
 * like this one. */
double source_gpu_rate(const struct source *source, const struct codec *codec,
                       const struct codec_frame *frame);

/* Makes a file, or none, the current one, under the read lock. Whoever is short of something looks
 * again. */
void source_set_current(struct source *source, struct file *file);

/* Holds a file open, and lets go of it. */
void source_use(struct source *source, struct file *file);
void source_leave(struct source *source, struct file *file);

/* Records that a file is one line with carriage returns in it. */
void source_add_one_line(struct source *source, const struct file *file);

/* The file was read to its end by whoever has it to itself, or the read lock: lets go of it. 0 or
 * -1. */
int source_retire(struct worker *worker, struct file *file);

/* Leaves a file, which this worker has had to itself, to whoever has the read lock next. */
void source_park(struct source *source, struct file *file);

/* Sets where a chunk stands that the file will fill, and moves *at to the next position. */
void source_locate_chunk(const struct file *file, struct position *at, struct chunk *chunk);

/* Returns where to stop filling a chunk that begins with `waited` bytes. Texts have more room. */
size_t source_fill_limit(const struct input *input, const struct chunk *chunk, size_t waited);

/* --- source.c: how much is left of them --- */

/* `in` compressed bytes were read (negative: are to be read again) and gave `out` of content. */
void remaining_add_read(struct source *source, const struct file *file, int64_t in, uint64_t out);

/* The file, none of which is decoded, goes to a GPU, or does not after all or any more. */
void remaining_assign(struct source *source, struct file *file, bool to_gpu);

/* Returns the bytes of content that a compressed one has given so far, or a guess. */
double remaining_content_ratio(struct source *source);

/* --- worker.c: what workers are at, and what went wrong --- */

/* Adds a worker to the source, which has the first two members only; and removes it, and frees all
 * that it has. */
void worker_open(struct worker *worker);
void worker_close(struct worker *worker);

/* The worker is at work: on what is read next, under the read lock; or, whoever has that, on what
 * begins at a byte of the file that was opened after so many others. False: it is not, as the run
 * has failed before that. */
bool source_begin_work(struct worker *worker);
bool source_begin_work_at(struct worker *worker, size_t file, uint64_t byte);

/* The worker is not at work any more, whoever has the read lock. False: the run has failed, and no
 * file that comes before that is to be read on. */
bool source_end_work(struct worker *worker);

/* Has the run fail with an error, an empty one if the sink knows it. The error that counts is that
 * of the work that begins first in the input, as with one worker: so others go on with what comes
 * before. -1. */
int source_fail(struct worker *worker, const struct error *error);

/* The same with an error that begins with the name of a file. -1. */
int source_fail_of(struct worker *worker, const struct file *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same as memory is short for a file, or it ends within a frame. -1. */
int source_fail_for_memory(struct worker *worker, const struct file *file);
int source_fail_truncated(struct worker *worker, const struct file *file, uint64_t end);

/* The same where the end of the file is wrong: all else of the file comes before that. -1. */
int source_fail_at_end(struct worker *worker, const struct file *file, const struct error *error);

/* True if the run has failed before what the worker is at work on. */
bool source_has_failed(struct worker *worker);

/* --- worker.c: memory for decoding, and descriptors --- */

/* Reserves bytes for a batch and its decoder; what the worker had reserved counts. False if memory
 * is short: the worker has given back all that it had, and should count for others. */
bool decode_memory_reserve(struct worker *worker, size_t size);

/* The system has no memory for what was reserved: gives it back. 0 if others have some, so the
 * worker should count for them and try again; or -1: the run has failed. */
int decode_memory_refuse(struct worker *worker, const struct file *file, size_t wanted);

/* Bytes for batches and decoders of all workers together, beside files in pieces, too; and the most
 * for a file that is decoded in pieces, if it needs them and nothing else does. */
#define DECODE_MEMORY ((size_t)256 << 20)
#define DECODE_MEMORY_PIECES ((size_t)512 << 20)

/* Returns how much the budget for all of that is where so many workers decode files in pieces. */
size_t decode_memory_max(unsigned workers);

/* Reserves bytes for such a file. False if memory is short. And gives them back. */
bool decode_memory_reserve_shared(struct source *source, size_t size, unsigned workers);
void decode_memory_release_shared(struct source *source, size_t size);

/* Gives back what the worker has reserved, if that is more than `max` bytes. */
void decode_memory_release(struct worker *worker, size_t max);

/* The worker has a part of a compressed file to itself; and has done with it. */
void decode_memory_begin(struct worker *worker);
void decode_memory_end(struct worker *worker);

/* True if the next operand may be opened; if not, a worker should count for others. Under
 * source.lock. */
bool source_may_open(const struct source *source);

/* --- worker.c: jobs, chunks that are handed off, and waiting for either --- */

/* True if the worker has to wait: for memory, for a file to be closed, or for the last ones to be
 * parked or decoded; or, after a failure, for all files before that, if they are decoded in pieces.
 * Under source.lock. */
bool worker_is_short(const struct worker *worker);

/* Waits while the worker is short of something, for a job, or for a chunk that another worker hands
 * off, which it returns, to be counted by worker_count_handed_off. NULL: there is none. *is_short:
 * there is nothing but jobs to be taken; perhaps it did not wait yet, but gave back memory. */
struct chunk *worker_wait(struct worker *worker, bool *is_short);

/* True if a chunk waits to be counted, or a job to be taken. */
bool work_queue_is_pending(struct source *source);

/* The worker has found something to read. */
void work_queue_leave(struct worker *worker);

/* Hands off a chunk, if somebody counts for others and there is room. True if it did. To wake a
 * worker costs a tenth of counting a chunk, so nobody may be woken before others come. */
bool work_queue_hand_off(struct source *source, struct chunk *chunk);

/* Wakes somebody for each chunk that is handed off: the worker that hands it off will be waiting
 * itself. */
void work_queue_hurry(struct source *source);

/* Takes a chunk back that was handed off, so that it is counted now. NULL: there is none. */
struct chunk *work_queue_acquire(struct source *source);

/* Counts a chunk that was handed off. 0 or -1. */
int worker_count_handed_off(struct worker *worker, struct chunk *chunk);

/* Offers a job to all workers, and wakes one that waits. */
void work_queue_offer(struct source *source, struct job *job);

/* Takes the job that a worker should do next; NULL: there is none. */
struct job *work_queue_take(const struct worker *worker);

/* --- what the ways to read a file share --- */

/* What one worker decodes of a compressed file: a part between records that may be cut, or all of
 * it as one stream. */
struct segment {
    struct worker *worker;
    struct file *file;
    struct records *records; /* where the chunk before was cut: the worker's, or a stream's own */
    struct position at;      /* of the next chunk */
    struct span *span;       /* what it begins and ends with; NULL: nothing can be cut */
    uint64_t begin;          /* bytes of content before it, as far as that must be known */
    uint64_t content;        /* bytes of content that were decoded of it */
    bool is_ended;           /* of a piece: a chunk says that it has */
};

/* A part of a file that one worker runs to its end, or of which several take pieces. */
struct extent {
    /* The runner; NULL: nothing is left for the worker. What it leaves of the file is parked for
     * whoever comes next. 0, or -1: the run has failed. */
    int (*run)(struct extent *extent);
    struct worker *worker;
    struct file *file;

    /* copy */
    uint64_t changes; /* of source.current */

    /* serial: the batch is in worker->batch, and its decoder is the worker's */
    uint64_t frame; /* where in the file the frame begins that is being decoded, or the next one, */
    uint64_t made;  /* and how many bytes of content it has given */
    bool pending;   /* the decoder may give more without being fed */
    uint64_t skip;  /* bytes of content that come again, and were counted */
    bool is_again;  /* the frame was given in part, and its decoder begins it anew */

    /* gpu */
    double stated;   /* bytes of content that the first frame of the file states; 0: it does not */
    double gpu_rate; /* bytes of content a second that a GPU decompresses of it */
    double ratio;    /* of content to compressed bytes, of its first ones; 0: not known */
    struct gpu_decoder *gpu;
    struct compressed_next next;    /* what it wants next of the file */
    struct parallel_read *parallel; /* of a regular file, or NULL */

    struct segment segment; /* of the last two */
};

/* Takes the next extent of extent->file, the current one, which is compressed; under the read lock.
 * 1; 0: there is nothing to take now; or -1: the run has failed. */
int serial_acquire(struct extent *extent);

/* The same of all of a file that a GPU should decompress. 0: it should not. */
int gpu_acquire(struct extent *extent);

/* Copies what is left of a file that is not compressed, beside others. */
int copy_run(struct extent *extent);

/* Chooses the memory for a chunk. NULL: the run has failed. */
static inline struct chunk *runner_choose(struct worker *worker, enum flow flow)
{
    struct chunk *chunk = worker->sink->choose(worker->sink->arg, flow);
    if (!chunk)
        source_fail(worker, &(struct error){""});
    return chunk;
}

/* Returns how many workers there may be. */
static inline unsigned worker_max(const struct worker *worker)
{
    return worker->sink->workers ? atomic_load(worker->sink->workers) : 1;
}

/* --- segment.c: cuts records; src/input joins what segments begin and end with --- */

/* Begins a segment of a file of such a number, before which so much content stands, and which
 * begins with `skip` bytes that come again; or, of one that is decoded as one stream, goes on with
 * that. Any thread. 0, or -1: out of memory, and nothing has changed. */
int segment_begin(struct segment *segment, struct worker *worker, struct file *file,
                  uint64_t number, uint64_t content, uint64_t skip);

/* True if the file is decoded as one stream. */
bool segment_is_stream(const struct segment *segment);

/* Begins a chunk with what the one before was cut from. Returns how many bytes that is. */
size_t segment_begin_chunk(struct segment *segment, struct chunk *chunk);

/* Cuts a chunk after its last whole record; `waited` is what segment_begin_chunk returned. Keeps
 * for the joiner what belongs to a record before the segment. 0, or -1: the run has failed. */
int segment_cut(struct segment *segment, struct chunk *chunk, size_t waited, bool at_end);

/* Ends the segment, and pushes the records that this completes. 0, or -1: the run has failed. */
int segment_end(struct segment *segment);

/* The file ends with the last segment: pushes its last record. 0, or -1: the run has failed. */
int segment_end_file(struct worker *worker, struct file *file);

/* Frees what it has, after a failure. */
void segment_close(struct segment *segment);

/* Begins the segment of such a number, or goes on with the file's only one, with content of a piece
 * from `position` on. 0, or -1: the run has failed. */
int piece_count_begin(struct segment *segment, struct worker *worker, struct file *file,
                      uint64_t number, uint64_t position);

/* Counts what is in the range of data[0..len), the next content of the segment, before which
 * `before` bytes of content stand; is_last: the segment ends with it. 0, or -1: the run has failed.
 */
int piece_count(struct segment *segment, const unsigned char *data, size_t len, size_t before,
                bool is_last);

/* Ends the segment, unless it is the file's only one. 0, or -1: the run has failed. */
int piece_count_end(struct segment *segment);

#endif
