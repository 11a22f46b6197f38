/* SPDX-License-Identifier: MIT */
#include "opening.h"
#include "machine.h"
#include "thread.h"
#include "gpu/device.h"
#include "gpu/gpu_group.h"

#define MIB ((uint64_t)1 << 20)

/* Slots. Two are enough for a pipe, whose readers take turns. Readers of a file work side by side:
 * each fills one slot while another one of its own is on its way, within what may be pinned. */
#define SERIAL_BUFFERS 2
#define PARALLEL_BUFFERS_BYTES (192 * MIB)

void opening_init(struct opening *opening, const struct job *job)
{
    *opening =
        (struct opening){.job = job,
                         .may_come = job->options->device == DEVICE_AUTO && !device_missing(),
                         .gpus = job->options->gpus};
}

void opening_refused(const struct opening *opening, struct reason *why)
{
    *why = atomic_load(&opening->is_refused) ? opening->why : (struct reason){""};
}

static void refuse(struct opening *opening, const struct reason *why)
{
    opening->why = *why;
    atomic_store(&opening->is_refused, true);
}

static unsigned choose_slots(const struct job *job, bool side_by_side)
{
    const struct pool_options *options = job->options;
    if (options->buffers)
        return options->buffers;
    if (!side_by_side)
        return SERIAL_BUFFERS;
    uint64_t fit =
        PARALLEL_BUFFERS_BYTES / gpu_engine_slot_size(job->histogram, options->chunk_size);
    uint64_t wanted = 2 * (uint64_t)atomic_load(&job->workers_most);
    uint64_t slots = wanted < fit ? wanted : fit;
    return slots > SERIAL_BUFFERS ? (unsigned)slots : SERIAL_BUFFERS;
}

/* The slots are touched at once, and pinned: where there is no memory for them, the out-of-memory
 * killer would end the process. 0, or -1 with the reason set. */
static int check_memory(const struct opening *opening, struct reason *why)
{
    const struct histogram *histogram = opening->job->histogram;
    const size_t chunk_size = opening->job->options->chunk_size;
    const size_t slot = gpu_engine_slot_size(histogram, chunk_size);
    const uint64_t wanted =
        (uint64_t)opening->gpus.count * gpu_engine_size(histogram, chunk_size, opening->slots);
    const uint64_t available = machine_memory("");
    if (wanted <= available)
        return 0;
    reason_set(why,
               "%u buffers of %.1f MiB need %.0f MiB of memory, but %.0f MiB are available; lower "
               "--buffers or --chunk-size",
               opening->slots * opening->gpus.count, (double)slot / (double)MIB,
               (double)wanted / (double)MIB, (double)available / (double)MIB);
    return -1;
}

static uint64_t memory_left(void)
{
    return machine_memory("");
}

/* Returns the GPUs' engine; NULL with the reason set. Of several, the CPU replaces those that are
 * lost, even if GPUs only were asked for. */
static struct engine *open_group(struct opening *opening, struct reason *why)
{
    const struct job *job = opening->job;
    const struct pool_options *options = job->options;
    const bool only_gpu = options->device == DEVICE_GPU;
    if (gpu_group_resolve(&opening->gpus, why) != 0 || check_memory(opening, why) != 0)
        return NULL;
    const struct gpu_options wanted = {
        .strategy = options->strategy,
        .chunk_size = options->chunk_size,
        .buffers = opening->slots,
        .deadline_ms = options->deadline_ms,
        .timing = options->timing,
        .lines = job->lines,
        .files = options->files,
        .no_check = options->no_check,
        .decodes = opening->decodes,
        .memory_left = memory_left,
        .fallback = only_gpu && opening->gpus.count == 1 ? NULL : job->cpu,
    };
    return gpu_group_open(job->histogram, &wanted, &opening->gpus,
                          only_gpu || options->opens_at_once, why);
}

static void *open_gpus(void *arg)
{
    struct opening *opening = arg;
    struct reason why = {""};
    struct engine *gpu = open_group(opening, &why);
    opening->ready = job_seconds(opening->job);
    if (!gpu)
        refuse(opening, &why);
    atomic_store(&opening->gpu, gpu);
    return NULL;
}

int opening_open(struct opening *opening)
{
    atomic_store(&opening->is_asked, true);
    opening->slots = choose_slots(opening->job, source_left(opening->job->source) > 0);
    open_gpus(opening);
    return atomic_load(&opening->gpu) ? 0 : -1;
}

void opening_start(struct opening *opening, struct gpu_wish wish, enum flow flow)
{
    if (atomic_exchange(&opening->is_asked, true))
        return;
    opening->decodes = wish.decodes;
    visible_more(&opening->gpus, wish.gpus);
    opening->slots = choose_slots(opening->job, flow != FLOW_PIPE);
    if (opening->job->options->opens_at_once)
        open_gpus(opening);
    else if (thread_start(open_gpus, opening, 0) != 0)
        refuse(opening, &(struct reason){"cannot start a thread"});
}
