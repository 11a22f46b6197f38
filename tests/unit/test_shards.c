/* SPDX-License-Identifier: MIT */
/* Shares of FILEs: the cuts are exact for every list of sizes, and the records of all shares
 * together are those of the FILEs, each once, whatever is compressed in frames and wherever these
 * are cut. */
#include "src/input/input.h"
#include "src/report/report.h"
#include "src/input/records.h"
#include "src/schedule/schedule.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/readers.h"
#include "tests/helpers/scale.h"
#include "src/tally/histogram_spec.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#define FILES_MAX 4
#define CONTENT_SIZE 3000
#define FILE_SIZE 40000
#define LONG_GAP 40

static unsigned long cases, wrong;

static void complain(const char *what, const char *detail)
{
    if (wrong++ < 20)
        printf("%s: %s\n", what, detail);
}

/* --- the cuts --- */

#define LIST_MAX 40

/* Whether the parts of a FILE, in the order of the shares, tile it. */
static bool tiles(uint64_t bytes, uint64_t start, uint64_t size, uint64_t of)
{
    uint64_t at = 0;
    unsigned parts = 0;
    for (uint64_t part = 1; part <= of; part++) {
        struct shard_choice choice = {.part = part, .of = of};
        uint64_t begin, end;
        if (!shard_range_of(&choice, bytes, start, size, &begin, &end))
            continue;
        if (begin != at || end < begin || end > size || (end == begin && size > 0))
            return false;
        at = end;
        parts++;
    }
    return at == size && (size > 0 || parts == 1);
}

/* Whether a FILE that is not cut belongs to one share, the one that has its first byte. */
static bool belongs_to_one(uint64_t bytes, uint64_t start, uint64_t size, uint64_t of)
{
    unsigned owners = 0;
    bool is_right = true;
    for (uint64_t part = 1; part <= of; part++) {
        struct shard_choice choice = {.part = part, .of = of, .is_whole = true};
        struct shard_choice cut = {.part = part, .of = of};
        uint64_t begin, end, first;
        bool has = shard_range_of(&choice, bytes, start, size, &begin, &end);
        bool has_first = shard_range_of(&cut, bytes, start, size, &first, &end) && first == 0;
        is_right &= has == has_first;
        if (has)
            is_right &= shard_range_of(&choice, bytes, start, size, &begin, &end) && begin == 0 &&
                        end == size;
        owners += has;
    }
    return is_right && owners == 1;
}

/* Whether each share of the bytes has a floor or a ceiling of the N-th part of them. */
static bool is_even(uint64_t bytes, uint64_t of, uint64_t part)
{
    struct shard_choice choice = {.part = part, .of = of};
    uint64_t begin, end;
    uint64_t len = shard_range_of(&choice, bytes, 0, bytes, &begin, &end) ? end - begin : 0;
    return len == bytes / of || len == bytes / of + 1;
}

static uint64_t random_size(void)
{
    switch (random_below(5)) {
    case 0:
        return 0;
    case 1:
        return random_below(3);
    case 2:
        return random_below(100);
    case 3:
        return random_word() >> (16 + random_below(40));
    default:
        return (random_word() >> 8) + 1; /* of 64 such the sum is below 2^62 */
    }
}

