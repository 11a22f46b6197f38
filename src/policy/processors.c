/* SPDX-License-Identifier: MIT */
#include "processors.h"
#include "cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define SET_FIRST 1024         /* processors: what a fixed cpu_set_t has room for */
#define SET_LAST (1024 * 1024) /* more than any kernel supports */

/* The kernel refuses (EINVAL) a set that is smaller than its own. */
unsigned processors_allowed(processors_affinity *affinity)
{
    for (size_t most = SET_FIRST; most <= SET_LAST; most *= 2) {
        cpu_set_t *set = CPU_ALLOC(most);
        size_t size = CPU_ALLOC_SIZE(most);
        if (!set)
            break;
        int rc = affinity(0, size, set);
        bool too_small = rc != 0 && errno == EINVAL;
        int allowed = rc == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (allowed > 0)
            return (unsigned)allowed;
        if (!too_small)
            break;
    }
    return 1;
}

/* A quota in microseconds of processor time a period; "max" or -1 is none. */
static void processors_limit(int64_t quota, int64_t period, unsigned *least)
{
    if (quota <= 0 || period <= 0)
        return;
    int64_t processors = quota / period + (quota % period != 0);
    if (processors < *least)
        *least = (unsigned)processors;
}

static void processors_look(const char *folder, bool version_2, void *arg)
{
    char quota[64], period[64];
    int64_t time, every;
    if (version_2) {
        if (cgroup_read(folder, "cpu.max", quota, sizeof quota) == 0 &&
            sscanf(quota, "%" SCNd64 " %" SCNd64, &time, &every) == 2)
            processors_limit(time, every, arg);
    } else if (cgroup_read(folder, "cpu.cfs_quota_us", quota, sizeof quota) == 0 &&
               cgroup_read(folder, "cpu.cfs_period_us", period, sizeof period) == 0) {
        processors_limit(atoll(quota), atoll(period), arg);
    }
}

unsigned processors_quota(const char *root)
{
    unsigned least = UINT_MAX;
    cgroup_walk(root, "cpu", processors_look, &least);
    return least;
}
