/* SPDX-License-Identifier: MIT */
/* Slots and readers near their GPU, on a machine that seems to have two nodes: two processors, and
 * a tree that says which GPU is near which one. */
#include "gpu/calls.h"
#include "gpu/gpu_group.h"
#include "gpu/strategy.h"
#include "src/cpu/count.h"
#include "src/pool/pool.h"
#include "tests/device/emulated_device.h"
#include "tests/helpers/samples.h"
#include "tests/helpers/scale.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#define CHUNK 4096
#define BUFFERS 3
#define DATA_SIZE (100 * CHUNK)
#define PIECES_MOST 20000 /* of a pipe, of a chunk each, before a GPU is taken to be missing */

static unsigned cases, wrong, runs;
static char root[] = "test_near-XXXXXX";
static unsigned char data[DATA_SIZE];
static cpu_set_t both, only[2];                  /* the processors, and each by itself */
static cpu_set_t near_gpu[2];                    /* where memory of each GPU is to be pinned */
static const cpu_set_t *fed_from, *counted_from; /* where that is to be done; NULL: anywhere */
static atomic_uint pinned, fed, counted, misplaced;

static void check(const char *what, bool holds)
{
    cases++;
    if (holds)
        return;
    wrong++;
    printf("FAIL: %s\n", what);
}

static void die(const char *what)
{
    perror(what);
    exit(99);
}

static void run_on(const cpu_set_t *set)
{
    if (sched_setaffinity(0, sizeof *set, set) != 0)
        die("sched_setaffinity");
}

static bool runs_on(const cpu_set_t *expected)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_EQUAL(&set, expected);
}

/* --- what the engines do, and where --- */

int __real_calls_pin(struct calls *calls, void *memory, size_t size);
int __wrap_calls_pin(struct calls *calls, void *memory, size_t size);
int __real_calls_copy_in(struct calls *calls, unsigned slot, const void *from, size_t len);
int __wrap_calls_copy_in(struct calls *calls, unsigned slot, const void *from, size_t len);
int __real_device_copy_in(struct device *device, unsigned slot, const void *from, size_t len);
int __wrap_device_copy_in(struct device *device, unsigned slot, const void *from, size_t len);

static bool is_near(const char *address)
{
    return runs_on(&near_gpu[strcmp(address, "FFFF:01:00.0") == 0]);
}

/* Who has memory pinned has touched it before. */
int __wrap_calls_pin(struct calls *calls, void *memory, size_t size)
{
    pinned++;
    misplaced += !is_near(calls_pci_address(calls));
    return __real_calls_pin(calls, memory, size);
}

int __wrap_calls_copy_in(struct calls *calls, unsigned slot, const void *from, size_t len)
{
    fed++;
    misplaced += fed_from && !runs_on(fed_from);
    return __real_calls_copy_in(calls, slot, from, len);
}

/* The thread that calls the device. */
int __wrap_device_copy_in(struct device *device, unsigned slot, const void *from, size_t len)
{
    misplaced += !is_near(device_pci_address(device));
    return __real_device_copy_in(device, slot, from, len);
}

static void count_bytes(const unsigned char *bytes, size_t len, uint64_t *counts)
{
    counted++;
    misplaced += counted_from && !runs_on(counted_from);
    counter_portable.count_bytes(bytes, len, counts);
}

static void expect_places(const cpu_set_t *gpu_0, const cpu_set_t *gpu_1, const cpu_set_t *feeding,
                          const cpu_set_t *counting)
{
    near_gpu[0] = *gpu_0;
    near_gpu[1] = *gpu_1;
    fed_from = feeding;
    counted_from = counting;
    pinned = fed = counted = misplaced = 0;
}

/* --- the machine --- */

static void put(unsigned gpu, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/ffff:%02x:00.0/%s", root, gpu, name);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) == EOF || fclose(file) != 0)
        die(path);
}

/* Has the GPU near one of the two processors, 0 or 1; -1: near none. */
static void place_gpu(unsigned gpu, int node)
{
    char text[32] = "\n";
    for (int i = 0; node >= 0 && i < CPU_SETSIZE; i++)
        if (CPU_ISSET((unsigned)i, &only[node]))
            snprintf(text, sizeof text, "%d\n", i);
    put(gpu, "local_cpulist", text);
    put(gpu, "numa_node", node < 0 ? "-1\n" : node == 0 ? "0\n" : "1\n");
}

static void make_file(char *name, const unsigned char *bytes, size_t len)
{
    int fd = mkstemp(name);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        die(name);
    close(fd);
}

static void clear_root(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        die(command);
}

/* Leaves this process two processors. Whether there are as many. */
static bool take_two(void)
{
    cpu_set_t all;
    unsigned found = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    for (unsigned i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &both);
            CPU_SET(i, &only[found++]);
        }
    return found == 2 && sched_setaffinity(0, sizeof both, &both) == 0;
}

