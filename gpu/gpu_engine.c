/* How a chunk goes through, and what is known when:
 *
 *     free -> filling -> in flight -> (snapshot seen to arrive) -> free
 *
 * In flight, the copy stream brings the chunk in, and the compute stream counts it into the
 * device's histogram and copies that histogram out to the slot: its snapshot. Both keep the order
 * of the calls, so the snapshot of chunk k holds chunks 1 to k, no more and no less. Once seen to
 * arrive, it becomes `good`, the last good tally. When the device is lost, `good` is what was
 * counted there, and every chunk after it is still whole in its slot: those are counted by the
 * fallback.
 *
 * Above SNAPSHOT_BINS a snapshot for each chunk is too dear. Then a slot is free when its count was
 * seen to be done, there is one snapshot, at the end, and nothing can replace a lost device. */
#include "gpu_engine.h"
#include "device.h"
#include "src/engine/lines.h"
#include "src/histogram/number.h"
#include "src/engine/records.h"
#include "strategy.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HUGE_PAGE ((size_t)2 << 20)
/* As many as 16 bits tell apart, or as --numbers lays by itself, and what lies outside. */
#define SNAPSHOT_BINS ((size_t)65536 + 3)
#define SNAPSHOT_BINS_OF_TEXT (LOG_LINEAR_BINS + 3)
#define POLL_NS 20000 /* between looks at a busy device: a small part of a chunk's copy */

struct slot {
    struct chunk chunk;
    unsigned index;
    struct slot *next;       /* in the free list, or the one submitted after this */
    uint64_t *snapshot;      /* to be; or NULL: there is one alone */
    struct slot_times times; /* of its last way through, if timing */
};

struct gpu_engine {
    struct engine engine;
    const struct histogram *histogram;
    struct gpu_options options;
    struct device *device;
    void *mapping; /* the memory of all slots, from the first huge page in it */
    size_t mapping_size;
    void *memory;
    bool pinned;
    pthread_mutex_t lock; /* all that follows, and every call of the device */
    struct slot *free;
    struct slot *oldest, *newest; /* in flight, in the order of submission */
    uint64_t *last_snapshot;      /* in the slots' memory; NULL where every slot has its own */
    struct tally good; /* the last snapshot that arrived, in the slots' memory too, first one of
                        * zeros; without any, just its samples */
    struct timespec progress; /* when the device last finished something or was idle */
    bool lost;
    bool failed; /* lost, and nobody takes over: counts are missing */
    struct reason why;
    struct gpu_times times;
    struct slot slots[];
};

static struct gpu_engine *gpu_of(struct engine *engine)
{
    return (struct gpu_engine *)engine;
}

/* Whether the number of samples in so many bytes is known; otherwise only the counts tell it. */
static bool samples_known(const struct gpu_engine *gpu)
{
    return histogram_sample_size(gpu->histogram) != 0;
}

/* A tally over a snapshot, whose words stay where they are. */
static struct tally tally_of_snapshot(const struct histogram *histogram, uint64_t *words)
{
    bool has_newlines = device_histogram_words(histogram) > histogram->bins;
    return (struct tally){.bins = histogram->bins,
                          .newlines = has_newlines ? words[histogram->bins] : 0,
                          .counts = words};
}

/* Whether there is a snapshot for each chunk. */
static bool snapshot_each(const struct histogram *histogram)
{
    return histogram->bins <= (histogram->mode->is_text ? SNAPSHOT_BINS_OF_TEXT : SNAPSHOT_BINS);
}

static struct timespec now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

static double ms_since(struct timespec then)
{
    struct timespec time = now();
    return (double)(time.tv_sec - then.tv_sec) * 1e3 + (double)(time.tv_nsec - then.tv_nsec) / 1e6;
}

/* --- losing the device --- */

static void lose(struct gpu_engine *gpu, const char *why)
{
    gpu->lost = true;
    reason_set(&gpu->why, "%s", why);
}

static void lose_by_call(struct gpu_engine *gpu)
{
    lose(gpu, device_reason(gpu->device));
}

