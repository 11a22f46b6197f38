/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include <math.h>

/* doc/performance.md says how these numbers, and those of policy_defaults, were found. */
#define ASK_SECONDS 0.02  /* not for each of a hundred thousand chunks a second */
#define LINK_RATE 50e9    /* bytes a second that the host's link to a GPU takes */
#define GAIN_FRACTION 0.5 /* of a gain that is predicted for plain files, what is gained */

/* Workers that feed the GPU even where that takes them longer than counting: otherwise the link
 * would be idle, and what feeding costs would not be known. */
#define FEEDERS_ALWAYS 2

/* Content of a frame, in bytes, for which workers are started and memory is touched. */
#define PARALLEL_MIN 20e6
#define PARALLEL_RATIO 24 /* of content to compressed bytes; beyond it libzstd alone is as fast */

/* Bytes of content a second that a worker decodes, before that was measured; and how many workers
 * do that side by side, where the format is not known. */
#define WORKER_RATE 0.6e9
#define WORKERS_TOGETHER 8

/* Processor time that decoding in pieces takes, over that of the libraries. */
#define PIECES_COST 2

/* If a GPU alone would end first, cores must end with a file in half of its time: they are in
 * each other's way, and what they add is little. */
#define BEGUN_FAVOUR 2

/* Each GPU that decompresses takes one of so many parts of the processors, but not the last one. */
#define FEEDING_PARTS 4

const struct policy_tuning policy_defaults = {
    .short_input = (uint64_t)4 << 20,
    .gpu_start = 0.25,
    .gpu_start_busy = 0.25,
    .gpu_more = 0.2,
    .break_even = 0.15,
    .stream_break_even = 2.0,
    .stream_counting = 0.1,
    .decoding_time = 1,
    .decoding_start = 0.01,
};

/* --- whether to open a GPU --- */

/* Tests set break_even to 0, and do not wait either. */
double policy_ask_seconds(const struct policy_tuning *tuning)
{
    return tuning->break_even < ASK_SECONDS ? tuning->break_even : ASK_SECONDS;
}

/* Workers that were just started touch new memory first, and are half as fast as they will be. */
bool policy_doubts_rate(const struct policy_input *now, const struct policy_tuning *tuning)
{
    const bool is_shared = now->flow == FLOW_FILE || (now->flow == FLOW_DECODED && now->has_work);
    return is_shared && policy_ask_seconds(tuning) > 0;
}

/* Longer the more processors are busy. */
double policy_gpu_start(const struct policy_input *now, const struct policy_tuning *tuning)
{
    const double busy = (double)now->workers / (double)now->processors;
    return tuning->gpu_start + tuning->gpu_start_busy * (busy < 1 ? busy : 1);
}

/* Bytes of content a second that a worker decodes, */
static double rate_of_each(const struct policy_input *now)
{
    return now->worker_rate > 0 ? now->worker_rate : WORKER_RATE;
}

/* and all of them, of which so many do not wait for each other. There may be more than there were
 * when that was measured. With several files more of them do not wait; but beside a GPU they are
 * slower. */
static double rate_of_all(const struct policy_input *now, unsigned together)
{
    const unsigned max = now->workers_max;
    return fmax(now->rate, rate_of_each(now) * (max < together ? max : together));
}

/* Bytes of content a second that the workers decode, of files alike. */
static double rate_of_workers(const struct gpu_work *work)
{
    const double workers = work->workers, files = work->files;
    const double together = fmin(workers, files * WORKERS_TOGETHER) / PIECES_COST;
    return WORKER_RATE * fmax(fmin(workers, files), together);
}

bool policy_begins_on_gpu(const struct gpu_work *work, const struct policy_tuning *tuning)
{
    if (work->content == 0)
        return false;
    const double gpu = tuning->gpu_start + tuning->decoding_time * work->content / work->gpu_rate;
    return work->content / rate_of_workers(work) >= gpu + tuning->break_even;
}

unsigned policy_gpus(const struct gpu_work *work, const struct policy_tuning *tuning, unsigned max)
{
    const double cores = rate_of_workers(work), gpu_rate = work->gpu_rate / tuning->decoding_time;
    unsigned gpus = 1;
    double before = HUGE_VAL;
    if (tuning->gpu_more == 0)
        return max;
    for (unsigned wanted = 1; wanted <= max; wanted++) {
        const double ready = tuning->gpu_start + tuning->gpu_more * (wanted - 1);
        const double rest = work->content - cores * ready;
        const double together = cores + fmin(wanted, work->files) * gpu_rate;
        const double seconds =
            ready + (rest > 0 ? rest / together : 0) + work->plain / (wanted * LINK_RATE);
        if (wanted > 1 && seconds > before - tuning->break_even)
            break;
        gpus = wanted;
        before = seconds;
    }
    return gpus;
}

/* True if a GPU should count what is left of plain files. Assumes that as many workers feed it as
 * fill the link, and that each gains a part of the time it no longer spends on counting. A second
 * GPU would gain nothing. */
static bool pays_for_plain(const struct policy_input *now, const struct policy_tuning *tuning)
{
    const double read = now->costs.read, cpu = now->costs.cpu, rate = now->rate;
    if (read <= 0 || cpu <= 0 || rate <= 0)
        return false;
    double feeds = 1 / read, counts = 1 / cpu, feeders = LINK_RATE / feeds;
    if (feeders > now->workers)
        feeders = now->workers;
    double together = rate + GAIN_FRACTION * feeders * (feeds - counts);
    double left = now->plain_remaining - rate * policy_gpu_start(now, tuning);
    return left * (1 / rate - 1 / together) >= tuning->break_even;
}

