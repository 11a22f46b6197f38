/* SPDX-License-Identifier: MIT */
/* When a GPU saves time: rules of src/policy/cost.c. */
#include "src/policy/cost.h"

#include <math.h>
#include <stdio.h>

#define GPU 15e9
#define CORE 1e9
#define START 0.25

static unsigned cases, wrong;

static void check(const char *what, struct offload_offer offer, double rate, double start,
                  bool expected)
{
    double saved = costs_decoding_saves(&offer, rate, start);
    cases++;
    if (!isnan(saved) && (saved >= 0) == expected)
        return;
    wrong++;
    fprintf(stderr, "%s: saves %g s\n", what, saved);
}

/* A FILE of one frame, of which `done` bytes of content came from a core so far. */
static struct offload_offer frame(double done, double left)
{
    return (struct offload_offer){.again = done, .frame_left = left, .left = left, .rate = CORE};
}

static void check_gpus(const char *what, double left, unsigned most, unsigned expected)
{
    unsigned gpus = costs_decoding_gpus(left, CORE, GPU, START, 0.3, 0.15, most);
    cases++;
    if (gpus == expected)
        return;
    wrong++;
    fprintf(stderr, "%s: %u GPUs\n", what, gpus);
}

static void check_share(const char *what, double gpu, double cpu, double expected)
{
    const struct costs costs = {.gpu = gpu, .cpu = cpu};
    double share = costs_feeding_share(&costs);
    cases++;
    if (share == expected)
        return;
    wrong++;
    fprintf(stderr, "%s: a share of %g\n", what, share);
}

/* Plain FILEs: what a byte costs a worker to read, and to read and count, in nanoseconds; `left`
 * and `rate` in GB. Whether a GPU saves 0.15 s. */
static void check_plain(const char *what, double read, double cpu, double left, double rate,
                        unsigned workers, double start, bool expected)
{
    const struct costs costs = {.read = read * 1e-9, .cpu = cpu * 1e-9};
    double saved = costs_gpu_saves(&costs, left * 1e9, rate * 1e9, workers, start);
    cases++;
    if ((saved >= 0.15) == expected)
        return;
    wrong++;
    fprintf(stderr, "%s: saves %g s\n", what, saved);
}

int main(void)
{
    check("16 GB", frame(0, 16e9), GPU, START, true);
    check("1 GB, a quarter of it done", frame(0.25e9, 0.75e9), GPU, START, true);
    check("0.1 GB", frame(0, 0.1e9), GPU, START, false);
    check("a GPU that is open, 0.1 GB", frame(0, 0.1e9), GPU, 0.01, true);
    check("the same, 5 MB", frame(0, 5e6), GPU, 0.01, false);
    check("the end of 16 GB", frame(15.5e9, 0.5e9), GPU, START, false);
    check("a GPU that is open, the end of 16 GB", frame(15.5e9, 0.5e9), GPU, 0.01, false);
    check("the same, a bit before", frame(14e9, 2e9), GPU, 0.01, true);
    check("cores that are faster", (struct offload_offer){.left = 1e12, .rate = 20e9}, GPU, START,
          false);
    check("the next frame comes soon",
          (struct offload_offer){.again = 1e9, .frame_left = 1e6, .left = 1e10, .rate = CORE}, GPU,
          0.01, false);
    check("here it is", (struct offload_offer){.left = 1e10, .rate = CORE}, GPU, 0.01, true);
    check("no end in sight", (struct offload_offer){.left = HUGE_VAL, .rate = CORE}, GPU, START,
          true);
    check("the same, and cores that are faster",
          (struct offload_offer){.left = HUGE_VAL, .rate = 20e9}, GPU, START, false);
    check("a rate that was not measured", (struct offload_offer){.left = 1}, GPU, START, true);
    check("a GPU that takes no time", frame(1e9, 1), 0, 0, true);
    check("nothing is left", frame(1e9, 0), GPU, 0, false);
    check_plain("32 cores that wait for memory, bytes", 0.26, 0.5, 32.5, 36, 32, 0.5, false);
    check_plain("the same, numbers in text", 0.25, 3, 30.5, 8.6, 32, 0.5, true);
    check_plain("the same, soon at an end", 0.25, 3, 3.5, 8.6, 32, 0.5, false);
    check_plain("the same, letters", 0.23, 0.27, 32, 60, 32, 0.5, false);
    check_plain("16 cores, bytes", 0.12, 0.25, 67, 64, 16, 0.5, false);
    check_plain("4 cores, bytes", 0.12, 0.28, 67, 14, 4, 0.5, true);
    check_plain("nothing was measured", 0, 0, 67, 14, 4, 0.5, false);
    check_gpus("4 GB", 4e9, 16, 1);
    check_gpus("30 GB", 30e9, 16, 2);
    check_gpus("30 GB in one FILE", 30e9, 1, 1);
    check_gpus("1 TB", 1e12, 16, 12);
    check_gpus("1 TB, four FILEs", 1e12, 4, 4);
    check_gpus("nothing is left when it is ready", 0.1e9, 16, 1);
    check_share("nothing was measured", 0, 0, 1);
    check_share("no slot was filled", 0, 1e-9, 1);
    check_share("counting takes long", 1e-10, 16e-10, 0.0625);
    check_share("counting takes as long", 1e-10, 1e-10, 1);
    check_share("counting is quicker", 2e-10, 1e-10, 1);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
