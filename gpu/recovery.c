#include "recovery.h"
#include "snapshot.h"
#include "src/engine/records.h"

#include <string.h>

void recovery_lose(struct recovery *recovery, const char *why)
{
    recovery->lost = true;
    reason_set(&recovery->why, "%s", why);
}

/* Counts a chunk by the fallback, in memory of the fallback's, which no late copy of the device can
 * reach. */
static void recount_chunk(struct engine *fallback, const struct chunk *chunk, size_t sample_size)
{
    struct records records = {.size = sample_size};
    for (size_t done = 0; done < chunk->len;) {
        struct chunk *fresh = engine_acquire(fallback, true);
        size_t left = chunk->len - done, len = left < fresh->cap ? left : fresh->cap;
        size_t begun = records_resume(&records, fresh->data); /* only tokens, which have room */
        memcpy(fresh->data + begun, chunk->data + done, len);
        fresh->origin = (struct origin){.bytes = done == 0 ? chunk->origin.bytes : 0,
                                        .at.file = chunk->origin.at.file};
        done += len;
        fresh->len = records_cut(&records, fresh->data, begun + len, done == chunk->len);
        engine_submit(fresh);
    }
}

void recovery_recount(struct recovery *recovery, struct slots *slots,
                      const struct histogram *histogram, struct lines *lines)
{
    if (!recovery->fallback || !snapshot_each(histogram)) {
        recovery->failed = true;
        return;
    }
    while (slots->oldest) {
        const struct chunk *chunk = &slots_arrive(slots)->chunk;
        recount_chunk(recovery->fallback, chunk, histogram_sample_size(histogram));
        snapshot_report_lines(lines, chunk);
    }
}
