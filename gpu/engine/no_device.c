/* SPDX-License-Identifier: MIT */
/* The seam in a build without CUDA: there is no device, so only device_open is ever called. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "device.h"

int device_count_all(struct error *error)
{
    error_set(error, "built without CUDA");
    return -1;
}

const char *device_missing(void)
{
    return "built without CUDA";
}

struct device *device_open(const struct device_plan *plan, struct error *error)
{
    error_set(error, "built without CUDA");
    return 0;
}

const char *device_name(const struct device *device)
{
    return "";
}

int device_pin(struct device *device, void *pinning)
{
    return -1;
}

int device_enqueue(struct device *device, const struct device_work *work)
{
    return -1;
}

int device_arrived(struct device *device, enum device_work_kind kind, unsigned number,
                   struct slot_times *times)
{
    return -1;
}

int device_open_decoding(struct device *device, void *decoding)
{
    return -1;
}

const char *device_error(const struct device *device)
{
    return "built without CUDA";
}

void device_close(struct device *device)
{
}
