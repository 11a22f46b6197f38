/* SPDX-License-Identifier: MIT */
#include "cuda_devices.h"
#include "src/base/show.h"

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

/* Adds the entry of a GPU to a list of them, on the heap; NULL: there is none, or no memory. */
static char *append_device(char *only, const char *list, int asked)
{
    size_t len = 0, before = only ? strlen(only) : 0;
    char number[16];
    const char *entry = list ? find_entry(list, asked, &len) : number;
    if (!list)
        len = (size_t)snprintf(number, sizeof number, "%d", asked);
    char *longer = entry ? realloc(only, before + len + 2) : NULL;
    if (!longer) {
        free(only);
        return NULL;
    }
    snprintf(longer + before, len + 2, "%s%.*s", before ? "," : "", (int)len, entry);
    return longer;
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

/* Adds entries to the text for those of the list that may be used later, as many as there are.
 * NULL: memory is short. */
static char *append_others(struct gpu_list *gpus, char *text, const char *list, const char *root)
{
    const unsigned wanted = gpus->max < GPUS_MAX ? gpus->max : GPUS_MAX;
    const unsigned files = list ? GPUS_MAX : (unsigned)count_device_files(root);
    size_t len;
    gpus->max = gpus->count;
    while (text && gpus->max < wanted && gpus->max < files &&
           (!list || find_entry(list, (int)gpus->max, &len))) {
        const int number = (int)gpus->max;
        gpus->gpu[number] = (struct cuda_device){.asked = number, .ordinal = number, .list = list};
        text = append_device(text, list, number);
        gpus->max++;
    }
    return text;
}

/* Sets the variable to the first `shown` characters of `text`; the rest stays after its end. The
 * text is the environment's from then on. False if memory is short. */
static bool set_devices(struct gpu_list *gpus, const char *text, size_t shown)
{
    const size_t name = strlen(VARIABLE "=");
    char *setting = malloc(name + strlen(text) + 1);
    if (!setting)
        return false;
    memcpy(setting, VARIABLE "=", name);
    strcpy(setting + name, text);
    gpus->setting = setting;
    gpus->hidden = setting + name + shown;
    *gpus->hidden = '\0';
    return putenv(setting) == 0; /* otherwise it is only not freed */
}

void cuda_devices_limit(struct gpu_list *gpus, const char *root)
{
    const char *list = getenv(VARIABLE);
    char *only = NULL;
    bool is_known = true; /* what the list is, once it is no longer the environment's */
    if (list && gpus->count > 0)
        is_known = (list = strdup(list)) != NULL;
    for (unsigned i = 0; i < gpus->count; i++) {
        gpus->gpu[i].ordinal = gpus->gpu[i].asked;
        gpus->gpu[i].list = list;
        if (is_known && (i == 0 || only))
            only = append_device(only, list, gpus->gpu[i].asked);
    }
    const size_t shown = only ? strlen(only) : 0;
    if (only && gpus->max > gpus->count)
        only = append_others(gpus, only, list, root);
    if (only && set_devices(gpus, only, shown)) {
        for (unsigned i = 0; i < gpus->count; i++)
            gpus->gpu[i].ordinal = (int)i;
    } else {
        gpus->max = gpus->count;
    }
    free(only);
}

void cuda_devices_extend(struct gpu_list *gpus, unsigned count)
{
    for (; gpus->count < count && gpus->count < gpus->max; gpus->count++) {
        char *end = gpus->hidden;
        if (!end)
            continue;
        gpus->hidden += 1 + strcspn(end + 1, ",");
        *gpus->hidden = '\0';
        *end = ',';
    }
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
