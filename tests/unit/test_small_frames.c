/* SPDX-License-Identifier: MIT */
/* Very many zstd frames of a few bytes, of kinds that take turns: what must be decoded in order,
 * and what need not be. They give what their content gives as it is, and batches are not made of a
 * few bytes each: what that would cost is not in proportion to what is read, as a batch takes a
 * buffer.
 */
#include "src/input/input.h"
#include "tests/helpers/compressed.h"
#include "tests/helpers/layouts.h"
#include "tests/helpers/random.h"
#include "tests/helpers/readers.h"
#include "src/tally/histogram_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONTENT_SIZE ((size_t)1 << 18)
#define PACKED_MAX ((size_t)8 << 20)
#define KINDS_MAX 4

/* Batches of which a FILE may consist: some for each buffer that is read of it, and some more. */
#define BATCHES_MAX(packed) (8 + 4 * ((packed) / FRAMES_SIZE_FIRST))

/* A frame: a frame, unless it is skippable, and the bytes of content that it takes. */
struct frame_kind {
    bool is_skippable;
    struct frame_shape shape;
    size_t len;
};

#define SIZED(bytes)                                                                               \
    {                                                                                              \
        .shape.sized = true, .len = (bytes)                                                        \
    }
#define UNSIZED(log)                                                                               \
    {                                                                                              \
        .shape.window_log = (log), .len = 8                                                        \
    }
#define SKIPPABLE                                                                                  \
    {                                                                                              \
        .is_skippable = true                                                                       \
    }

/* Kinds that follow each other, again and again. */
static const struct mix {
    const char *name;
    size_t count;
    struct frame_kind kinds[KINDS_MAX];
} mixes[] = {
    {"sized", 1, {SIZED(8)}},
    {"unsized", 1, {UNSIZED(20)}},
    {"unsized, skippable", 2, {UNSIZED(20), SKIPPABLE}},
    {"skippable, unsized", 2, {SKIPPABLE, UNSIZED(20)}},
    {"sized, unsized", 2, {SIZED(8), UNSIZED(20)}},
    {"sized, large window", 2, {SIZED(8), UNSIZED(24)}},
    {"small window, larger content", 2, {UNSIZED(10), SIZED(1500)}},
    {"windows that grow", 4, {UNSIZED(10), UNSIZED(15), UNSIZED(20), UNSIZED(24)}},
    {"windows that shrink", 4, {UNSIZED(24), UNSIZED(20), SKIPPABLE, UNSIZED(10)}},
};

struct file {
    int fd;
    char name[32];
};

static unsigned char content[CONTENT_SIZE], packed[PACKED_MAX];
static unsigned long cases, wrong;

/* --- batches are counted: the program is linked so that frames_acquire comes here --- */

static unsigned long batches;

int __real_frames_acquire(struct frames *frames, const struct frames_ahead *ahead,
                          struct frame_batch *batch);
int __wrap_frames_acquire(struct frames *frames, const struct frames_ahead *ahead,
                          struct frame_batch *batch);

int __wrap_frames_acquire(struct frames *frames, const struct frames_ahead *ahead,
                          struct frame_batch *batch)
{
    batches++;
    return __real_frames_acquire(frames, ahead, batch);
}

/* --- FILEs --- */

/* Numbers of seven digits, one a line, so that frames end anywhere in the samples of all modes. */
static void fill_content(void)
{
    for (size_t at = 0; at < CONTENT_SIZE; at += 8) {
        unsigned number = random_below(10000000);
        for (size_t i = 0; i < 7; i++, number /= 10)
            content[at + i] = (unsigned char)('0' + number % 10);
        content[at + 7] = '\n';
    }
}

static size_t pack(const struct mix *mix, size_t first)
{
    size_t len = 0, at = 0;
    for (size_t i = 0; at < CONTENT_SIZE; i++) {
        const struct frame_kind *kind = &mix->kinds[i % mix->count];
        size_t taken = i == 0 ? first : kind->len;
        taken = taken < CONTENT_SIZE - at ? taken : CONTENT_SIZE - at;
        if (len > PACKED_MAX - COMPRESSED_MAX(taken))
            abort();
        if (kind->is_skippable)
            len += skippable_put(packed + len, 4);
        else
            len += frame_put(packed + len, &kind->shape, content + at, taken);
        at += kind->is_skippable ? 0 : taken;
    }
    return len;
}

