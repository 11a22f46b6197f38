/* SPDX-License-Identifier: MIT */
/* A run: its files, the rules by which work is shared, and the pool of workers that counts all. */
#ifndef GPUHISTO_SCHEDULE_H
#define GPUHISTO_SCHEDULE_H

#include "gpu/engine/gpu_engine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk;
struct engine;
struct header;
struct histogram_spec;
struct input_options;
struct preopened;
struct tally;

/* --- the rules: how many workers and GPUs there are, and which of them counts or decompresses
 * what. They are pure functions of the situation and the tuning; source.c and engines.c fill in the
 * situation. Its bytes are doubles, as many of them are estimates. --- */

/* --- the situation --- */

/* The way in which the bytes of a chunk come. */
enum flow {
    FLOW_FILE,    /* workers read side by side, and it is known how much is left */
    FLOW_PIPE,    /* workers take turns */
    FLOW_DECODED, /* workers decompress, side by side if they can; those that cannot count */
};

/* A compressed file of which nothing was read, in bytes of content. */
struct offload_offer {
    double gpu_rate;   /* bytes a second that a GPU decompresses */
    unsigned together; /* workers of a file that hardly wait for each other */
    double content;    /* in the file; HUGE_VAL: it is a pipe */
    double counted;    /* of that, what is in struct source_content: */
    bool has_waited;   /* in on_gpus, as it waits for one; otherwise in on_cores */
};

/* A frame that a worker is about to decode, with which others could help. */
struct frame_offer {
    double compressed; /* bytes, at most */
    double content;    /* the same of content, as far as known */
    double rest; /* compressed bytes of all files that are left, this one's, too; 0: not known */
    unsigned workers_max; /* that there may be */
    unsigned others;      /* frames that workers have or will have, as large as far as known */
};

/* Content of compressed files that a GPU could decompress, in bytes. */
struct source_content {
    double unopened; /* of files still to be opened, if they are as those before */
    double on_cores; /* of open ones that workers decompress, not decompressed yet, */
    double on_gpus;  /* and of those that GPUs have, or that wait for one */
    double gpu_rate; /* bytes a second that a GPU decompresses, of the slowest format */
};

/* The time that bytes cost a worker, as measured in this run. */
struct costs {
    double read;     /* seconds a byte: reading a file into a CPU buffer; 0: not measured; */
    double cpu;      /* that, and counting it; */
    double gpu;      /* reading it into a slot of a GPU, and submitting that */
    double counting; /* fraction of their time that readers of streams spend on counting */
};

/* The facts at a time. A decision says if it needs more than the first group. */
struct policy_input {
    enum flow flow;       /* of what is read */
    unsigned workers;     /* that were started */
    unsigned workers_max; /* that there may be */
    unsigned processors;  /* that they may use */
    struct costs costs;
    double rate;        /* bytes a second that workers read without a GPU; 0: not measured; */
    double worker_rate; /* and that one of them reads */

    double seconds; /* since the run began */
    bool has_work;  /* one more worker would find something to read or decompress */

    /* What is left. */
    double plain_remaining; /* bytes of plain files */
    struct source_content content;

    /* The GPUs; but for the first two, once they are open. */
    double gpu_ready;     /* seconds until they are; negative: none was asked for */
    unsigned gpus;        /* that there are, or will be; at least 1 */
    bool gpu_decodes;     /* they were opened to decompress */
    bool begins_on_gpu;   /* and asked for at the beginning (policy_begins_on_gpu) */
    unsigned gpu_files;   /* compressed files that GPUs have now */
    unsigned gpu_feeders; /* workers that fill a slot with a piece of a file */
    size_t chunk_size;    /* bytes of a slot */
};

/* --- the tuning --- */

/* The tuning: when to start more threads, and when to open the GPU. Seconds, bytes, and bytes a
 * second. */
