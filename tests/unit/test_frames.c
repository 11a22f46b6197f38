/* SPDX-License-Identifier: MIT */
/* Text and values in FILEs, cut into chunks of every size, and into frames wherever that can be:
 * records that are cut are put together, lines are counted, and what is wrong is refused, as a
 * naive loop over the content has it. `test_frames all` cuts a text at every pair of bytes, which
 * takes minutes; otherwise it takes a sample of these. */
#include "src/schedule/schedule.h"
#include "tests/helpers/compressed.h"
#include "tests/helpers/layouts.h"
#include "tests/helpers/random.h"
#include "tests/helpers/readers.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/texts.h"
#include "tests/helpers/values.h"
#include "src/input/input.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES_MAX 4
#define PACKED_MAX ((size_t)4 << 20)
#define TEXT_SIZE 2048 /* bytes of the text that is cut everywhere */

/* Of a FILE: what it holds, and what that gives. */
struct content {
    struct text bytes;
    struct text_expectation expected;
    size_t over; /* bytes of a value that is not whole, at the end */
};

/* How a FILE comes. */
enum form {
    FORM_PLAIN,
    FORM_GZIP,
    FORM_BGZF,  /* gzip members that state their size, one of which may not; or zero bytes follow */
    FORM_SIZED, /* zstd frames that state the size of their content */
    FORM_UNSIZED, /* those that do not */
    FORM_LARGE,   /* whose window is too large for them to be decoded side by side */
    FORM_MIXED,   /* of all kinds, some of them empty or skippable */
    FORMS,
};

struct file {
    int fd; /* a file in memory */
    size_t len;
    char name[32];
    int pipe; /* where the same bytes come instead, all at once; or -1 */
    char pipe_name[32];
};

/* How FILEs are read. */
struct way {
    size_t files, chunk_size, batch_size;
    unsigned readers;
    bool by_pool; /* in threads; otherwise by turns */
    enum invalid_choice invalid;
};

static struct content contents[FILES_MAX];
static struct file files[FILES_MAX];
static unsigned char packed[PACKED_MAX];
static struct histogram_spec spec;
static struct count_plan plan;
static struct reading reading;
static size_t record_size; /* 0: tokens */
static unsigned long cases, wrong;
static struct error said; /* by the last run; "": it was not refused */

/* --- what is counted --- */

static void take_spec(size_t size)
{
    record_size = size;
    plan = count_plan(cpu_kernels_find(NULL), &spec);
    tally_close(&reading.tally);
    if (spec.bins > TEXT_ROWS_MAX || tally_open(&reading.tally, &spec) != 0)
        abort();
    reading.plan = &plan;
}

static void count_numbers(void)
{
    struct binning binning;
    if (layout_double(&(struct double_layout){.min = 0, .max = 100, .bins = 10}, false, &binning) !=
        0)
        abort();
    histogram_spec_numbers(&spec, &binning);
    take_spec(0);
}

static void count_values(const char *name)
{
    const struct value_type *type = value_type_find(name);
    struct binning binning;
    enum binning_error error =
        type->kind == 'f'
            ? layout_double(&(struct double_layout){.min = -5, .max = 5, .bins = 9}, false,
                            &binning)
            : layout_whole(&(struct whole_layout){.min = 100, .max = 50000, .bins = 20}, &binning);
    if (error != BINNING_OK)
        abort();
    histogram_spec_values(&spec, type, &binning);
    take_spec(type->size);
}

/* What the content gives. */
static void work_out(struct content *content)
{
    const struct text *bytes = &content->bytes;
    content->expected = (struct text_expectation){.samples = 0};
    content->over = 0;
    if (record_size == 0) {
        text_expect(bytes, &spec.binning, &content->expected);
        return;
    }
    content->over = bytes->len % record_size;
    content->expected.samples = bytes->len / record_size;
    for (size_t i = 0; i < content->expected.samples; i++)
        content->expected.counts[value_row(&spec, bytes->data, i)]++;
}

static void fill_values(struct content *content, size_t len)
{
    const struct value_type *type = &spec.type;
    content->bytes.len = len;
    for (size_t i = 0; i <= len / type->size; i++) {
        double value = 12 * random_fraction() - 6;
        value_put(type, content->bytes.data, i,
                  type->kind == 'f' ? value_bits(type, value) : random_below(60000));
    }
    work_out(content);
}

/* --- FILEs --- */

static void write_packed(struct file *file, size_t len)
{
    file->len = len;
    if (ftruncate(file->fd, 0) != 0 || pwrite(file->fd, packed, len, 0) != (ssize_t)len)
        abort();
}

