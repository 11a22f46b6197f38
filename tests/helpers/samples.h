/* SPDX-License-Identifier: MIT */
/* Samples that are hard for one way of counting or the other, and counts by the definition alone:
 * what the tests of kernels compare with. */
#ifndef GPUHISTO_TESTS_SAMPLES_H
#define GPUHISTO_TESTS_SAMPLES_H

#include "src/tally/histogram_spec.h"

enum samples {
    SAMPLES_UNIFORM,    /* all byte values alike */
    SAMPLES_LOWER_CASE, /* uniform letters */
    SAMPLES_TEXT,       /* words, capitals, punctuation */
    SAMPLES_ONE_BYTE,   /* another for each length */
    SAMPLES_ONE_HIGH,   /* 0xff */
    SAMPLES_NEARLY_ONE, /* one byte, but for one in some hundreds */
    SAMPLES_HIGH,       /* uniform, and no ASCII */
    SAMPLES_ZIPF,       /* half of the bytes are one value, a quarter another, ... */
    SAMPLES_RUNS,       /* of 1000 */
    SAMPLES_SORTED,
    SAMPLES_KINDS,                 /* so many are hard for some way of counting */
    SAMPLES_MIXED = SAMPLES_KINDS, /* not hard: any byte, then two letters */
};

/* Fills data[0..len); the same in every run of a program that asks for the same. One thread. */
void samples_fill(enum samples kind, unsigned char *data, size_t len);

/* Adds what `bytes` of each value are in the histogram to counts[0..spec->bins). */
void samples_expect(const struct histogram_spec *spec, const uint64_t bytes[256], uint64_t *counts);

/* Adds the samples of data[0..len) to counts[0..spec->bins). The mode is bytes or letters. */
void samples_count(const struct histogram_spec *spec, const unsigned char *data, size_t len,
                   uint64_t *counts);

#endif
