/* SPDX-License-Identifier: MIT */
/* For libFuzzer: shares of FILEs, most of them compressed, as --part counts them. The bytes are a
 * plan (made_files.h): what is counted, in how many shares, and the FILEs. The shares' counts add
 * up to those of all FILEs in one run; and if that is refused, so is a share. `make fuzz` builds it
 * if there is zlib. */
#include "src/input/input.h"
#include "src/schedule/schedule.h"
#include "tests/fuzz/made_files.h"
#include "tests/helpers/layouts.h"
#include "tests/helpers/random.h"
#include "tests/helpers/readers.h"
#include "src/tally/histogram_spec.h"

#include <stdlib.h>
#include <string.h>

#define SHARDS_MAX 9

/* What is counted: records of all kinds that may be cut. */
enum kind { COUNT_BYTES, COUNT_NUMBERS, COUNT_FIELDS, COUNT_CATEGORIES, COUNT_U24BE, COUNTS };

/* How it is read. */
struct way {
    size_t chunk_size;
    unsigned readers, seed;
};

static struct made_file files[MADE_FILES_MAX];
static char *names[MADE_FILES_MAX];
static struct histogram_spec spec;

static void build_spec(enum kind kind)
{
    const struct double_layout doubles = {.min = 0, .max = 100, .bins = 10};
    const struct whole_layout wholes = {.min = 100, .max = 60000, .bins = 20};
    struct binning binning;
    if (kind == COUNT_BYTES) {
        histogram_spec_bytes(&spec);
    } else if (kind == COUNT_CATEGORIES) {
        histogram_spec_categories(&spec);
    } else if (kind == COUNT_U24BE) {
        fuzz_require(layout_whole(&wholes, &binning) == BINNING_OK, "no bins");
        histogram_spec_values(&spec, value_type_find("u24be"), &binning);
    } else {
        fuzz_require(layout_double(&doubles, false, &binning) == BINNING_OK, "no bins");
        histogram_spec_numbers(&spec, &binning);
        if (kind == COUNT_FIELDS)
            spec.lines.field = (struct field){.kind = FIELD_BLANKS, .number = 1};
    }
}

/* Counts what a share has of the FILEs, NULL: all of them, and adds it to the sum. Whether it could
 * be counted. */
static bool count_shard(size_t count, const struct way *way, struct shard *shard, struct tally *sum)
{
    const struct count_plan plan = count_plan(cpu_kernels_find(NULL), &spec);
    const struct input_options options = {.decoding.memlimit = (uint64_t)1 << 24,
                                          .record = record_kind_of_all(&spec),
                                          .lines = &spec.lines,
                                          .shard = shard};
    struct reading reading = {
        .plan = &plan, .chunk_size = way->chunk_size, .readers = way->readers};
    struct source *source = source_open(names, count, &options);
    fuzz_require(source && tally_open(&reading.tally, &spec) == 0, "out of memory");
    random_seed(way->seed);
    const bool is_counted = readers_read(source, &reading) == 0;
    tally_add(sum, &reading.tally);
    tally_close(&reading.tally);
    source_close(source);
    return is_counted;
}

/* The same of all shares, one after the other. */
static bool count_shards(size_t count, const struct way *way, uint64_t of, struct tally *sum)
{
    struct shard_choice choice = {.of = of};
    bool is_counted = true;
    for (choice.part = 1; choice.part <= of; choice.part++) {
        struct shard shard;
        struct error error;
        fuzz_require(shard_open(&shard, &choice, names, count, &error) == 0, "no share");
        is_counted &= count_shard(count, way, &shard, sum);
        shard_close(&shard);
    }
    return is_counted;
}

static void compare(size_t count, const struct way *way, uint64_t of)
{
    struct tally all, sum;
    fuzz_require(tally_open(&all, &spec) == 0 && tally_open(&sum, &spec) == 0, "out of memory");
    const bool is_whole = count_shard(count, way, NULL, &all);
    const bool are_shards = count_shards(count, way, of, &sum);
    fuzz_require(is_whole || !are_shards, "shares are counted of what is refused");
    fuzz_require(are_shards || !is_whole, "a share is refused of what is counted");
    fuzz_require(!is_whole || all.samples == sum.samples, "shares have another number of samples");
    fuzz_require(!is_whole || all.bytes == sum.bytes, "shares have another number of bytes");
    fuzz_require(!is_whole || memcmp(all.counts, sum.counts, all.bins * sizeof all.counts[0]) == 0,
                 "shares' counts do not add up");
    tally_close(&all);
    tally_close(&sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t chunks[] = {24, 240, 65520};
    struct drawn plan = {data, data + size};
    if (size < 8)
        return 0;
    const enum kind kind = plan_take(&plan) % COUNTS;
    const uint64_t of = 1 + plan_take(&plan) % SHARDS_MAX;
    struct way way = {.seed = plan_take(&plan)};
    way.chunk_size = chunks[way.seed % 3];
    way.readers = 1 + way.seed / 3 % READERS_MAX;
    const size_t count = made_files(&plan, kind == COUNT_NUMBERS || kind == COUNT_FIELDS, files);
    for (size_t i = 0; i < count; i++)
        names[i] = files[i].file.name;
    build_spec(kind);
    compare(count, &way, of);
    return 0;
}