/* --- a group --- */

static struct engine *open_group(const struct histogram *histogram, unsigned gpus)
{
    const struct gpu_options options = {
        .strategy = strategy_find("vectorized"), /* quickly emulated */
        .chunk_size = CHUNK,
        .buffers = BUFFERS,
        .deadline_ms = 60000,
        .root = root,
    };
    struct gpu_list list = {.count = gpus};
    struct reason why;
    for (unsigned i = 0; i < gpus; i++)
        list.gpu[i] = (struct visible){.asked = (int)i, .ordinal = (int)i};
    emulated_device_plan((struct fault_plan){.devices = gpus});
    struct engine *group = gpu_group_open(histogram, &options, &list, true, &why);
    if (!group) {
        printf("%s\n", why.text);
        exit(1);
    }
    return group;
}

/* Takes all slots of two GPUs by a thread on that processor, and gives them back. How many of the
 * first BUFFERS and of the others are the first GPU's. */
static void take_all(struct engine *group, int processor, int share[2])
{
    struct chunk *chunk[2 * BUFFERS];
    run_on(&only[processor]);
    share[0] = share[1] = 0;
    for (unsigned i = 0; i < 2 * BUFFERS; i++) {
        chunk[i] = engine_acquire(group, i % 2); /* waiting, and not */
        if (!chunk[i])
            die("no slot");
        share[i / BUFFERS] += chunk[i]->engine == gpu_group_member(group, 0);
    }
    check("no more slots", !engine_acquire(group, false));
    for (unsigned i = 0; i < 2 * BUFFERS; i++)
        engine_submit(chunk[i]); /* empty */
    run_on(&both);
}

static void check_two_gpus(const struct histogram *histogram)
{
    int share[2];
    place_gpu(0, 0);
    place_gpu(1, 1);
    expect_places(&only[0], &only[1], NULL, NULL);
    struct engine *group = open_group(histogram, 2);
    check("slots near each", pinned == 2 && misplaced == 0);
    check("the opening thread is as before", runs_on(&both));
    check("together they are near all", !gpu_group_near(group)->is_known);
    for (int round = 0; round < 4; round++) {
        take_all(group, 0, share);
        check("near the first GPU", share[0] == BUFFERS && share[1] == 0);
        take_all(group, 1, share);
        check("near the second GPU", share[0] == 0 && share[1] == BUFFERS);
    }
    engine_close(group);
}

static void check_other_places(const struct histogram *histogram)
{
    int share[2];
    place_gpu(0, -1);
    place_gpu(1, -1);
    expect_places(&both, &both, NULL, NULL);
    struct engine *group = open_group(histogram, 2);
    check("no nodes: slots anywhere", pinned == 2 && misplaced == 0);
    take_all(group, 0, share);
    check("no nodes: by turns", share[0] > 0 && share[0] < BUFFERS && share[1] > 0);
    engine_close(group);

    place_gpu(1, 1);
    expect_places(&both, &only[1], NULL, NULL);
    group = open_group(histogram, 2);
    check("one is known: slots", pinned == 2 && misplaced == 0);
    check("one is known: readers", !gpu_group_near(group)->is_known);
    take_all(group, 1, share);
    check("one is known: near it", share[0] == 0 && share[1] == BUFFERS);
    engine_close(group);

    place_gpu(0, 1);
    expect_places(&only[1], &only[1], NULL, NULL);
    group = open_group(histogram, 2);
    check("one node has both", pinned == 2 && misplaced == 0 && gpu_group_near(group)->is_known &&
                                   CPU_EQUAL(&gpu_group_near(group)->near, &only[1]));
    take_all(group, 1, share);
    check("one node has both: by turns", share[0] > 0 && share[0] < BUFFERS && share[1] > 0);
    engine_close(group);
}

/* --- a run --- */

struct feed {
    int fd;
    uint64_t bytes;
};