static void open_files(void)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        files[i].fd = memfd_create("frames", MFD_CLOEXEC);
        files[i].pipe = -1;
        if (files[i].fd < 0)
            abort();
        snprintf(files[i].name, sizeof files[i].name, "/dev/fd/%d", files[i].fd);
    }
}

static struct frame_shape draw_shape(enum form form)
{
    struct frame_shape shape = {.sized = form == FORM_SIZED || random_below(2)};
    if (form == FORM_UNSIZED)
        shape.sized = false;
    if (random_below(2))
        shape.window_log = 10 + random_below(12);
    if (form == FORM_LARGE || (form == FORM_MIXED && random_below(3) == 0)) {
        shape.window_log = 24 + random_below(2);
        shape.sized = false; /* a frame that is known to be short needs little memory */
    }
    if (random_below(2))
        shape.block = 1 + random_below(1000);
    return shape;
}

static size_t put_member(unsigned char *out, enum form form, const unsigned char *data, size_t len)
{
    if (form == FORM_GZIP || len > BGZF_CONTENT_MAX || random_below(30) == 0)
        return member_put(out, data, len);
    return bgzf_put(out, data, len, 0);
}

static size_t put_extras(unsigned char *out, enum form form)
{
    if (form == FORM_BGZF)
        return random_below(4) ? 0 : bgzf_put(out, NULL, 0, 0);
    const struct frame_shape empty = draw_shape(form);
    switch (form == FORM_MIXED ? random_below(8) : 8) {
    case 0:
        return skippable_put(out, random_below(20));
    case 1:
        return frame_put(out, &empty, NULL, 0);
    default:
        return 0;
    }
}

/* Makes the FILE of the content: the frames are cut at cuts[0..count), which ascend. */
static void pack(size_t i, enum form form, const size_t *cuts, size_t count)
{
    const struct text *bytes = &contents[i].bytes;
    size_t at = 0, len = 0;
    for (size_t k = 0; k <= count; k++) {
        size_t end = k < count ? cuts[k] : bytes->len;
        const struct frame_shape shape = draw_shape(form);
        if (len + 100 + COMPRESSED_MAX(end - at) + 3 * (end - at) > PACKED_MAX)
            abort();
        len += put_extras(packed + len, form);
        if (form == FORM_PLAIN) {
            memcpy(packed + len, bytes->data + at, end - at);
            len += end - at;
        } else if (form == FORM_GZIP || form == FORM_BGZF) {
            len += put_member(packed + len, form, bytes->data + at, end - at);
        } else {
            len += frame_put(packed + len, &shape, bytes->data + at, end - at);
        }
        at = end;
    }
    len += put_extras(packed + len, form);
    if (form == FORM_BGZF && random_below(4) == 0) {
        memset(packed + len, 0, 40);
        len += 40;
    }
    write_packed(&files[i], len);
}

/* The same, cut at about so many places. */
static void pack_at_random(size_t i, enum form form, size_t count)
{
    static size_t cuts[TEXT_MAX];
    size_t len = contents[i].bytes.len, made = 0;
    for (size_t at = 0; count > 0 && made < TEXT_MAX;) {
        at += random_below((unsigned)(2 * len / count + 2));
        if (at > len)
            break;
        cuts[made++] = at;
    }
    pack(i, form, cuts, made);
}

/* --- one case --- */

static void complain(const struct way *way, const char *what, const char *more)
{
    if (wrong++ < 20)
        fprintf(stderr,
                "FAIL: case %lu: %s (%s): %zu FILEs, the first of %zu bytes, records of %zu, "
                "%u readers, chunks of %zu, batches of %zu, %s\n",
                cases, what, more, way->files, contents[0].bytes.len, record_size, way->readers,
                way->chunk_size, way->batch_size, way->by_pool ? "threads" : "by turns");
}

static const char *name_of(const struct file *file)
{
    return file->pipe >= 0 ? file->pipe_name : file->name;
}

/* Whether the message tells that one of the FILEs ends inside a value, if one does. */
static bool tells_of_end(const struct way *way, const char *message)
{
    char expected[128];
    for (size_t i = 0; i < way->files; i++) {
        snprintf(expected, sizeof expected, "%s: ends inside a value, after %zu of its %zu bytes",
                 name_of(&files[i]), contents[i].over, record_size);
        if (contents[i].over > 0 && strcmp(message, expected) == 0)
            return true;
    }
    return false;
}

