/* SPDX-License-Identifier: MIT */
/* What this process may use, as the kernel and control groups say: processors and memory. The files
 * they say it in are a test's own, in a folder that takes the place of the root. */
#include "src/base/system.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned cases, wrong;

static void check(const char *what, uint64_t expected, uint64_t got)
{
    cases++;
    if (got == expected)
        return;
    wrong++;
    printf("FAIL: %s: %llu instead of %llu\n", what, (unsigned long long)got,
           (unsigned long long)expected);
}

/* --- affinity --- */

static size_t machine;    /* processors of the kernel's set */
static unsigned may_use;  /* every third of these, so that they are spread */
static int other_failure; /* errno of a call that fails for another reason */

static int fake_affinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    if (other_failure || 8 * size < machine) {
        errno = other_failure ? other_failure : EINVAL;
        return -1;
    }
    CPU_ZERO_S(size, set);
    for (unsigned i = 0; i < may_use; i++)
        CPU_SET_S(3 * i % machine, size, set);
    return 0;
}

static void check_affinity(void)
{
    static const struct {
        size_t machine;
        unsigned may_use;
        int failure;
        unsigned expected;
    } machines[] = {
        {1024, 1, 0, 1},       {1024, 300, 0, 300}, {1088, 300, 0, 300}, {4096, 1300, 0, 1300},
        {8192, 2048, 0, 2048}, {1024, 0, 0, 1},     {64, 5, EPERM, 1},   {64, 5, ENOSYS, 1},
        {64, 5, EINVAL, 1}, /* for ever: it must end */
    };
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        machine = machines[i].machine;
        may_use = machines[i].may_use;
        other_failure = machines[i].failure;
        check("processors allowed", machines[i].expected, system_limits_processors(fake_affinity));
    }
    check("processors allowed here", 1, system_limits_processors(sched_getaffinity) >= 1);
}

/* --- files --- */

static char root[] = "test_limits-XXXXXX";

/* Writes root/path, with the folders that it needs. */
static void put(const char *path, const char *text)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = strchr(full, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0777);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    if (!file || fputs(text, file) == EOF || fclose(file) != 0) {
        perror(full);
        exit(99);
    }
}

static void clear(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0 || mkdir(root, 0777) != 0)
        exit(99);
}

static void check_version_2(void)
{
    clear();
    check("no files", UINT_MAX, system_limits_quota(root));
    put("proc/self/cgroup", "0::/user.slice/run-1.scope\n");
    check("no limits", UINT_MAX, system_limits_quota(root));
    put("sys/fs/cgroup/user.slice/run-1.scope/cpu.max", "max 100000\n");
    check("max", UINT_MAX, system_limits_quota(root));
    put("sys/fs/cgroup/user.slice/run-1.scope/cpu.max", "250000 100000\n");
    check("two and a half", 3, system_limits_quota(root));
    put("sys/fs/cgroup/user.slice/cpu.max", "200000 100000\n");
    check("its parent's two", 2, system_limits_quota(root));
    put("sys/fs/cgroup/user.slice/cpu.max", "400000 100000\n");
    check("its parent's four", 3, system_limits_quota(root));
    put("sys/fs/cgroup/user.slice/run-1.scope/cpu.max", "1000 100000\n");
    check("a hundredth", 1, system_limits_quota(root));
    put("sys/fs/cgroup/user.slice/run-1.scope/cpu.max", "nonsense\n");
    check("nonsense", 4, system_limits_quota(root));
    /* In a container: the group is the top. */
    clear();
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/cpu.max", "50000 100000\n");
    check("a container", 1, system_limits_quota(root));
    put("proc/self/cgroup", "0::/../other\n");
    put("sys/fs/cgroup/cpu.max", "700000 100000\n");
    check("a group from outside", 7, system_limits_quota(root));
}

static void check_version_1(void)
{
    clear();
    put("proc/self/cgroup", "12:cpuset:/\n4:cpuacct,cpu:/docker/abc\n1:name=systemd:/x\n0::/y\n");
    put("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n");
    check("version 1, none", UINT_MAX, system_limits_quota(root));
    put("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "600000\n");
    check("version 1, six", 6, system_limits_quota(root));
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
    check("version 1, a quota without its period", 6, system_limits_quota(root));
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    check("version 1, the top's one and a half", 2, system_limits_quota(root));
    /* A controller whose name only begins like this one's. */
    put("proc/self/cgroup", "12:cpuset,cpuacct:/docker/abc\n");
    check("version 1, another controller", UINT_MAX, system_limits_quota(root));
}

static void check_memory(void)
{
    const uint64_t mib = 1 << 20;
    clear();
    check("memory unknown", UINT64_MAX, system_limits_memory(root));
    put("proc/meminfo", "MemTotal:  9999999 kB\nMemFree: 5 kB\nMemAvailable:   1048576 kB\n");
    check("memory available", 1024 * mib, system_limits_memory(root));
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/memory.max", "max\n");
    check("memory: max", 1024 * mib, system_limits_memory(root));
    put("sys/fs/cgroup/a/memory.max", "536870912\n");
    check("memory: its parent's limit", 512 * mib, system_limits_memory(root));
    put("sys/fs/cgroup/a/memory.stat", "file 400000000\ninactive_anon 9\nanon 104857600\n");
    check("memory: what is used", 412 * mib, system_limits_memory(root));
    put("sys/fs/cgroup/a/memory.stat", "anon 1048576000\n");
    check("memory: nothing left", 0, system_limits_memory(root));
    put("proc/self/cgroup", "3:memory:/c\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    check("memory: version 1, no limit", 1024 * mib, system_limits_memory(root));
    put("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "67108864\n");
    put("sys/fs/cgroup/memory/c/memory.stat", "cache 5\nrss 1\ntotal_rss 4194304\n");
    check("memory: version 1", 60 * mib, system_limits_memory(root));
    check("memory here", 1, system_limits_memory("") > 0);
}

int main(void)
{
    if (!mkdtemp(root))
        return 99;
    check_affinity();
    check_version_2();
    check_version_1();
    check_memory();
    clear();
    rmdir(root);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