/* Writes chunks to a pipe until a GPU was fed some of them. */
static void *feed_pipe(void *arg)
{
    struct feed *feed = arg;
    for (unsigned i = 0; i < PIECES_MOST && (i < 100 || fed < 20); i++) {
        if (write(feed->fd, data, CHUNK) != CHUNK)
            die("write");
        feed->bytes += CHUNK;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    close(feed->fd);
    return NULL;
}

/* Counts FILEs by so many workers. Those that are compressed lack their first chunk, so that it is
 * the readers who decompress them. */
static void run(const struct histogram *histogram, enum device_choice device, unsigned threads,
                char *const *operands, size_t count, struct tally *tally,
                struct pool_outcome *outcome)
{
    struct counter counter = counter_portable;
    struct reason why = {""};
    counter.count_bytes = count_bytes;
    emulated_device_plan((struct fault_plan){.devices = 1});
    const struct pool_options options = {
        .device = device,
        .gpus = {.count = 1, .gpu = {{0}}},
        .strategy = strategy_find("vectorized"),
        .counter = &counter,
        .chunk_size = CHUNK,
        .threads = threads,
        .tuning = {.deadline_ms = 20000, .root = root},
    };
    const struct input_options input = {
        .record_size = 1, .decoding.memlimit = 1 << 27, .content.skip = count == 1 ? CHUNK : 0};
    struct source *source = source_open(operands, count, &input);
    memset(tally->counts, 0, 256 * sizeof tally->counts[0]);
    check(why.text, pool_run(&options, histogram, source, tally, outcome, &why) == 0);
    check("this thread is as before", runs_on(&both));
    source_close(source);
    runs++;
}

/* Counts a pipe and then a file. */
static void run_both(const struct histogram *histogram, enum device_choice device, unsigned threads,
                     char *file)
{
    int ends[2];
    pthread_t feeder;
    char name[32];
    uint64_t counts[256], expected[256] = {0};
    struct tally tally = {.bins = 256, .counts = counts};
    struct pool_outcome outcome;
    if (pipe(ends) != 0)
        die("pipe");
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    struct feed feed = {.fd = ends[1]};
    if (pthread_create(&feeder, NULL, feed_pipe, &feed) != 0)
        die("pthread_create");
    run(histogram, device, threads, (char *[]){name, file}, 2, &tally, &outcome);
    pthread_join(feeder, NULL);
    close(ends[0]);
    for (uint64_t at = 0; at < feed.bytes; at += CHUNK)
        samples_count(histogram, data, CHUNK, expected);
    samples_count(histogram, data, DATA_SIZE, expected);
    check("counts", memcmp(counts, expected, sizeof counts) == 0);
    check("a GPU was fed", outcome.gpu_bytes > 0 && fed > 0);
    check("the CPU counted, or should not", (outcome.cpu_bytes > 0) == (device == DEVICE_AUTO));
}

/* Readers that decompress stay anywhere, but their slots are near. */
static void check_decoded(const struct histogram *histogram, char *file)
{
    uint64_t counts[256], expected[256] = {0};
    struct tally tally = {.bins = 256, .counts = counts};
    struct pool_outcome outcome;
    samples_count(histogram, data + CHUNK, DATA_SIZE - CHUNK, expected);
    for (unsigned threads = 1; threads <= 2; threads++) {
        place_gpu(0, 1);
        expect_places(&only[1], &only[1], &both, NULL);
        run(histogram, DEVICE_GPU, threads, &file, 1, &tally, &outcome);
        check("decoded: counts", memcmp(counts, expected, sizeof counts) == 0);
        check("decoded: readers in their places", pinned > 0 && fed > 0 && misplaced == 0);
    }
}

static void check_runs(const struct histogram *histogram, char *file)
{
    for (unsigned threads = 1; threads <= 4; threads += scale_is_slow() ? 3 : 1) {
        place_gpu(0, (int)threads % 2);
        const cpu_set_t *near = &only[threads % 2];
        expect_places(near, near, near, &both);
        run_both(histogram, DEVICE_AUTO, threads, file);
        check("auto: readers in their places", counted > 0 && misplaced == 0);
        expect_places(near, near, near, NULL);
        run_both(histogram, DEVICE_GPU, threads, file);
        check("a GPU only: readers in their places", misplaced == 0);
        place_gpu(0, -1);
        expect_places(&both, &both, &both, &both);
        run_both(histogram, DEVICE_AUTO, threads, file);
        check("no nodes: readers anywhere", misplaced == 0);
    }
}

int main(void)
{
    static struct histogram histogram; /* what is lost or late may outlive the run */
    char file[] = "test_near-XXXXXX", compressed[] = "test_near-XXXXXX";
    static unsigned char frame[DATA_SIZE + DATA_SIZE / 2];
    if (!take_two()) {
        printf("skipped: there is one processor only\n");
        return 77;
    }
    samples_fill(SAMPLES_UNIFORM, data, sizeof data);
    if (!mkdtemp(root))
        die(root);
    make_file(file, data, DATA_SIZE);
    make_file(compressed, frame, ZSTD_compress(frame, sizeof frame, data, DATA_SIZE, 1));
    histogram_bytes(&histogram);
    check_two_gpus(&histogram);
    check_other_places(&histogram);
    check_runs(&histogram, file);
    check_decoded(&histogram, compressed);
    check("devices are closed, but those of runs", emulated_devices_open() == runs);
    unlink(file);
    unlink(compressed);
    clear_root();
    printf("%u cases, %u wrong\n", cases, wrong);
    fflush(stdout);
    _exit(wrong != 0); /* a pool with a GPU is never freed: no leak check */
}
