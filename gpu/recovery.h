/* What happens when the device is lost: every chunk after the last good snapshot is still whole in
 * its slot, and another engine counts it again.
 *
 * The device may still read and write the memory of slots in flight, so these are neither used
 * again nor freed, and the chunks are copied before they are counted. */
#ifndef GPUHISTO_RECOVERY_H
#define GPUHISTO_RECOVERY_H

#include "slots.h"
#include "src/engine/engine.h"

struct recovery {
    struct engine *fallback; /* counts what a lost device did not; NULL: nothing replaces it */
    bool lost;
    bool failed;       /* lost for good: counts are missing */
    struct reason why; /* if lost */
};

/* Notes that the device is lost, and why. */
void recovery_lose(struct recovery *recovery, const char *why);

/* Has the fallback count what is in flight, of samples as the histogram has them, and reports it to
 * `lines` (NULL: to none); but not what has no bytes on the host (decompression.h); or notes that
 * the run has failed. To be called, once the device is lost, by whoever finds that out and after
 * each chunk that is submitted even so. */
void recovery_recount(struct recovery *recovery, struct slots *slots,
                      const struct histogram *histogram, struct lines *lines);

#endif