static void judge_counts(const struct way *way, const struct tally *tally, const char *invalid,
                         const struct text_expectation *expected, size_t bytes)
{
    if (tally->samples != expected->samples || tally->newlines != expected->newlines ||
        memcmp(tally->counts, expected->counts, tally->bins * sizeof tally->counts[0]) != 0)
        complain(way, "wrong counts", "");
    else if (tally->bytes != bytes)
        complain(way, "wrong bytes", "");
    else if (strcmp(invalid, way->invalid == INVALID_SKIP ? "" : expected->invalid) != 0)
        complain(way, "wrong message", invalid);
}

/* `why` is NULL if nothing was refused. */
static void judge(const struct way *way, const struct tally *tally, const char *invalid,
                  const char *why)
{
    struct text_expectation all = {.samples = 0};
    size_t bytes = 0, over = 0;
    for (size_t i = 0; i < way->files; i++) {
        const struct text_expectation *expected = &contents[i].expected;
        for (size_t row = 0; row < TEXT_ROWS_MAX; row++)
            all.counts[row] += expected->counts[row];
        all.samples += expected->samples;
        all.newlines += expected->newlines;
        bytes += contents[i].bytes.len;
        over += contents[i].over;
        if (!all.invalid[0] && expected->invalid[0])
            snprintf(all.invalid, sizeof all.invalid, "%s: %.270s", name_of(&files[i]),
                     expected->invalid);
    }
    bool refused = over > 0 || (way->invalid == INVALID_ERROR && all.invalid[0]);
    if (refused != (why != NULL))
        complain(way, refused ? "not refused" : "refused", refused ? "" : why);
    else if (over > 0 && !tells_of_end(way, why))
        complain(way, "wrong reason", why);
    else if (refused && over == 0 && strcmp(why, all.invalid) != 0)
        complain(way, "wrong first token", why);
    else if (!refused)
        judge_counts(way, tally, invalid, &all, bytes);
}

static struct source *open_source(const struct way *way, char **operands)
{
    struct source *source =
        source_open(operands, way->files,
                    &(struct input_options){.decoding.memlimit = 1 << 27,
                                            .record = record_size > 0 ? record_values(record_size)
                                                                      : record_tokens,
                                            .batch_size = way->batch_size});
    if (!source)
        abort();
    return source;
}

/* Whether a message has one of the faults, which "|" separates. */
static bool is_among(const char *message, const char *faults)
{
    char copy[128], *rest = copy;
    snprintf(copy, sizeof copy, "%s", faults);
    for (const char *fault; (fault = strsep(&rest, "|"));)
        if (strstr(message, fault))
            return true;
    return false;
}

/* By turns, on this thread. Whether it was refused for `fault`, if that is not NULL; otherwise it
 * is judged. */
static bool read_by_turns(const struct way *way, const char *fault)
{
    char *operands[FILES_MAX];
    bool is_text = record_size == 0, found = false;
    for (size_t i = 0; i < way->files; i++)
        operands[i] = (char *)name_of(&files[i]);
    struct source *source = open_source(way, operands);
    struct error invalid = {""};
    struct tally *tally = &reading.tally;
    memset(tally->counts, 0, tally->bins * sizeof tally->counts[0]);
    tally->samples = tally->bytes = tally->newlines = 0;
    reading.chunk_size = way->chunk_size;
    reading.readers = way->readers;
    reading.fill = random_below(2);
    reading.locator =
        is_text ? error_locator_open(&spec, way->files, way->readers, way->readers) : NULL;
    int rc = readers_read(source, &reading);
    error_set(&said, "%s", rc != 0 ? source_error(source) : "");
    if (is_text)
        error_locator_first(reading.locator, &invalid);
    if (fault && rc != 0)
        found = is_among(source_error(source), fault);
    else if (!fault)
        judge(way, tally, invalid.text, rc != 0 ? source_error(source) : NULL);
    error_locator_close(reading.locator);
    source_close(source);
    return found;
}

/* In threads. What a run that was refused used is left to its threads, which may still be there. */
static bool read_by_pool(const struct way *way, const char *fault)
{
    struct histogram_spec *own = malloc(sizeof *own);
    char **operands = calloc(FILES_MAX, sizeof *operands);
    struct tally tally;
    struct pool_outcome outcome;
    struct error error = {""};
    if (!own || !operands)
        abort();
    *own = spec;
    for (size_t i = 0; i < way->files; i++)
        operands[i] = strdup(name_of(&files[i]));
    struct source *source = open_source(way, operands);
    if (tally_open(&tally, own) != 0)
        abort();
    struct pool_options options = {.device = DEVICE_CPU,
                                   .chunk_size = way->chunk_size,
                                   .threads = way->readers,
                                   .invalid = way->invalid};
    int rc = pool_run(&options, &(struct pool_task){own, source, &tally}, &outcome, &error);
    error_set(&said, "%s", rc != 0 ? error.text : "");
    bool found = fault && rc != 0 && is_among(error.text, fault);
    if (!fault)
        judge(way, &tally, outcome.invalid.text, rc != 0 ? error.text : NULL);
    tally_close(&tally);
    if (rc != 0)
        return found;
    source_close(source);
    for (size_t i = 0; i < way->files; i++)
        free(operands[i]);
    free(operands);
    free(own);
    return found;
}

