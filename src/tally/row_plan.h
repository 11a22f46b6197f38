/* SPDX-License-Identifier: MIT */
/* The way in which the rows of binary numbers are found quickly. The CPU's loops and the GPU's
 * kernels have this choice in common; src/cpu/batch.h and gpu/row_map.c refine it. */
#ifndef GPUHISTO_ROW_PLAN_H
#define GPUHISTO_ROW_PLAN_H

#include "histogram_spec.h"

enum row_plan_way {
    PLAN_OFFSETS,       /* equal bins of whole numbers: by the offset from the first edge */
    PLAN_WHOLE_EDGES,   /* whole numbers: by comparing with edges */
    PLAN_WHOLE_DIGITS,  /* whole numbers: by dividing by a power of ten; on the CPU only */
    PLAN_EQUAL_DOUBLES, /* equal bins of doubles: by a guess that the edges beside it prove */
    PLAN_DOUBLE_EDGES,  /* doubles: by comparing with edges */
    PLAN_LOG_LINEAR,    /* doubles: by their leading bits */
    PLAN_DIGITS,        /* doubles: by scaling them by a power of ten */
};

struct row_plan {
    enum row_plan_way way;
    /* PLAN_OFFSETS: offsets are computed modulo 2^bits. All edges and all values of the type are
     * numbers of so many bits, so no value outside the edges gets an offset within the span. */
    unsigned bits; /* 32 or 64 */
    bool is_signed;
};

/* Returns the plan for a histogram whose mode is_binned. */
struct row_plan row_plan_of(const struct histogram_spec *spec);

/* Returns the least whole number of so many bits, 1 to 64. */
static inline int128 row_plan_min(unsigned bits, bool is_signed)
{
    return is_signed ? -((int128)1 << (bits - 1)) : 0;
}

#endif
