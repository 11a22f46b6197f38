/* SPDX-License-Identifier: MIT */
/* In a build without a decoder for GPUs: none is ever usable, so no file is ever begun. */
#include "decoder.h"

bool gpu_decoder_is_idle(struct engine *gpu)
{
    (void)gpu;
    return false;
}

bool gpu_decoder_is_usable(struct engine *gpu)
{
    (void)gpu;
    return false;
}

void gpu_decoder_prepare(struct engine *gpu)
{
    (void)gpu;
}

struct gpu_decoder *gpu_decoder_begin(struct engine *gpu, const struct compressed_start *start)
{
    (void)gpu, (void)start;
    return NULL;
}

struct chunk *gpu_decoder_acquire(struct gpu_decoder *decoder)
{
    (void)decoder;
    return NULL;
}

void gpu_decoder_submit(struct gpu_decoder *decoder, struct chunk *chunk, uint64_t offset,
                        struct compressed_next *next)
{
    (void)decoder, (void)chunk, (void)offset;
    *next = (struct compressed_next){.is_wanted = false};
}

bool gpu_decoder_goes_back(struct gpu_decoder *decoder)
{
    (void)decoder;
    return false;
}

bool gpu_decoder_poll(struct gpu_decoder *decoder)
{
    (void)decoder;
    return false;
}

int gpu_decoder_finish(struct gpu_decoder *decoder, struct compressed_rest *rest)
{
    (void)decoder;
    *rest = (struct compressed_rest){.is_refused = true};
    return 0;
}

const char *gpu_decoder_loss(struct gpu_decoder *decoder)
{
    (void)decoder;
    return NULL;
}

uint64_t gpu_decoder_bytes(struct engine *gpu)
{
    (void)gpu;
    return 0;
}

void gpu_decoder_add_times(struct engine *engine, struct gpu_times *times)
{
    (void)engine, (void)times;
}
