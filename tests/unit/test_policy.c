/* SPDX-License-Identifier: MIT */
/* Situations and what is decided in them, by the measured tuning: src/schedule/policy.c. */
#include "src/schedule/schedule.h"

#include <stdio.h>

#define GPU 15e9 /* content a second, and of a core: */
#define CORE 1e9

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

/* Compressed files that are opened, of `content` GB: true if a GPU decompresses them that is ready
 * in so many seconds; -1: none was asked for. `cores` and `gpus` are GB that these have already;
 * nothing was measured where `rate` is 0. */
static const struct {
    const char *what;
    double content;
    unsigned workers;
    double ready, cores, gpus, rate;
    unsigned gpu_count;
    bool expected;
} offers[] = {
    {"17 GB, and no GPU is open", 17, 16, -1, 0, 0, 0, 1, true},
    {"6 GB", 6, 16, -1, 0, 0, 0, 1, true},
    {"1 GB: CUDA takes longer to start", 1, 16, -1, 0, 0, 0, 1, false},
    {"the same, one core", 1, 1, -1, 0, 0, 0, 1, true},
    {"0.2 GB, one core", 0.2, 1, -1, 0, 0, 0, 1, false},
    {"1 GB, and the GPU is idle", 1, 16, 0, 0, 0, 0, 1, true},
    {"0.1 GB", 0.1, 16, 0, 0, 0, 0, 1, true},
    {"5 MB", 0.005, 16, 0, 0, 0, 0, 1, false},
    {"5 MB, while the cores have much to do", 0.005, 16, 0, 10, 0, 0, 1, false},
    {"1 GB, and CUDA has just begun to start", 1, 16, 0.3, 0, 0, 0, 1, false},
    {"the same, it is nearly ready", 1, 16, 0.1, 0, 0, 0, 1, true},
    {"the same, while the cores have much to do", 1, 16, 0.3, 4, 0, 0, 1, true},
    {"1 GB, and the GPU has 4 GB already", 1, 16, 0, 0, 4, 0, 1, false},
    {"the same, so do the cores", 1, 16, 0, 4, 4, 0, 1, true},
    {"the same, of four GPUs", 1, 16, 0, 0, 4, 0, 4, true},
    {"cores that are slow, as was measured", 0.5, 16, -1, 0, 0, 0.5, 1, true},
    {"cores that are faster than the GPU", 100, 64, 0, 0, 0, 20, 1, false},
    {"nothing is left", 0, 16, 0, 0, 0, 0, 1, false},
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

/* Content of compressed files that are not open, GB: whether a GPU is opened. */
static const struct {
    const char *what;
    double left;
    bool expected;
    double rate;
} files[] = {
    {"4 GB", 4, true, GPU},
    {"nothing is left when it is ready", 0.1, false, GPU},
    {"it saves more than it costs", 0.55, true, GPU},
    {"it would save little", 0.4, false, GPU},
    {"nothing is left", 0, false, GPU},
    {"cores that are faster", 1e3, false, CORE / 2},
};

/* Work for GPUs, GB, and how many of `max` are used. */
static const struct {
    const char *what;
    double plain, content;
    unsigned files, workers, max, expected;
} works[] = {
    {"nothing", 0, 0, 0, 0, 16, 1},
    {"a large file", 0, 1000, 1, 0, 4, 1},
    {"a large file beside cores", 0, 1000, 1, 16, 4, 1},
    {"four of 1 GB", 0, 4, 4, 0, 4, 1},
    {"16 of 4 GB", 0, 70, 16, 0, 4, 4},
    {"two of 500 GB", 0, 1000, 2, 0, 4, 2},
    {"1 TB in many files", 0, 1000, 100, 0, 16, 14},
    {"16 of 4 GB beside cores", 0, 70, 16, 16, 16, 3},
    {"plain, 2 GB", 2, 0, 0, 0, 4, 1},
    {"plain, 100 GB", 100, 0, 0, 0, 4, 2},
    {"both", 100, 70, 16, 0, 4, 4},
};

/* Compressed files: true if a GPU is opened before they are. */
static const struct {
    const char *what;
    double content;
    unsigned files, workers;
    bool expected;
} begins[] = {
    {"nothing", 0, 0, 16, false},
    {"32 of 0.4 GB, a core each", 12.8, 32, 32, false},
    {"the same, fewer cores", 12.8, 32, 16, true},
    {"8 of 1 GB, which the cores share", 8, 8, 16, true},
    {"2 of 1 GB", 2, 2, 16, false},
    {"a file of 8 GB", 8, 1, 64, true},
    {"a file of 0.5 GB, one core", 0.5, 1, 1, true},
    {"more cores than are as fast as the GPU", 1000, 1000, 64, false},
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
    {"beside one that has a file", {.flow = FLOW_DECODED, .gpu_files = 1}, false},
    {"a pipe beside it", {.flow = FLOW_PIPE, .gpu_files = 1}, false},
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
     {.compressed = 2e8, .content = 1e9, .rest = 2e8, .workers_max = 2},
     true},
    {"one worker", {.compressed = 2e8, .content = 1e9, .rest = 2e8, .workers_max = 1}, false},
    {"a pipe", {.compressed = 2e8, .content = 1e9, .workers_max = 2}, true},
    {"pipes, as many as workers",
     {.compressed = 2e8, .content = 1e9, .workers_max = 4, .others = 3},
     false},
    {"a pipe less", {.compressed = 2e8, .content = 1e9, .workers_max = 4, .others = 2}, true},
    {"equal files, as many as workers",
     {.compressed = 2e8, .content = 1e9, .rest = 6.4e9, .workers_max = 32, .others = 31},
     false},
    {"half as many",
     {.compressed = 2e8, .content = 1e9, .rest = 3.2e9, .workers_max = 32, .others = 15},
     true},
    {"one more than half",
     {.compressed = 2e8, .content = 1e9, .rest = 3.4e9, .workers_max = 32, .others = 16},
     false},
    {"the last one, beside what others end",
     {.compressed = 2e8, .content = 1e9, .rest = 2e9, .workers_max = 32, .others = 31},
     true},
    {"twice its share, and as large as others",
     {.compressed = 2e8, .content = 1e9, .rest = 4e8, .workers_max = 4, .others = 100},
     true},
    {"a byte less",
     {.compressed = 2e8 - 1, .content = 1e9, .rest = 4e8, .workers_max = 4, .others = 100},
     false},
    {"the largest, and a little more than its share",
     {.compressed = 1.25e8, .content = 1e9, .rest = 5e8, .workers_max = 5},
     true},
    {"and a byte less",
     {.compressed = 1.25e8 - 1, .content = 1e9, .rest = 5e8, .workers_max = 5},
     false},
    {"two workers, and a smaller file",
     {.compressed = 2e8, .content = 1e9, .rest = 3e8, .workers_max = 2},
     false},
    {"a megabyte", {.compressed = 2e5, .content = 1e6, .workers_max = 16, .others = 1}, false},
    {"content that repeats itself", {.compressed = 2e7, .content = 1e9, .workers_max = 4}, false},
};

