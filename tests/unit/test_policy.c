/* SPDX-License-Identifier: MIT */
/* Situations and what is decided in them, by the measured tuning: src/policy/policy.c. */
#include "src/policy/policy.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define GPU 15e9 /* content a second, and of a core: */
#define CORE 1e9
#define START 0.25

#define LENGTH(table) (sizeof(table) / sizeof(table)[0])

static unsigned cases, wrong;

static void check(const char *table, const char *what, unsigned got, unsigned expected)
{
    cases++;
    if (got == expected)
        return;
    wrong++;
    fprintf(stderr, "%s: %s: %u instead of %u\n", table, what, got, expected);
}

/* A file of one frame, of which `done` bytes of content came from a core so far. */
#define FRAME(done, left_)                                                                         \
    {                                                                                              \
        .again = (done), .frame_left = (left_), .left = (left_), .rate = CORE                      \
    }

/* True if a GPU decompresses what is offered, at `rate` after `start` seconds. */
static const struct {
    const char *what;
    struct offload_offer offer;
    double rate, start;
    bool expected;
} offers[] = {
    {"16 GB", FRAME(0, 16e9), GPU, START, true},
    {"1 GB, a quarter of it done", FRAME(0.25e9, 0.75e9), GPU, START, true},
    {"0.1 GB", FRAME(0, 0.1e9), GPU, START, false},
    {"a GPU that is open, 0.1 GB", FRAME(0, 0.1e9), GPU, 0.01, true},
    {"the same, 5 MB", FRAME(0, 5e6), GPU, 0.01, false},
    {"the end of 16 GB", FRAME(15.5e9, 0.5e9), GPU, START, false},
    {"a GPU that is open, the end of 16 GB", FRAME(15.5e9, 0.5e9), GPU, 0.01, false},
    {"the same, a bit before", FRAME(14e9, 2e9), GPU, 0.01, true},
    {"cores that are faster", {.left = 1e12, .rate = 20e9}, GPU, START, false},
    {"the next frame comes soon",
     {.again = 1e9, .frame_left = 1e6, .left = 1e10, .rate = CORE},
     GPU,
     0.01,
     false},
    {"here it is", {.left = 1e10, .rate = CORE}, GPU, 0.01, true},
    {"no end in sight", {.left = HUGE_VAL, .rate = CORE}, GPU, START, true},
    {"the same, and cores that are faster", {.left = HUGE_VAL, .rate = 20e9}, GPU, START, false},
    {"a rate that was not measured", {.left = 1}, GPU, START, true},
    {"a GPU that takes no time", FRAME(1e9, 1), 0, 0, true},
    {"nothing is left", FRAME(1e9, 0), GPU, 0, false},
};

/* The same of files that were not begun: what one worker reads, and all of them. */
static const struct {
    const char *what;
    double worker_rate, all_rate;
    bool is_last, expected;
} not_begun[] = {
    {"others are left, and one worker would have it", 1e9, 20e9, false, true},
    {"all workers would share the last one", 1e9, 20e9, true, false},
    {"they are slower together", 1e9, 8e9, true, true},
    {"nothing was measured", 0, 0, true, true},
};

/* Plain files: what a byte costs a worker to read, and to read and count, in nanoseconds; `left`
 * and `rate` in GB. True if a GPU is opened while all processors are busy. */
static const struct {
    const char *what;
    double read, cpu, left, rate;
    unsigned workers;
    bool expected;
} plain[] = {
    {"32 cores that wait for memory, bytes", 0.26, 0.5, 32.5, 36, 32, false},
    {"the same, numbers in text", 0.25, 3, 30.5, 8.6, 32, true},
    {"the same, soon at an end", 0.25, 3, 3.5, 8.6, 32, false},
    {"the same, letters", 0.23, 0.27, 32, 60, 32, false},
    {"16 cores, bytes", 0.12, 0.25, 67, 64, 16, false},
    {"4 cores, bytes", 0.12, 0.28, 67, 14, 4, true},
    {"nothing was measured", 0, 0, 67, 14, 4, false},
};

/* A GPU is ready sooner if few processors are busy. */
static const struct {
    const char *what;
    unsigned workers, processors;
    bool expected;
} busy[] = {
    {"all processors", 4, 4, false},
    {"more workers than processors", 8, 4, false},
    {"a quarter of them", 4, 16, true},
};

