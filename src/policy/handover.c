/* SPDX-License-Identifier: MIT */
#include "handover.h"
#include "src/pool/machine.h"
#include "src/pool/thread.h"
#include "gpu/decoder.h"
#include "gpu/device.h"
#include "gpu/gpu_group.h"
#include "src/base/clock.h"

#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)

/* There is no rate to go by before this time, and the question whether the GPU pays is not asked
 * more often: not for each of a hundred thousand chunks a second. */
#define ASK_SECONDS 0.02

/* Slots. Two are enough for a pipe, whose readers take turns. Readers of a file work side by side:
 * each fills one slot while another one of its own is on its way, within what may be pinned. */
#define SERIAL_BUFFERS 2
#define PARALLEL_BUFFERS_BYTES (192 * MIB)

/* One processor in so many is left to the threads that feed a GPU compressed bytes, for each GPU,
 * but for the last such part. Of 32 and one GPU, a quarter was better than an eighth and as good as
 * a half. */
#define FEEDING_SHARE 4

void handover_init(struct handover *handover, const struct pool_options *options,
                   const struct histogram *histogram, struct source *source, struct engine *cpu,
                   struct lines *lines, unsigned threads, unsigned processors)
{
    *handover = (struct handover){.options = options,
                                  .histogram = histogram,
                                  .source = source,
                                  .cpu = cpu,
                                  .lines = lines,
                                  .gpus = options->gpus,
                                  .begin = clock_now(),
                                  .processors = processors,
                                  .threads = threads};
    pthread_mutex_init(&handover->lock, NULL);
    atomic_store(&handover->may_come, options->device == DEVICE_AUTO && !device_missing());
}

void handover_destroy(struct handover *handover)
{
    if (!atomic_load(&handover->opening))
        pthread_mutex_destroy(&handover->lock);
}

struct engine *handover_gpu(struct handover *handover)
{
    return atomic_load(&handover->gpu);
}

void handover_refused(struct handover *handover, struct reason *why)
{
    pthread_mutex_lock(&handover->lock);
    *why = handover->refused;
    pthread_mutex_unlock(&handover->lock);
}

/* --- opening the GPU --- */

static unsigned handover_slots(const struct handover *handover, bool side_by_side)
{
    const struct pool_options *options = handover->options;
    if (options->buffers)
        return options->buffers;
    if (!side_by_side)
        return SERIAL_BUFFERS;
    uint64_t fit =
        PARALLEL_BUFFERS_BYTES / gpu_engine_slot_size(handover->histogram, options->chunk_size);
    uint64_t wanted = 2 * (uint64_t)atomic_load(&handover->threads);
    uint64_t slots = wanted < fit ? wanted : fit;
    return slots > SERIAL_BUFFERS ? (unsigned)slots : SERIAL_BUFFERS;
}

static void handover_refuse(struct handover *handover, const struct reason *why)
{
    pthread_mutex_lock(&handover->lock);
    handover->refused = *why;
    pthread_mutex_unlock(&handover->lock);
    atomic_store(&handover->may_come, false);
}

/* Whether there is memory for the slots, which are touched at once, and pinned: where there is not,
 * the out-of-memory killer would end the process. 0, or -1 with the reason set. */
static int handover_check_memory(const struct handover *handover, unsigned slots,
                                 struct reason *why)
{
    const size_t chunk_size = handover->options->chunk_size;
    const size_t slot = gpu_engine_slot_size(handover->histogram, chunk_size);
    const uint64_t wanted =
        (uint64_t)handover->gpus.count * gpu_engine_size(handover->histogram, chunk_size, slots);
    const uint64_t available = machine_memory("");
    if (wanted <= available)
        return 0;
    reason_set(why,
               "%u buffers of %.1f MiB need %.0f MiB of memory, but %.0f MiB are available; lower "
               "--buffers or --chunk-size",
               slots * handover->gpus.count, (double)slot / (double)MIB,
               (double)wanted / (double)MIB, (double)available / (double)MIB);
    return -1;
}

static uint64_t handover_memory_left(void)
{
    return machine_memory("");
}

/* The GPUs' engine; NULL with the reason set. Of several, the CPU replaces those that are lost,
 * even if GPUs only were asked for. */
