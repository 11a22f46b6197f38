/* SPDX-License-Identifier: MIT */
/* Every counter of the CPU that this processor can run, in every mode, against a naive count: over
 * lengths around all that a vector loop is built of, and kinds of data that are hard for one or the
 * other, between pages that must not be touched. */
#include "src/cpu/count.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/samples.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <string.h>

#define CAPACITY ((size_t)512 << 10)

static unsigned cases, wrong;

static void check(const struct cpu_kernels *kernels, const struct histogram_spec *spec,
                  const unsigned char *data, size_t len, const uint64_t bytes[256])
{
    uint64_t expected[256] = {0}, counts[256] = {0};
    struct count_plan plan = count_plan(kernels, spec);
    samples_expect(spec, bytes, expected);
    /* In two pieces, so that counts are added to what is there. */
    size_t half = len / 3;
    struct tally tally = {.bins = spec->bins, .counts = counts};
    count_samples(&plan, data, half, &tally);
    count_samples(&plan, data + half, len - half, &tally);
    cases++;
    if (tally.samples == len && memcmp(counts, expected, sizeof counts) == 0)
        return;
    fprintf(stderr, "FAIL: %s, %zu bins, width %u, fold %d, %zu bytes\n", kernels->name, spec->bins,
            spec->width, spec->fold, len);
    wrong++;
}

static void check_modes(const struct cpu_kernels *kernels, const unsigned char *data, size_t len,
                        unsigned width_step)
{
    struct histogram_spec spec;
    uint64_t bytes[256] = {0};
    for (size_t i = 0; i < len; i++)
        bytes[data[i]]++;
    histogram_spec_bytes(&spec);
    check(kernels, &spec, data, len, bytes);
    for (unsigned width = 1; width <= LETTERS; width += width_step)
        for (unsigned fold = 0; fold < 2; fold++) {
            histogram_spec_letters(&spec, width, fold);
            check(kernels, &spec, data, len, bytes);
        }
}

/* At both ends of the room, between pages that fault. */
static void check_lengths(const struct cpu_kernels *kernels, unsigned char *scratch, bool quick)
{
    static const size_t large[] = {511,   512,   513,   1023,  1024,  1025,   2047,   4096,
                                   8191,  16383, 16384, 16385, 17407, 17408,  31743,  31744,
                                   31745, 32769, 49153, 65536, 65537, 131073, 262144, CAPACITY};
    const size_t count = sizeof large / sizeof large[0];
    for (size_t i = 0; i < 130 + count; i += quick ? 7 : 1) {
        size_t len = i < 130 ? i : large[i - 130];
        for (int kind = 0; kind < SAMPLES_KINDS; kind++) {
            unsigned char *data = kind % 2 ? scratch : scratch + CAPACITY - len;
            samples_fill((enum samples)kind, data, len);
            check_modes(kernels, data, len, quick ? 5 : 1);
        }
    }
}

/* Each value alone, often enough to overflow any narrow counter. */
static void check_values(const struct cpu_kernels *kernels, unsigned char *scratch, bool quick)
{
    for (unsigned value = 0; value < 256; value += quick ? 15 : 1) {
        memset(scratch, (int)value, 70000);
        check_modes(kernels, scratch, 70000, quick ? 25 : 3);
    }
}

int main(void)
{
    bool quick = scale_is_small_or_slow();
    unsigned char *scratch = guarded_memory(CAPACITY);
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++) {
        if (!(*kernels)->runs_here()) {
            printf("left out: %s: this processor lacks it\n", (*kernels)->name);
            continue;
        }
        check_lengths(*kernels, scratch, quick);
        check_values(*kernels, scratch, quick);
        printf("%s: %u counts so far, %u wrong\n", (*kernels)->name, cases, wrong);
    }
    return wrong != 0;
}