static bool read_files(const struct way *way, const char *fault)
{
    cases++;
    return way->by_pool ? read_by_pool(way, fault) : read_by_turns(way, fault);
}

/* --- ways --- */

/* Chunks of a byte take the longest: few cases have them. */
static size_t draw_chunk_size(size_t len)
{
    static const size_t sizes[] = {64, 7, 100, 1000, 4095, 4096, 4097, 8192, 8193, 65536};
    size_t max = len > 20000 ? 256 : 1;
    size_t size = random_below(64) == 0 ? 1 : sizes[random_below(sizeof sizes / sizeof sizes[0])];
    size = size < max ? max : size;
    if (record_size == 0)
        return size;
    return size < record_size ? record_size : size - size % record_size;
}

static struct way draw_way(size_t count)
{
    static const size_t batches[] = {1, 1, 1, 0, 20, 100, 700, 3000};
    return (struct way){.files = count,
                        .chunk_size = draw_chunk_size(contents[0].bytes.len),
                        .batch_size = batches[random_below(sizeof batches / sizeof batches[0])],
                        .readers = 1 + random_below(READERS_MAX),
                        .invalid = INVALID_COUNT};
}

/* Begins a case whose random numbers are its own, so that it can be had again. */
static void begin_case(void)
{
    random_seed(cases + 1);
}

static void read_packed(size_t count, bool by_pool)
{
    struct way way = draw_way(count);
    way.by_pool = by_pool;
    if (by_pool && record_size == 0 && random_below(4) == 0)
        way.invalid = INVALID_ERROR;
    read_files(&way, NULL);
}

/* --- FILEs as they are --- */

static int open_pipe(struct file *file)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        abort();
    (void)fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    file->pipe = ends[0];
    snprintf(file->pipe_name, sizeof file->pipe_name, "/dev/fd/%d", ends[0]);
    return ends[1];
}

static void write_pipe(int end, const unsigned char *data, size_t len)
{
    if (write(end, data, len) != (ssize_t)len)
        abort();
}

/* Puts all bytes of a FILE into a pipe, which is read instead. */
static void fill_pipe(struct file *file)
{
    static unsigned char bytes[PACKED_MAX];
    const int end = open_pipe(file);
    if (pread(file->fd, bytes, file->len, 0) != (ssize_t)file->len)
        abort();
    write_pipe(end, bytes, file->len);
    close(end);
}

/* Closes a pipe. A run that was refused keeps its own end, so the pipe stays; what it holds counts
 * against the user's limit, beyond which pipes become too small for fill_pipe. So it is made small.
 */
static void close_pipe(struct file *file)
{
    static char unread[1 << 16];
    (void)fcntl(file->pipe, F_SETFL, O_NONBLOCK);
    while (read(file->pipe, unread, sizeof unread) > 0)
        ;
    (void)fcntl(file->pipe, F_SETPIPE_SZ, 1);
    close(file->pipe);
    file->pipe = -1;
}

/* Reads FILEs that are not compressed, or that pipes hold. */
static void read_plain(const struct way *way, bool is_piped)
{
    for (size_t k = 0; k < way->files; k++) {
        work_out(&contents[k]);
        pack(k, FORM_PLAIN, NULL, 0);
        if (is_piped)
            fill_pipe(&files[k]);
    }
    read_files(way, NULL);
    for (size_t k = 0; is_piped && k < way->files; k++)
        close_pipe(&files[k]);
}

static void chunks_to(size_t count, size_t max)
{
    static const enum invalid_choice invalid[] = {INVALID_COUNT, INVALID_SKIP, INVALID_COUNT,
                                                  INVALID_ERROR};
    const size_t step = scale_is_slow() ? 67 : scale_is_small() ? 23 : 1;
    for (size_t size = 1; size <= max; size += size > 40 ? step : 1)
        for (unsigned piped = 0; piped < 2; piped++) {
            begin_case();
            read_plain(&(struct way){.files = count,
                                     .chunk_size = size,
                                     .readers = 1 + random_below(READERS_MAX),
                                     .by_pool = true,
                                     .invalid = invalid[random_below(4)]},
                       piped);
        }
}