static void cut_lists(unsigned lists)
{
    for (unsigned list = 0; list < lists; list++) {
        uint64_t sizes[LIST_MAX], bytes = 0, start = 0;
        unsigned count = 1 + random_below(LIST_MAX);
        uint64_t of = random_below(8) == 0 ? 1 + random_below(3000) : 1 + random_below(70);
        for (unsigned i = 0; i < count; i++)
            bytes += sizes[i] = random_size();
        for (unsigned i = 0; i < count; start += sizes[i++]) {
            cases++;
            if (!tiles(bytes, start, sizes[i], of))
                complain("cuts", "do not tile a FILE");
            if (!belongs_to_one(bytes, start, sizes[i], of))
                complain("cuts", "a whole FILE does not belong to one share");
        }
    }
    for (uint64_t part = 1; part <= 1000; part++)
        for (uint64_t bytes = 998; bytes <= 1002; bytes++, cases++)
            if (!is_even(bytes, 1000, part))
                complain("cuts", "are not even");
    static const uint64_t large[] = {SHARDS_MAX, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
    for (unsigned i = 0; i < sizeof large / sizeof large[0]; i++)
        for (uint64_t part = 1; part <= SHARDS_MAX; part += 1 + random_below(5000), cases++)
            if (!is_even(large[i], SHARDS_MAX, part) || !is_even(large[i], SHARDS_MAX, SHARDS_MAX))
                complain("cuts", "of many bytes are not even");
}

/* --- the FILEs --- */

struct made {
    int fd;
    char name[32];
    unsigned char content[CONTENT_SIZE];
    size_t len;
};

static struct made files[FILES_MAX];

static void put_file(struct made *file, const unsigned char *data, size_t len)
{
    if (ftruncate(file->fd, 0) != 0 || pwrite(file->fd, data, len, 0) != (ssize_t)len)
        abort();
}

/* Appends a frame of data[0..len). */
static size_t put_frame(ZSTD_CCtx *context, unsigned char *out, size_t at,
                        const unsigned char *data, size_t len)
{
    bool sized = random_below(3) != 0;
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, sized);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, (int)random_below(2));
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, (int)random_below(4) - 1);
    size_t rc = ZSTD_compress2(context, out + at, FILE_SIZE - at, data, len);
    if (ZSTD_isError(rc))
        abort();
    return at + rc;
}

static size_t put_skippable(unsigned char *out, size_t at)
{
    static const unsigned char magic[] = {0x53, 0x2a, 0x4d, 0x18};
    size_t size = random_below(60);
    memcpy(out + at, magic, 4);
    memcpy(out + at + 4, (unsigned char[]){(unsigned char)size, 0, 0, 0}, 4);
    memset(out + at + 8, 0x28, size);
    return at + 8 + size;
}

/* Writes the content in frames of random sizes up to `max`. */
static void compress_file(struct made *file, unsigned max)
{
    static unsigned char out[FILE_SIZE];
    static ZSTD_CCtx *context;
    size_t at = 0;
    if (!context && !(context = ZSTD_createCCtx()))
        abort();
    for (size_t done = 0; done < file->len || at == 0;) {
        size_t left = file->len - done, len = random_below(max + 1);
        len = len < left ? len : left;
        if (random_below(8) == 0)
            at = put_skippable(out, at);
        at = put_frame(context, out, at, file->content + done, len);
        done += len;
    }
    if (random_below(8) == 0)
        at = put_skippable(out, at);
    put_file(file, out, at);
}

/* Fills the content: words and lines, few or many bytes apart. */
static void make_content(struct made *file, size_t len)
{
    static const char alphabet[] = "0123456789   \n\n.ex\t";
    unsigned gap = random_below(3) == 0 ? LONG_GAP : 1 + random_below(12);
    file->len = len;
    for (size_t i = 0; i < len; i++) {
        bool is_end = random_below(gap) == 0;
        file->content[i] = (unsigned char)(is_end ? alphabet[10 + random_below(5)]
                                                  : alphabet[random_below(sizeof alphabet - 1)]);
        if (gap == LONG_GAP && !is_end) /* a small number, which depends on all its digits */
            file->content[i] = (unsigned char)('0' + (random_below(16) ? 0 : random_below(10)));
    }
}

/* --- what is read --- */

/* A bag of records, in any order. */
struct bag {
    uint64_t records, hash, bytes;
};

static void bag_add(struct bag *bag, const unsigned char *record, size_t len)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ record[i]) * 1099511628211u;
    bag->records++;
    bag->hash += hash ^ hash >> 29;
    bag->bytes += len;
}

/* Adds the records of a text or of values that lie in data[0..len), all. */
static void bag_add_all(struct bag *bag, const struct record_kind *kind, const unsigned char *data,
                        size_t len)
{
    for (size_t at = 0, end; at < len; at = end + 1) {
        if (!record_is_text(kind)) {
            bag_add(bag, data + at, kind->size);
            end = at + kind->size - 1;
            continue;
        }
        end = at + kind->head(data + at, len - at);
        if (end > at)
            bag_add(bag, data + at, end - at);
    }
}

/* One worker, the memory of its one chunk, and what it has read. */
struct only_worker {
    struct chunk memory;
    const struct record_kind *record;
    struct bag *bag;
};

static struct chunk *choose_one(void *arg, enum flow flow)
{
    struct only_worker *worker = arg;
    (void)flow;
    worker->memory.len = worker->memory.begin = 0;
    return &worker->memory;
}