static const struct policy_tuning *const tuning = &policy_defaults;

static void check_offers(void)
{
    for (size_t i = 0; i < LENGTH(offers); i++) {
        const double rate = offers[i].rate * 1e9, content = offers[i].content * 1e9;
        const unsigned cores = offers[i].workers;
        struct policy_input now = {.rate = rate,
                                   .worker_rate = rate / cores,
                                   .workers = 1,
                                   .workers_max = cores,
                                   .processors = cores,
                                   .gpu_ready = offers[i].ready,
                                   .gpus = offers[i].gpu_count,
                                   .content = {.on_cores = offers[i].cores * 1e9 + content,
                                               .on_gpus = offers[i].gpus * 1e9}};
        struct offload_offer offer = {
            .gpu_rate = GPU, .together = 8, .content = content, .counted = content};
        check("offer", offers[i].what, policy_offloads(&now, tuning, &offer), offers[i].expected);
        now.content.on_cores -= content;
        now.content.on_gpus += content;
        offer.has_waited = true;
        check("waits", offers[i].what, policy_offloads(&now, tuning, &offer), offers[i].expected);
    }
    const struct policy_tuning of_tests = {.decoding_time = 0.01};
    const struct policy_input now = {
        .workers_max = 64, .processors = 1, .gpu_ready = -1, .gpus = 1};
    const struct offload_offer offer = {.gpu_rate = GPU, .together = 8, .content = 1};
    check("offer", "a GPU that takes no time", policy_offloads(&now, &of_tests, &offer), true);
    const struct policy_input many = {
        .workers_max = 16, .processors = 16, .workers = 1, .gpu_ready = -1, .gpus = 1};
    struct offload_offer large = {.gpu_rate = GPU, .together = 16, .content = 4.5e9};
    check("offer", "many that do not wait", policy_offloads(&many, tuning, &large), false);
    large.together = 7;
    check("offer", "many that wait", policy_offloads(&many, tuning, &large), true);
    struct policy_input begun = {.workers_max = 32, .processors = 32, .gpu_ready = 0.3, .gpus = 1};
    const struct offload_offer first = {.gpu_rate = GPU, .together = 7, .content = 1e9};
    check("offer", "the first file", policy_offloads(&begun, tuning, &first), false);
    begun.begins_on_gpu = true;
    check("offer", "the GPU would end first", policy_offloads(&begun, tuning, &first), true);
    begun.gpu_ready = 0.5;
    check("offer", "it is late", policy_offloads(&begun, tuning, &first), false);
}

