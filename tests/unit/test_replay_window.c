/* SPDX-License-Identifier: MIT */
/* The queue of what was read of a stream, against an array that has all of it. */
#include "src/input/bytes.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <string.h>

#define STREAM_SIZE ((size_t)3 << 20)

static unsigned char stream[STREAM_SIZE], out[STREAM_SIZE];
static unsigned cases, wrong;

static void check(const char *what, uint64_t expected, uint64_t actual)
{
    cases++;
    if (expected != actual && wrong++ < 20)
        fprintf(stderr, "%s: expected %llu, but it is %llu\n", what, (unsigned long long)expected,
                (unsigned long long)actual);
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void check_queue(size_t max)
{
    struct replay_window kept = {0};
    size_t begin = 0, end = 0;
    while (end < STREAM_SIZE) {
        size_t len = min(random_below((unsigned)max), STREAM_SIZE - end);
        check("added", 0, (uint64_t)window_add(&kept, stream + end, len));
        end += len;
        if (random_below(3) == 0)
            begin += random_below((unsigned)(end - begin) + 1);
        window_drop(&kept, random_below(9) ? begin : begin / 2); /* which drops nothing */
        if (kept.begin != begin)
            begin = (size_t)kept.begin; /* only later */
        check("begin", begin, kept.begin);
        check("end", end, kept.end);
        size_t at = begin + random_below((unsigned)(end - begin) + 1), cap = random_below(700000);
        size_t got = window_copy(&kept, at, out, cap);
        check("copied", min(cap, end - at), got);
        check("bytes", 0, (uint64_t)(memcmp(out, stream + at, got) != 0));
    }
    window_drop(&kept, UINT64_MAX);
    check("all is dropped", end, kept.begin);
    check("and nothing is left", 0, window_copy(&kept, kept.begin, out, 100));
    check("but it goes on", 0, (uint64_t)window_add(&kept, stream, 5));
    check("there", 5, window_copy(&kept, end, out, 100));
    check("bytes before", 0, (uint64_t)window_prepend(&kept, stream + 10, 300000));
    check("are the first", STREAM_SIZE - 300000, kept.begin);
    check("all of them", 300005, window_copy(&kept, kept.begin, out, 500000));
    check("as they were", 0, (uint64_t)(memcmp(out, stream + 10, 300000) != 0));
    check("before those", 0, (uint64_t)(memcmp(out + 300000, stream, 5) != 0));
    check("and again it goes on", 0, (uint64_t)window_add(&kept, stream, 7));
    check("there too", 12, window_copy(&kept, end, out, 100));
    window_restart(&kept, 100);
    check("emptied", 0, kept.end - kept.begin);
    check("elsewhere", 100, kept.end);
}

int main(void)
{
    random_seed(20261122);
    for (size_t i = 0; i < STREAM_SIZE; i++)
        stream[i] = (unsigned char)random_below(256);
    check_queue(1000000);
    check_queue(262145);
    check_queue(5000);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