static int count_one(void *arg, struct chunk *chunk, enum flow flow)
{
    struct only_worker *worker = arg;
    (void)flow;
    bag_add_all(worker->bag, worker->record, chunk->data + chunk->begin, chunk->len - chunk->begin);
    return 0;
}

/* Reads all of a source. 0, or -1. */
static int read_all(struct source *source, const struct record_kind *record, size_t chunk_size,
                    struct bag *bag)
{
    struct only_worker worker = {
        .memory = {.cap = chunk_size, .fill = random_below(2)}, .record = record, .bag = bag};
    const struct sink sink = {.arg = &worker, .choose = choose_one, .count = count_one};
    worker.memory.data = need(malloc(chunk_size + record_slack(record) + 1));
    int rc = run_worker(source, &sink);
    free(worker.memory.data);
    return rc;
}

static const struct line_spec blanks = {.field = {.kind = FIELD_BLANKS, .number = 1}};

static struct input_options options_of(const struct record_kind *record)
{
    return (struct input_options){.decoding.memlimit = 1 << 27,
                                  .record = *record,
                                  .lines = record->type == RECORD_LINES ? &blanks : NULL,
                                  .batch_size =
                                      random_below(3) ? random_below(2) : 1 + random_below(400)};
}

/* Reads one share of the FILEs. 0, or -1 with the error. */
static int read_shard(char **names, size_t count, const struct shard_choice *choice,
                      const struct record_kind *record, void (*meddle)(void), struct bag *bag,
                      struct error *error)
{
    struct shard shard;
    struct input_options options = options_of(record);
    if (shard_open(&shard, choice, names, count, error) != 0)
        return -1;
    if (meddle)
        meddle();
    options.shard = &shard;
    struct source *source = source_open(names, count, &options);
    if (!source)
        abort();
    size_t unit = record_is_text(record) ? 1 : record->size;
    int rc = read_all(source, record, unit * (1 + random_below(900)), bag);
    if (rc != 0)
        error_set(error, "%s", source_error(source));
    source_close(source);
    shard_close(&shard);
    return rc;
}

static void compare(const struct bag *expected, const struct bag *bag, uint64_t of,
                    const struct record_kind *record)
{
    char detail[160];
    cases++;
    if (memcmp(expected, bag, sizeof *bag) == 0)
        return;
    snprintf(detail, sizeof detail,
             "%llu shares of records of %zu: %llu records, %llu bytes; expected %llu, %llu",
             (unsigned long long)of, record->size, (unsigned long long)bag->records,
             (unsigned long long)bag->bytes, (unsigned long long)expected->records,
             (unsigned long long)expected->bytes);
    complain("shares", detail);
}

/* Makes a few random FILEs. How many. */
static size_t make_files(const struct record_kind *record, char **names)
{
    size_t count = 1 + random_below(FILES_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t len = random_below(4) ? random_below(CONTENT_SIZE) : random_below(30);
        make_content(&files[i], record_is_text(record) ? len : len / record->size * record->size);
        if (random_below(3))
            compress_file(&files[i], random_below(2) ? 20 : 600);
        else
            put_file(&files[i], files[i].content, files[i].len);
        names[i] = files[i].name;
    }
    return count;
}

/* Compares the records of all shares with those of the FILEs. */
static void shard_files(unsigned rounds)
{
    const struct record_kind records[] = {record_tokens,    record_lines,     record_values(1),
                                          record_values(2), record_values(3), record_values(24)};
    char *names[FILES_MAX];
    for (unsigned round = 0; round < rounds; round++) {
        struct bag expected = {.records = 0}, bag = {.records = 0};
        const struct record_kind *record = &records[random_below(6)];
        size_t count = make_files(record, names);
        struct shard_choice choice = {.of = 1 + random_below(random_below(3) ? 9 : 70)};
        for (size_t i = 0; i < count; i++)
            bag_add_all(&expected, record, files[i].content, files[i].len);
        for (choice.part = 1; choice.part <= choice.of; choice.part++) {
            struct error error;
            if (read_shard(names, count, &choice, record, NULL, &bag, &error) != 0)
                complain("shares", error.text);
        }
        compare(&expected, &bag, choice.of, record);
    }
}

/* --- several readers --- */

static struct histogram_spec spec;

