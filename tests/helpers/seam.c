/* SPDX-License-Identifier: MIT */
#include "tests/helpers/seam.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct device *seam_open(enum strategy_id strategy, const struct histogram_spec *spec,
                         size_t slot_size, struct error *error)
{
    struct device_plan plan = {
        .strategy = strategy, .spec = spec, .slots = 2, .slot_size = slot_size};
    return device_open(&plan, error);
}

static bool is_emulated;

bool seam_is_emulated(void)
{
    return is_emulated;
}

bool seam_has_device(void)
{
    struct histogram_spec bytes;
    struct error error;
    histogram_spec_bytes(&bytes);
    struct device *device = seam_open(STRATEGY_naive, &bytes, 1 << 20, &error);
    if (!device) {
        printf("skipped: no GPU: %s\n", error.text);
        return false;
    }
    is_emulated = strstr(device_name(device), "emulated") != NULL;
    printf("on %s\n", device_name(device));
    device_close(device);
    return true;
}

int seam_count(struct device *device, unsigned slot, const void *data, size_t len, uint64_t *counts,
               size_t words)
{
    const struct device_work works[] = {
        {.kind = WORK_COPY_IN, .slot = slot, .chunk = {.data = data, .len = len}},
        {.kind = WORK_COUNT, .slot = slot, .chunk = {.data = data, .len = len}},
        {.kind = WORK_SNAPSHOT, .slot = slot, .counts = {counts, 0, words}},
    };
    for (unsigned i = 0; i < 3; i++)
        if (device_enqueue(device, &works[i]) != 0)
            return -1;
    int arrived;
    while ((arrived = device_arrived(device, WORK_SNAPSHOT, slot, NULL)) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    return arrived == 1 ? 0 : -1;
}
