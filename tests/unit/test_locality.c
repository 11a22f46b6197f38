/* SPDX-License-Identifier: MIT */
/* Which processors are near a GPU: what sysfs may say, in trees that are made here, and what of it
 * places threads. */
#include "gpu/locality.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ADDRESS "0000:3B:00.0" /* as CUDA writes it; the folder has small letters */
#define FOLDER "sys/bus/pci/devices/0000:3b:00.0"

static unsigned cases, wrong;
static char root[] = "test_locality-XXXXXX";

static void check(const char *what, bool holds)
{
    cases++;
    if (holds)
        return;
    wrong++;
    printf("FAIL: %s\n", what);
}

/* Writes root/path, with the folders that it needs. */
static void put(const char *path, const char *text, size_t len)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = strchr(full, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0777);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    if (!file || fwrite(text, 1, len, file) != len || fclose(file) != 0) {
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

/* The set of a text such as "0-3,8", by scanf; "" is the empty one. */
static cpu_set_t set_of(const char *list)
{
    cpu_set_t set;
    unsigned first, last;
    int used;
    CPU_ZERO(&set);
    for (; *list; list += used + (list[used] == ',')) {
        if (sscanf(list, "%u-%u%n", &first, &last, &used) != 2) {
            sscanf(list, "%u%n", &first, &used);
            last = first;
        }
        for (unsigned i = first; i <= last; i++)
            CPU_SET(i, &set);
    }
    return set;
}

/* What is read of a device with these files, if they are not NULL. */
static struct locality read_of(const char *node, const char *list, const char *allowed)
{
    struct locality locality;
    cpu_set_t set = set_of(allowed);
    clear();
    if (node)
        put(FOLDER "/numa_node", node, strlen(node));
    if (list)
        put(FOLDER "/local_cpulist", list, strlen(list));
    memset(&locality, 0xa5, sizeof locality);
    locality_read(&locality, root, ADDRESS, &set);
    return locality;
}

/* Expects that these processors are near; NULL: not known. */
static void expect(const char *what, const char *near, const char *node, const char *list,
                   const char *allowed)
{
    char text[256];
    struct locality locality = read_of(node, list, allowed);
    snprintf(text, sizeof text, "%s: known", what);
    check(text, locality.is_known == (near != NULL));
    cpu_set_t expected = set_of(near ? near : "");
    snprintf(text, sizeof text, "%s: which", what);
    check(text, !near || CPU_EQUAL(&locality.near, &expected));
    snprintf(text, sizeof text, "%s: processors", what);
    bool same = true;
    for (int i = -1; i < CPU_SETSIZE + 1; i++)
        same &= locality_has(&locality, i) ==
                (near && i >= 0 && i < CPU_SETSIZE && CPU_ISSET((unsigned)i, &expected));
    check(text, same);
}

static void check_places(void)
{
    expect("two nodes, the first", "0-15,32-47", "0\n", "0-15,32-47\n", "0-63");
    expect("two nodes, the second", "16-31,48-63", "1\n", "16-31,48-63\n", "0-63");
    expect("single processors", "1,3,5", "1\n", "1,3,5\n", "0-5");
    expect("no newline", "1", "1", "1", "0-1");
    if (CPU_SETSIZE == 1024) /* musl says 128 */
        expect("the last that there can be", "1023", "1\n", "1023\n", "0,1023");
    expect("one node", NULL, "0\n", "0-7\n", "0-7");
    expect("a node of more than is allowed", NULL, "0\n", "0-7\n", "2-3");
    expect("no node", NULL, "-1\n", "0-3\n", "0-7");
    expect("some processors offline, or not allowed", "2-3", "0\n", "0-3\n", "2-7");
    expect("none of the near ones allowed", NULL, "0\n", "0-3\n", "4-7");
    expect("a node without processors", NULL, "2\n", "\n", "0-7");
    expect("no list", NULL, "0\n", NULL, "0-7");
    expect("no node's file", NULL, NULL, "0-3\n", "0-7");
    expect("no such device", NULL, NULL, NULL, "0-7");
}

static void check_malformed(void)
{
    static const char *const lists[] = {
        "",
        "0-",
        "-3",
        "0-3,",
        ",0-3",
        "0,,3",
        "3-0",
        "0-3 ",
        " 0-3",
        "0 - 3",
        "0-3\n\n",
        "0-3\n4",
        "0-3;5",
        "0-3-5",
        "0x3",
        "a",
        "1024",
        "0-1024",
        "0-3:1/2",
        "+1",
        "0-+1",
        "0,4294967296",
        "0-18446744073709551616",
        "0-3\r\n",
    };
    static const char *const nodes[] = {"",       "\n",   "x\n",   "0 \n",
                                        "0\n0\n", "-0\n", "0,1\n", "99999999999\n"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        expect(lists[i], NULL, "0\n", lists[i], "0-7");
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
        expect(nodes[i], NULL, nodes[i], "0-3\n", "0-7");
}

/* Whether it is known what is near a device of that address, in the tree as it is. */
static bool is_known_at(const char *address)
{
    struct locality locality;
    cpu_set_t allowed = set_of("0-7");
    locality_read(&locality, root, address, &allowed);
    return locality.is_known;
}

static void check_files(void)
{
    char text[5000];
    clear();
    put(FOLDER "/numa_node", "0\n", 2);
    put(FOLDER "/local_cpulist", "0-3\0,5\n", 7);
    check("a list with a NUL", !is_known_at(ADDRESS));
    memset(text, ' ', sizeof text);
    for (size_t i = 0; i < sizeof text; i += 2)
        memcpy(text + i, "1,", 2);
    text[4094] = '1', text[4095] = '\n';
    put(FOLDER "/local_cpulist", text, 4096);
    check("the longest file", is_known_at(ADDRESS));
    text[4095] = ',', text[4096] = '1';
    put(FOLDER "/local_cpulist", text, 4097);
    check("a file that is too long", !is_known_at(ADDRESS));

    put(FOLDER "/local_cpulist", "0-3\n", 4);
    check("the address in capitals", is_known_at(ADDRESS));
    check("the address in small letters", is_known_at("0000:3b:00.0"));
    check("another address", !is_known_at("0000:3c:00.0"));
    check("no address", !is_known_at(""));
    check("a path", !is_known_at("../devices/0000:3b:00.0"));
    check("a long address",
          !is_known_at("0000:3b:00.00000000000000000000000000000000000000000000"));
}

static void check_join(void)
{
    struct locality first = read_of("0\n", "0-3\n", "0-11"), same = first;
    struct locality second = read_of("1\n", "4-7\n", "0-11");
    struct locality third = read_of("2\n", "8-11\n", "0-11"), unknown = read_of("-1\n", "", "0-11");
    locality_join(&same, &first);
    check("two of one node", same.is_known && CPU_EQUAL(&same.near, &first.near));
    locality_join(&first, &second);
    cpu_set_t both = set_of("0-7");
    check("two nodes of three", first.is_known && CPU_EQUAL(&first.near, &both));
    struct locality two = first;
    locality_join(&two, &unknown);
    check("one that is not known", !two.is_known);
    locality_join(&first, &third);
    check("all nodes", !first.is_known);
    locality_join(&unknown, &second);
    check("the first is not known", !unknown.is_known);
}

/* --- threads, on this machine --- */

static cpu_set_t here(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        exit(99);
    return set;
}

static bool runs_on(const cpu_set_t *expected)
{
    cpu_set_t set = here();
    return CPU_EQUAL(&set, expected);
}

static void check_stays(const struct locality *locality)
{
    const cpu_set_t all = here();
    struct locality_stay stay;
    enum locality_place place = PLACE_UNKNOWN;
    locality_enter(locality, &stay);
    check("a stay", runs_on(&locality->near));
    locality_leave(&stay);
    check("after a stay", runs_on(&all));
    locality_enter(NULL, &stay);
    locality_leave(&stay);
    check("a stay nowhere", runs_on(&all));

    locality_place(locality, PLACE_NEAR, &place);
    check("placed near", runs_on(&locality->near) && place == PLACE_NEAR);
    locality_place(locality, PLACE_ANYWHERE, &place);
    check("placed anywhere", runs_on(&all) && place == PLACE_ANYWHERE);
    sched_setaffinity(0, sizeof locality->near, &locality->near);
    locality_place(locality, PLACE_ANYWHERE, &place);
    check("not placed twice", runs_on(&locality->near));
    place = PLACE_UNKNOWN; /* as of a thread that such a thread has started */
    locality_place(locality, PLACE_ANYWHERE, &place);
    check("placed anywhere at first", runs_on(&all));

    const struct locality unknown = {.near = locality->near, .allowed = locality->near};
    locality_place(&unknown, PLACE_NEAR, &place);
    locality_enter(&unknown, &stay);
    check("not known, not placed", runs_on(&all));
    locality_leave(&stay);
    check("not known, not left", runs_on(&all));
}

/* The first processor that may be used is near, if there are others. */
static void check_here(void)
{
    const cpu_set_t all = here();
    struct locality locality;
    char list[32];
    unsigned first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    clear();
    snprintf(list, sizeof list, "%u\n", first);
    put(FOLDER "/numa_node", "0\n", 2);
    put(FOLDER "/local_cpulist", list, strlen(list));
    locality_find(&locality, root, ADDRESS);
    check("here", locality.is_known == (CPU_COUNT(&all) > 1));
    if (locality.is_known)
        check_stays(&locality);
    locality_find(&locality, NULL, "ffff:ff:1f.7");
    check("a device that is not here", !locality.is_known);
}

int main(void)
{
    if (!mkdtemp(root))
        return 99;
    check_places();
    check_malformed();
    check_files();
    check_join();
    check_here();
    clear();
    remove(root);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
