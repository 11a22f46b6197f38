/* SPDX-License-Identifier: MIT */
/* The tuning of gpuhisto-emulated. The measured one opens a GPU only for inputs that take seconds
 * to count. With GPUHISTO_OFFLOAD=BYTES in the environment, --device=auto starts its workers as
 * soon as so many bytes were read, opens the GPU for the first compressed file, or then, waits
 * until it is there, and lets it have all that it can take. With BYTES+ it goes on meanwhile, but
 * compressed files wait for it in any case. All GPUs are opened, and waited for; with
 * GPUHISTO_FIRST in the environment those that save time, and a run begins with the first. Frames
 * then need not be large to be decoded in order. GPUHISTO_DEADLINE=MS is the time after which a GPU
 * that finishes nothing is lost.
 *
 * GPUs of this machine are not looked for: there are as many as are emulated.
 *
 * The program is linked so that calls of these functions come here (--wrap). */
#include "gpu/engine/gpu_engine.h"
#include "src/cli/cli.h"

#include <stdlib.h>
#include <string.h>

#define LARGE_UNIT 30000

int __real_options_parse(int argc, char **argv, struct options *options, struct error *error);
int __wrap_options_parse(int argc, char **argv, struct options *options, struct error *error);

int __wrap_options_parse(int argc, char **argv, struct options *options, struct error *error)
{
    int rc = __real_options_parse(argc, argv, options, error);
    const char *bytes = getenv("GPUHISTO_OFFLOAD"), *deadline = getenv("GPUHISTO_DEADLINE");
    const char *pieces = getenv("GPUHISTO_PIECES");
    if (pieces)
        options->input.piece_size = strtoull(pieces, NULL, 10);
    if (deadline)
        options->pool.deadline_ms = (unsigned)atoi(deadline);
    if (!getenv("GPUHISTO_FIRST")) {
        options->pool.tuning.gpu_more = 0;
        options->pool.opens_at_once = true;
    }
    if (!bytes)
        return rc;
    options->pool.tuning =
        (struct policy_tuning){.short_input = strtoull(bytes, NULL, 10), .decoding_time = 0.01};
    options->pool.opens_at_once = !strchr(bytes, '+');
    if (!options->pool.opens_at_once)
        options->pool.tuning.decoding_start = -1000;
    options->input.frame_memory = LARGE_UNIT;
    return rc;
}

int __real_cuda_devices_choose(struct gpu_list *gpus, unsigned wanted, const char *root,
                               struct error *error);
int __wrap_cuda_devices_choose(struct gpu_list *gpus, unsigned wanted, const char *root,
                               struct error *error);

int __wrap_cuda_devices_choose(struct gpu_list *gpus, unsigned wanted, const char *root,
                               struct error *error)
{
    (void)root;
    return __real_cuda_devices_choose(gpus, wanted, "/nowhere", error);
}
