/* SPDX-License-Identifier: MIT */
/* Prints warnings, --verbose and --timing about a run's engines. */
#include "main.h"

#include "gpu/engine/gpu_engine.h"
#include "src/cli/diag.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GPU_NAME 16

/* Writes "gpu", or with several GPUs "gpu:1". */
static void name_gpu(const struct pool_outcome *outcome, const struct gpu_report *gpu,
                     char name[GPU_NAME])
{
    if (outcome->gpu_count == 1)
        strcpy(name, "gpu");
    else
        snprintf(name, GPU_NAME, "gpu:%d", gpu->number);
}

static void print_gpu_timing(const struct pool_outcome *outcome, const struct gpu_report *gpu)
{
    const struct gpu_times *times = &gpu->times;
    const struct gpu_feeding *feeding = &times->feeding;
    char name[GPU_NAME];
    name_gpu(outcome, gpu, name);
    diag("%s: %" PRIu64 " bytes in %" PRIu64 " chunks; took over after %.3f s", name,
         outcome->gpu_count == 1 ? outcome->gpu_bytes : times->bytes, times->chunks,
         outcome->gpu_ready);
    diag("%s: copies %.3f s, kernels %.3f s, of which %.3f s while another chunk was copied", name,
         times->copy_seconds, times->kernel_seconds, times->overlap_seconds);
    if (times->decoding.device == 0)
        return;
    diag("%s: decompressing takes %.1f MiB of its memory and %.1f MiB of the host's, for %.1f "
         "MiB of content at a time",
         name, (double)times->decoding.device / 0x1p20, (double)times->decoding.host / 0x1p20,
         (double)times->decoding.batch / 0x1p20);
    diag("%s: its memory was allocated after %.3f s; reading %.3f s, waiting for the device %.3f s "
         "and for checksums %.3f s, hashing %.3f s",
         name, feeding->startup, feeding->reading, feeding->device, feeding->checking,
         feeding->hashing);
}

void main_print_timing(const struct pool_outcome *outcome)
{
    const uint64_t bytes = outcome->cpu_bytes + outcome->gpu_bytes;
    const double seconds = outcome->seconds > 0 ? outcome->seconds : 1e-9;
    diag("%" PRIu64 " bytes in %.3f s, %.3f GB/s", bytes, outcome->seconds,
         (double)bytes / seconds / 1e9);
    diag("cpu: %" PRIu64 " bytes, workers: %u", outcome->cpu_bytes, outcome->workers);
    if (outcome->gpu_count == 0)
        diag("gpu: 0 bytes");
    for (unsigned i = 0; i < outcome->gpu_count; i++)
        print_gpu_timing(outcome, &outcome->gpus[i]);
}

static void warn_of_losses(const struct pool_outcome *outcome)
{
    for (unsigned i = 0; i < outcome->gpu_count; i++) {
        const struct gpu_report *gpu = &outcome->gpus[i];
        if (!gpu->lost.text[0])
            continue;
        if (outcome->gpu_count == 1)
            diag("warning: the GPU was lost (%s); the CPU counted the rest", gpu->lost.text);
        else
            diag("warning: GPU %d was lost (%s); the others and the CPU counted the rest",
                 gpu->number, gpu->lost.text);
    }
}

static const char *why_no_gpu(const struct pool_outcome *outcome)
{
    if (device_missing())
        return device_missing();
    return outcome->gpu_opened ? "the input ended before it was ready"
                               : "not requested, or not worth starting";
}

void main_print_engines(const struct pool_outcome *outcome, enum verbosity verbosity)
{
    if (outcome->invalid.text[0] && verbosity >= NORMAL)
        diag("%s", outcome->invalid.text);
    if (verbosity >= NORMAL)
        warn_of_losses(outcome);
    if (verbosity < VERBOSE)
        return;
    diag("cpu: %u worker%s, %s", outcome->workers, outcome->workers == 1 ? "" : "s",
         outcome->cpu_name);
    for (unsigned i = 0; i < outcome->gpu_count; i++) {
        char name[GPU_NAME];
        name_gpu(outcome, &outcome->gpus[i], name);
        diag("%s: %s", name, outcome->gpus[i].name);
    }
    if (outcome->gpu_refused.text[0])
        diag("gpu: not used: %s", outcome->gpu_refused.text);
    else if (outcome->gpu_count == 0)
        diag("gpu: not used: %s", why_no_gpu(outcome));
}
