/* SPDX-License-Identifier: MIT */
/* All the input: standard input and the files, in order, for any number of workers. What a worker
 * does with it is src/schedule/run.c. */
#ifndef GPUHISTO_SOURCE_H
#define GPUHISTO_SOURCE_H

#include "src/input/input.h"
#include "src/input/engine.h"
#include "policy.h"

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
    /* Returns how many workers there may be. May be NULL: one. */
    unsigned (*workers)(void *arg);
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

#endif
