/* SPDX-License-Identifier: MIT */
/* Which snapshots of the device's counts are believed: those that can be true after what was given
 * to it, and no others. */
#include "gpu/engine/engine_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BINS 256

static unsigned cases, wrong;

/* Looks at a snapshot after `bytes` more; `before` and `words` have the counts of bytes 0, 1, ...
 */
static void check(const char *what, const uint64_t before[3], const uint64_t words[3],
                  uint64_t bytes, bool expected)
{
    struct histogram_spec spec;
    struct snapshots snapshots;
    uint64_t good[BINS] = {0}, arrived[BINS] = {0};
    struct tally seen;
    histogram_spec_bytes(&spec);
    snapshots_init(&snapshots, &spec, good);
    memcpy(good, before, 3 * sizeof *good);
    memcpy(arrived, words, 3 * sizeof *arrived);
    snapshots.good.samples = snapshots.good.bytes = before[0] + before[1] + before[2];
    const struct snapshot_growth growth = {.samples_max = bytes, .bytes = bytes};
    cases++;
    if (snapshots_believe(&snapshots, &growth, arrived, &seen) == expected &&
        (!expected || (seen.samples == snapshots.good.samples + bytes && seen.counts == arrived)))
        return;
    printf("FAIL: %s\n", what);
    wrong++;
}

int main(void)
{
    static const uint64_t none[3] = {0}, some[3] = {5, 5, 0};
    check("nothing after nothing", none, none, 0, true);
    check("the first bytes", none, some, 10, true);
    check("more of each", some, (uint64_t[]){6, 7, 1}, 4, true);
    check("nothing new", some, some, 0, true);
    check("one too few", some, (uint64_t[]){6, 7, 0}, 4, false);
    check("one too many", some, (uint64_t[]){6, 7, 2}, 4, false);
    check("a count that went down, while the sum is right", some, (uint64_t[]){4, 9, 1}, 4, false);
    check("counts that went down, as after a reset", some, (uint64_t[]){2, 2, 0}, 4, false);
    check("a sum that wraps", some, (uint64_t[]){6, 7, UINT64_MAX}, 4, false);
    printf("%u snapshots, %u wrong\n", cases, wrong);
    return wrong != 0;
}