/* Content of compressed files, GB: how many GPUs are opened, at most `max`. */
static const struct {
    const char *what;
    double done, left;
    unsigned max, expected;
    double rate;
} files[] = {
    {"4 GB", 0, 4, 16, 1, GPU},
    {"30 GB", 0, 30, 16, 2, GPU},
    {"30 GB in one file", 0, 30, 1, 1, GPU},
    {"1 TB", 0, 1e3, 16, 12, GPU},
    {"1 TB, four files", 0, 1e3, 4, 4, GPU},
    {"nothing is left when it is ready", 0, 0.1, 16, 0, GPU},
    {"nothing is left when a second one is ready", 0, 0.55, 16, 1, GPU},
    {"it would save little", 0, 0.4, 16, 0, GPU},
    {"most of it would be done again", 15.5, 0.7, 16, 0, GPU},
    {"nothing is left", 4, 0, 16, 0, GPU},
    {"eight times as much would be done again", 8, 0.9, 16, 0, GPU},
    {"the same, by one that is twice as fast", 8, 0.9, 16, 1, 2 * GPU},
};

/* A pipe's frame, GB of content at one a second: true if a GPU is opened to begin it anew. */
static const struct {
    const char *what;
    struct stream_content stream;
    bool expected;
} streams[] = {
    {"no frame is decoded", {.seconds = 0}, false},
    {"10 GB", {0.2e9, 0.9e9, 0.9, 0.9e9, 10e9, 0.2e9, GPU}, true},
    {"0.1 GB", {0.2e9, 0.9e9, 0.9, 0.9e9, 0.1e9, 0.2e9, GPU}, false},
    {"its producer is slow", {0.1e9, 0.4e9, 0.4, 0.4e9, 10e9, 0.2e9, GPU}, false},
    {"more would come than can be kept", {0.2e9, 0.9e9, 0.9, 0.9e9, 10e9, 0.05e9, GPU}, false},
};

/* What a GPU is opened for that only counts. */
static const struct {
    const char *what;
    enum flow flow;
    double seconds, counting;
    bool expected;
} counted[] = {
    {"a pipe that has lasted", FLOW_PIPE, 2.1, 0.2, true},
    {"one that has just begun", FLOW_PIPE, 1.9, 0.2, false},
    {"one that is quickly counted", FLOW_PIPE, 2.1, 0.05, false},
    {"decompressed data", FLOW_DECODED, 2.1, 0.2, true},
    {"decompressed data that are quickly counted", FLOW_DECODED, 2.1, 0.05, false},
};

/* From which part of what all workers have in a slot the last bytes of a file stay on cores. */
static const struct {
    const char *what;
    double gpu, cpu, expected;
} last_bytes[] = {
    {"nothing was measured", 0, 0, 1},
    {"no slot was filled", 0, 1e-9, 1},
    {"counting takes long", 1e-10, 16e-10, 0.0625},
    {"counting takes as long", 1e-10, 1e-10, 1},
    {"counting is quicker", 2e-10, 1e-10, 1},
};

/* True if the open GPU counts the next chunk. */
static const struct {
    const char *what;
    struct policy_input now;
    bool expected;
} chunks[] = {
    {"a file, and nobody feeds", {.costs = {.gpu = 2, .cpu = 1}}, true},
    {"one feeds", {.costs = {.gpu = 2, .cpu = 1}, .gpu_feeders = 1}, true},
    {"two feed", {.costs = {.gpu = 2, .cpu = 1}, .gpu_feeders = 2}, false},
    {"ten feed, which costs less", {.costs = {.gpu = 1, .cpu = 2}, .gpu_feeders = 10}, true},
    {"a pipe", {.flow = FLOW_PIPE}, true},
    {"decompressed data", {.flow = FLOW_DECODED}, true},
    {"beside a GPU that decompresses", {.flow = FLOW_DECODED, .gpu_decodes = true}, false},
    {"a file beside it", {.gpu_decodes = true}, true},
};