/* Tells who asks where numbers are invalid of a chunk of text that was not counted here. */
static void tell_lines_of(struct gpu_engine *gpu, const struct chunk *chunk)
{
    size_t at, token_len;
    uint64_t newlines = 0;
    if (!gpu->engine.lines || !chunk->origin.name)
        return;
    for (size_t i = 0; i < chunk->len; i++)
        newlines += chunk->data[i] == '\n';
    lines_add(gpu->engine.lines, chunk, newlines,
              numbers_find_invalid(chunk->data, chunk->len, &at, &token_len));
}

/* Counts a chunk elsewhere, in memory that no late copy of the device can reach. */
static void recount(struct gpu_engine *gpu, const struct chunk *chunk)
{
    struct records records = {.size = histogram_sample_size(gpu->histogram)};
    for (size_t done = 0; done < chunk->len;) {
        struct chunk *fresh = engine_acquire(gpu->options.fallback, true);
        size_t left = chunk->len - done, len = left < fresh->cap ? left : fresh->cap;
        size_t begun = records_resume(&records, fresh->data); /* only tokens, which have room */
        memcpy(fresh->data + begun, chunk->data + done, len);
        fresh->origin = (struct origin){.bytes = done == 0 ? chunk->origin.bytes : 0};
        done += len;
        fresh->len = records_cut(&records, fresh->data, begun + len, done == chunk->len);
        engine_submit(fresh);
    }
}

/* Deals with what a lost device left undone. Slots in flight are not used again: the device may
 * still read and write them. Called with the lock held by everyone who finds the device lost;
 * the list is empty for all but the first. */
static void recover(struct gpu_engine *gpu)
{
    if (!gpu->options.fallback || gpu->last_snapshot) {
        gpu->failed = true;
        return;
    }
    struct slot *slot = gpu->oldest;
    gpu->oldest = gpu->newest = NULL;
    for (; slot; slot = slot->next) {
        recount(gpu, &slot->chunk);
        tell_lines_of(gpu, &slot->chunk);
    }
}

/* --- seeing chunks through --- */

static double shared_time(double begin_a, double end_a, double begin_b, double end_b)
{
    double begin = begin_a > begin_b ? begin_a : begin_b, end = end_a < end_b ? end_a : end_b;
    return end > begin ? end - begin : 0;
}

/* Adds the slot's times. A copy can only meet the kernels of chunks that went before it, and those
 * still have their times in their slots, or the copy could not have begun. */
static int add_times(struct gpu_engine *gpu, struct slot *slot)
{
    struct slot_times *times = &slot->times;
    if (device_times(gpu->device, slot->index, times) != 0)
        return -1;
    gpu->times.copy_seconds += times->copy_end - times->copy_begin;
    gpu->times.kernel_seconds += times->count_end - times->count_begin;
    for (unsigned i = 0; i < gpu->options.buffers; i++) {
        const struct slot_times *other = &gpu->slots[i].times;
        if (i != slot->index && other->count_begin < times->count_begin)
            gpu->times.overlap_seconds += shared_time(times->copy_begin, times->copy_end,
                                                      other->count_begin, other->count_end);
    }
    return 0;
}

/* Whether the chunk can have added so many samples and newlines. */
static bool growth_believable(const struct gpu_engine *gpu, const struct tally *seen,
                              const struct chunk *chunk)
{
    uint64_t most = gpu->histogram->mode->samples_most(gpu->histogram, chunk->len);
    return seen->samples >= gpu->good.samples && seen->samples - gpu->good.samples <= most &&
           seen->newlines >= gpu->good.newlines &&
           seen->newlines - gpu->good.newlines <= chunk->len;
}

/* Tells who asks where numbers are invalid of a chunk that was counted here. */
static void tell_lines(struct gpu_engine *gpu, const struct tally *seen, const struct chunk *chunk)
{
    size_t invalid = ROW_INVALID(&gpu->histogram->binning);
    if (gpu->engine.lines && chunk->origin.name)
        lines_add(gpu->engine.lines, chunk, seen->newlines - gpu->good.newlines,
                  seen->counts[invalid] > gpu->good.counts[invalid]);
}