/* Makes `file` a FILE with the bytes, in memory. */
static void make_file(struct file *file, const unsigned char *data, size_t len)
{
    file->fd = memfd_create("units", MFD_CLOEXEC);
    if (file->fd < 0 || write(file->fd, data, len) != (ssize_t)len)
        abort();
    snprintf(file->name, sizeof file->name, "/dev/fd/%d", file->fd);
}

/* --- reading them --- */

/* Reads a FILE to the tally, which is opened. */
static void read_file(struct file *file, const struct histogram_spec *spec, unsigned readers,
                      struct tally *tally)
{
    const struct count_plan plan = count_plan(cpu_kernels_find(NULL), spec);
    const struct record_kind kind = record_kind_of_all(spec);
    struct reading reading = {.plan = &plan, .chunk_size = 65520, .readers = readers};
    char *operand = file->name;
    struct source *source = source_open(
        &operand, 1,
        &(struct input_options){.decoding.memlimit = (uint64_t)1 << 27, .record = kind});
    if (!source || tally_open(&reading.tally, spec) != 0)
        abort();
    if (readers_read(source, &reading) != 0) {
        fprintf(stderr, "FAIL: %s\n", source_error(source));
        wrong++;
    }
    source_close(source);
    *tally = reading.tally;
}

static bool same_tallies(const struct tally *one, const struct tally *other)
{
    return one->samples == other->samples && one->bytes == other->bytes &&
           one->newlines == other->newlines &&
           memcmp(one->counts, other->counts, one->bins * sizeof one->counts[0]) == 0;
}

static void check(const struct mix *mix, const char *mode, const struct histogram_spec *spec,
                  const struct tally *due)
{
    for (unsigned readers = 1; readers <= 3; readers += 2) {
        /* The first frame has another size, so that the others cut values. */
        const size_t len = pack(mix, readers);
        struct tally tally;
        batches = 0;
        struct file file;
        make_file(&file, packed, len);
        read_file(&file, spec, readers, &tally);
        cases++;
        if (!same_tallies(&tally, due) || batches > BATCHES_MAX(len)) {
            wrong++;
            fprintf(stderr, "FAIL: %s, %s, %u readers: counts are %s; %lu batches, at most %zu\n",
                    mode, mix->name, readers, same_tallies(&tally, due) ? "right" : "wrong",
                    batches, (size_t)BATCHES_MAX(len));
        }
        tally_close(&tally);
        close(file.fd);
    }
}

static void check_mode(const char *mode, const struct histogram_spec *spec)
{
    struct tally due;
    struct file plain;
    make_file(&plain, content, CONTENT_SIZE);
    read_file(&plain, spec, 1, &due);
    if (due.bytes != CONTENT_SIZE || due.samples == 0)
        abort();
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++)
        check(&mixes[i], mode, spec, &due);
    tally_close(&due);
    close(plain.fd);
}

int main(void)
{
    static struct histogram_spec spec;
    const struct double_layout doubles = {.min = 0, .max = 1e7, .bins = 10};
    const struct whole_layout wholes = {.min = 1000, .max = 60000, .bins = 20};
    struct binning binning;
    fill_content();
    histogram_spec_bytes(&spec);
    check_mode("bytes", &spec);
    histogram_spec_pairs(&spec, false);
    check_mode("pairs", &spec);
    histogram_spec_characters(&spec);
    check_mode("characters", &spec);
    if (layout_whole(&wholes, &binning) != BINNING_OK)
        abort();
    histogram_spec_values(&spec, value_type_find("u16"), &binning);
    check_mode("values", &spec);
    if (layout_double(&doubles, false, &binning) != BINNING_OK)
        abort();
    histogram_spec_numbers(&spec, &binning);
    check_mode("numbers", &spec);
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}
