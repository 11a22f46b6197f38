/* SPDX-License-Identifier: MIT */
/* In a build without CUDA, where there is no device to be extended. Never called. */
#include "device_decoding.h"

int device_open_decoding(struct device *device, void *decoding)
{
    (void)device, (void)decoding;
    return -1;
}
