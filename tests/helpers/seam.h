/* SPDX-License-Identifier: MIT */
/* A device through the seam (gpu/engine/device.h), a chunk at a time: on a GPU or on the emulated
 * one, whichever the test is linked with. */
#ifndef GPUHISTO_TESTS_SEAM_H
#define GPUHISTO_TESTS_SEAM_H

#include "gpu/engine/device.h"

#define SEAM_SKIP 77 /* exit status of a test that found no device */

/* True if there is a device. Prints its name, or the line that says why the test is skipped. */
bool seam_has_device(void);

/* True if that device is the emulated one, on which a launch takes a thousand times as long. Call
 * it after seam_has_device. */
bool seam_is_emulated(void);

/* Opens a device with two slots of slot_size bytes, which counts by the strategy; the caller closes
 * it with device_close. NULL with the error set if it cannot be opened. */
struct device *seam_open(enum strategy_id strategy, const struct histogram_spec *spec,
                         size_t slot_size, struct error *error);

/* Counts data[0..len), 1 to slot_size bytes, in slot 0 or 1, and waits. Then counts[] has all
 * that the device has counted since it was opened: `words` words of a snapshot, of
 * device_histogram_words(histogram). 0; or -1, and device_error(device) says why. One thread for
 * each device. */
int seam_count(struct device *device, unsigned slot, const void *data, size_t len, uint64_t *counts,
               size_t words);

#endif
