/* SPDX-License-Identifier: MIT */
/* Counts samples on the CPU, by the kernels for the fastest instruction set that runs here.
 *
 * An instruction set is a struct cpu_kernels in a file of its own, count_NAME.c. What kernels of
 * several instruction sets have in common are loops in headers, which each file includes and so
 * compiles for its instructions. */
#ifndef GPUHISTO_COUNT_H
#define GPUHISTO_COUNT_H

#include "src/bins/binning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk;
struct engine;
struct error;
struct histogram_spec;
struct key_tallies;
struct keyed_counts;
struct line_reader;
struct number_parser;
struct paged_counts;
struct tally;
struct weight_total;

/* --- what is prepared, and what an instruction set does --- */

/* Vector loops look up the classes of a letter, a bit each, in groups of eight. A bin takes one
 * class, or several if its letters have no simple pattern. Only the kernels know the layout. */
#define CLASS_GROUPS 4

struct letter_classes {
    uint8_t table[CLASS_GROUPS][128];
    uint8_t bin_of[CLASS_GROUPS * 8]; /* by class */
    unsigned count;
};

/* The preparations for a histogram. They do not change afterwards, so any number of threads may
 * count by them. */
struct count_plan {
    const struct histogram_spec *spec;
    const struct cpu_kernels *kernels;
    struct letter_classes letters;
    struct row_plan rows;               /* of values and numbers */
    const struct number_parser *parser; /* of text */
    struct weight_total *weight_total;  /* if records have weights */
    bool skip_repeated; /* chunks overlap, as only another histogram's pairs need: count the rest */
};

/* The loops for one instruction set. All add to counts, one for each row of the histogram, or to
 * `paged` instead, unless that is NULL. Data may have any alignment and length; nothing else is
 * read. Any thread. */
struct cpu_kernels {
    const char *name;        /* for GPUHISTO_CPU */
    const char *about;       /* for --verbose */
    bool (*runs_here)(void); /* true if this processor has the instructions */
    void (*prepare_letters)(struct count_plan *plan);
    void (*count_letters)(const struct count_plan *plan, const unsigned char *data, size_t len,
                          uint64_t *counts);
    void (*count_bytes)(const unsigned char *data, size_t len, uint64_t *counts);
    /* Values of two bytes or more, numbers in text, and characters of UTF-8. These also add
     * samples, moments if the tally has them, and newlines of numbers. */
    void (*count_values)(const struct count_plan *plan, const unsigned char *data, size_t len,
                         struct tally *tally, struct paged_counts *paged);
    void (*count_numbers)(const struct count_plan *plan, struct line_reader *lines,
                          struct tally *tally, struct paged_counts *paged,
                          struct keyed_counts *keyed); /* unless NULL, gets all but newlines */
    void (*count_characters)(const struct count_plan *plan, const unsigned char *data, size_t len,
                             struct tally *tally, struct paged_counts *paged);
    const struct number_parser *parser; /* for the same instructions, or for fewer */
};

extern const struct cpu_kernels cpu_kernels_avx512, cpu_kernels_avx2, cpu_kernels_neon,
    cpu_kernels_portable;

/* --- counting --- */

/* All kernels, fastest first, ended by NULL. The last one runs anywhere. */
extern const struct cpu_kernels *const all_kernels[];

/* Returns the kernels with this name, or the fastest for NULL; NULL if this processor cannot run
 * them. */
const struct cpu_kernels *cpu_kernels_find(const char *name);

/* Returns a plan for counting a histogram, which must outlive it. */
struct count_plan count_plan(const struct cpu_kernels *kernels, const struct histogram_spec *spec);

/* Adds data[0..len), whole samples, to a tally of the plan's histogram: counts, samples, and
 * newlines of text, but not bytes. */
void count_samples(const struct count_plan *plan, const unsigned char *data, size_t len,
                   struct tally *tally);

/* Counts the samples of a chunk, without its header of columns, as count_samples does, and adds its
 * bytes. Counts go to `paged` unless it is NULL, which needs count_can_page; with `keyed` those of
 * records by key go there, and the tally gets bytes and newlines only. False if an expression of
 * the filter could not be decided, and the rest was not counted. */
bool count_chunk(const struct count_plan *plan, const struct chunk *chunk, struct tally *tally,
                 struct paged_counts *paged, struct keyed_counts *keyed);

/* True if samples of the histogram can be counted in pages. */
bool count_can_page(const struct histogram_spec *spec);

/* True if a tally of the histogram may have blocks while its samples are counted. */
bool count_marks_blocks(const struct histogram_spec *spec);

/* Adds the pairs of data[0..len) to a tally: each byte with the one after it, or, if aligned, bytes
 * 0 and 1, 2 and 3, and so on. Counts go to `paged` unless it is NULL. Any alignment and length;
 * nothing else is read. Any thread. */
void count_byte_pairs(const unsigned char *data, size_t len, bool is_aligned, struct tally *tally,
                      struct paged_counts *paged);

/* --- for kernels --- */

/* Functions of cpu_kernels_portable, for kernels that have no faster ones. */
void portable_count_bytes(const unsigned char *data, size_t len, uint64_t *counts);
void portable_count_characters(const struct count_plan *plan, const unsigned char *data, size_t len,
                               struct tally *tally, struct paged_counts *paged);

/* Adds bytes or letters one at a time: the few that a vector loop leaves. */
void count_byte_by_byte(const struct histogram_spec *spec, const unsigned char *data, size_t len,
                        uint64_t *counts);

/* --- the engine --- */

/* The CPU's engine: the thread that submits a chunk counts it at once, in its core's cache. */

/* The largest chunk, bytes: a larger one would leave the L2 cache before it is counted, and a pipe
 * of 1 MiB holds only a few of these. */
#define CPU_CHUNK_MAX ((size_t)256 << 10)

struct file_tallies;

struct cpu_engine_options {
    const struct cpu_kernels *kernels; /* NULL: the fastest */
    size_t chunk_size;                 /* bytes, reduced to CPU_CHUNK_MAX */
    unsigned chunks;                   /* as many as are ever out at a time, 1 or more */
    unsigned threads; /* that count at a time, 1 or more; with very many bins others wait */
    struct file_tallies *files; /* as engine.files, and file_tallies_also for further histograms;
                                 * with blocks, samples are whole where a block ends */
    struct key_tallies *keys;   /* as engine.keys; then there are no further histograms */
};

/* Opens an engine that counts each chunk by a histogram and those after it (spec->also), which
 * must outlive it, into a tally and those after it. NULL if memory is short. It is never lost: loss
 * returns NULL, submit and finish 0. */
struct engine *cpu_engine_open(const struct histogram_spec *spec,
                               const struct cpu_engine_options *options);

/* 0; or -1 with the error set once weights are too many, and counts mean nothing. Any thread. */
int cpu_engine_check(const struct engine *engine, struct error *error);

/* Returns a few words about the engine's kernels: a constant. */
const char *cpu_engine_kernels(const struct engine *engine);

#endif
