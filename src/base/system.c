/* SPDX-License-Identifier: MIT */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SET_FIRST 1024         /* processors: what a fixed cpu_set_t has room for */
#define SET_LAST (1024 * 1024) /* more than any kernel supports */

/* Tries larger sets, as the kernel refuses (EINVAL) one that is smaller than its own. */
unsigned system_limits_processors(affinity_call *affinity)
{
    for (size_t max = SET_FIRST; max <= SET_LAST; max *= 2) {
        cpu_set_t *set = CPU_ALLOC(max);
        size_t size = CPU_ALLOC_SIZE(max);
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

/* Returns the amount that the control group in a folder leaves; UINT64_MAX: it sets no limit. */
typedef uint64_t group_limit(const char *folder, bool version_2);

/* Reads the beginning of the file folder/name as text. False: the file does not exist. */
static bool read_text(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = len < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    size_t done = 0;
    ssize_t got;
    while (done < size - 1 && (got = read(fd, text + done, size - 1 - done)) > 0)
        done += (size_t)got;
    text[done] = '\0';
    close(fd);
    return true;
}

/* True if a list with commas, such as "cpu,cpuacct", which is taken apart, has the controller. */
static bool lists_controller(char *list, const char *controller)
{
    for (char *name; (name = strsep(&list, ","));)
        if (strcmp(name, controller) == 0)
            return true;
    return false;
}

/* Returns the least limit of the folder top/path and its parents up to top. They need not exist: in
 * a container the path, as the kernel names it, may begin outside of it. */
static uint64_t min_above(const char *top, const char *path, bool version_2, group_limit *limit)
{
    char folder[PATH_MAX];
    uint64_t min = UINT64_MAX;
    if (snprintf(folder, sizeof folder, "%s%s", top, path) >= (int)sizeof folder)
        return min;
    for (char *slash = folder; slash;) {
        uint64_t own = limit(folder, version_2);
        min = own < min ? own : min;
        slash = strrchr(folder + strlen(top), '/');
        if (slash)
            *slash = '\0';
    }
    return min;
}

/* Returns the least limit of the group that a line of /proc/self/cgroup names, and its ancestors:
 * "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1, where every controller has a
 * folder, if only as a link. */
static uint64_t min_of_line(const char *root, char *path, const char *controller,
                            group_limit *limit)
{
    char top[PATH_MAX], *number = strsep(&path, ":"), *list = strsep(&path, ":");
    if (!path)
        return UINT64_MAX;
    if (strcmp(path, "/") == 0)
        path++; /* the group at the top has one folder, not two */
    const bool version_2 = *list == '\0' && strcmp(number, "0") == 0;
    if (!version_2 && !lists_controller(list, controller))
        return UINT64_MAX;
    int len = snprintf(top, sizeof top, "%s/sys/fs/cgroup%s%s", root, version_2 ? "" : "/",
                       version_2 ? "" : controller);
    return len < (int)sizeof top ? min_above(top, path, version_2, limit) : UINT64_MAX;
}

/* Returns the least limit of this process's control group and its ancestors: all of them hold. */
static uint64_t min_of_groups(const char *root, const char *controller, group_limit *limit)
{
    char folder[PATH_MAX], text[8192], *lines = text;
    uint64_t min = UINT64_MAX;
    if (snprintf(folder, sizeof folder, "%s/proc/self", root) >= (int)sizeof folder ||
        !read_text(folder, "cgroup", text, sizeof text))
        return min;
    for (char *line; (line = strsep(&lines, "\n"));) {
        uint64_t own = min_of_line(root, line, controller, limit);
        min = own < min ? own : min;
    }
    return min;
}

/* --- processors --- */

/* Returns the processors that a group's quota leaves. A quota is in microseconds of processor time
 * a period; "max" or -1 is none. */
static uint64_t quota_of(const char *folder, bool version_2)
{
    char text[64];
    int64_t time, every;
    bool is_known;
    if (version_2)
        is_known = read_text(folder, "cpu.max", text, sizeof text) &&
                   sscanf(text, "%" SCNd64 " %" SCNd64, &time, &every) == 2;
    else
        is_known = read_text(folder, "cpu.cfs_quota_us", text, sizeof text) &&
                   sscanf(text, "%" SCNd64, &time) == 1 &&
                   read_text(folder, "cpu.cfs_period_us", text, sizeof text) &&
                   sscanf(text, "%" SCNd64, &every) == 1;
    if (!is_known || time <= 0 || every <= 0)
        return UINT64_MAX;
    return (uint64_t)(time / every + (time % every != 0));
}

unsigned system_limits_quota(const char *root)
{
    uint64_t min = min_of_groups(root, "cpu", quota_of);
    return min < UINT_MAX ? (unsigned)min : UINT_MAX;
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

/* Returns a group's limit less the memory that its processes use; the page cache, which can be
 * given back, is not counted as used. */
static uint64_t memory_of(const char *folder, bool version_2)
{
    char text[8192];
    uint64_t limit, used = 0;
    if (!read_text(folder, version_2 ? "memory.max" : "memory.limit_in_bytes", text, sizeof text) ||
        sscanf(text, "%" SCNu64, &limit) != 1) /* or "max" */
        return UINT64_MAX;
    if (read_text(folder, "memory.stat", text, sizeof text))
        (void)find_number(text, version_2 ? "anon " : "total_rss ", &used);
    return limit > used ? limit - used : 0;
}

uint64_t system_limits_memory(const char *root)
{
    char folder[PATH_MAX], text[4096];
    uint64_t groups = min_of_groups(root, "memory", memory_of), kilobytes;
    if (snprintf(folder, sizeof folder, "%s/proc", root) < (int)sizeof folder &&
        read_text(folder, "meminfo", text, sizeof text) &&
        find_number(text, "MemAvailable:", &kilobytes) && kilobytes * 1024 < groups)
        return kilobytes * 1024;
    return groups;
}

/* --- threads --- */

int start_detached_thread(void *(*run)(void *), void *arg, size_t stack)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return -1;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack > 0)
        pthread_attr_setstacksize(&attributes, stack); /* refused only if too small to run at all */
    int rc = pthread_create(&thread, &attributes, run, arg);
    pthread_attr_destroy(&attributes);
    return rc == 0 ? 0 : -1;
}

#define PARALLEL_MAX 256

struct loop {
    atomic_size_t next;
    size_t count;
    void (*round)(void *arg, size_t i);
    void *arg;
};

static void *run(void *arg)
{
    struct loop *loop = arg;
    size_t i;
    while ((i = atomic_fetch_add(&loop->next, 1)) < loop->count)
        loop->round(loop->arg, i);
    return NULL;
}

void parallel_loop(unsigned threads, size_t count, void (*round)(void *arg, size_t i), void *arg)
{
    struct loop loop = {.count = count, .round = round, .arg = arg};
    pthread_t others[PARALLEL_MAX];
    unsigned started = 0;
    while (started + 1 < threads && started + 1 < count && started < PARALLEL_MAX &&
           pthread_create(&others[started], NULL, run, &loop) == 0)
        started++;
    run(&loop);
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}
