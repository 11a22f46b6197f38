/* SPDX-License-Identifier: MIT */
/* The weight of a record, --weight: how often it counts, a whole number from 0 to WEIGHT_MAX. It is
 * written in digits, perhaps with a point and zeros after them, in a field that may have around it
 * what a number may (field_token). A record without a weight is invalid, and counts once; one of
 * weight 0 does not count, whatever else is in it. */
#ifndef GPUHISTO_WEIGHT_H
#define GPUHISTO_WEIGHT_H

#include "src/base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIGHT_MAX ((uint64_t)INT64_MAX)

struct field;
struct line_batch;

/* True if the weight of the record [begin, end) is 0. Any thread. */
bool weight_is_zero(const struct field *field, const unsigned char *begin,
                    const unsigned char *end);

/* The sum of all weights of a run. All zeros before any. */
struct weight_total {
    atomic_uint_least64_t sum;
    atomic_bool is_too_large; /* it does not fit 64 bits, and neither may what was counted */
};

/* Sets the weights of a batch (lines.h) whose fields were found, and adds them to the total. A
 * record without one gets weight 1. It is made invalid: its value NaN or, without values, its first
 * key missing. Any thread. */
void weights_read(struct line_batch *batch, struct weight_total *total);

/* 0; or -1 with the error set if the sum is too large. Any thread. */
int weight_total_check(const struct weight_total *total, struct error *error);

#endif
