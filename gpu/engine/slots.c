/* SPDX-License-Identifier: MIT */
#include "gpu_engine_internal.h"
#include "src/input/records.h"

#include <stdlib.h>

size_t slots_data_size(const struct histogram_spec *spec, size_t chunk_size)
{
    const struct record_kind kind = record_kind_of_all(spec);
    return chunk_size + record_slack(&kind);
}

size_t gpu_engine_slot_size(const struct histogram_spec *spec, size_t chunk_size)
{
    size_t data = pinned_round(slots_data_size(spec, chunk_size), PINNED_LINE);
    return pinned_round(data + (snapshot_is_of_chunk(spec) ? snapshot_size(spec) : 0), PINNED_PAGE);
}

size_t gpu_engine_size(const struct histogram_spec *spec, size_t chunk_size, unsigned count)
{
    return gpu_engine_slot_size(spec, chunk_size) * count +
           pinned_round(snapshot_size(spec), PINNED_PAGE) * snapshot_spares(spec);
}

int slots_open(struct gpu_engine *gpu, struct error *error)
{
    const struct histogram_spec *spec = gpu->spec;
    const size_t chunk_size = gpu->options.chunk_size;
    const unsigned count = gpu->options.buffers;
    struct slots *slots = &gpu->slots;
    size_t data = pinned_round(slots_data_size(spec, chunk_size), PINNED_LINE);
    size_t step = gpu_engine_slot_size(spec, chunk_size);
    size_t spare = pinned_round(snapshot_size(spec), PINNED_PAGE);
    size_t size = gpu_engine_size(spec, chunk_size, count);
    *slots = (struct slots){.count = count, .are_shared = snapshot_spares(spec) > 1};
    slots->slot = calloc(count, sizeof slots->slot[0]);
    if (!slots->slot || pinned_open(&slots->pinned, size, gpu->thread) != 0) {
        error_set(error, "not enough memory for its buffers");
        return -1;
    }
    unsigned char *at = slots->pinned.memory;
    for (unsigned i = 0; i < count; i++, at += step) {
        struct slot *slot = &slots->slot[i];
        slot->chunk =
            (struct chunk){.engine = &gpu->engine, .data = at, .cap = chunk_size, .fill = true};
        slot->index = i;
        slot->snapshot = snapshot_is_of_chunk(spec) ? (uint64_t *)(void *)(at + data) : NULL;
        slots_release(slots, slot);
    }
    slots->spare = (uint64_t *)(void *)at;
    while (slots->shared_count + 1 < snapshot_spares(spec))
        slots->shared[slots->shared_count++] = (uint64_t *)(void *)(at += spare);
    return 0;
}

bool slots_acquire_snapshot(struct slots *slots, struct slot *slot)
{
    if (slots->are_shared && !slot->snapshot && slots->shared_count > 0)
        slot->snapshot = slots->shared[--slots->shared_count];
    return !slots->are_shared || slot->snapshot;
}

void slots_release_snapshot(struct slots *slots, struct slot *slot)
{
    if (slots->are_shared && slot->snapshot) {
        slots->shared[slots->shared_count++] = slot->snapshot;
        slot->snapshot = NULL;
    }
}

void slots_close(struct slots *slots)
{
    pinned_close(&slots->pinned);
    free(slots->slot);
}

struct slot *slots_acquire(struct slots *slots)
{
    struct slot *slot = slots->free;
    if (slot)
        slots->free = slot->next;
    return slot;
}

void slots_release(struct slots *slots, struct slot *slot)
{
    slot->next = slots->free;
    slots->free = slot;
}

void slots_send(struct slots *slots, struct slot *slot)
{
    slot->next = NULL;
    if (slots->newest)
        slots->newest->next = slot;
    else
        slots->oldest = slot;
    slots->newest = slot;
}

struct slot *slots_arrive(struct slots *slots)
{
    struct slot *slot = slots->oldest;
    slots->oldest = slot->next;
    if (!slots->oldest)
        slots->newest = NULL;
    return slot;
}
