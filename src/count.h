/* The loops that count bytes on the CPU; one file per way of doing it. */
#ifndef GPUHISTO_COUNT_H
#define GPUHISTO_COUNT_H

#include <stddef.h>
#include <stdint.h>

/* Adds how often each byte value occurs in data[0..len) to counts. Any alignment, any length.
 * Four tables take turns, so that a run of one value does not wait for its own last increment to
 * come back from the store buffer (the idea is Yann Collet's, of zstd and FSE). */
void count_bytes_table(const unsigned char *data, size_t len, uint64_t counts[256]);

#endif