static void check_purposes(void)
{
    for (size_t i = 0; i < LENGTH(plain); i++) {
        const struct policy_input now = {
            .workers = plain[i].workers,
            .processors = plain[i].workers,
            .costs = {.read = plain[i].read * 1e-9, .cpu = plain[i].cpu * 1e-9},
            .rate = plain[i].rate * 1e9,
            .plain_remaining = plain[i].left * 1e9};
        check("plain", plain[i].what, policy_purpose(&now, tuning), plain[i].expected);
    }
    for (size_t i = 0; i < LENGTH(busy); i++) {
        const struct policy_input now = {.flow = FLOW_DECODED,
                                         .workers = busy[i].workers,
                                         .processors = busy[i].processors,
                                         .rate = CORE,
                                         .content = {.unopened = 0.6e9, .gpu_rate = GPU}};
        check("busy", busy[i].what, policy_purpose(&now, tuning),
              busy[i].expected ? GPU_DECODES : GPU_FOR_NOTHING);
    }
    for (size_t i = 0; i < LENGTH(files); i++) {
        const struct policy_input now = {
            .flow = FLOW_DECODED,
            .workers = 1,
            .processors = 64,
            .rate = CORE,
            .content = {.unopened = files[i].left * 1e9, .gpu_rate = files[i].rate}};
        check("files", files[i].what, policy_purpose(&now, tuning),
              files[i].expected ? GPU_DECODES : GPU_FOR_NOTHING);
    }
    for (size_t i = 0; i < LENGTH(counted); i++) {
        const struct policy_input now = {.flow = counted[i].flow,
                                         .seconds = counted[i].seconds,
                                         .workers = 1,
                                         .processors = 1,
                                         .rate = CORE,
                                         .costs = {.counting = counted[i].counting}};
        check("counted", counted[i].what, policy_purpose(&now, tuning), counted[i].expected);
    }
}

static void check_gpus(void)
{
    const struct policy_tuning of_tests = {.decoding_time = 0.01};
    for (size_t i = 0; i < LENGTH(works); i++) {
        const struct gpu_work work = {.plain = works[i].plain * 1e9,
                                      .content = works[i].content * 1e9,
                                      .files = works[i].files,
                                      .gpu_rate = works[i].files > 0 ? GPU : 0,
                                      .workers = works[i].workers};
        check("GPUs", works[i].what, policy_gpus(&work, tuning, works[i].max), works[i].expected);
        check("all GPUs", works[i].what, policy_gpus(&work, &of_tests, works[i].max), works[i].max);
    }
}

static void check_beginnings(void)
{
    for (size_t i = 0; i < LENGTH(begins); i++) {
        const struct gpu_work work = {.content = begins[i].content * 1e9,
                                      .files = begins[i].files,
                                      .gpu_rate = GPU,
                                      .workers = begins[i].workers};
        check("beginning", begins[i].what, policy_begins_on_gpu(&work, tuning), begins[i].expected);
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
    check_purposes();
    check_gpus();
    check_beginnings();
    check_chunks();
    check_workers();
    check_frames();
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