/* How many workers, and whether they hand off what they decompress. */
static const struct {
    const char *what;
    enum flow flow;
    unsigned max;
    double counting;
    bool has_work, hands_off;
    unsigned gpu_files, expected;
} workers[] = {
    {"a file", FLOW_FILE, 16, 0, true, false, 0, 16},
    {"a file beside a GPU that decompresses", FLOW_FILE, 16, 0, true, false, 1, 16},
    {"a pipe that is quickly counted", FLOW_PIPE, 16, 0.1, false, false, 0, 1},
    {"a pipe of bytes", FLOW_PIPE, 16, 0.11, false, true, 0, 2},
    {"a pipe of numbers", FLOW_PIPE, 16, 0.75, false, true, 0, 5},
    {"a pipe that takes no time", FLOW_PIPE, 16, 1, false, true, 0, 16},
    {"a pipe, few workers", FLOW_PIPE, 3, 0.75, false, true, 0, 3},
    {"frames", FLOW_DECODED, 16, 0.05, true, false, 0, 16},
    {"one frame", FLOW_DECODED, 16, 0.05, false, false, 0, 1},
    {"one frame of numbers", FLOW_DECODED, 16, 0.75, false, true, 0, 5},
    {"frames beside a GPU", FLOW_DECODED, 16, 0.05, true, false, 1, 12},
    {"one frame beside a GPU", FLOW_DECODED, 16, 0.05, false, false, 1, 1},
    {"frames beside three GPUs", FLOW_DECODED, 16, 0.05, true, false, 3, 4},
    {"beside four: one that feeds none", FLOW_DECODED, 16, 0.05, true, false, 4, 5},
    {"beside sixteen", FLOW_DECODED, 16, 0.05, true, false, 16, 16},
    {"one worker", FLOW_DECODED, 1, 0.05, true, false, 1, 1},
};

/* True if the first rate is measured again. */
static const struct {
    const char *what;
    enum flow flow;
    bool has_work, expected;
} rates[] = {
    {"a file", FLOW_FILE, false, true},
    {"a pipe", FLOW_PIPE, true, false},
    {"frames", FLOW_DECODED, true, true},
    {"one frame", FLOW_DECODED, false, false},
};

/* Whether several workers decode a frame. */
static const struct {
    const char *what;
    struct frame_offer offer;
    bool expected;
} frames[] = {
    {"the last file of all",
     {.compressed = 2e8, .content = 1e9, .workers_max = 2, .taken = 1},
     true},
    {"one worker", {.compressed = 2e8, .content = 1e9, .workers_max = 1}, false},
    {"as many files as workers",
     {.compressed = 2e8, .content = 1e9, .workers_max = 4, .taken = 4},
     false},
    {"a file less", {.compressed = 2e8, .content = 1e9, .workers_max = 4, .taken = 3}, true},
    {"more files", {.compressed = 2e8, .content = 1e9, .workers_max = 4, .taken = 100}, false},
    {"a megabyte", {.compressed = 2e5, .content = 1e6, .workers_max = 16, .taken = 1}, false},
    {"content that repeats itself", {.compressed = 2e7, .content = 1e9, .workers_max = 4}, false},
};

static const struct policy_tuning *const tuning = &policy_defaults;

/* 0: no GPU; otherwise how many, and 100 more if they decompress. */
static unsigned wish(const struct policy_input *now)
{
    const struct gpu_wish wish = policy_wish(now, tuning);
    return wish.gpus + (wish.decodes ? 100 : 0);
}

static void check_offers(void)
{
    for (size_t i = 0; i < LENGTH(offers); i++) {
        const struct policy_input now = {.rate = 0};
        const struct policy_tuning own = {.decoding_time = offers[i].rate > 0,
                                          .decoding_start = offers[i].start};
        struct offload_offer offer = offers[i].offer;
        offer.gpu_rate = offers[i].rate > 0 ? offers[i].rate : GPU;
        check("offer", offers[i].what, policy_offloads(&now, &own, &offer), offers[i].expected);
    }
    for (size_t i = 0; i < LENGTH(not_begun); i++) {
        const struct policy_input now = {.rate = not_begun[i].all_rate,
                                         .worker_rate = not_begun[i].worker_rate};
        const struct offload_offer offer = {
            .gpu_rate = GPU, .left = 1e10, .is_last = not_begun[i].is_last};
        check("not begun", not_begun[i].what, policy_offloads(&now, tuning, &offer),
              not_begun[i].expected);
    }
}

