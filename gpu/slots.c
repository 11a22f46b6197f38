#include "slots.h"
#include "snapshot.h"
#include "src/engine/records.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define PAGE ((size_t)4096)
#define LINE ((size_t)64) /* of a cache */

static size_t round_up(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

size_t slots_data_size(const struct histogram *histogram, size_t chunk_size)
{
    return chunk_size + records_room(records_size(histogram));
}

size_t slots_slot_size(const struct histogram *histogram, size_t chunk_size)
{
    size_t data = round_up(slots_data_size(histogram, chunk_size), LINE);
    return round_up(data + (snapshot_each(histogram) ? snapshot_size(histogram) : 0), PAGE);
}

/* Maps `size` bytes of pages of our own, huge where they can be had (pinning then takes a tenth of
 * the time), and touches them, so that they are there. 0, or -1. */
static int slots_map(struct slots *slots, size_t size)
{
    slots->mapping_size = size + HUGE_PAGE;
    slots->mapping = mmap(NULL, slots->mapping_size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slots->mapping == MAP_FAILED)
        return -1;
    slots->memory = (void *)round_up((uintptr_t)slots->mapping, HUGE_PAGE);
    madvise(slots->memory, size, MADV_HUGEPAGE); /* only faster */
    memset(slots->memory, 0, size);
    return 0;
}

int slots_open(struct slots *slots, unsigned count, size_t chunk_size,
               const struct histogram *histogram, struct engine *engine, struct device *device,
               struct reason *why)
{
    size_t data = round_up(slots_data_size(histogram, chunk_size), LINE);
    size_t step = slots_slot_size(histogram, chunk_size);
    size_t size = step * count + round_up(snapshot_size(histogram), PAGE);
    *slots = (struct slots){.count = count, .mapping = MAP_FAILED};
    slots->slot = calloc(count, sizeof slots->slot[0]);
    if (!slots->slot || slots_map(slots, size) != 0) {
        reason_set(why, "no memory for its buffers");
        return -1;
    }
    slots->pinned = device_pin(device, slots->memory, size) == 0;
    unsigned char *at = slots->memory;
    for (unsigned i = 0; i < count; i++, at += step) {
        struct slot *slot = &slots->slot[i];
        slot->chunk = (struct chunk){.engine = engine, .data = at, .cap = chunk_size, .fill = true};
        slot->index = i;
        slot->snapshot = snapshot_each(histogram) ? (uint64_t *)(void *)(at + data) : NULL;
        slots_give_back(slots, slot);
    }
    slots->spare = (uint64_t *)(void *)at;
    return 0;
}

void slots_close(struct slots *slots, struct device *device)
{
    if (slots->pinned)
        device_unpin(device, slots->memory);
    if (slots->mapping != MAP_FAILED)
        munmap(slots->mapping, slots->mapping_size);
    slots_abandon(slots);
}

void slots_abandon(struct slots *slots)
{
    free(slots->slot);
}

struct slot *slots_take(struct slots *slots)
{
    struct slot *slot = slots->free;
    if (slot)
        slots->free = slot->next;
    return slot;
}

void slots_give_back(struct slots *slots, struct slot *slot)
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
