/* SPDX-License-Identifier: MIT */
#include "gpu_engine.h"
#include "src/base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "CUDA_VISIBLE_DEVICES"

/* Finds entry `asked` of a list with commas, and its length; NULL if there are fewer. The list ends
 * at an entry that cannot be a device, such as -1: CUDA hides what follows it. */
static const char *find_entry(const char *list, int asked, size_t *len)
{
    for (;; asked--, list += *len + 1) {
        *len = strcspn(list, ",");
        if (*len == 0 || *list == '-')
            return NULL;
        if (asked == 0)
            return list;
        if (!list[*len])
            return NULL;
    }
}

/* Counts the GPUs' files, root/dev/nvidia0 and so on, of which a container may have any. */
static int count_device_files(const char *root)
{
    char name[PATH_MAX];
    int count = 0;
    for (unsigned i = 0; i < 2 * GPUS_MAX; i++)
        count += snprintf(name, sizeof name, "%s/dev/nvidia%u", root, i) < (int)sizeof name &&
                 access(name, F_OK) == 0;
    return count;
}

/* True if a GPU exists, as far as can be told without CUDA. */
static bool may_exist(const char *list, int asked, int files)
{
    size_t len;
    return list ? find_entry(list, asked, &len) != NULL : files == 0 || asked < files;
}

/* Lists the existing GPUs that follow the first one. Without files nothing is known of them. */
static void grow(struct gpu_list *gpus, unsigned wanted, const char *list, int files)
{
    while (gpus->count < wanted && (list || files > 0) &&
           may_exist(list, (int)gpus->count, files)) {
        gpus->gpu[gpus->count].asked = (int)gpus->count;
        gpus->count++;
    }
}

/* Makes CUDA see these GPUs only. False if the user's list lacks one, or memory is short. */
static bool show(const struct gpu_list *gpus, const char *list)
{
    size_t capacity = list ? strlen(list) + 1 : 0, used = 0;
    char *text = malloc(capacity += GPUS_MAX * sizeof "2147483647,");
    bool is_there = text != NULL;
    for (unsigned i = 0; is_there && i < gpus->count; i++) {
        size_t len = 0;
        const int asked = gpus->gpu[i].asked;
        const char *entry = list ? find_entry(list, asked, &len) : NULL;
        is_there = !list || entry;
        if (is_there)
            used += (size_t)(entry ? snprintf(text + used, capacity - used, "%s%.*s", i ? "," : "",
                                              (int)len, entry)
                                   : snprintf(text + used, capacity - used, "%s%d", i ? "," : "",
                                              asked));
    }
    is_there = is_there && setenv(VARIABLE, text, 1) == 0;
    free(text);
    return is_there;
}

int cuda_devices_choose(struct gpu_list *gpus, unsigned wanted, const char *root,
                        struct error *error)
{
    const char *before = getenv(VARIABLE);
    char *const list = before ? strdup(before) : NULL; /* the environment's changes */
    const int files = list ? 0 : count_device_files(root);
    const bool is_all = gpus->count == 0;
    gpus->named = gpus->count;
    if (before && !list)
        return error_set(error, "out of memory");
    if (is_all || gpus->grows)
        grow(gpus, wanted, list, files);
    for (unsigned i = 0; i < gpus->count; i++) {
        gpus->gpu[i].ordinal = gpus->gpu[i].asked;
        gpus->gpu[i].list = list;
        if (i >= wanted && !may_exist(list, gpus->gpu[i].asked, files)) {
            struct error why;
            cuda_device_explain(&gpus->gpu[i], root, &why);
            return error_set(error, "GPU %d: %s", gpus->gpu[i].asked, why.text);
        }
    }
    if (gpus->count > wanted)
        gpus->count = wanted;
    if (gpus->count == 0)
        free(list);
    else if (show(gpus, list))
        for (unsigned i = 0; i < gpus->count; i++)
            gpus->gpu[i].ordinal = (int)i;
    return 0;
}

/* CUDA cannot tell how many GPUs there are, as it sees at most the one that was asked for. */
void cuda_device_explain(const struct cuda_device *cuda_device, const char *root,
                         struct error *error)
{
    int count = count_device_files(root), asked = cuda_device->asked;
    if (cuda_device->list) {
        char shown[ERROR_SUBJECT_MAX];
        show_text(cuda_device->list, strlen(cuda_device->list), shown, sizeof shown);
        error_set(error, VARIABLE "=%s leaves no GPU %d", shown, asked);
    } else if (count == 0 && asked == 0) {
        error_set(error, "no NVIDIA GPU found");
    } else if (count == 0) {
        error_set(error, "no GPU %d", asked);
    } else if (asked < count) {
        error_set(error, "CUDA finds no GPU %d", asked);
    } else if (count == 1) {
        error_set(error, "no GPU %d; there is one, GPU 0", asked);
    } else {
        error_set(error, "no GPU %d; there are %d (0 to %d)", asked, count, count - 1);
    }
}