/* Whether the snapshot after a chunk can be true: no count went down, it adds up to all samples so
 * far, and the chunk can hold as many as it adds. Sets the samples where only the counts tell them.
 * All in one look at the counts, which are fresh from the device and in no cache. */
static bool believable(const struct gpu_engine *gpu, struct tally *seen, const struct chunk *chunk)
{
    uint64_t sum = 0;
    bool down = false;
    for (size_t bin = 0; bin < seen->bins; bin++) {
        down |= seen->counts[bin] < gpu->good.counts[bin];
        sum += seen->counts[bin];
    }
    if (!samples_known(gpu))
        seen->samples = sum;
    return !down && histogram_adds_up(gpu->histogram, sum, seen->samples) &&
           growth_believable(gpu, seen, chunk);
}

/* Whether what the slot's snapshot stands for is done: 1 it is, 0 not yet, -1 lost. */
static int look(struct gpu_engine *gpu, const struct slot *slot)
{
    /* The time first: in a process that is stopped it may pass while the chunk arrives. */
    bool patient = ms_since(gpu->progress) < gpu->options.deadline_ms;
    int arrived = device_arrived(gpu->device, slot->index);
    if (arrived < 0)
        lose_by_call(gpu);
    if (arrived != 0 || patient)
        return arrived;
    lose(gpu, "the device does not answer");
    return -1;
}

/* Makes the slot's snapshot the last good tally, whose memory the slot gets instead. 0, or -1:
 * lost. */
static int keep(struct gpu_engine *gpu, struct tally *seen, struct slot *slot)
{
    if (!believable(gpu, seen, &slot->chunk)) {
        lose(gpu, "the device's counts do not add up");
        return -1;
    }
    if (gpu->histogram->mode->is_text)
        tell_lines(gpu, seen, &slot->chunk);
    slot->snapshot = gpu->good.counts;
    gpu->good.counts = seen->counts;
    gpu->good.newlines = seen->newlines;
    return 0;
}

/* Looks at the oldest slot in flight. 1: it arrived and is free again; 0: not yet; -1: lost. */
static int reap_oldest(struct gpu_engine *gpu)
{
    struct slot *slot = gpu->oldest;
    int arrived = look(gpu, slot);
    if (arrived != 1)
        return arrived;
    if (gpu->options.timing && add_times(gpu, slot) != 0) {
        lose_by_call(gpu);
        return -1;
    }
    struct tally seen = {0};
    if (slot->snapshot)
        seen = tally_of_snapshot(gpu->histogram, slot->snapshot);
    seen.samples = gpu->good.samples;
    if (samples_known(gpu))
        seen.samples += gpu->histogram->mode->samples_most(gpu->histogram, slot->chunk.len);
    if (slot->snapshot && keep(gpu, &seen, slot) != 0)
        return -1;
    if (!slot->snapshot)
        tell_lines_of(gpu, &slot->chunk);
    gpu->good.samples = seen.samples;
    gpu->good.bytes += slot->chunk.origin.bytes;
    gpu->progress = now();
    gpu->times.chunks++;
    gpu->oldest = slot->next;
    if (!gpu->oldest)
        gpu->newest = NULL;
    slot->next = gpu->free;
    gpu->free = slot;
    return 1;
}

/* Lets time pass without the lock. */
static void pause_unlocked(struct gpu_engine *gpu)
{
    pthread_mutex_unlock(&gpu->lock);
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    pthread_mutex_lock(&gpu->lock);
}

static struct chunk *gpu_acquire(struct engine *engine, bool wait)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct slot *slot = NULL;
    pthread_mutex_lock(&gpu->lock);
    while (!gpu->lost) {
        while (gpu->oldest && reap_oldest(gpu) == 1)
            ;
        slot = gpu->lost ? NULL : gpu->free;
        if (slot || gpu->lost || !wait)
            break;
        pause_unlocked(gpu);
    }
    if (slot)
        gpu->free = slot->next;
    if (gpu->lost)
        recover(gpu);
    pthread_mutex_unlock(&gpu->lock);
    if (!slot)
        return NULL;
    slot->chunk.len = 0;
    return &slot->chunk;
}

