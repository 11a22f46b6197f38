/* SPDX-License-Identifier: MIT */
/* What happens when the device is lost. Every chunk after the last good snapshot is still whole in
 * its slot, and another engine counts it again.
 *
 * The device may still read and write the memory of slots in flight, so these are neither used
 * again nor freed, and the chunks are copied before they are counted. */
#ifndef GPUHISTO_RECOVERY_H
#define GPUHISTO_RECOVERY_H

#include "slots.h"
#include "src/engine/engine.h"

#include <stdatomic.h>

/* `lost` and `failed` become true once, after their reasons were written, and are read by any
 * thread; all else is under the engine's lock. */
struct recovery {
    struct engine *fallback; /* counts what a lost device did not; NULL: nothing replaces it */
    atomic_bool lost;
    atomic_bool failed;        /* lost for good: counts are missing */
    struct reason why;         /* it was lost, */
    struct reason why_not_all; /* and was not replaced, if that is another reason */
};

/* The device is lost. Only the first reason is kept. */
void recovery_lose(struct recovery *recovery, const char *why);

/* Returns why it was lost; or why counts are missing, if that is another reason. NULL: it is not
 * lost. The text lives as long as the recovery. Any thread. */
const char *recovery_reason(const struct recovery *recovery);

/* Has the fallback count what is in flight and has bytes on the host, and reports it to `lines`
 * (NULL: to none). If nothing can replace the device, sets `failed`. To be called once the device
 * is lost, and after each chunk that is submitted even so. */
void recovery_recount(struct recovery *recovery, struct slots *slots,
                      const struct histogram *histogram, struct lines *lines);

#endif