static struct engine *handover_open_group(struct handover *handover, unsigned slots,
                                          struct reason *why)
{
    const struct pool_options *options = handover->options;
    if (gpu_group_resolve(&handover->gpus, why) != 0)
        return NULL;
    const struct gpu_options wanted = {
        .strategy = options->strategy,
        .chunk_size = options->chunk_size,
        .buffers = slots,
        .deadline_ms = options->tuning.deadline_ms,
        .timing = options->timing,
        .lines = handover->lines,
        .files = options->files,
        .no_check = options->no_check,
        .decodes = atomic_load(&handover->gpu_for_decoding),
        .memory_left = handover_memory_left,
        .fallback =
            options->device == DEVICE_GPU && handover->gpus.count == 1 ? NULL : handover->cpu,
    };
    return handover_check_memory(handover, slots, why) == 0
               ? gpu_group_open(handover->histogram, &wanted, &handover->gpus,
                                options->device == DEVICE_GPU || options->tuning.opens_at_once, why)
               : NULL;
}

/* Opens the GPUs' engine; from then on workers find its slots. */
static void handover_open(struct handover *handover, unsigned slots)
{
    struct reason why = {""};
    struct engine *gpu = handover_open_group(handover, slots, &why);
    if (gpu)
        handover->gpu_ready = clock_seconds_since(&handover->begin);
    else
        handover_refuse(handover, &why);
    atomic_store(&handover->gpu, gpu);
}

int handover_open_now(struct handover *handover)
{
    atomic_store(&handover->opening, true);
    handover_open(handover, handover_slots(handover, source_left(handover->source) > 0));
    return handover_gpu(handover) ? 0 : -1;
}

struct opener {
    struct handover *handover;
    unsigned slots;
};

static void *opener_thread(void *arg)
{
    struct opener opener = *(struct opener *)arg;
    free(arg);
    handover_open(opener.handover, opener.slots);
    return NULL;
}

/* Without memory or a thread for it, the CPU goes on alone. */
static void handover_start_opener(struct handover *handover, unsigned slots)
{
    struct opener *opener = malloc(sizeof *opener);
    if (opener) {
        *opener = (struct opener){handover, slots};
        if (thread_start(opener_thread, opener, 0) == 0)
            return;
        free(opener);
    }
    handover_refuse(handover, &(struct reason){"cannot start a thread"});
}

/* --- whether it pays --- */

/* Tests set break_even to 0, and do not wait either. */
static double handover_ask_seconds(const struct handover *handover)
{
    double break_even = handover->options->tuning.break_even;
    return break_even < ASK_SECONDS ? break_even : ASK_SECONDS;
}

bool handover_counting_is_dear(const struct handover *handover)
{
    return costs_counting_share(&handover->costs) > handover->options->tuning.stream_share;
}

static void handover_begin_rate(struct handover *handover, uint64_t bytes)
{
    atomic_store(&handover->rate_base, bytes);
    atomic_store(&handover->rate_begin, clock_seconds_since(&handover->begin));
}

void handover_restart_rate(struct handover *handover, uint64_t bytes)
{
    handover_begin_rate(handover, bytes);
    atomic_store(&handover->workers_are_new, true);
}

/* Whether the rate so far tells too little: workers that were just started touch new memory first,
 * and are half as fast as they will be. Then it is measured afresh, once. */
static bool handover_waits_for_rate(struct handover *handover, enum flow flow, uint64_t bytes)
{
    const bool is_shared =
        flow == FLOW_FILE || (flow == FLOW_DECODED && source_has_work(handover->source));
    if (!is_shared || handover_ask_seconds(handover) <= 0 ||
        !atomic_exchange(&handover->workers_are_new, false))
        return false;
    handover_begin_rate(handover, bytes);
    return true;
}

/* Seconds until a GPU would be ready that is asked for now, while so many workers are busy. Without
 * --threads, there are as many of them at most as processors, or as a quota leaves of these. */
static double handover_gpu_start(const struct handover *handover, unsigned workers)
{
    const struct pool_tuning *tuning = &handover->options->tuning;
    const unsigned threads = atomic_load(&handover->threads);
    const unsigned most = handover->options->threads ? handover->processors : threads;
    const double busy = (double)workers / (double)most;
    return tuning->gpu_start + tuning->gpu_start_busy * (busy < 1 ? busy : 1);
}

/* Whether a GPU pays that decompresses what is left of a pipe, whose frame is begun anew. Where the
 * producer is what is waited for, nothing is saved: the rate is that of the decoder while it is at
 * work, which must be most of the time. Only one processor decodes, so the GPU starts as fast as it
 * can. */