/* Counts numbers, or the first field of lines, by readers that take turns. */
static void count_by_turns(char **names, size_t count, struct shard *shard, struct tally *sum)
{
    struct count_plan plan = count_plan(cpu_kernels_find(NULL), &spec);
    const struct record_kind kind = record_kind_of_all(&spec);
    struct input_options options = options_of(&kind);
    struct reading reading = {.plan = &plan,
                              .chunk_size = 1 + random_below(random_below(2) ? 12 : 900),
                              .readers = 1 + random_below(READERS_MAX),
                              .fill = random_below(2)};
    options.lines = &spec.lines;
    options.shard = shard;
    struct source *source = source_open(names, count, &options);
    if (!source || tally_open(&reading.tally, &spec) != 0)
        abort();
    if (readers_read(source, &reading) != 0)
        complain("readers", source_error(source));
    tally_add(sum, &reading.tally);
    tally_close(&reading.tally);
    source_close(source);
}

static void shard_by_turns(unsigned rounds)
{
    char *names[FILES_MAX];
    struct tally all, sum;
    struct binning binning;
    if (binning_equal(&binning, 0, 1000, 50) != 0)
        abort();
    histogram_spec_numbers(&spec, &binning);
    if (tally_open(&all, &spec) != 0 || tally_open(&sum, &spec) != 0)
        abort();
    for (unsigned round = 0; round < rounds; round++) {
        bool is_lines = random_below(2);
        spec.lines.field = (struct field){.kind = is_lines ? FIELD_BLANKS : FIELD_NONE,
                                          .number = is_lines ? 1 + (int)random_below(2) : 0,
                                          .has_header = is_lines && random_below(2)};
        struct shard_choice choice = {.of = 1 + random_below(9)};
        size_t count = make_files(&record_tokens, names);
        tally_clear(&all);
        tally_clear(&sum);
        count_by_turns(names, count, NULL, &all);
        for (choice.part = 1; choice.part <= choice.of; choice.part++) {
            struct shard shard;
            struct error error;
            if (shard_open(&shard, &choice, names, count, &error) != 0)
                abort();
            count_by_turns(names, count, &shard, &sum);
            shard_close(&shard);
        }
        cases++;
        if (all.samples != sum.samples ||
            memcmp(all.counts, sum.counts, all.bins * sizeof all.counts[0]) != 0)
            complain("readers", is_lines ? "fields differ" : "numbers differ");
    }
    tally_close(&all);
    tally_close(&sum);
    binning_free(&binning);
}

/* --- FILEs that change --- */

static void append_digits(void)
{
    if (pwrite(files[0].fd, "99\n1", 4, (off_t)files[0].len) != 4)
        abort();
}

static void cut_off_one(void)
{
    if (ftruncate(files[0].fd, (off_t)files[0].len - 1) != 0)
        abort();
}

static void change_files(void)
{
    const struct record_kind records[] = {record_tokens, record_lines, record_values(1),
                                          record_values(2)};
    char *names[] = {files[0].name};
    for (size_t i = 0; i < 4; i++)
        for (uint64_t of = 1; of <= 5; of++) {
            struct bag expected = {.records = 0}, bag = {.records = 0};
            struct error error;
            make_content(&files[0], 64);
            bag_add_all(&expected, &records[i], files[0].content, files[0].len);
            for (uint64_t part = 1; part <= of; part++) {
                struct shard_choice choice = {.part = part, .of = of};
                put_file(&files[0], files[0].content, files[0].len);
                if (read_shard(names, 1, &choice, &records[i], append_digits, &bag, &error) != 0)
                    complain("a FILE that grows", error.text);
                put_file(&files[0], files[0].content, files[0].len);
                if (read_shard(names, 1, &choice, &records[i], cut_off_one, &(struct bag){0},
                               &error) == 0 ||
                    !strstr(error.text, "was truncated"))
                    complain("a FILE that shrinks", error.text);
                cases++;
            }
            compare(&expected, &bag, of, &records[i]);
        }
}

int main(void)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        files[i].fd = memfd_create("share", MFD_CLOEXEC);
        snprintf(files[i].name, sizeof files[i].name, "/dev/fd/%d", files[i].fd);
    }
    cut_lists(scale_of(100, 1000, 1000));
    shard_files(scale_of(400, 20000, 20000));
    shard_by_turns(scale_of(400, 20000, 20000));
    change_files();
    printf("test_shards: %lu cases, %lu wrong\n", cases, wrong);
    return wrong > 0;
}