static void every_chunk_size(void)
{
    struct text *text = &contents[0].bytes;
    count_numbers();
    text_fill(text, 1024, 600);
    chunks_to(1, 1100);
    text_fill(text, 1024, 0);
    chunks_to(1, 40);
    text_fill(text, 200000, 150000);
    for (unsigned i = 0; i < 20; i++) {
        begin_case();
        struct way way = draw_way(1);
        way.by_pool = true;
        read_plain(&way, i % 2);
    }
    text_fill(text, 500, 500);
    text_fill(&contents[1].bytes, 1, 1);
    text_fill(&contents[2].bytes, 700, 333);
    chunks_to(3, 100);
    contents[1].bytes.len = 0;
    chunks_to(3, 10);
    text->len = 0;
    text_append(text, " \n \n\n  \r\n", 9);
    chunks_to(2, 12);
    text_append(text,
                "1\0"
                "2 \0\0 3",
                9);
    chunks_to(1, 20);
}

/* --- every cut --- */

/* One of how many of the cases is taken, and one of how many of these in threads. */
struct sample {
    unsigned cuts, pool;
};

static const enum form frame_forms[] = {FORM_SIZED, FORM_UNSIZED, FORM_LARGE, FORM_MIXED,
#if HAVE_ISAL
                                        FORM_BGZF
#endif
};
#define FRAME_FORMS (sizeof frame_forms / sizeof frame_forms[0])

static void one_cut(size_t len, enum form form, size_t step, const struct sample *sample)
{
    step = scale_is_slow() ? 11 : step;
    for (size_t cut = form % step; cut <= len; cut += step) {
        begin_case();
        pack(0, form, &cut, 1);
        read_packed(1, random_below(sample->pool) == 0);
    }
}

static void two_cuts(size_t len, const struct sample *sample)
{
    unsigned number = 0;
    for (size_t first = 0; first <= len; first++)
        for (size_t second = first; second <= len; second++) {
            if ((number = (number * 1103515245 + 12345) & 0x7fffffff) >> 8 & 0xffff &&
                (number >> 8) % sample->cuts != 0)
                continue;
            begin_case();
            pack(0, frame_forms[(first + second) % FRAME_FORMS], (size_t[]){first, second}, 2);
            read_packed(1, random_below(sample->pool) == 0);
        }
}

static void every_cut(const struct sample *sample)
{
    struct text *text = &contents[0].bytes;
    count_numbers();
    static const size_t valid[] = {1200, 0, TEXT_SIZE + 100};
    for (size_t i = 0; i < 3; i++) {
        /* Where few are asked for, all cuts go with all forms once, and then with one of them. */
        const size_t step = i > 0 && scale_is_small() ? FRAME_FORMS : 1;
        text_fill(text, TEXT_SIZE, valid[i]);
        work_out(&contents[0]);
        for (size_t form = 0; form < FRAME_FORMS; form++)
            one_cut(TEXT_SIZE, frame_forms[form], step, sample);
    }
    text_fill(text, TEXT_SIZE, 1200);
    work_out(&contents[0]);
    two_cuts(TEXT_SIZE, sample);
}

/* --- cuts at random --- */

/* As many frames as bytes, and few of them. */
static void frames_of_all_sizes(size_t files_max, unsigned times, unsigned pool)
{
    for (unsigned i = 0; i < times; i++) {
        size_t count = 1 + random_below((unsigned)files_max);
        begin_case();
        for (size_t k = 0; k < count; k++) {
            size_t len = contents[k].bytes.len;
            enum form form = files_max > 1 ? random_below(FORMS) : frame_forms[i % FRAME_FORMS];
            size_t many = len > 3000 ? 300 : 2 * len;
#if !HAVE_ISAL
            form = form == FORM_GZIP || form == FORM_BGZF ? FORM_MIXED : form;
#endif
            pack_at_random(k, form, random_below(3) ? random_below(12) : many);
        }
        read_packed(count, random_below(pool) == 0);
    }
}

static void long_tokens(unsigned times, unsigned pool)
{
    static const size_t lens[] = {4095, 4096, 4097, 4098, 5000, 8191, 8192, 8193, 20000};
    static const char *const endings[] = {"", "\n", " 5\n6 abc", "\n\n9 \n"};
    struct text *text = &contents[0].bytes;
    for (size_t i = 0; i < 4 * sizeof lens / sizeof lens[0]; i++) {
        text->len = 0;
        if (i % 4 > 0)
            text_fill(text, i % 4 > 1 ? 5 : 4100, 5000);
        text_append_digits(text, lens[i / 4]);
        text_append(text, endings[i % 4], strlen(endings[i % 4]));
        if (i % 3 == 0) {
            text_append_digits(text, 4096 + i % 2);
            text_append(text, "\n1", i % 2);
        }
        for (unsigned piped = 0; piped < 4; piped++) {
            begin_case();
            struct way way = draw_way(1);
            way.by_pool = true;
            read_plain(&way, piped % 2);
        }
        frames_of_all_sizes(1, times, pool);
    }
    text->len = 0; /* a token that is cut where it becomes too long */
    text_append_digits(text, 12000);
    work_out(&contents[0]);
    for (size_t cut = 4080; cut < 4110; cut++) {
        begin_case();
        pack(0, FORM_SIZED, (size_t[]){cut - 4050, cut, 2 * cut}, 3);
        read_packed(1, random_below(pool) == 0);
    }
}