static void check_wishes(void)
{
    for (size_t i = 0; i < LENGTH(plain); i++) {
        const struct policy_input now = {
            .workers = plain[i].workers,
            .processors = plain[i].workers,
            .costs = {.read = plain[i].read * 1e-9, .cpu = plain[i].cpu * 1e-9},
            .rate = plain[i].rate * 1e9,
            .plain_remaining = plain[i].left * 1e9};
        check("plain", plain[i].what, wish(&now), plain[i].expected);
    }
    for (size_t i = 0; i < LENGTH(busy); i++) {
        const struct policy_input now = {.flow = FLOW_DECODED,
                                         .workers = busy[i].workers,
                                         .processors = busy[i].processors,
                                         .rate = CORE,
                                         .content = {.left = 0.6e9, .gpu_rate = GPU},
                                         .gpus_max = 1};
        check("busy", busy[i].what, wish(&now), busy[i].expected ? 101 : 0);
    }
    for (size_t i = 0; i < LENGTH(files); i++) {
        const struct policy_input now = {.flow = FLOW_DECODED,
                                         .workers = 1,
                                         .processors = 64,
                                         .rate = CORE,
                                         .content = {.done = files[i].done * 1e9,
                                                     .left = files[i].left * 1e9,
                                                     .gpu_rate = files[i].rate},
                                         .gpus_max = files[i].max};
        check("files", files[i].what, wish(&now), files[i].expected ? 100 + files[i].expected : 0);
    }
    for (size_t i = 0; i < LENGTH(streams); i++) {
        const struct policy_input now = {.flow = FLOW_DECODED,
                                         .seconds = 1,
                                         .workers = 1,
                                         .processors = 1,
                                         .rate = CORE,
                                         .stream = streams[i].stream,
                                         .gpus_max = 1};
        check("stream", streams[i].what, wish(&now), streams[i].expected ? 101 : 0);
    }
    for (size_t i = 0; i < LENGTH(counted); i++) {
        const struct policy_input now = {.flow = counted[i].flow,
                                         .seconds = counted[i].seconds,
                                         .workers = 1,
                                         .processors = 1,
                                         .rate = CORE,
                                         .costs = {.counting = counted[i].counting}};
        check("counted", counted[i].what, wish(&now), counted[i].expected);
    }
}

static void check_chunks(void)
{
    for (size_t i = 0; i < LENGTH(last_bytes); i++) {
        struct policy_input now = {.workers_max = 4,
                                   .chunk_size = 1 << 20,
                                   .costs = {.gpu = last_bytes[i].gpu, .cpu = last_bytes[i].cpu},
                                   .plain_remaining = last_bytes[i].expected * (4 << 20)};
        check("last bytes", last_bytes[i].what, policy_counts_on_gpu(&now), true);
        now.plain_remaining--;
        check("a byte less", last_bytes[i].what, policy_counts_on_gpu(&now), false);
    }
    for (size_t i = 0; i < LENGTH(chunks); i++) {
        struct policy_input now = chunks[i].now;
        now.workers_max = 4;
        now.chunk_size = 1 << 20;
        now.plain_remaining = 1e9;
        check("chunk", chunks[i].what, policy_counts_on_gpu(&now), chunks[i].expected);
    }
}

static void check_frames(void)
{
    for (size_t i = 0; i < LENGTH(frames); i++)
        check("frames", frames[i].what, policy_helps(&frames[i].offer), frames[i].expected);
}

static void check_workers(void)
{
    for (size_t i = 0; i < LENGTH(workers); i++) {
        const struct policy_input now = {.flow = workers[i].flow,
                                         .workers_max = workers[i].max,
                                         .has_work = workers[i].has_work,
                                         .costs = {.counting = workers[i].counting},
                                         .gpu_decodes = workers[i].gpu_files > 0,
                                         .gpu_files = workers[i].gpu_files};
        check("workers", workers[i].what, policy_workers(&now, tuning), workers[i].expected);
        check("donates", workers[i].what, policy_hands_off(&now, tuning), workers[i].hands_off);
    }
    for (size_t i = 0; i < LENGTH(rates); i++) {
        const struct policy_input now = {.flow = rates[i].flow, .has_work = rates[i].has_work};
        const struct policy_tuning of_tests = {.break_even = 0};
        check("rate", rates[i].what, policy_doubts_rate(&now, tuning), rates[i].expected);
        check("rate, at once", rates[i].what, policy_doubts_rate(&now, &of_tests), false);
    }
    const struct policy_input beside = {
        .flow = FLOW_DECODED, .workers_max = 16, .gpu_decodes = true, .gpu_files = 1};
    check("surplus", "beside a GPU", policy_workers_beside_gpus(&beside), 12);
    check("asks", "every 20 ms", (unsigned)(policy_ask_seconds(tuning) * 1e3 + 0.5), 20);
}

int main(void)
{
    check_offers();
    check_wishes();
    check_chunks();
    check_workers();
    check_frames();
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
