/* SPDX-License-Identifier: MIT */
/* Tables that are made here, as FILEs without a name on a disk. */
#ifndef GPUHISTO_TESTS_MADE_TABLES_H
#define GPUHISTO_TESTS_MADE_TABLES_H

#include "src/base/memory.h"
#include "src/tally/histogram_spec.h"
#include "src/tally/tally.h"

#define MADE_LAYOUTS 13
#define MADE_WORDS 4

/* Options that build a histogram of each kind, up to the first NULL. */
extern const char *const made_layouts[MADE_LAYOUTS][MADE_WORDS];

/* Close its descriptor. */
struct memory_file {
    int fd;
    char name[32];
};

/* Each of these aborts if it cannot do what it should. */

void made_file_open(struct memory_file *file);
void made_file_add_text(struct memory_file *file, const char *text, size_t len);

/* Returns all of a FILE, terminated, which is to be freed. */
char *made_file_text(const struct memory_file *file, size_t *len);

/* Builds a histogram, and its options; free both. */
void made_build(const char *const *words, struct words *options, struct histogram_spec *spec);

/* Random counts of every size in one row of `sparse`, and the samples that these are. */
void made_fill_tally(struct tally *tally, const struct histogram_spec *spec, unsigned sparse);

/* Appends a table in JSON. */
void made_write_table(struct memory_file *file, const struct histogram_spec *spec,
                      const struct words *options, const struct tally *tally);

#endif