static bool handover_decoding_stream_pays(struct handover *handover)
{
    const struct pool_tuning *tuning = &handover->options->tuning;
    const struct stream_content content = source_stream_content(handover->source);
    const double now = clock_seconds_since(&handover->begin);
    if (content.left <= 0 || content.seconds < now * tuning->stream_busy)
        return false;
    if (content.taken / content.seconds * tuning->gpu_start > content.room)
        return false; /* too much of the frame would have come when the GPU is there */
    const struct offload_offer offer = {.again = content.again,
                                        .frame_left = content.left,
                                        .left = content.left,
                                        .rate = content.done / content.seconds};
    return costs_decoding_saves(&offer, tuning->decoding_rate,
                                tuning->gpu_start + tuning->decoding_start) >= tuning->break_even;
}

/* How many GPUs are worth their start if so many bytes of content are left of regular FILEs, each
 * of which is one GPU's. Plain bytes gain nothing from a second one: the host's memory, which they
 * pass three times on their way, is what is waited for. */
static unsigned handover_gpus_for(const struct handover *handover, double left, double rate,
                                  double start)
{
    const struct pool_tuning *tuning = &handover->options->tuning;
    const size_t files = source_files(handover->source);
    const unsigned most = files < GPUS_MAX ? (unsigned)files : GPUS_MAX;
    return tuning->decoding_rate > 0
               ? costs_decoding_gpus(left, rate, tuning->decoding_rate, start, tuning->gpu_more,
                                     tuning->break_even, most)
               : 1;
}

/* The same of regular FILEs; sets *gpus to how many. Those that are being decompressed when it is
 * ready are begun anew, so all may come again that was decompressed so far. */
static bool handover_decoding_pays(struct handover *handover, double rate, double start,
                                   unsigned *gpus)
{
    const struct pool_tuning *tuning = &handover->options->tuning;
    const struct source_content content = source_content(handover->source);
    const struct offload_offer offer = {
        .again = content.done, .frame_left = content.left, .left = content.left, .rate = rate};
    if (content.left <= 0)
        return false;
    double saved =
        costs_decoding_saves(&offer, tuning->decoding_rate, start + tuning->decoding_start);
    if (saved < tuning->break_even)
        return false;
    *gpus = handover_gpus_for(handover, content.left, rate, start);
    return true;
}

/* What a GPU is to be opened for. */
struct gpu_wish {
    unsigned gpus; /* how many of them */
    bool decodes;  /* to decompress */
};

/* Whether a GPU pays, and what for. */
static bool handover_gpu_pays(struct handover *handover, enum flow flow, uint64_t bytes,
                              unsigned workers, struct gpu_wish *wish)
{
    const struct pool_tuning *tuning = &handover->options->tuning;
    double now = clock_seconds_since(&handover->begin);
    double rate_begin = atomic_load(&handover->rate_begin);
    if (now - rate_begin < handover_ask_seconds(handover))
        return false;
    const uint64_t base = atomic_load(&handover->rate_base);
    if (bytes < base || /* another worker has just begun anew */
        handover_waits_for_rate(handover, flow, bytes))
        return false;
    double rate = (double)(bytes - base) / (now - rate_begin);
    atomic_store(&handover->rate, rate);
    atomic_store(&handover->worker_rate, rate / workers);
    const double start = handover_gpu_start(handover, workers);
    wish->decodes =
        flow == FLOW_DECODED && (handover_decoding_pays(handover, rate, start, &wish->gpus) ||
                                 handover_decoding_stream_pays(handover));
    if (wish->decodes)
        return true;
    if (flow != FLOW_FILE)
        return now >= tuning->stream_break_even && handover_counting_is_dear(handover);
    double saved = costs_gpu_saves(&handover->costs, (double)source_left(handover->source), rate,
                                   workers, start);
    return saved >= tuning->break_even;
}

void handover_consider(struct handover *handover, enum flow flow, uint64_t bytes, unsigned workers)
{
    double now = clock_seconds_since(&handover->begin);
    if (handover->options->device != DEVICE_AUTO || atomic_load(&handover->opening) ||
        now < atomic_load(&handover->next_ask))
        return;
    atomic_store(&handover->next_ask, now + handover_ask_seconds(handover));
    struct gpu_wish wish = {.gpus = 1};
    if (!handover_gpu_pays(handover, flow, bytes, workers, &wish) ||
        atomic_exchange(&handover->opening, true))
        return;
    atomic_store(&handover->gpu_for_decoding, wish.decodes);
    visible_more(&handover->gpus, wish.gpus);
    const unsigned slots = handover_slots(handover, flow != FLOW_PIPE);
    if (handover->options->tuning.opens_at_once)
        handover_open(handover, slots);
    else
        handover_start_opener(handover, slots);
}

