/* SPDX-License-Identifier: MIT */
/* Which device CUDA is left to see, by what it was allowed to see before; and what is said of one
 * that is not there. */
#include "gpu/engine/gpu_engine.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "CUDA_VISIBLE_DEVICES"

static const struct {
    const char *before; /* NULL: not set */
    int ordinal;
    const char *after;
    int known_as;
} cases[] = {
    {NULL, 0, "0", 0},
    {NULL, 7, "7", 0},
    {"", 0, "", 0},
    {"", 1, "", 1},
    {"3", 0, "3", 0},
    {"3", 1, "3", 1},
    {"3,1,2", 0, "3", 0},
    {"3,1,2", 1, "1", 0},
    {"3,1,2", 2, "2", 0},
    {"3,1,2", 3, "3,1,2", 3},
    {"3,,2", 1, "3,,2", 1}, /* CUDA stops at what is not a device */
    {"GPU-5ea1,MIG-0badcafe", 1, "MIG-0badcafe", 0},
    {"-1", 0, "-1", 0},
    {"-1,0", 1, "-1,0", 1},
    {"0,-1,1", 2, "0,-1,1", 2},
    {"0,-1,1", 0, "0", 0},
    {"0,,1", 2, "0,,1", 2},
    {"0,", 1, "0,", 1},
};

static const struct {
    const char *list; /* of the user's, or NULL */
    int asked, files; /* so many GPUs have files in /dev */
    const char *error;
} refusals[] = {
    {NULL, 0, 0, "no NVIDIA GPU found"},
    {NULL, 3, 0, "no GPU 3"},
    {NULL, 3, 1, "no GPU 3; there is one, GPU 0"},
    {NULL, 1, 1, "no GPU 1; there is one, GPU 0"},
    {NULL, 3, 2, "no GPU 3; there are 2 (0 to 1)"},
    {NULL, 1000000, 12, "no GPU 1000000; there are 12 (0 to 11)"},
    {NULL, 1, 2, "CUDA finds no GPU 1"},
    {"0,1", 3, 8, "CUDA_VISIBLE_DEVICES=0,1 leaves no GPU 3"},
    {"", 0, 8, "CUDA_VISIBLE_DEVICES= leaves no GPU 0"},
    {"a\nb", 0, 8, "CUDA_VISIBLE_DEVICES=a\\x0ab leaves no GPU 0"},
};

/* --- a folder with the files of GPUs --- */

static char root[] = "test_cuda_devices-XXXXXX";

static void make_root(void)
{
    static const char *const others[] = {"nvidiactl", "nvidia-uvm", "nvidia", "nvidia0x"};
    char path[64];
    if (!mkdtemp(root))
        exit(99);
    snprintf(path, sizeof path, "%s/dev", root);
    mkdir(path, 0777);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        snprintf(path, sizeof path, "%s/dev/%s", root, others[i]);
        close(open(path, O_CREAT | O_WRONLY, 0666));
    }
}

static void put_files(unsigned files)
{
    char path[64];
    for (unsigned gpu = 0; gpu < 12; gpu++) {
        snprintf(path, sizeof path, "%s/dev/nvidia%u", root, gpu);
        if (gpu < files)
            close(open(path, O_CREAT | O_WRONLY, 0666));
        else
            unlink(path);
    }
}

static bool remove_root(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command) == 0;
}

static unsigned check_refusals(void)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        struct cuda_device cuda_device = {refusals[i].asked, 0,
                                          (char *)(uintptr_t)refusals[i].list};
        struct error error = {""};
        put_files((unsigned)refusals[i].files);
        cuda_device_explain(&cuda_device, root, &error);
        if (strcmp(error.text, refusals[i].error) != 0) {
            printf("FAIL: '%s' instead of '%s'\n", error.text, refusals[i].error);
            wrong++;
        }
    }
    return wrong;
}

static const struct {
    const char *before; /* NULL: not set */
    unsigned count;
    int asked[3];
    const char *after; /* NULL: not set */
    bool is_found;
} lists[] = {
    {NULL, 2, {0, 2}, "0,2", true},
    {NULL, 3, {7, 0, 3}, "7,0,3", true},
    {"4,5,6", 2, {2, 0}, "6,4", true},
    {"GPU-5ea1,MIG-0badcafe", 2, {1, 0}, "MIG-0badcafe,GPU-5ea1", true},
    {"4,5", 2, {0, 2}, "4,5", false},
    {"4,5", 2, {2, 0}, "4,5", false},
};