struct policy_tuning {
    uint64_t short_input;     /* one worker counts so much before others are started */
    double gpu_start;         /* what a GPU takes until it is ready */
    double gpu_start_busy;    /* so much more while all processors are busy */
    double gpu_more;          /* what each further one takes; 0 (tests): use all that there are */
    double break_even;        /* what it must save to be worth opening; */
    double stream_break_even; /* for pipes and decompressed data: how long they have lasted */
    double stream_counting;   /* fraction of readers' time above which others do the counting */
    double decoding_time;     /* of a GPU, how many times what its rate says; 0: none */
    double decoding_start;    /* what it takes to begin and end a file */
};

/* The tuning that was measured. */
extern const struct policy_tuning policy_defaults;

/* --- the decisions --- */

/* The purpose that GPUs are to be opened for. */
enum gpu_purpose {
    GPU_FOR_NOTHING,
    GPU_COUNTS,  /* what others read */
    GPU_DECODES, /* compressed files */
};

/* The work that regular files are for GPUs, as far as known before they are opened. */
struct gpu_work {
    double plain;     /* bytes of plain files */
    double content;   /* and of compressed ones, once decompressed: */
    unsigned files;   /* so many, of which a GPU has one at a time */
    double gpu_rate;  /* bytes a second that one decompresses */
    unsigned workers; /* that decompress beside GPUs */
};

/* True if compressed files should be given to a GPU from the beginning: it ends with them sooner
 * than the workers would. */
bool policy_begins_on_gpu(const struct gpu_work *work, const struct policy_tuning *tuning);

/* Returns how many of `max` GPUs to use: a further one must end sooner with the work than those
 * before it, though each takes time to start. */
unsigned policy_gpus(const struct gpu_work *work, const struct policy_tuning *tuning, unsigned max);

/* Returns how many seconds to measure a rate before asking for a purpose, and before asking again.
 */
double policy_ask_seconds(const struct policy_tuning *tuning);

/* True if the first rate after workers were started should be measured again. Needs has_work. */
bool policy_doubts_rate(const struct policy_input *now, const struct policy_tuning *tuning);

/* Returns the purpose to open GPUs for. Needs the seconds and what is left. */
enum gpu_purpose policy_purpose(const struct policy_input *now, const struct policy_tuning *tuning);

/* True if the open GPU should count the next chunk. Needs plain_remaining and the GPU. */
bool policy_counts_on_gpu(const struct policy_input *now);

/* Returns how many seconds a GPU takes to start. */
double policy_gpu_start(const struct policy_input *now, const struct policy_tuning *tuning);

/* True if a GPU should decompress a file, now or when it is ready. Needs the content. */
bool policy_offloads(const struct policy_input *now, const struct policy_tuning *tuning,
                     const struct offload_offer *offer);

/* True if several workers should decode a frame. */
bool policy_helps(const struct frame_offer *offer);

/* True if readers of streams should leave the counting to idle workers. */
bool policy_hands_off(const struct policy_input *now, const struct policy_tuning *tuning);

/* Returns how many workers there should be. Needs has_work and the GPU. */
unsigned policy_workers(const struct policy_input *now, const struct policy_tuning *tuning);

/* Returns how many workers there may be beside GPUs that decompress; at least one feeds none. Needs
 * has_work and the GPU. */
unsigned policy_workers_beside_gpus(const struct policy_input *now);

/* --- the files, or standard input, in order, for any number of workers --- */

struct source;

/* Full chunks that may wait for an idle worker to count them, beside one for each worker. */
#define HANDED_OFF_MAX 8

/* Returns a source over `count` operands ("-": standard input), which must outlive it; none:
 * standard input. Holds the first ones, and opens none of them yet. NULL if memory is short. */
struct source *source_open(char *const *operands, size_t count,
                           const struct input_options *options);

/* Frees the source; no worker may be left. */
void source_close(struct source *source);

/* Returns how many files there are, at least one. */
size_t source_files(const struct source *source);

/* Returns the i-th file in the order in which they are read, to be held until its turn; NULL: there
 * are no more. Before the first worker. */
struct preopened *source_file(struct source *source, size_t i);

/* Before the first worker: reads the header of the file that was given first; a stream is read
 * again. 0; or -1 with the error set, if it says no type of values. */
