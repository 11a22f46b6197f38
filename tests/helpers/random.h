/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same in every run: SplitMix64, by Sebastiano Vigna. A program has one
 * sequence, which begins with seed 1. One thread. */
#ifndef GPUHISTO_TESTS_RANDOM_H
#define GPUHISTO_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins the sequence of a seed, which may be any number. */
void random_seed(uint64_t seed);

/* Takes the numbers after this one from bytes[0..size), few for a small number, and only then from
 * the sequence: a fuzzer that changes a byte changes one decision. The bytes are kept. */
void random_take_from(const unsigned char *bytes, size_t size);

/* Returns the next 64 bits, all values equally likely. */
uint64_t random_word(void);

/* Returns a number from 0 to end - 1, about equally likely while end is far below 2^32; end is not
 * 0. */
unsigned random_below(unsigned end);

/* Returns a number from 0 to below 1: a multiple of 2^-53. */
double random_fraction(void);

#ifdef __cplusplus
}
#endif

#endif
