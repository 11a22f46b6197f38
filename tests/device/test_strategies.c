/* Every counting strategy, in every mode it claims, over every kind of data and length, against a
 * naive count. Through the seam, so that the same program tests the kernels on the CPU (linked with
 * the emulated device) and on a GPU (linked with the real one; without a GPU it is skipped). */
#include "gpu/device.h"
#include "gpu/strategy.h"
#include "tests/helpers/samples.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SKIP 77
#define SLOT_SIZE ((size_t)1 << 20)

static unsigned char data[SLOT_SIZE];
static unsigned cases, wrong;

static void add_naively(const struct histogram *histogram, size_t len, uint64_t *counts)
{
    uint64_t bytes[256] = {0};
    for (size_t i = 0; i < len; i++)
        bytes[data[i]]++;
    samples_expect(histogram, bytes, counts);
}

static void fail(const char *strategy, const struct histogram *histogram, const char *what)
{
    fprintf(stderr, "FAIL: %s, %zu bins, width %u, fold %d: %s\n", strategy, histogram->bins,
            histogram->width, histogram->fold, what);
    wrong++;
}

/* Counts data[0..len) in slot, and waits. 0 or -1. */
static int count(struct device *device, unsigned slot, size_t len, uint64_t *counts)
{
    if (device_copy_in(device, slot, data, len) != 0 || device_count(device, slot, len) != 0 ||
        device_snapshot(device, slot, counts) != 0)
        return -1;
    int arrived;
    while ((arrived = device_arrived(device, slot)) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    return arrived == 1 ? 0 : -1;
}

/* What is gone through. Emulated under a sanitizer a launch takes up to a second, and all of it
 * takes minutes even without one: then only the corners. */
struct extent {
    const size_t *lens;
    size_t len_count;
    int kind_step;
    unsigned width_step;
};

static struct extent extent(void)
{
    static const size_t all[] = {1,    2,    15,    16,    17,    31,    32,    33,    63,    64,
                                 65,   127,  255,   256,   257,   511,   512,   513,   4095,  4096,
                                 4097, 8191, 16383, 16384, 16385, 65535, 65536, 65537, 100003};
    static const size_t few[] = {1, 17, 4097, 16385};
    if (scale_is_small_or_slow())
        return (struct extent){few, sizeof few / sizeof few[0], 3, 25};
    return (struct extent){all, sizeof all / sizeof all[0], 1, 1};
}

/* All lengths of one kind of data, on a device that goes on adding: one histogram, many chunks. */
static void run_lengths(struct device *device, const char *strategy,
                        const struct histogram *histogram, enum samples kind, uint64_t *expected)
{
    const struct extent todo = extent();
    static uint64_t counts[256];
    for (size_t i = 0; i < todo.len_count; i++) {
        samples_fill(kind, data, todo.lens[i]);
        add_naively(histogram, todo.lens[i], expected);
        cases++;
        if (count(device, (unsigned)i % 2, todo.lens[i], counts) != 0) {
            fail(strategy, histogram, device_reason(device));
            exit(1);
        }
        if (memcmp(counts, expected, histogram->bins * sizeof counts[0]) != 0) {
            fail(strategy, histogram, "wrong counts");
            exit(1);
        }
    }
}

static struct device *open_device(enum strategy_id strategy, const struct histogram *histogram,
                                  struct reason *why)
{
    struct device_plan plan = {
        .strategy = strategy, .histogram = histogram, .slots = 2, .slot_size = SLOT_SIZE};
    return device_open(&plan, why);
}

static void run_strategy(enum strategy_id strategy, const struct histogram *histogram)
{
    const char *name = strategies[strategy].name;
    struct reason why = {""};
    uint64_t expected[256] = {0};
    if (!strategy_counts(&strategies[strategy], histogram))
        return;
    struct device *device = open_device(strategy, histogram, &why);
    if (!device) {
        fail(name, histogram, why.text);
        return;
    }
    for (int kind = 0; kind < SAMPLES_KINDS; kind += extent().kind_step)
        run_lengths(device, name, histogram, (enum samples)kind, expected);
    device_close(device);
}

int main(void)
{
    struct histogram histogram;
    struct reason why;
    histogram_bytes(&histogram);
    struct device *device = open_device(STRATEGY_naive, &histogram, &why);
    if (!device) {
        printf("skipped: no GPU: %s\n", why.text);
        return SKIP;
    }
    printf("on %s\n", device_name(device));
    device_close(device);
    for (unsigned i = 0; i < strategy_count; i++) {
        enum strategy_id strategy = (enum strategy_id)i;
        histogram_bytes(&histogram);
        run_strategy(strategy, &histogram);
        for (unsigned width = 1; width <= LETTERS; width += extent().width_step)
            for (unsigned fold = 0; fold < 2; fold++) {
                histogram_letters(&histogram, width, fold);
                run_strategy(strategy, &histogram);
            }
    }
    printf("%u counts of %u strategies, %u wrong\n", cases, strategy_count, wrong);
    return wrong != 0;
}