/* Lists that grow as more GPUs are wanted, and named ones that may shrink. */
static const struct {
    const char *before; /* NULL: not set */
    unsigned files;     /* so many GPUs have files in /dev */
    struct gpu_list asked;
    const char *after[4]; /* with one, two, three and four GPUs; NULL: not set */
} growing[] = {
    {NULL, 4, {.count = 1, .grows = true}, {"0", "0,1", "0,1,2", "0,1,2,3"}},
    {NULL, 2, {.count = 1, .grows = true}, {"0", "0,1", "0,1", "0,1"}},
    {NULL, 0, {.count = 1, .grows = true}, {"0", "0", "0", "0"}},
    {NULL, 4, {.count = 1}, {"0", "0", "0", "0"}},
    {NULL, 4, {.count = 0}, {"0", "0,1", "0,1,2", "0,1,2,3"}},
    {NULL, 0, {.count = 0}, {NULL, NULL, NULL, NULL}},
    {"4,5,6", 0, {.count = 1, .grows = true}, {"4", "4,5", "4,5,6", "4,5,6"}},
    {"4,5", 0, {.count = 0}, {"4", "4,5", "4,5", "4,5"}},
    {"GPU-5ea1,-1,3",
     8,
     {.count = 1, .grows = true},
     {"GPU-5ea1", "GPU-5ea1", "GPU-5ea1", "GPU-5ea1"}},
    {"", 8, {.count = 1, .grows = true}, {"", "", "", ""}},
    {"-1,0", 8, {.count = 1, .grows = true}, {"-1,0", "-1,0", "-1,0", "-1,0"}},
    {NULL,
     4,
     {.count = 3, .gpu = {{.asked = 2}, {.asked = 0}, {.asked = 3}}},
     {"2", "2,0", "2,0,3", "2,0,3"}},
    {NULL, 0, {.count = 2, .gpu = {{.asked = 2}, {.asked = 0}}}, {"2", "2,0", "2,0", "2,0"}},
};

/* A GPU that is not wanted, and does not exist. */
static const struct {
    const char *before;
    unsigned files;
    int asked;
    const char *error;
} missing[] = {
    {NULL, 2, 7, "GPU 7: no GPU 7; there are 2 (0 to 1)"},
    {"4,5", 8, 2, "GPU 2: CUDA_VISIBLE_DEVICES=4,5 leaves no GPU 2"},
};

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Frees what the list put into the environment. */
static void forget(struct gpu_list *gpus)
{
    unsetenv(VARIABLE);
    if (gpus->count > 0)
        free((void *)(uintptr_t)gpus->gpu[0].list);
}

/* Asks for GPUs with the variable as it was before. Whether it is afterwards as it should be, and
 * the GPUs are known by their places in it, or else as the caller says. */
static bool check_list(const char *before, const struct gpu_list *asked, const char *after,
                       bool is_found, const int *otherwise)
{
    struct gpu_list gpus = *asked;
    unsetenv(VARIABLE);
    if (before)
        setenv(VARIABLE, before, 1);
    struct error error;
    bool right =
        cuda_devices_choose(&gpus, GPUS_MAX, "", &error) == 0 && is_same(getenv(VARIABLE), after);
    for (unsigned i = 0; i < gpus.count; i++)
        right &= gpus.gpu[i].asked == asked->gpu[i].asked && is_same(gpus.gpu[i].list, before) &&
                 gpus.gpu[i].ordinal == (is_found ? (int)i : otherwise[i]);
    forget(&gpus);
    if (!right)
        printf("FAIL: '%s', %u GPUs from %d\n", before ? before : "(unset)", asked->count,
               asked->gpu[0].asked);
    return right;
}

/* Wants one GPU to four. Returns how many of these are wrong. */
static unsigned check_growing(size_t i)
{
    unsigned wrong = 0;
    put_files(growing[i].files);
    for (unsigned wanted = 1; wanted <= 4; wanted++) {
        struct gpu_list gpus = growing[i].asked;
        struct error error;
        unsetenv(VARIABLE);
        if (growing[i].before)
            setenv(VARIABLE, growing[i].before, 1);
        bool right = cuda_devices_choose(&gpus, wanted, root, &error) == 0 &&
                     is_same(getenv(VARIABLE), growing[i].after[wanted - 1]) &&
                     gpus.count <= wanted;
        for (unsigned k = 0; k < gpus.count; k++)
            right &= gpus.gpu[k].ordinal == (int)k && is_same(gpus.gpu[k].list, growing[i].before);
        if (!right)
            printf("FAIL: list %zu, '%s', %u GPUs wanted: '%s'\n", i,
                   growing[i].before ? growing[i].before : "(unset)", wanted, getenv(VARIABLE));
        wrong += !right;
        forget(&gpus);
    }
    return wrong;
}

static unsigned check_missing(size_t i)
{
    struct gpu_list gpus = {.count = 2, .gpu = {{.asked = 0}, {.asked = missing[i].asked}}};
    struct error error = {""};
    put_files(missing[i].files);
    unsetenv(VARIABLE);
    if (missing[i].before)
        setenv(VARIABLE, missing[i].before, 1);
    const bool right = cuda_devices_choose(&gpus, 1, root, &error) == -1 &&
                       strcmp(error.text, missing[i].error) == 0;
    if (!right)
        printf("FAIL: '%s' instead of '%s'\n", error.text, missing[i].error);
    forget(&gpus);
    return !right;
}

int main(void)
{
    make_root();
    unsigned wrong = check_refusals(), count = 0;
    for (size_t i = 0; i < sizeof growing / sizeof growing[0]; i++, count += 4)
        wrong += check_growing(i);
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++, count++)
        wrong += check_missing(i);
    wrong += !remove_root();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++, count++) {
        const struct gpu_list asked = {.count = 1, .gpu = {{.asked = cases[i].ordinal}}};
        wrong += !check_list(cases[i].before, &asked, cases[i].after, false, &cases[i].known_as);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++, count++) {
        struct gpu_list asked = {.count = lists[i].count};
        for (unsigned k = 0; k < asked.count; k++)
            asked.gpu[k].asked = lists[i].asked[k];
        wrong +=
            !check_list(lists[i].before, &asked, lists[i].after, lists[i].is_found, lists[i].asked);
    }
    count += sizeof refusals / sizeof refusals[0];
    printf("%u cases, %u wrong\n", count, wrong);
    return wrong != 0;
}
