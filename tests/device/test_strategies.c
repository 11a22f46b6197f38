/* SPDX-License-Identifier: MIT */
/* Every counting strategy, in every mode it claims, over every kind of data and length, against a
 * naive count. Through the seam, so that the same program tests the kernels on the CPU (linked with
 * the emulated device) and on a GPU (linked with the real one; without a GPU it is skipped). */
#include "gpu/count/strategy.h"
#include "tests/helpers/samples.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/seam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_SIZE ((size_t)1 << 20)

static unsigned char data[SLOT_SIZE];
static unsigned cases, wrong;

static void fail(const char *strategy, const struct histogram_spec *spec, const char *what)
{
    fprintf(stderr, "FAIL: %s, %zu bins, width %u, fold %d: %s\n", strategy, spec->bins,
            spec->width, spec->fold, what);
    wrong++;
}

/* What is gone through. Emulated under a sanitizer a launch takes up to a second: then only the
 * corners. Without one all of it takes three minutes: then one width of letters in six. */
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
    return (struct extent){all, sizeof all / sizeof all[0], 1,
                           seam_is_emulated() && !scale_is_all() ? 6 : 1};
}

/* All lengths of one kind of data, on a device that goes on adding: one histogram, many chunks. */
static void run_lengths(struct device *device, const char *strategy,
                        const struct histogram_spec *spec, enum samples kind, uint64_t *expected)
{
    const struct extent todo = extent();
    static uint64_t counts[256];
    for (size_t i = 0; i < todo.len_count; i++) {
        samples_fill(kind, data, todo.lens[i]);
        samples_count(spec, data, todo.lens[i], expected);
        cases++;
        if (seam_count(device, (unsigned)i % 2, data, todo.lens[i], counts, spec->bins) != 0) {
            fail(strategy, spec, device_error(device));
            exit(1);
        }
        if (memcmp(counts, expected, spec->bins * sizeof counts[0]) != 0) {
            fail(strategy, spec, "wrong counts");
            exit(1);
        }
    }
}

static void run_strategy(enum strategy_id strategy, const struct histogram_spec *spec)
{
    const char *name = strategies[strategy].name;
    struct error error = {""};
    uint64_t expected[256] = {0};
    if (!strategy_counts(&strategies[strategy], spec))
        return;
    struct device *device = seam_open(strategy, spec, SLOT_SIZE, &error);
    if (!device) {
        if (!strstr(error.text, "needs a GPU of compute capability"))
            fail(name, spec, error.text);
        return;
    }
    for (int kind = 0; kind < SAMPLES_KINDS; kind += extent().kind_step)
        run_lengths(device, name, spec, (enum samples)kind, expected);
    device_close(device);
}

int main(void)
{
    struct histogram_spec spec;
    if (!seam_has_device())
        return SEAM_SKIP;
    for (unsigned i = 0; i < strategy_count; i++) {
        enum strategy_id strategy = (enum strategy_id)i;
        histogram_spec_bytes(&spec);
        run_strategy(strategy, &spec);
        for (unsigned width = 1; width <= LETTERS; width += extent().width_step)
            for (unsigned fold = 0; fold < 2; fold++) {
                histogram_spec_letters(&spec, width, fold);
                run_strategy(strategy, &spec);
            }
    }
    printf("%u counts of %u strategies, %u wrong\n", cases, strategy_count, wrong);
    return wrong != 0;
}
