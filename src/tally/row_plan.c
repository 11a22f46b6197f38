/* SPDX-License-Identifier: MIT */
#include "row_plan.h"

/* True if all edges are numbers of so many bits, or one beyond the last of them. */
static bool edges_fit(const struct binning *binning, unsigned bits, bool is_signed)
{
    int128 min = row_plan_min(bits, is_signed), end = min + ((int128)1 << bits);
    return binning->first >= min && binning->first + binning->span <= end;
}

/* Plans offsets of so many bits, if possible. Narrower types have room for a sign in any case. */
static bool plan_offsets(const struct histogram_spec *spec, unsigned bits, struct row_plan *plan)
{
    bool is_signed = spec->type.kind == 'i', is_narrower = 8 * spec->type.size < bits;
    *plan = (struct row_plan){.way = PLAN_OFFSETS, .bits = bits, .is_signed = is_signed};
    if (edges_fit(&spec->binning, bits, is_signed))
        return true;
    plan->is_signed = true;
    return is_narrower && edges_fit(&spec->binning, bits, true);
}

static struct row_plan plan_wholes(const struct histogram_spec *spec)
{
    const struct binning *binning = &spec->binning;
    if (binning->kind == BINNING_DIGITS)
        return (struct row_plan){.way = PLAN_WHOLE_DIGITS};
    bool has_offsets = binning->kind == BINNING_EQUAL &&
                       (binning->reciprocal || (int128)binning->bins == binning->span);
    struct row_plan plan;
    if (has_offsets && spec->type.size <= 4 && plan_offsets(spec, 32, &plan))
        return plan;
    if (has_offsets && plan_offsets(spec, 64, &plan))
        return plan;
    return (struct row_plan){.way = PLAN_WHOLE_EDGES};
}

struct row_plan row_plan_of(const struct histogram_spec *spec)
{
    if (spec->type.kind != 'f')
        return plan_wholes(spec);
    static const enum row_plan_way ways[] = {[BINNING_EQUAL] = PLAN_EQUAL_DOUBLES,
                                             [BINNING_EDGES] = PLAN_DOUBLE_EDGES,
                                             [BINNING_DECADES] = PLAN_DOUBLE_EDGES,
                                             [BINNING_LOG_LINEAR] = PLAN_LOG_LINEAR,
                                             [BINNING_DIGITS] = PLAN_DIGITS};
    return (struct row_plan){.way = ways[spec->binning.kind]};
}