static void texts_of_all_kinds(unsigned times, unsigned pool)
{
    count_numbers();
    for (unsigned round = 0; round < 4; round++) {
        for (size_t i = 0; i < FILES_MAX; i++) {
            text_fill(&contents[i].bytes, 1 + random_below(700), round % 2 ? 5000 : 300 * i);
            if (round == 3 && i % 2)
                contents[i].bytes.len = 0;
            work_out(&contents[i]);
        }
        frames_of_all_sizes(1, times, pool);
        frames_of_all_sizes(FILES_MAX, 2 * times, pool);
    }
    struct text *text = &contents[0].bytes;
    text->len = 0;
    text_append(text, " \n \n\n  \r\n\n\n", 11);
    work_out(&contents[0]);
    frames_of_all_sizes(1, times, pool);
    text->len = 0;
    for (size_t i = 0; i < 300; i++)
        text_append(text, &"0123456789"[i % 10], 1);
    work_out(&contents[0]);
    frames_of_all_sizes(1, times, pool);
}

static void values_of_all_types(unsigned times, unsigned pool)
{
    static const char *const types[] = {"u16", "u32be", "u24", "f64"};
    for (size_t type = 0; type < 4; type++) {
        count_values(types[type]);
        for (size_t over = 0; over < record_size; over++) {
            size_t len = 90 * record_size + over;
            fill_values(&contents[0], len);
            for (size_t form = 0; form < FRAME_FORMS; form++)
                for (size_t cut = 0; cut <= len; cut += 1 + random_below(1000 / times)) {
                    begin_case();
                    pack(0, frame_forms[form], &cut, 1);
                    read_packed(1, over == 0 && random_below(pool) == 0);
                }
            /* Runs that are refused leave their memory: few of them in threads. */
            frames_of_all_sizes(1, times, over ? 50 * pool : pool);
            for (size_t i = 1; i < FILES_MAX; i++)
                fill_values(&contents[i], record_size * random_below(70));
            frames_of_all_sizes(FILES_MAX, times, over ? 50 * pool : pool);
        }
    }
}

/* --- what comes through pipes --- */

/* All bytes are in the pipe when reading begins. */
static void full_pipes(unsigned times)
{
    count_numbers();
    for (unsigned i = 0; i < times; i++) {
        begin_case();
        size_t count = 1 + random_below(FILES_MAX);
        for (size_t k = 0; k < count; k++) {
            text_fill(&contents[k].bytes, 1 + random_below(500), random_below(1000));
            work_out(&contents[k]);
            pack_at_random(k, frame_forms[random_below(FRAME_FORMS)], random_below(30));
            if (random_below(2))
                fill_pipe(&files[k]);
        }
        struct way way = draw_way(count);
        way.by_pool = i % 4 == 0;
        read_files(&way, NULL);
        for (size_t k = 0; k < count; k++)
            if (files[k].pipe >= 0)
                close_pipe(&files[k]);
    }
}

/* Writes packets, each when all before it were read; rarely one so late that a reader does not wait
 * for the rest of a frame. */
struct dribble {
    int end;
    size_t len, packet; /* bytes, and at most so many at a time */
    unsigned late;      /* 0: never; otherwise one packet of so many */
    unsigned char bytes[4 * TEXT_SIZE];
};

static void *dribble_thread(void *arg)
{
    struct dribble *dribble = arg;
    for (size_t at = 0, i = 1; at < dribble->len; i++) {
        int unread = 1;
        size_t left = dribble->len - at, packet = 1 + (i * 7919) % dribble->packet;
        packet = packet < left ? packet : left;
        while (ioctl(dribble->end, FIONREAD, &unread) == 0 && unread > 0)
            usleep(20);
        if (dribble->late && i % dribble->late == 0)
            usleep(70000);
        write_pipe(dribble->end, dribble->bytes + at, packet);
        at += packet;
    }
    close(dribble->end);
    return NULL;
}