enum gpu_purpose policy_purpose(const struct policy_input *now, const struct policy_tuning *tuning)
{
    if (now->flow == FLOW_FILE)
        return pays_for_plain(now, tuning) ? GPU_COUNTS : GPU_FOR_NOTHING;
    const double left = now->content.unopened, gpu_rate = now->content.gpu_rate;
    if (now->flow == FLOW_DECODED && left > 0) { /* in files that are not open yet */
        const double saves = left * (1 / now->rate - tuning->decoding_time / gpu_rate);
        if (saves - policy_gpu_start(now, tuning) - tuning->decoding_start >= tuning->break_even)
            return GPU_DECODES;
    }
    const bool is_long = now->seconds >= tuning->stream_break_even;
    return is_long && policy_hands_off(now, tuning) ? GPU_COUNTS : GPU_FOR_NOTHING;
}

/* All that comes through a pipe goes to the GPU, and so does decompressed content: decompressing
 * keeps the cores busy. But a GPU that decompresses counts nothing else, and beside one, cores
 * count what they decompress, as that is in their caches. The last bytes of files, as many as
 * workers count while one of them fills a slot, go in the CPU's smaller pieces, so that all workers
 * finish at the same time. */
bool policy_counts_on_gpu(const struct policy_input *now)
{
    const double gpu = now->costs.gpu, cpu = now->costs.cpu;
    const double last =
        (double)now->workers_max * (double)now->chunk_size * (gpu > 0 && gpu < cpu ? gpu / cpu : 1);
    if (now->flow != FLOW_FILE)
        return now->gpu_files == 0 && (now->flow == FLOW_PIPE || !now->gpu_decodes);
    return now->plain_remaining >= last && (now->gpu_feeders < FEEDERS_ALWAYS || gpu <= cpu);
}

/* A file goes to whoever would end with it first: GPUs, after the files that they have; all
 * workers, after what they have; or the worker that has opened it, alone. */
bool policy_offloads(const struct policy_input *now, const struct policy_tuning *tuning,
                     const struct offload_offer *offer)
{
    const double counted = offer->counted, content = offer->content;
    const double on_gpus = now->content.on_gpus - (offer->has_waited ? counted : 0);
    const double on_cores = fmax(now->content.on_cores - (offer->has_waited ? 0 : counted), 0);
    const double cores = rate_of_all(now, offer->together);
    const double slow_start = /* before it is ready all processors will be busy */
        tuning->gpu_start + tuning->gpu_start_busy + tuning->break_even;
    const double ready = now->gpu_ready >= 0 ? now->gpu_ready : slow_start;
    const double gpu =
        ready + tuning->decoding_start +
        (fmax(on_gpus, 0) / now->gpus + content) * tuning->decoding_time / offer->gpu_rate;
    const double favour = now->begins_on_gpu ? BEGUN_FAVOUR : 1;
    return gpu <= favour * fmin((on_cores + content) / cores, content / rate_of_each(now));
}

/* --- what several workers decode --- */

/* To decode a frame in pieces takes twice the processor time that libzstd or ISA-L take, and all
 * workers share it. So it ends sooner than alone with one of them if that is less than what all
 * workers do in the time which one takes: the rest, and once more each frame that is as large, as
 * what pays for one pays for those. */
bool policy_helps(const struct frame_offer *offer)
{
    const double workers = offer->workers_max, others = offer->others;
    bool pays = workers > others + 1;
    if (offer->rest > 0) {
        const double as_large = fmin(others + 1, offer->rest / offer->compressed);
        pays = offer->compressed * (workers - as_large) >= offer->rest;
    }
    return pays && workers > 1 && offer->content >= PARALLEL_MIN &&
           offer->content <= offer->compressed * PARALLEL_RATIO;
}

/* --- workers --- */

bool policy_hands_off(const struct policy_input *now, const struct policy_tuning *tuning)
{
    return now->costs.counting > tuning->stream_counting;
}

/* While one worker reads or decompresses a stream, as many as it keeps busy count. If there are too
 * many, they wait, which counts as reading, so no more are started. */
unsigned policy_workers(const struct policy_input *now, const struct policy_tuning *tuning)
{
    const unsigned wanted = policy_workers_beside_gpus(now);
    const double fraction = now->costs.counting, max = now->workers_max;
    if (wanted <= 1 || now->flow == FLOW_FILE || (now->flow == FLOW_DECODED && now->has_work))
        return wanted;
    if (!policy_hands_off(now, tuning))
        return 1;
    const double busy = fraction < 1 ? 2 + fraction / (1 - fraction) : max;
    return (unsigned)(busy < max ? busy : max);
}

/* A GPU decompresses ten times what all cores do: its feeders must not wait for a processor. */
unsigned policy_workers_beside_gpus(const struct policy_input *now)
{
    const unsigned all = now->workers_max;
    const unsigned fed = now->flow == FLOW_DECODED ? now->gpu_files : 0;
    const unsigned parts = fed < FEEDING_PARTS ? fed : FEEDING_PARTS - 1;
    const unsigned wanted = all - all / FEEDING_PARTS * parts;
    return wanted > fed ? wanted : fed < all ? fed + 1 : all;
}
