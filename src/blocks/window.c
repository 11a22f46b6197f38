/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The memory after the window: the more there is, the more seldom the window moves, and the less of
 * it is in a cache. It is four windows, but not less than the first number, nor more than one
 * window and the second. It must be larger than the content of a run and the content returned
 * before, which may still be borrowed. */
#define CAPACITY_MIN (2 * WINDOW_RUN_MAX)
#define CAPACITY_MORE ((size_t)32 << 20)

/* Bytes of a huge page on most machines. */
#define HUGE_PAGE ((size_t)2 << 20)

/* Allocates memory in huge pages, if the system has them: matches reach all over a large window,
 * and in small pages most of them would miss the TLB. NULL: out of memory. */
static unsigned char *allocate(size_t size)
{
    unsigned char *data = aligned_alloc(HUGE_PAGE, size);
#ifdef MADV_HUGEPAGE
    if (data)
        (void)madvise(data, size, MADV_HUGEPAGE); /* only faster: may fail */
#endif
    return data;
}

size_t window_memory(uint64_t size, size_t content_max)
{
    const size_t window = (size_t)size, max = window + CAPACITY_MORE;
    size_t capacity = 4 * window < max ? 4 * window : max;
    capacity = capacity > CAPACITY_MIN ? capacity : CAPACITY_MIN;
    return (window + capacity + content_max + COPY_SLACK + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

int window_begin(struct window *window, uint64_t size, size_t content_max)
{
    const size_t cap = window_memory(size, content_max);
    if (cap > window->cap) {
        window_close(window);
        window->data = allocate(cap);
        window->cap = window->data ? cap : 0;
    }
    window->at = 0;
    window->size = size;
    window->content = 0;
    return window->data ? 0 : -1;
}

/* Returns how many bytes matches can still reach. */
static size_t kept(const struct window *window)
{
    return window->content < window->size ? (size_t)window->content : (size_t)window->size;
}

/* True if `len` bytes fit behind the content; if not, the window moves to the beginning. */
static bool fits(const struct window *window, size_t len)
{
    return window->cap - window->at >= len + COPY_SLACK;
}

static void make_room(struct window *window, size_t len)
{
    if (fits(window, len))
        return;
    memmove(window->data, window->data + window->at - kept(window), kept(window));
    window->at = kept(window);
}

const unsigned char *window_append(struct window *window, const struct block_loops *loops,
                                   const struct parsed_run *run)
{
    make_room(window, run->content);
    const uint64_t history = window->content < window->at ? window->content : window->at;
    const struct execution execution = {.repeat_offsets = window->repeat_offsets,
                                        .history = history};
    unsigned char *out = window->data + window->at;
    if (!loops->execute(run, &execution, out))
        return NULL;
    for (int i = 0; i < 3; i++)
        window->repeat_offsets.offset[i] =
            offset_resolve(run->after.offset[i], &execution.repeat_offsets);
    window->at += run->content;
    window->content += run->content;
    return out;
}

bool window_overwrites(const struct window *window, size_t len, const unsigned char *content,
                       size_t content_len)
{
    const bool is_behind = fits(window, len);
    const size_t begin = is_behind ? window->at : 0,
                 end = (is_behind ? window->at : kept(window)) + len + COPY_SLACK;
    const size_t at = (size_t)(content - window->data);
    return at < end && at + content_len > begin;
}

size_t window_before(const struct window *window, const unsigned char *content)
{
    return (size_t)(content - window->data);
}

void window_close(struct window *window)
{
    free(window->data);
    window->data = NULL;
    window->cap = 0;
}
