/* SPDX-License-Identifier: MIT */
#include "cost.h"

#include <math.h>
#include <stdatomic.h>

#define MEMORY 16 /* chunks, roughly, that a mean is taken over */

/* Bytes a second that the host's link to a GPU takes: PCIe 5, x16, measured. */
#define LINK_RATE 50e9

/* The share of the gain that costs_gpu_saves predicts which was observed: 64 GB/s of 16 cores
 * became 75, not 89. */
#define GAIN_SHARE 0.5

/* So many workers may feed the GPU even where that takes them longer than counting: otherwise the
 * link would be idle, and what feeding costs would not be known. More of them are a loss. */
#define FEEDERS_ALWAYS 2

static void mean_learn(_Atomic double *mean, double sample)
{
    double old = atomic_load(mean);
    atomic_store(mean, old > 0 ? old + (sample - old) / MEMORY : sample);
}

void costs_learn_file(struct costs *costs, bool on_gpu, size_t len, double read_seconds,
                      double count_seconds)
{
    double all = (read_seconds + count_seconds) / (double)len;
    mean_learn(on_gpu ? &costs->gpu : &costs->cpu, all);
    if (!on_gpu)
        mean_learn(&costs->read, read_seconds / (double)len);
}

void costs_learn_stream(struct costs *costs, double read_seconds, double count_seconds)
{
    atomic_fetch_add(&costs->reading_ns, (uint64_t)(read_seconds * 1e9));
    atomic_fetch_add(&costs->counting_ns, (uint64_t)(count_seconds * 1e9));
}

double costs_counting_share(const struct costs *costs)
{
    double reading = (double)atomic_load(&costs->reading_ns);
    double counting = (double)atomic_load(&costs->counting_ns);
    return counting > 0 ? counting / (reading + counting) : 0;
}

bool costs_prefer_gpu(const struct costs *costs, unsigned feeders)
{
    return feeders < FEEDERS_ALWAYS || atomic_load(&costs->gpu) <= atomic_load(&costs->cpu);
}

double costs_feeding_share(const struct costs *costs)
{
    double gpu = atomic_load(&costs->gpu), cpu = atomic_load(&costs->cpu);
    return gpu > 0 && gpu < cpu ? gpu / cpu : 1;
}

double costs_decoding_saves(const struct offload_offer *offer, double rate, double start)
{
    if (offer->rate <= 0)
        return HUGE_VAL; /* nothing is known of anything better */
    double again = rate > 0 ? offer->again / rate : 0;
    double byte = 1 / offer->rate - (rate > 0 ? 1 / rate : 0);
    double unit = offer->frame_left * byte - again;
    return unit < 0 ? unit : offer->left * byte - again - start;
}

/* Until the last of them is ready, those that are there work already, which is left out: so a GPU
 * gains no less than this says. */
unsigned costs_decoding_gpus(double left, double rate, double gpu_rate, double start, double more,
                             double least, unsigned most)
{
    unsigned gpus = 1;
    double before = HUGE_VAL;
    for (unsigned wanted = 1; wanted <= most; wanted++) {
        double ready = start + more * (wanted - 1);
        double rest = left - rate * ready;
        double seconds = ready + (rest > 0 ? rest / (rate + wanted * gpu_rate) : 0);
        if (wanted > 1 && seconds > before - least)
            break;
        gpus = wanted;
        before = seconds;
    }
    return gpus;
}

/* Assumes that as many workers feed the GPU as fill the link, and that each reads as fast as one
 * that also counts, so that it gains what it does not spend on counting. Half of that is left:
 * where many cores count, they wait for the host's memory, which a byte passes three times on its
 * way to a GPU, and once on its way to a core. */
double costs_gpu_saves(const struct costs *costs, double left, double rate, unsigned workers,
                       double start)
{
    double read = atomic_load(&costs->read), cpu = atomic_load(&costs->cpu);
    if (read <= 0 || cpu <= 0 || rate <= 0)
        return -1;
    double feeds = 1 / read, counts = 1 / cpu, feeders = LINK_RATE / feeds;
    if (feeders > workers)
        feeders = workers;
    double together = rate + GAIN_SHARE * feeders * (feeds - counts);
    return (left - rate * start) * (1 / rate - 1 / together);
}
