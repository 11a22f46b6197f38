/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SET_FIRST 1024         /* processors: what a fixed cpu_set_t has room for */
#define SET_LAST (1024 * 1024) /* more than any kernel supports */

/* The kernel refuses (EINVAL) a set that is smaller than its own. */
unsigned machine_processors(machine_affinity *affinity)
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

/* --- control groups --- */

/* Called with the folder of a control group, which holds the group's files. */
typedef void group_look(const char *folder, bool version_2, void *arg);

/* Reads the beginning of the file folder/name as text. 0, or -1: the file does not exist. */
static int read_text(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = len < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return -1;
    size_t done = 0;
    ssize_t got;
    while (done < size - 1 && (got = read(fd, text + done, size - 1 - done)) > 0)
        done += (size_t)got;
    text[done] = '\0';
    close(fd);
    return 0;
}

/* True if a list with commas, such as "cpu,cpuacct", has the controller. */
static bool lists_controller(const char *list, const char *controller)
{
    size_t len = strlen(controller);
    for (;; list++) {
        if (strncmp(list, controller, len) == 0 && (list[len] == ',' || list[len] == '\0'))
            return true;
        list = strchr(list, ',');
        if (!list)
            return false;
    }
}

/* Looks at the folder top/path, and at its parents up to top. They need not exist: in a container
 * the path, as the kernel names it, may begin outside of it. */
static void climb(const char *top, const char *path, bool version_2, group_look *look, void *arg)
{
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s%s", top, path) >= (int)sizeof folder)
        return;
    for (;;) {
        look(folder, version_2, arg);
        char *slash = strrchr(folder + strlen(top), '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

/* Climbs from the group that a line of /proc/self/cgroup names: "0::/path" for version 2,
 * "4:cpu,cpuacct:/path" for version 1, where every controller has a folder, if only as a link. */
static void climb_from_line(const char *root, char *line, const char *controller, group_look *look,
                            void *arg)
{
    char top[PATH_MAX], *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    if (!path)
        return;
    *path++ = '\0';
    list++;
    if (strcmp(path, "/") == 0)
        path++; /* the group at the top has one folder, not two */
    const bool version_2 = *list == '\0' && strcmp(line, "0:") == 0;
    if (!version_2 && !lists_controller(list, controller))
        return;
    int len = snprintf(top, sizeof top, "%s/sys/fs/cgroup%s%s", root, version_2 ? "" : "/",
                       version_2 ? "" : controller);
    if (len < (int)sizeof top)
        climb(top, path, version_2, look, arg);
}

/* Looks at this process's control group and at each of its ancestors, as the limits of all of them
 * hold. */
static void look_at_groups(const char *root, const char *controller, group_look *look, void *arg)
{
    char folder[PATH_MAX], text[8192], *rest;
    if (snprintf(folder, sizeof folder, "%s/proc/self", root) >= (int)sizeof folder ||
        read_text(folder, "cgroup", text, sizeof text) != 0)
        return;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        climb_from_line(root, line, controller, look, arg);
}

/* --- processors --- */

/* A quota in microseconds of processor time a period; "max" or -1 is none. */
static void apply_quota(int64_t quota, int64_t period, unsigned *least)
{
    if (quota <= 0 || period <= 0)
        return;
    int64_t processors = quota / period + (quota % period != 0);
    if (processors < *least)
        *least = (unsigned)processors;
}

static void look_for_quota(const char *folder, bool version_2, void *arg)
{
    char quota[64], period[64];
    int64_t time, every;
    if (version_2) {
        if (read_text(folder, "cpu.max", quota, sizeof quota) == 0 &&
            sscanf(quota, "%" SCNd64 " %" SCNd64, &time, &every) == 2)
            apply_quota(time, every, arg);
    } else if (read_text(folder, "cpu.cfs_quota_us", quota, sizeof quota) == 0 &&
               read_text(folder, "cpu.cfs_period_us", period, sizeof period) == 0) {
        apply_quota(atoll(quota), atoll(period), arg);
    }
}

unsigned machine_quota(const char *root)
{
    unsigned least = UINT_MAX;
    look_at_groups(root, "cpu", look_for_quota, &least);
    return least;
}

/* --- memory --- */

/* Finds the number after `key` at the beginning of a line. */
static bool find_number(const char *text, const char *key, uint64_t *number)
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
static void look_for_memory(const char *folder, bool version_2, void *arg)
{
    char limit_text[64], statistics[8192];
    uint64_t limit, used = 0, *least = arg;
    const char *file = version_2 ? "memory.max" : "memory.limit_in_bytes";
    if (read_text(folder, file, limit_text, sizeof limit_text) != 0 ||
        sscanf(limit_text, "%" SCNu64, &limit) != 1) /* or "max" */
        return;
    if (read_text(folder, "memory.stat", statistics, sizeof statistics) == 0)
        (void)find_number(statistics, version_2 ? "anon " : "total_rss ", &used);
    uint64_t left = limit > used ? limit - used : 0;
    if (left < *least)
        *least = left;
}

uint64_t machine_memory(const char *root)
{
    char folder[PATH_MAX], text[4096];
    uint64_t least = UINT64_MAX, kilobytes;
    if (snprintf(folder, sizeof folder, "%s/proc", root) < (int)sizeof folder &&
        read_text(folder, "meminfo", text, sizeof text) == 0 &&
        find_number(text, "MemAvailable:", &kilobytes))
        least = kilobytes * 1024;
    look_at_groups(root, "memory", look_for_memory, &least);
    return least;
}