int source_find_header(struct source *source, struct header *header, struct error *error);

/* Before the first worker: replaces the options, with others of the same range. */
void source_set_options(struct source *source, const struct input_options *options);

/* Returns the work that its regular files are for GPUs. Reads their first bytes, if they are open
 * already and large enough to matter. */
struct gpu_work source_gpu_work(struct source *source);

/* From now on GPUs may have compressed files. */
void source_share(struct source *source);

/* Before the first worker: loads the libraries that files may be decompressed with. One that cannot
 * be loaded is an error when it is needed. */
void source_load_codecs(struct source *source);

/* Returns the bytes to read, if all files are regular; otherwise 0. */
uint64_t source_size(const struct source *source);

/* True if one more worker would find something to read or to decompress now, alone or with others,
 * and not only count what others hand off. Any thread. */
bool source_has_work(struct source *source);

/* Returns the first error in the order of the input, one line with the file's name; it is empty if
 * the sink knows it. NULL: there is none; or what comes before it is still being read, so that
 * whoever ends with that is told. */
const char *source_error(struct source *source);

/* --- where its chunks go --- */

/* The sink of one worker: where its chunks go, and which memory they are in. Runners fill chunks,
 * and src/schedule, which opened the engines, counts them. */
struct sink {
    void *arg;
    /* Chooses the memory for the next chunk, or waits for it. NULL: there will be none, and the run
     * has failed. */
    struct chunk *(*choose)(void *arg, enum flow flow);
    /* Counts a chunk that choose gave to this or another worker, and takes it back; its len may be
     * 0. 0, or -1: the run has ended. */
    int (*count)(void *arg, struct chunk *chunk, enum flow flow);
    /* Returns the GPUs, if one of them is idle and should decompress a file; or NULL. Sets *waits
     * if one should, once it is idle: then ask again. May be NULL itself. */
    struct engine *(*offload)(void *arg, const struct offload_offer *offer, bool *waits);
    /* True if the worker should end rather than take more to decompress. May be NULL. */
    bool (*is_surplus)(void *arg);
    const atomic_uint *workers; /* that there may be; may be NULL: one */
    /* True if the run has ended; asked where no chunk is counted that tells so. May be NULL. */
    bool (*has_ended)(void *arg);
    /* Starts as many workers as compressed files are worth. May be NULL. */
    void (*call_for_help)(void *arg);
};

/* --- how much is left; any thread --- */

/* Returns the bytes that are still to come of files that are not known to be compressed. */
uint64_t source_remaining(struct source *source);

/* Returns how much of the bytes to read was read, 0 to 1; 0: not known, because a file is not
 * regular, or is compressed and a range of its content is counted. */
double source_fraction(struct source *source);

/* Returns what is known of compressed files that a GPU could decompress. */
struct source_content source_content(struct source *source);

/* --- after the run --- */

/* Sets *warning to what to say of files that look compressed by another program, or to "". */
void source_unsupported(struct source *source, struct error *warning);

/* The same of files that are one line, as their lines end with carriage returns alone. */
void source_one_line(const struct source *source, struct error *warning);

/* True if one of the files was decompressed. */
bool source_has_decoded(const struct source *source);

/* --- a worker --- */

/* Reads the source beside other workers until nothing is left, or sink->is_surplus. Each chunk that
 * choose gave was counted, or given back with a len of 0. A chunk never holds bytes of two files.
 * Returns 0, or -1: an error, which source_error tells unless the sink knows it. Any thread. */
int run_worker(struct source *source, const struct sink *sink);

/* --- the pool: workers read the source and count it on the CPU, on GPUs, or on both --- */

struct cpu_kernels;
struct strategy;

enum device_choice {
    DEVICE_AUTO, /* the CPU at once, and also a GPU once the input proves long enough */
    DEVICE_CPU,
    DEVICE_GPU, /* a GPU only: without one the run fails */
};

/* The choice of what happens to a token that is not a number. */
enum invalid_choice {
    INVALID_COUNT, /* it counts as invalid; the first one is reported */
    INVALID_SKIP,
    INVALID_ERROR, /* it ends the run */
};

