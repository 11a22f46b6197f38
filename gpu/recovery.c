/* SPDX-License-Identifier: MIT */
#include "recovery.h"
#include "snapshot.h"
#include "src/records/lines.h"
#include "src/records/records.h"

#include <string.h>

void recovery_lose(struct recovery *recovery, const char *why)
{
    if (recovery->lost)
        return;
    reason_set(&recovery->why, "%s", why);
    recovery->lost = true;
}

const char *recovery_reason(const struct recovery *recovery)
{
    if (recovery->failed && recovery->why_not_all.text[0])
        return recovery->why_not_all.text;
    return recovery->lost ? recovery->why.text : NULL;
}

/* Counts a chunk by the fallback, in memory of the fallback's, which no late copy of the device can
 * reach. 0, or -1: out of memory. */
static int recount_chunk(struct engine *fallback, const struct chunk *chunk,
                         const struct histogram *histogram)
{
    struct records records = {.kind = record_kind_of_all(histogram), .field = &histogram->field};
    struct origin origin = {.bytes = chunk->origin.bytes,
                            .at.file = chunk->origin.at.file,
                            .column = chunk->origin.column,
                            .has_header = chunk->origin.has_header};
    int rc = 0;
    for (size_t done = chunk->begin; rc == 0 && done < chunk->len;) {
        struct chunk *fresh = engine_acquire(fallback, true);
        size_t left = chunk->len - done, len = left < fresh->cap ? left : fresh->cap;
        records_resume(&records, fresh); /* only of texts, which have room */
        size_t waited = fresh->len;
        memcpy(fresh->data + waited, chunk->data + done, len);
        fresh->len += len;
        fresh->origin = origin;
        done += len;
        rc = records_cut(&records, fresh, waited, done == chunk->len);
        origin.bytes = 0;
        origin.has_header &= fresh->len == 0; /* it is not whole yet */
        engine_submit(fresh);
    }
    records_close(&records);
    return rc;
}

void recovery_recount(struct recovery *recovery, struct slots *slots,
                      const struct histogram *histogram, struct lines *lines)
{
    if (!recovery->fallback || !snapshot_is_small(histogram)) {
        recovery->failed = true;
        return;
    }
    while (slots->oldest) {
        const struct chunk *chunk = &slots_arrive(slots)->chunk;
        if (!chunk->data)
            continue;
        if (recount_chunk(recovery->fallback, chunk, histogram) != 0) {
            reason_set(&recovery->why_not_all, "out of memory");
            recovery->failed = true;
            return;
        }
        lines_add_unseen(lines, chunk);
    }
}