static void dribbled(unsigned times, enum form form, unsigned late)
{
    static struct dribble dribble;
    for (unsigned i = 0; i < times; i++) {
        pthread_t thread;
        begin_case();
        if (i % 3 == 0) {
            count_values("u24");
            fill_values(&contents[0], 3 * random_below(500));
        } else {
            count_numbers();
            text_fill(&contents[0].bytes, 1 + random_below(1500), random_below(3000));
            work_out(&contents[0]);
        }
        pack_at_random(0, form, random_below(10));
        if (files[0].len > sizeof dribble.bytes)
            continue;
        dribble.end = open_pipe(&files[0]);
        dribble.len = files[0].len;
        dribble.packet = late ? 600 : 1 + random_below(300);
        dribble.late = late;
        if (pread(files[0].fd, dribble.bytes, dribble.len, 0) != (ssize_t)dribble.len ||
            pthread_create(&thread, NULL, dribble_thread, &dribble) != 0)
            abort();
        struct way way = draw_way(1);
        way.by_pool = true;
        read_files(&way, NULL);
        pthread_join(thread, NULL);
        close_pipe(&files[0]);
    }
}

/* --- frames that do not hold what they state --- */

static void misstated(unsigned times, unsigned pool)
{
    static const char *const types[] = {NULL, "u16", "u32be", "u24", "f64"};
    for (unsigned i = 0; i < times; i++) {
        const char *type = types[i % 5];
        begin_case();
        if (type)
            count_values(type);
        else
            count_numbers();
        size_t len = 200 + 8 * random_below(100), cut[2], at = 0;
        fill_values(&contents[0], type ? len - len % record_size : 0);
        if (!type)
            text_fill(&contents[0].bytes, len, len);
        work_out(&contents[0]);
        len = contents[0].bytes.len;
        cut[0] = random_below((unsigned)len + 1);
        cut[1] = cut[0] + random_below((unsigned)(len - cut[0]) + 1);
        const size_t ends[] = {cut[0], cut[1], len};
        size_t begin = 0;
        unsigned bad = random_below(4); /* 3: each states the truth, with an empty last block */
        for (unsigned k = 0; k < 3; begin = ends[k++]) {
            struct frame_shape shape = draw_shape(random_below(2) ? FORM_SIZED : FORM_LARGE);
            if (k == bad || bad == 3) {
                size_t by = 1 + random_below(40);
                shape.sized = shape.is_misstated = true;
                shape.stated = ends[k] - begin;
                if (k == bad)
                    shape.stated = random_below(2) || by > shape.stated ? shape.stated + by
                                                                        : shape.stated - by;
                if (bad == 3 && shape.window_log == 0)
                    shape.window_log = 20;
            }
            at += frame_put(packed + at, &shape, contents[0].bytes.data + begin, ends[k] - begin);
        }
        write_packed(&files[0], at);
        struct way way = draw_way(1);
        way.by_pool = random_below(pool) == 0;
        /* The end of the FILE may be found first, and that values were cut by the wrong size. */
        const char *faults = "corrupt zstd data|ends inside a value";
        if (read_files(&way, bad < 3 ? faults : NULL) != (bad < 3))
            complain(&way, "a wrong size", "");
    }
}

#if HAVE_ISAL
/* How the size is wrong that a member of BGZF states. */
enum lie {
    LIE_BY_FEW,  /* no member begins where it says, so it is not believed */
    LIE_BY_ONE,  /* the member after the next one begins there */
    LIE_BY_ZERO, /* a member begins there, after zero bytes */
    LIE_INSIDE,  /* its content looks as if one did */
    LIES,
};

#define HIDDEN_SIZE 31 /* bytes of a member that is empty */

/* Puts data[0..len) into a member that lies, and its next one if there must be two. */
static size_t put_lie(unsigned char *out, enum lie lie, unsigned char *data, size_t len)
{
    const int few = 1 + (int)random_below(9);
    const size_t half = len / 2;
    size_t size;
    switch (lie) {
    case LIE_BY_FEW:
        return bgzf_put(out, data, len, random_below(2) ? few : -few);
    case LIE_BY_ONE:
        size = bgzf_put(out, data, half, 0);
        size = bgzf_put(out, data, half, (int)bgzf_put(out + size, data + half, len - half, 0));
        return size + bgzf_put(out + size, data + half, len - half, 0);
    case LIE_BY_ZERO:
        size = bgzf_put(out, data, len, few);
        memset(out + size, 0, (size_t)few);
        return size + (size_t)few;
    default:
        (void)bgzf_put(data + len - HIDDEN_SIZE, NULL, 0, random_below(2) ? 8 : 0);
        return bgzf_put(out, data, len, -HIDDEN_SIZE - 8);
    }
}