/* Puts the slot's three pieces of work on the streams. 0, or -1: lost. */
static int enqueue(struct gpu_engine *gpu, struct slot *slot)
{
    const struct chunk *chunk = &slot->chunk;
    if (device_copy_in(gpu->device, slot->index, chunk->data, chunk->len) != 0 ||
        device_count(gpu->device, slot->index, chunk->len) != 0 ||
        device_snapshot(gpu->device, slot->index, slot->snapshot) != 0) {
        lose_by_call(gpu);
        return -1;
    }
    return 0;
}

static void append_in_flight(struct gpu_engine *gpu, struct slot *slot)
{
    if (!gpu->oldest)
        gpu->progress = now(); /* it was idle: the deadline begins here */
    slot->next = NULL;
    if (gpu->newest)
        gpu->newest->next = slot;
    else
        gpu->oldest = slot;
    gpu->newest = slot;
}

static int gpu_submit(struct engine *engine, struct chunk *chunk)
{
    struct gpu_engine *gpu = gpu_of(engine);
    struct slot *slot = (struct slot *)chunk;
    pthread_mutex_lock(&gpu->lock);
    if (chunk->len == 0) {
        tell_lines_of(gpu, chunk);
        gpu->good.bytes += chunk->origin.bytes;
        slot->next = gpu->free;
        gpu->free = slot;
    } else {
        if (!gpu->lost)
            enqueue(gpu, slot);
        append_in_flight(gpu, slot);
        if (gpu->lost)
            recover(gpu);
    }
    int rc = gpu->failed ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

/* Takes the one snapshot there is, when nothing is in flight, and adds it. Lost if that fails. */
static void add_last_snapshot(struct gpu_engine *gpu, struct tally *tally)
{
    gpu->progress = now();
    if (device_snapshot(gpu->device, 0, gpu->last_snapshot) != 0) {
        lose_by_call(gpu);
        return;
    }
    int arrived;
    while ((arrived = look(gpu, &gpu->slots[0])) == 0)
        pause_unlocked(gpu);
    if (arrived != 1)
        return;
    struct tally seen = tally_of_snapshot(gpu->histogram, gpu->last_snapshot);
    seen.samples = samples_known(gpu) ? gpu->good.samples : tally_counted(&seen);
    seen.bytes = gpu->good.bytes;
    if (tally_adds_up(&seen, gpu->histogram))
        tally_add(tally, &seen);
    else
        lose(gpu, "the device's counts do not add up");
}

static int gpu_finish(struct engine *engine, struct tally *tally)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    while (!gpu->lost && gpu->oldest)
        if (reap_oldest(gpu) == 0)
            pause_unlocked(gpu);
    if (!gpu->lost && gpu->last_snapshot)
        add_last_snapshot(gpu, tally);
    if (gpu->lost)
        recover(gpu);
    if (!gpu->last_snapshot && !gpu->failed)
        tally_add(tally, &gpu->good);
    int rc = gpu->failed ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

static const char *gpu_loss(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    bool lost = gpu->lost;
    pthread_mutex_unlock(&gpu->lock);
    return lost ? gpu->why.text : NULL;
}

/* --- opening and closing --- */

static size_t round_up(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

/* Bytes: the largest chunk, and what one of text has beyond its cap. */
static size_t data_size(const struct histogram *histogram, size_t chunk_size)
{
    return chunk_size + records_room(histogram_sample_size(histogram));
}

static size_t snapshot_size(const struct histogram *histogram)
{
    return device_histogram_words(histogram) * sizeof(uint64_t);
}

size_t gpu_engine_slot_size(const struct histogram *histogram, size_t chunk_size)
{
    size_t data = round_up(data_size(histogram, chunk_size), 64);
    return round_up(data + (snapshot_each(histogram) ? snapshot_size(histogram) : 0), 4096);
}

/* The slots' memory, data and snapshot by turns, and behind them all one snapshot more, the last
 * good one, or the only one: our own pages, huge where they can be had (pinning then costs a
 * tenth), touched so that they are there, and pinned where they lie. Memory that cannot be pinned
 * serves too. */
static int open_slots(struct gpu_engine *gpu, struct reason *why)
{
    size_t cap = gpu->options.chunk_size, data = round_up(data_size(gpu->histogram, cap), 64);
    bool each = snapshot_each(gpu->histogram);
    size_t step = gpu_engine_slot_size(gpu->histogram, cap);
    size_t size = step * gpu->options.buffers + round_up(snapshot_size(gpu->histogram), 4096);
    gpu->mapping_size = size + HUGE_PAGE;
    gpu->mapping = mmap(NULL, gpu->mapping_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (gpu->mapping == MAP_FAILED) {
        reason_set(why, "no memory for its buffers");
        return -1;
    }
    gpu->memory = (void *)round_up((uintptr_t)gpu->mapping, HUGE_PAGE);
    madvise(gpu->memory, size, MADV_HUGEPAGE); /* only faster */
    memset(gpu->memory, 0, size);
    gpu->pinned = device_pin(gpu->device, gpu->memory, size) == 0;
    for (unsigned i = 0; i < gpu->options.buffers; i++) {
        struct slot *slot = &gpu->slots[i];
        unsigned char *at = (unsigned char *)gpu->memory + i * step;
        slot->chunk = (struct chunk){.engine = &gpu->engine, .data = at, .cap = cap, .fill = true};
        slot->index = i;
        slot->snapshot = each ? (uint64_t *)(void *)(at + data) : NULL;
        slot->next = gpu->free;
        gpu->free = slot;
    }
    unsigned char *behind = (unsigned char *)gpu->memory + step * gpu->options.buffers;
    gpu->good.bins = gpu->histogram->bins;
    if (each)
        gpu->good.counts = (uint64_t *)(void *)behind;
    else
        gpu->last_snapshot = (uint64_t *)(void *)behind;
    return 0;
}

/* A lost device keeps its memory: it may still write there. */
static void gpu_close(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    if (!gpu->lost) {
        if (gpu->pinned)
            device_unpin(gpu->device, gpu->memory);
        if (gpu->mapping != MAP_FAILED)
            munmap(gpu->mapping, gpu->mapping_size);
        device_close(gpu->device);
    }
    pthread_mutex_destroy(&gpu->lock);
    free(gpu);
}

static const struct engine_ops gpu_ops = {gpu_acquire, gpu_submit, gpu_finish, gpu_loss, gpu_close};

struct engine *gpu_engine_open(const struct histogram *histogram, const struct gpu_options *options,
                               struct reason *why)
{
    struct gpu_engine *gpu = calloc(1, sizeof *gpu + options->buffers * sizeof gpu->slots[0]);
    if (!gpu) {
        reason_set(why, "out of memory");
        return NULL;
    }
    gpu->engine.ops = &gpu_ops;
    gpu->histogram = histogram;
    gpu->options = *options;
    if (!options->strategy)
        gpu->options.strategy = strategy_best(histogram);
    struct device_plan plan = {
        .ordinal = options->ordinal,
        .visible = options->visible,
        .strategy = (enum strategy_id)(gpu->options.strategy - strategies),
        .histogram = histogram,
        .slots = options->buffers,
        .slot_size = data_size(histogram, options->chunk_size),
        .timing = options->timing,
    };
    gpu->device = device_open(&plan, why);
    if (!gpu->device) {
        free(gpu);
        return NULL;
    }
    pthread_mutex_init(&gpu->lock, NULL);
    if (open_slots(gpu, why) != 0) {
        gpu_close(&gpu->engine);
        return NULL;
    }
    return &gpu->engine;
}

const char *gpu_engine_device(struct engine *engine)
{
    return device_name(gpu_of(engine)->device);
}

const char *gpu_engine_strategy(struct engine *engine)
{
    return gpu_of(engine)->options.strategy->name;
}

bool gpu_engine_failed(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    bool failed = gpu->failed;
    pthread_mutex_unlock(&gpu->lock);
    return failed;
}

struct gpu_times gpu_engine_times(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    struct gpu_times times = gpu->times;
    pthread_mutex_unlock(&gpu->lock);
    return times;
}
