/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <math.h>

/* doc/reasons.md says how these numbers, and those of policy_defaults, were found. */
#define ASK_SECONDS 0.02  /* not for each of a hundred thousand chunks a second */
#define LINK_RATE 50e9    /* bytes a second that the host's link to a GPU takes */
#define GAIN_FRACTION 0.5 /* of a gain that is predicted for plain files, what is gained */

/* Workers that feed the GPU even where that takes them longer than counting: otherwise the link
 * would be idle, and what feeding costs would not be known. */
#define FEEDERS_ALWAYS 2

/* Content of a frame, in bytes, for which workers are started and memory is touched. */
#define PARALLEL_MIN 20e6
#define PARALLEL_RATIO 24 /* of content to compressed bytes; beyond it libzstd alone is as fast */

/* A file is larger than its share if it has so many times what is left for each worker. Equal
 * files, as many as there are workers, are not, when the last of them is opened. */
#define SHARE_MIN 1.25

/* Each GPU that decompresses takes one of so many parts of the processors, but not the last one. */
#define FEEDING_PARTS 4

const struct policy_tuning policy_defaults = {
    .short_input = (uint64_t)4 << 20,
    .gpu_start = 0.25,
    .gpu_start_busy = 0.25,
    .gpu_more = 0.3,
    .break_even = 0.15,
    .stream_break_even = 2.0,
    .stream_counting = 0.1,
    .stream_busy = 0.5,
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

/* Seconds until a GPU would be ready: longer the more processors are busy. */
static double gpu_start(const struct policy_input *now, const struct policy_tuning *tuning)
{
    const double busy = (double)now->workers / (double)now->processors;
    return tuning->gpu_start + tuning->gpu_start_busy * (busy < 1 ? busy : 1);
}

/* Seconds saved by a GPU that begins with what is offered after `start` seconds; negative: not now,
 * as this frame ends sooner than it could be done again, and the next one is offered, too. */
static double offload_saves(const struct offload_offer *offer, const struct policy_tuning *tuning,
                            double start)
{
    if (offer->rate <= 0)
        return HUGE_VAL; /* nothing is known of anything better */
    double on_gpu = tuning->decoding_time / offer->gpu_rate; /* a byte */
    double again = offer->again * on_gpu, byte = 1 / offer->rate - on_gpu;
    double frame = offer->frame_left * byte - again;
    return frame < 0 ? frame : offer->left * byte - again - start;
}

/* How many GPUs save more time than they take to start. Until the last is ready the others work
 * already, which is left out: so a GPU gains no less than this says. */
static unsigned gpus_worth(const struct policy_input *now, const struct policy_tuning *tuning,
                           double start)
{
    unsigned gpus = 1;
    double before = HUGE_VAL;
    for (unsigned wanted = 1; tuning->decoding_time > 0 && wanted <= now->gpus_max; wanted++) {
        double ready = start + tuning->gpu_more * (wanted - 1);
        double rest = now->content.left - now->rate * ready;
        double together = now->rate + wanted * now->content.gpu_rate / tuning->decoding_time;
        double seconds = ready + (rest > 0 ? rest / together : 0);
        if (wanted > 1 && seconds > before - tuning->break_even)
            break;
        gpus = wanted;
        before = seconds;
    }
    return gpus;
}

/* How many GPUs should decompress files. They begin anew with files that workers have begun, so all
 * that was decompressed so far may come again. */
static unsigned gpus_for_files(const struct policy_input *now, const struct policy_tuning *tuning)
{
    const struct source_content *content = &now->content;
    const double start = gpu_start(now, tuning);
    const struct offload_offer offer = {.gpu_rate = content->gpu_rate,
                                        .again = content->done,
                                        .frame_left = content->left,
                                        .left = content->left,
                                        .rate = now->rate};
    if (content->left <= 0 ||
        offload_saves(&offer, tuning, start + tuning->decoding_start) < tuning->break_even)
        return 0;
    return gpus_worth(now, tuning, start);
}

/* True if a GPU should decompress what is left of a pipe. A slow producer would keep it waiting,
 * too: so the rate is that of the decoder while it is at work, which must be most of the time. Only
 * one processor decodes, so the GPU starts as fast as it can. */
static bool pays_for_stream(const struct policy_input *now, const struct policy_tuning *tuning)
{
    const struct stream_content *stream = &now->stream;
    if (stream->left <= 0 || stream->seconds < now->seconds * tuning->stream_busy)
        return false;
    if (stream->taken / stream->seconds * tuning->gpu_start > stream->capacity)
        return false; /* more of the frame would have come by then than can be kept */
    const struct offload_offer offer = {.gpu_rate = stream->gpu_rate,
                                        .again = stream->again,
                                        .frame_left = stream->left,
                                        .left = stream->left,
                                        .rate = stream->done / stream->seconds};
    return offload_saves(&offer, tuning, tuning->gpu_start + tuning->decoding_start) >=
           tuning->break_even;
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
    double left = now->plain_remaining - rate * gpu_start(now, tuning);
    return left * (1 / rate - 1 / together) >= tuning->break_even;
}

struct gpu_wish policy_wish(const struct policy_input *now, const struct policy_tuning *tuning)
{
    if (now->flow == FLOW_FILE)
        return (struct gpu_wish){.gpus = pays_for_plain(now, tuning)};
    unsigned gpus = now->flow == FLOW_DECODED ? gpus_for_files(now, tuning) : 0;
    if (gpus == 0 && now->flow == FLOW_DECODED)
        gpus = pays_for_stream(now, tuning);
    if (gpus > 0)
        return (struct gpu_wish){.gpus = gpus, .decodes = true};
    return (struct gpu_wish){.gpus = now->seconds >= tuning->stream_break_even &&
                                     policy_hands_off(now, tuning)};
}

/* --- what goes to it --- */

/* The last bytes of files, as many as workers count while one of them fills a slot, go in the CPU's
 * smaller pieces, so that all workers finish at the same time. */
static bool feeds_gpu(const struct policy_input *now)
{
    const double gpu = now->costs.gpu, cpu = now->costs.cpu;
    const double last =
        (double)now->workers_max * (double)now->chunk_size * (gpu > 0 && gpu < cpu ? gpu / cpu : 1);
    return now->plain_remaining >= last && (now->gpu_feeders < FEEDERS_ALWAYS || gpu <= cpu);
}

/* All that comes through a pipe goes to the GPU, and so does decompressed content: decompressing
 * keeps the cores busy. But beside a GPU that decompresses, cores count what they decompress, as
 * that is in their caches. */
bool policy_counts_on_gpu(const struct policy_input *now)
{
    if (now->flow == FLOW_FILE)
        return feeds_gpu(now);
    return now->flow == FLOW_PIPE || !now->gpu_decodes;
}

bool policy_offloads(const struct policy_input *now, const struct policy_tuning *tuning,
                     const struct offload_offer *offer)
{
    struct offload_offer known = *offer;
    if (known.rate <= 0) /* all decompress the last file, if it has many frames */
        known.rate = offer->is_last ? now->rate : now->worker_rate;
    return offload_saves(&known, tuning, tuning->decoding_start) >= 0;
}

/* --- what several workers decode --- */

/* To parse and to execute a frame takes a worker alone longer than libzstd, so others must be there
 * to help before long. They are if it is larger than its share: what is left for each worker. */
bool policy_helps(const struct frame_offer *offer)
{
    const double workers = offer->workers_max;
    const bool is_large = offer->compressed * workers > offer->rest * SHARE_MIN && offer->rest > 0;
    return offer->content >= PARALLEL_MIN && offer->content <= offer->compressed * PARALLEL_RATIO &&
           workers > 1 && (workers > offer->taken || is_large);
}

/* --- workers --- */

bool policy_hands_off(const struct policy_input *now, const struct policy_tuning *tuning)
{
    return now->costs.counting > tuning->stream_counting;
}

/* How many workers one stream keeps busy: while one reads or decompresses it, the others count. If
 * there are too many, they wait, which counts as reading, so no more are started. */
static unsigned workers_for_stream(const struct policy_input *now,
                                   const struct policy_tuning *tuning)
{
    double fraction = now->costs.counting, max = now->workers_max;
    double wanted = fraction < 1 ? 2 + fraction / (1 - fraction) : max;
    if (!policy_hands_off(now, tuning))
        return 1;
    return (unsigned)(wanted < max ? wanted : max);
}

unsigned policy_workers(const struct policy_input *now, const struct policy_tuning *tuning)
{
    const unsigned wanted = policy_workers_beside_gpus(now);
    const bool is_stream = now->flow == FLOW_PIPE || (now->flow == FLOW_DECODED && !now->has_work);
    return is_stream && wanted > 1 ? workers_for_stream(now, tuning) : wanted;
}

/* A GPU decompresses ten times what all cores do: its feeders must not wait for a processor. */
unsigned policy_workers_beside_gpus(const struct policy_input *now)
{
    const unsigned all = now->workers_max;
    const unsigned fed = now->flow == FLOW_DECODED && now->gpu_decodes ? now->gpu_files : 0;
    const unsigned parts = fed < FEEDING_PARTS ? fed : FEEDING_PARTS - 1;
    const unsigned wanted = all - all / FEEDING_PARTS * parts;
    return wanted > fed ? wanted : fed < all ? fed + 1 : all;
}