/* Even the slowest strategy counts the largest chunk, 1 GiB, in a second. */
#define GPU_DEADLINE_MS 20000

/* A run that has not ended yet. */
struct pool_view {
    uint64_t bytes;  /* that were read */
    bool has_failed; /* nothing more will be counted */
    struct engine *cpu;
    struct engine *gpu; /* NULL: not ready */
};

struct pool_options {
    enum device_choice device;
    struct gpu_list gpus; /* the GPUs */
    bool begins_on_gpu;   /* set by pool_choose_gpus: compressed files are given to them at once */
    const struct strategy *strategy;   /* NULL: the fastest */
    const struct cpu_kernels *kernels; /* how the CPU counts; NULL: the fastest */
    size_t chunk_size;                 /* bytes of a GPU slot; the CPU's buffers are no larger */
    unsigned buffers;                  /* GPU slots; 0: chosen by the kind of input */
    unsigned threads;                  /* workers at most; 0: as many processors as may be used */
    bool no_check; /* content checksums of what the GPU decompresses need not be verified */
    bool timing;   /* measure copies and kernels on the device */
    enum invalid_choice invalid; /* in numbers */
    struct policy_tuning tuning;
    unsigned deadline_ms; /* a GPU that finishes nothing for so long has hung */
    bool opens_at_once;   /* workers wait while a GPU is opened: tests know then when it is there */
    /* Gets the samples and counts of each file, or of its blocks. Blocks need DEVICE_CPU, and a
     * source whose chunks state their positions. NULL: they are not needed apart. */
    struct file_tallies *files;
    /* Gets the samples and counts of each key; NULL: there are no keys. Only with DEVICE_CPU. */
    struct key_tallies *keys;
    /* Looks at the run, unless it is NULL: the thread that waits calls it ten times a second with
     * tick_arg, and once more if the run has failed. */
    void (*tick)(void *arg, const struct pool_view *view);
    void *tick_arg;
};

/* The input of a run, and how it is counted. */
struct pool_task {
    const struct histogram_spec *spec; /* lives as long as the process if outcome->gpu_opened */
    struct source *source;
    struct tally *tally; /* what is counted is added to it */
};

/* The course of a run, for --timing and messages. Times are in seconds since pool_run began. */
struct pool_outcome {
    double seconds;
    uint64_t cpu_bytes, gpu_bytes;
    unsigned workers;         /* that were started, but for those that were too many */
    const char *cpu_name;     /* how they counted */
    bool gpu_opened;          /* tried; the process should then exit without CUDA's tear-down */
    double gpu_ready;         /* when the slots were there; 0: never, or too late */
    struct error gpu_refused; /* why no GPU could be used, or one of several; or empty */
    struct error invalid;     /* the first token that is not a number, and its line; or empty */
    unsigned gpu_count;       /* that were ready */
    struct gpu_report gpus[GPUS_MAX];
};

/* Chooses the GPUs that a run of the source may use, and hides the others from CUDA. Before other
 * threads start. 0, or -1 with the error set. */
int pool_choose_gpus(struct pool_options *options, struct source *source, struct error *error);

/* Counts all of the source. With options->files or options->keys the counts go there, and the tally
 * gets bytes and newlines only. 0, or -1 with the error set: the tally then holds nothing of use,
 * and threads may still be running, so nothing may be freed and the process should exit. */
int pool_run(const struct pool_options *options, const struct pool_task *task,
             struct pool_outcome *outcome, struct error *error);

/* True if the run will look up how much memory there is (/proc/meminfo), because it needs much. */
bool pool_looks_for_memory(const struct histogram_spec *spec);

/* Adds the counts so far to the tally: of fewer bytes than were read, but of whole chunks. 0, or -1
 * if that is only known at the end, as on a GPU with very many bins (not snapshot_is_small). Keys
 * may then be lost, as at the end. */
int pool_so_far(const struct pool_view *view, struct tally *tally);

#endif
