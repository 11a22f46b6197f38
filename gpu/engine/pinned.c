/* SPDX-License-Identifier: MIT */
#include "pinned.h"

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

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
                          : !device_thread_are_lost(pinned->thread))
        munmap(pinned->mapping, pinned->mapping_size);
    pinned->mapping = NULL;
}
