/* SPDX-License-Identifier: MIT */
#include "cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int cgroup_read(const char *folder, const char *name, char *text, size_t size)
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

/* Whether a list with commas, such as "cpu,cpuacct", has the controller. */
static bool cgroup_lists(const char *list, const char *controller)
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

/* Looks at the folder root/sys/fs/cgroup/HIERARCHY/PATH and at all above it, up to HIERARCHY. */
static void cgroup_climb(const char *root, const char *hierarchy, const char *path, bool version_2,
                         cgroup_look *look, void *arg)
{
    char folder[PATH_MAX];
    int top = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", root, *hierarchy ? "/" : "",
                       hierarchy);
    if (top >= (int)sizeof folder || snprintf(folder + top, sizeof folder - (size_t)top, "%s",
                                              path) >= (int)(sizeof folder - (size_t)top))
        return;
    for (;;) {
        look(folder, version_2, arg);
        char *slash = strrchr(folder + top, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

/* A line of /proc/self/cgroup: "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1, where
 * every controller has a folder of its name, if only as a link to that of several. */
static void cgroup_of_line(const char *root, char *line, const char *controller, cgroup_look *look,
                           void *arg)
{
    char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    if (!path)
        return;
    *path++ = '\0';
    list++;
    if (strcmp(path, "/") == 0)
        path++; /* the group at the top has one folder, not two */
    if (*list == '\0' && strcmp(line, "0:") == 0)
        cgroup_climb(root, "", path, true, look, arg);
    else if (cgroup_lists(list, controller))
        cgroup_climb(root, controller, path, false, look, arg);
}

void cgroup_walk(const char *root, const char *controller, cgroup_look *look, void *arg)
{
    char folder[PATH_MAX], text[8192], *rest;
    if (snprintf(folder, sizeof folder, "%s/proc/self", root) >= (int)sizeof folder ||
        cgroup_read(folder, "cgroup", text, sizeof text) != 0)
        return;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        cgroup_of_line(root, line, controller, look, arg);
}
