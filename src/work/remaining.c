/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <math.h>

/* Bytes of a stream that are kept. */
#define REPLAY_SIZE ((uint64_t)32 << 20)

/* Of content to compressed bytes, before anything was decoded. */
#define CONTENT_RATIO 3

/* Returns the bytes of a file that are to be decoded. */
static uint64_t size_of(const struct input *input)
{
    return input->bytes.opened_size - input->bytes.begin - input->plan.edges.first;
}

void remaining_add_file(struct source *source, const struct file *file)
{
    struct compressed_remaining *compressed = &source->remaining.compressed;
    const struct input *input = &file->input;
    uint64_t size = size_of(input);
    atomic_fetch_add(&compressed->opened, size);
    if (input_parallel(input))
        atomic_fetch_add(&source->remaining.plain, input->plan.end - input->bytes.taken);
    if (input->frames.codec && content_is_partial(&input->plan.range))
        atomic_store(&source->remaining.is_unsized, true);
    if (!file->is_offloadable)
        return;
    const double rate = input->frames.codec->gpu_rate, slowest = atomic_load(&compressed->gpu_rate);
    if (slowest == 0 || rate < slowest)
        atomic_store(&compressed->gpu_rate, rate);
    atomic_fetch_add(&compressed->offloadable, size);
    atomic_fetch_add(&compressed->left[false], (int64_t)size);
}

void remaining_assign(struct source *source, struct file *file, bool to_gpu)
{
    const int64_t size = (int64_t)size_of(&file->input);
    if (file->is_offloadable) {
        atomic_fetch_sub(&source->remaining.compressed.left[file->is_on_gpu], size);
        atomic_fetch_add(&source->remaining.compressed.left[to_gpu], size);
    }
    file->is_on_gpu = to_gpu;
}

void remaining_add_read(struct source *source, const struct file *file, int64_t in, uint64_t out)
{
    struct compressed_remaining *compressed = &source->remaining.compressed;
    atomic_fetch_add(&source->remaining.read, (uint64_t)in);
    if (!file->is_offloadable)
        return;
    atomic_fetch_sub(&compressed->left[file->is_on_gpu], in);
    if (out == 0)
        return;
    atomic_fetch_add(&compressed->in, (uint64_t)in);
    atomic_fetch_add(&compressed->out, out);
}

double remaining_content_ratio(struct source *source)
{
    struct compressed_remaining *compressed = &source->remaining.compressed;
    uint64_t in = atomic_load(&compressed->in), out = atomic_load(&compressed->out);
    return in > 0 ? (double)out / (double)in : CONTENT_RATIO;
}

uint64_t remaining_replay_max(const struct source *source)
{
    return source->options.replay_max > 0 ? source->options.replay_max : REPLAY_SIZE;
}

uint64_t source_size(const struct source *source)
{
    return source->remaining.size;
}

uint64_t source_remaining(struct source *source)
{
    return atomic_load(&source->remaining.plain);
}

double source_fraction(struct source *source)
{
    struct remaining *remaining = &source->remaining;
    if (remaining->size == 0 || atomic_load(&remaining->is_unsized))
        return 0;
    double fraction = (double)atomic_load(&remaining->read) / (double)remaining->size;
    return fraction < 1 ? fraction : 1;
}

struct source_content source_content(struct source *source)
{
    struct compressed_remaining *compressed = &source->remaining.compressed;
    const double opened = (double)atomic_load(&compressed->opened);
    const double offloadable = (double)atomic_load(&compressed->offloadable);
    const double ratio = remaining_content_ratio(source);
    double left[2];
    if (offloadable == 0)
        return (struct source_content){.gpu_rate = 0};
    for (int i = 0; i < 2; i++) /* a file may grow */
        left[i] = fmax((double)atomic_load(&compressed->left[i]), 0) * ratio;
    return (struct source_content){.unopened = (double)atomic_load(&compressed->unopened) *
                                               offloadable / opened * ratio,
                                   .on_cores = left[false],
                                   .on_gpus = left[true],
                                   .gpu_rate = atomic_load(&compressed->gpu_rate)};
}
