/* SPDX-License-Identifier: MIT */
#include "locality.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_MOST 4096 /* bytes that a file of sysfs has at most */
#define ADDRESS_MOST 31

/* --- reading sysfs --- */

/* Reads the file of the device as a text. Whether it could be read, and is one. */
static bool locality_read_file(const char *root, const char *address, const char *name,
                               char text[FILE_MOST + 2])
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/%s", root, address, name);
    int fd = len < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    size_t done = 0;
    ssize_t got;
    while ((got = read(fd, text + done, FILE_MOST + 1 - done)) > 0)
        done += (size_t)got;
    close(fd);
    text[done] = '\0';
    return got == 0 && done <= FILE_MOST && strlen(text) == done;
}

/* Reads digits, the number of a processor or node. Moves *text after them. Whether there are some,
 * and the number is below CPU_SETSIZE. */
static bool locality_parse_number(const char **text, unsigned *number)
{
    const char *at = *text;
    for (*number = 0; isdigit((unsigned char)*at) && *number < CPU_SETSIZE; at++)
        *number = 10 * *number + (unsigned)(*at - '0');
    bool is_number = at > *text && *number < CPU_SETSIZE;
    *text = at;
    return is_number;
}

static bool locality_ends(const char *text)
{
    return strcmp(text, "\n") == 0 || *text == '\0';
}

/* Reads a list such as "0-15,32-47". Whether it is one; the empty one is not. */
static bool locality_parse_list(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (;; text++) {
        unsigned first, last;
        if (!locality_parse_number(&text, &first))
            return false;
        last = first;
        if (*text == '-' && (text++, !locality_parse_number(&text, &last)))
            return false;
        if (last < first)
            return false;
        for (unsigned i = first; i <= last; i++)
            CPU_SET(i, set);
        if (*text != ',')
            return locality_ends(text);
    }
}

/* The name that the device has in sysfs, in lower case. Whether the address can be one. */
static bool locality_name(const char *address, char name[ADDRESS_MOST + 1])
{
    size_t len = strlen(address);
    if (len < 1 || len > ADDRESS_MOST || strspn(address, "0123456789abcdefABCDEF:.") != len)
        return false;
    for (size_t i = 0; i <= len; i++)
        name[i] = (char)tolower((unsigned char)address[i]);
    return true;
}

/* Whether all is known but how much of it is allowed. A device without a node has -1. */
static bool locality_look(const char *root, const char *address, cpu_set_t *near)
{
    char name[ADDRESS_MOST + 1], text[FILE_MOST + 2];
    const char *node = text;
    unsigned number;
    return locality_name(address, name) && locality_read_file(root, name, "numa_node", text) &&
           locality_parse_number(&node, &number) && locality_ends(node) &&
           locality_read_file(root, name, "local_cpulist", text) && locality_parse_list(text, near);
}

/* Whether some of the processors allowed are near, but not all. */
static bool locality_matters(const struct locality *locality)
{
    int near = CPU_COUNT(&locality->near);
    return near > 0 && near < CPU_COUNT(&locality->allowed);
}

void locality_read(struct locality *locality, const char *root, const char *address,
                   const cpu_set_t *allowed)
{
    cpu_set_t near;
    *locality = (struct locality){.allowed = *allowed};
    if (!locality_look(root ? root : "", address, &near))
        return;
    CPU_AND(&locality->near, &near, allowed);
    locality->is_known = locality_matters(locality);
}

void locality_find(struct locality *locality, const char *root, const char *address)
{
    cpu_set_t allowed;
    *locality = (struct locality){.is_known = false};
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        locality_read(locality, root, address, &allowed);
}

/* --- what is known --- */

void locality_join(struct locality *all, const struct locality *other)
{
    CPU_OR(&all->near, &all->near, &other->near);
    all->is_known = all->is_known && other->is_known && locality_matters(all);
}

bool locality_has(const struct locality *locality, int processor)
{
    return locality->is_known && processor >= 0 && CPU_ISSET((unsigned)processor, &locality->near);
}

/* --- placing threads --- */

void locality_enter(const struct locality *locality, struct locality_stay *stay)
{
    stay->is_near = locality && locality->is_known &&
                    sched_getaffinity(0, sizeof stay->before, &stay->before) == 0 &&
                    sched_setaffinity(0, sizeof locality->near, &locality->near) == 0;
}

void locality_leave(const struct locality_stay *stay)
{
    if (stay->is_near)
        sched_setaffinity(0, sizeof stay->before, &stay->before);
}

void locality_place(const struct locality *locality, enum locality_place wanted,
                    enum locality_place *place)
{
    if (!locality->is_known || *place == wanted)
        return;
    *place = wanted; /* if it fails, too: then it would again */
    const cpu_set_t *set = wanted == PLACE_NEAR ? &locality->near : &locality->allowed;
    sched_setaffinity(0, sizeof *set, set);
}
