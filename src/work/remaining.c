/* SPDX-License-Identifier: MIT */
#include "worker.h"

/* Bytes of a stream that are kept. */
#define REPLAY_SIZE ((uint64_t)256 << 20)

void remaining_add_file(struct source *source, const struct file *file)
{
    struct compressed_remaining *compressed = &source->remaining.compressed;
    const struct input *input = &file->input;
    uint64_t size = input->bytes.opened_size - input->bytes.begin - input->plan.edges.first;
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
    atomic_fetch_add(&compressed->left, (int64_t)size);
}

void remaining_add_read(struct source *source, const struct file *file, int64_t in, uint64_t out)
{
    struct compressed_remaining *compressed = &source->remaining.compressed;
    atomic_fetch_add(&source->remaining.read, (uint64_t)in);
    if (!file->is_offloadable)
        return;
    atomic_fetch_sub(&compressed->left, in);
    if (out == 0)
        return;
    atomic_fetch_add(&compressed->in, (uint64_t)in);
    atomic_fetch_add(&compressed->out, out);
}

double remaining_content_ratio(struct source *source)
{
    struct compressed_remaining *compressed = &source->remaining.compressed;
    uint64_t in = atomic_load(&compressed->in), out = atomic_load(&compressed->out);
    return in > 0 ? (double)out / (double)in : 1;
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
    uint64_t opened = atomic_load(&compressed->opened);
    uint64_t offloadable = atomic_load(&compressed->offloadable);
    int64_t left = atomic_load(&compressed->left); /* a file may grow */
    if (offloadable == 0)
        return (struct source_content){.left = 0};
    double unopened = (double)atomic_load(&compressed->unopened);
    unopened *= (double)offloadable / (double)opened;
    return (struct source_content){.done = (double)atomic_load(&compressed->out),
                                   .left = ((left > 0 ? (double)left : 0) + unopened) *
                                           remaining_content_ratio(source),
                                   .gpu_rate = atomic_load(&compressed->gpu_rate)};
}

struct stream_content source_stream_content(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    const struct stream_content stream = source->stream;
    pthread_mutex_unlock(&source->lock);
    return stream;
}