/* A size that is not believed changes nothing, and one that is, wrongly, is refused. */
static void lying(unsigned times, unsigned pool)
{
    count_numbers();
    for (unsigned i = 0; i < times; i++) {
        struct text *text = &contents[0].bytes;
        const enum lie lie = i % LIES;
        begin_case();
        text_fill(text, 300 + random_below(3000), 5000);
        work_out(&contents[0]);
        const size_t begin = random_below(200), end = text->len - random_below(50);
        size_t len = bgzf_put(packed, text->data, begin, 0);
        len += put_lie(packed + len, lie, text->data + begin, end - begin);
        len += bgzf_put(packed + len, text->data + end, text->len - end, 0);
        len += bgzf_put(packed + len, NULL, 0, 0);
        write_packed(&files[0], len);
        struct way way = draw_way(1);
        way.by_pool = random_below(pool) == 0;
        /* Whoever believes it may find first that no other member follows the hidden one. */
        const char *faults = "it does not end where its header says|no member begins here";
        if (read_files(&way, lie == LIE_BY_FEW ? NULL : faults) != (lie != LIE_BY_FEW))
            complain(&way, "a wrong size of a member", "");
    }
}
#endif

/* --- several faults --- */

/* Alters, takes out or adds some bytes. */
static size_t damage(unsigned char *bytes, size_t len)
{
    const size_t at = random_below((unsigned)len), left = len - at;
    const size_t some = 1 + random_below(left < 9 ? (unsigned)left : 9);
    switch (random_below(4)) {
    case 0:
        bytes[at] ^= (unsigned char)(1u << random_below(8));
        return len;
    case 1:
        bytes[at] = (unsigned char)random_below(256);
        return len;
    case 2:
        memmove(bytes + at, bytes + at + some, left - some);
        return len - some;
    default:
        memmove(bytes + at + some, bytes + at, left);
        return len + some;
    }
}

/* However many read FILEs with several faults, the first one is told that one reader finds. */
static void first_faults(unsigned times, unsigned pool)
{
    static const enum form forms[] = {
        FORM_SIZED,
        FORM_UNSIZED,
        FORM_MIXED,
#if HAVE_ISAL
        FORM_BGZF
#endif
    };
    for (unsigned i = 0; i < times; i++) {
        const size_t count = 1 + random_below(3);
        begin_case();
        if (random_below(2))
            count_values("u32be");
        else
            count_numbers();
        for (size_t k = 0; k < count; k++) {
            text_fill(&contents[k].bytes, 500 + random_below(4000), 5000);
            pack_at_random(k, forms[random_below(sizeof forms / sizeof forms[0])], 30);
            if (pread(files[k].fd, packed, files[k].len, 0) != (ssize_t)files[k].len)
                abort();
            for (unsigned faults = random_below(4); faults > 0 && files[k].len > 9; faults--)
                files[k].len = damage(packed, files[k].len);
            write_packed(&files[k], files[k].len);
        }
        struct way way = draw_way(count);
        way.readers = 1;
        (void)read_files(&way, "");
        const struct error due = said;
        for (unsigned k = 0; k < 4; k++) {
            way = draw_way(count);
            way.by_pool = random_below(pool) == 0;
            (void)read_files(&way, "");
            if (strcmp(said.text, due.text) != 0) {
                complain(&way, "another fault comes first", said.text);
                if (wrong < 20)
                    fprintf(stderr, "      not: %s\n", due.text);
            }
        }
    }
}

int main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "all") == 0, few = scale_is_small_or_slow();
    const struct sample sample = {all ? 1 : few ? 20000 : 200, few ? 20 : 50};
    unsigned times = few ? 10 : 200;
#ifdef __GLIBC__ /* pages that are used again come without a fault */
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 30);
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
    open_files();
    every_chunk_size();
    every_cut(&sample);
    texts_of_all_kinds(times, 20);
    long_tokens(times / 5, 20);
    values_of_all_types(times, 20);
    full_pipes(2 * times);
    dribbled(times, FORM_PLAIN, 0);
    dribbled(times, FORM_LARGE, 0);
    dribbled(times, FORM_MIXED, 0);
    dribbled(times / 10, FORM_UNSIZED, 5);
    misstated(5 * times, 50);
#if HAVE_ISAL
    dribbled(times, FORM_BGZF, 0);
    dribbled(times / 10, FORM_BGZF, 5);
    lying(5 * times, 50);
#endif
    first_faults(5 * times, 50);
    printf("%lu cases, %lu wrong\n", cases, wrong);
    /* What runs that were refused used is left as it is: no leak check. */
    fflush(stdout);
    _exit(wrong != 0);
}