/* --- which engine gets a chunk --- */

/* Whether the next piece of a file is for the GPU. The last bytes are shared out in the CPU's
 * smaller pieces, so that all workers finish at the same time: as many as they count while one of
 * them fills a slot. */
static bool handover_feeds_gpu(struct handover *handover)
{
    double last = (double)atomic_load(&handover->threads) * (double)handover->options->chunk_size *
                  costs_feeding_share(&handover->costs);
    return (double)source_left(handover->source) >= last &&
           costs_prefer_gpu(&handover->costs, atomic_load(&handover->feeders));
}

/* What comes through a pipe goes wholly to the GPU once there is one, and so do decompressed data:
 * the cores have enough to do with decompressing them. But if the GPU is there to decompress, what
 * the cores decompress beside it is counted by them, from their caches. */
struct chunk *handover_choose(void *arg, enum flow flow)
{
    struct handover *handover = arg;
    bool only_gpu = handover->options->device == DEVICE_GPU;
    struct engine *gpu = handover_gpu(handover);
    bool is_own = flow == FLOW_DECODED && atomic_load(&handover->gpu_for_decoding);
    bool wait = only_gpu || flow != FLOW_FILE;
    struct chunk *chunk = NULL;
    if (gpu && !is_own && (wait || handover_feeds_gpu(handover)))
        chunk = engine_acquire(gpu, wait);
    if (chunk && flow == FLOW_FILE)
        atomic_fetch_add(&handover->feeders, 1);
    if (chunk || only_gpu || (gpu && gpu_group_failed(gpu)))
        return chunk;
    chunk = engine_acquire(handover->cpu, true);
    chunk->give = flow == FLOW_DECODED && handover_counting_is_dear(handover);
    return chunk;
}

struct engine *handover_undecoder(void *arg, const struct offload_offer *offer)
{
    struct handover *handover = arg;
    const struct pool_tuning *tuning = &handover->options->tuning;
    struct engine *gpu = handover_gpu(handover);
    if (!gpu || !gpu_decoder_is_idle(gpu))
        return NULL;
    if (!offer)
        return gpu;
    struct offload_offer known = *offer;
    if (known.rate <= 0) /* all decompress the last FILE, if it has many frames */
        known.rate = atomic_load(offer->is_last ? &handover->rate : &handover->worker_rate);
    return costs_decoding_saves(&known, tuning->decoding_rate, tuning->decoding_start) >= 0 ? gpu
                                                                                            : NULL;
}

bool handover_may_undecode(void *arg)
{
    struct handover *handover = arg;
    struct engine *gpu = handover_gpu(handover);
    if (gpu)
        return !gpu_group_failed(gpu) && gpu_decoder_is_idle(gpu);
    return atomic_load(&handover->may_come);
}

/* A GPU decompresses ten times what all cores do together, so those that feed it must not wait for
 * a processor: while all 32 of a machine were busy, its bytes came at a quarter of the speed. */
unsigned handover_workers(struct handover *handover, enum flow flow)
{
    const unsigned all = atomic_load(&handover->threads);
    struct engine *gpu = handover_gpu(handover);
    const bool is_beside = flow == FLOW_DECODED && gpu && atomic_load(&handover->gpu_for_decoding);
    const unsigned fed = is_beside ? gpu_group_feeding(gpu) : 0;
    const unsigned shares = fed < FEEDING_SHARE ? fed : FEEDING_SHARE - 1;
    const unsigned wanted = all - all / FEEDING_SHARE * shares;
    return wanted > fed ? wanted : fed < all ? fed + 1 : all;
}

int handover_submit(struct handover *handover, struct chunk *chunk, enum flow flow, double begin)
{
    bool on_gpu = chunk->engine != handover->cpu, given = chunk->give;
    size_t len = chunk->origin.bytes;
    double was_read = clock_seconds_since(&handover->begin);
    int rc = engine_submit(chunk);
    double counted = clock_seconds_since(&handover->begin);
    if (on_gpu && flow == FLOW_FILE)
        atomic_fetch_sub(&handover->feeders, 1);
    if (flow != FLOW_FILE && !given)
        costs_learn_stream(&handover->costs, was_read - begin, counted - was_read);
    else if (flow == FLOW_FILE && len > 0)
        costs_learn_file(&handover->costs, on_gpu, len, was_read - begin, counted - was_read);
    return rc;
}
