/* SPDX-License-Identifier: MIT */
#include "row_plan.h"

/* Whether all edges, the last one too, are among the numbers of so many bits, or one beyond. */
static bool edges_fit(const struct binning *binning, unsigned bits, bool is_signed)
{
    whole least = row_plan_least(bits, is_signed), end = least + ((whole)1 << bits);
    return binning->first >= least && binning->first + binning->span <= end;
}

/* Plans offsets of so many bits, if that can be; narrower types have room for a sign, whether they
 * have one or not. */
static bool plan_offsets(const struct histogram *histogram, unsigned bits, struct row_plan *plan)
{
    bool is_signed = histogram->type.kind == 'i', is_narrower = 8 * histogram->type.size < bits;
    *plan = (struct row_plan){.way = PLAN_OFFSETS, .bits = bits, .is_signed = is_signed};
    if (edges_fit(&histogram->binning, bits, is_signed))
        return true;
    plan->is_signed = true;
    return is_narrower && edges_fit(&histogram->binning, bits, true);
}

static struct row_plan plan_wholes(const struct histogram *histogram)
{
    const struct binning *binning = &histogram->binning;
    if (binning->whole_digits.digits)
        return (struct row_plan){.way = PLAN_WHOLE_DIGITS};
    bool has_offsets =
        !binning->whole_edges && (binning->reciprocal || (whole)binning->bins == binning->span);
    struct row_plan plan;
    if (has_offsets && histogram->type.size <= 4 && plan_offsets(histogram, 32, &plan))
        return plan;
    if (has_offsets && plan_offsets(histogram, 64, &plan))
        return plan;
    return (struct row_plan){.way = PLAN_WHOLE_EDGES};
}

struct row_plan row_plan_of(const struct histogram *histogram)
{
    const struct binning *binning = &histogram->binning;
    if (histogram->type.kind != 'f')
        return plan_wholes(histogram);
    if (binning->log_linear)
        return (struct row_plan){.way = PLAN_LOG_LINEAR};
    if (binning->digits.scales)
        return (struct row_plan){.way = PLAN_DIGITS};
    return (struct row_plan){.way = binning->edges ? PLAN_DOUBLE_EDGES : PLAN_EQUAL_DOUBLES};
}
