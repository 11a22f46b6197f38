/* SPDX-License-Identifier: MIT */
/* Kinds of data to measure histograms on. */
#ifndef GPUHISTO_BENCH_DATA_H
#define GPUHISTO_BENCH_DATA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum data_kind {
    DATA_UNIFORM,  /* all byte values, equally frequent */
    DATA_LETTERS,  /* lower-case letters, equally frequent */
    DATA_TEXT,     /* English words by their frequency, with capitals and punctuation */
    DATA_LOG,      /* lines of a web server's log */
    DATA_ONE_BYTE, /* a single letter */
    DATA_ZIPF,     /* the k-th most frequent value k times rarer than the first */
    DATA_RUNS,     /* 1000 of one value, then of another */
    DATA_SORTED,   /* ascending over the whole length */
    DATA_KINDS,
};

/* The kind's name, for tables. */
const char *data_name(enum data_kind kind);

/* Fills data[0..len). The same kind and length give the same data; all but DATA_SORTED repeat after
 * 16 MiB, far more than a counter gets at a time. */
void data_fill(enum data_kind kind, unsigned char *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
