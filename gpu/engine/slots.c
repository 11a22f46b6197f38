/* SPDX-License-Identifier: MIT */
/* Slots, and the pinned memory that they and a decoder have. */
#include "engine_internal.h"
#include "src/input/records.h"

#include <stdlib.h>
#include <sys/mman.h>

_Static_assert(GPU_ENGINE_BATCHES_MAX == DEVICE_BATCHES_MAX, "what a decoder may have");

#define HUGE_PAGE ((size_t)2 << 20)

/* --- pinned memory --- */

size_t pinned_round(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

/* Asks the kernel for all pages, which are zeros, without writing to them. */
static void touch_pages(unsigned char *memory, size_t size)
{
#ifdef MADV_POPULATE_WRITE
    if (madvise(memory, size, MADV_POPULATE_WRITE) == 0)
        return;
#endif
    for (size_t at = 0; at < size; at += PINNED_PAGE)
        *(volatile unsigned char *)(memory + at) = 0;
}

/* Huge pages where they can be had: pinning then takes a tenth of the time. */
int pinned_open(struct pinned *pinned, size_t size, struct device_thread *thread)
{
    pinned->mapping_size = size + HUGE_PAGE;
    pinned->mapping = mmap(NULL, pinned->mapping_size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pinned->mapping == MAP_FAILED) {
        pinned->mapping = NULL;
        return -1;
    }
    pinned->memory = (unsigned char *)pinned_round((uintptr_t)pinned->mapping, HUGE_PAGE);
    madvise(pinned->memory, size, MADV_HUGEPAGE); /* only faster */
    touch_pages(pinned->memory, size);
    pinned->thread = thread;
    pinned->is_pinned = device_thread_pin(thread, pinned->memory, size) == 0;
    return 0;
}

void pinned_close(struct pinned *pinned)
{
    if (!pinned->mapping)
        return;
    if (pinned->is_pinned ? device_thread_unpin(pinned->thread, pinned->memory) == 0
                          : !device_thread_is_lost(pinned->thread))
        munmap(pinned->mapping, pinned->mapping_size);
    pinned->mapping = NULL;
}

/* --- slots --- */

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
