/* SPDX-License-Identifier: MIT */
/* The seam in a build without CUDA: there is no device, so only device_open is ever called. */
#include "device.h"

int device_count_all(struct reason *why)
{
    reason_set(why, "built without CUDA");
    return -1;
}

const char *device_missing(void)
{
    return "built without CUDA";
}

struct device *device_open(const struct device_plan *plan, struct reason *why)
{
    (void)plan;
    reason_set(why, "built without CUDA");
    return 0;
}

const char *device_name(const struct device *device)
{
    (void)device;
    return "";
}

int device_pin(struct device *device, void *memory, size_t size)
{
    (void)device, (void)memory, (void)size;
    return -1;
}

void device_unpin(struct device *device, void *memory)
{
    (void)device, (void)memory;
}

int device_copy_in(struct device *device, unsigned slot, const void *data, size_t len)
{
    (void)device, (void)slot, (void)data, (void)len;
    return -1;
}

int device_count(struct device *device, unsigned slot, size_t len)
{
    (void)device, (void)slot, (void)len;
    return -1;
}

int device_snapshot(struct device *device, unsigned slot, uint64_t *words, size_t first, size_t end)
{
    (void)device, (void)slot, (void)words, (void)first, (void)end;
    return -1;
}

int device_arrived(struct device *device, unsigned slot)
{
    (void)device, (void)slot;
    return -1;
}

int device_open_decoding(struct device *device, struct device_decoding *decoding)
{
    (void)device, (void)decoding;
    return -1;
}

int device_copy_blocks(struct device *device, const struct device_blocks *blocks, unsigned input)
{
    (void)device, (void)blocks, (void)input;
    return -1;
}

int device_blocks_copied(struct device *device, unsigned input, double *seconds)
{
    (void)device, (void)input, (void)seconds;
    return -1;
}

int device_decode(struct device *device, unsigned slot, const struct zstd_plan *plan, bool begins,
                  const struct device_result *result)
{
    (void)device, (void)slot, (void)plan, (void)begins, (void)result;
    return -1;
}

int device_decoded(struct device *device, unsigned slot)
{
    (void)device, (void)slot;
    return -1;
}

int device_count_content(struct device *device, const struct device_content *content)
{
    (void)device, (void)content;
    return -1;
}

int device_read_content(struct device *device, const struct device_content *content,
                        unsigned char *to, unsigned read)
{
    (void)device, (void)content, (void)to, (void)read;
    return -1;
}

int device_content_read(struct device *device, unsigned read)
{
    (void)device, (void)read;
    return -1;
}

int device_times(struct device *device, unsigned slot, struct slot_times *times)
{
    (void)device, (void)slot, (void)times;
    return -1;
}

const char *device_reason(const struct device *device)
{
    (void)device;
    return "built without CUDA";
}

void device_close(struct device *device)
{
    (void)device;
}
