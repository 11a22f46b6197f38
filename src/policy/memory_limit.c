/* SPDX-License-Identifier: MIT */
#include "memory_limit.h"
#include "cgroup.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Finds the number after `key` at the beginning of a line. Whether there is one. */
static bool memory_number(const char *text, const char *key, uint64_t *number)
{
    size_t len = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0)
            return sscanf(line + len, "%" SCNu64, number) == 1;
    }
    return false;
}

/* What a group leaves: its limit less what its processes use and cannot give back. Page cache,
 * which they can, does not count. */
static void memory_look(const char *folder, bool version_2, void *arg)
{
    char limit_text[64], statistics[8192];
    uint64_t limit, used = 0, *least = arg;
    const char *file = version_2 ? "memory.max" : "memory.limit_in_bytes";
    if (cgroup_read(folder, file, limit_text, sizeof limit_text) != 0 ||
        sscanf(limit_text, "%" SCNu64, &limit) != 1) /* or "max" */
        return;
    if (cgroup_read(folder, "memory.stat", statistics, sizeof statistics) == 0)
        (void)memory_number(statistics, version_2 ? "anon " : "total_rss ", &used);
    uint64_t left = limit > used ? limit - used : 0;
    if (left < *least)
        *least = left;
}

uint64_t memory_available(const char *root)
{
    char folder[PATH_MAX], text[4096];
    uint64_t least = UINT64_MAX, kilobytes;
    if (snprintf(folder, sizeof folder, "%s/proc", root) < (int)sizeof folder &&
        cgroup_read(folder, "meminfo", text, sizeof text) == 0 &&
        memory_number(text, "MemAvailable:", &kilobytes))
        least = kilobytes * 1024;
    cgroup_walk(root, "memory", memory_look, &least);
    return least;
}
