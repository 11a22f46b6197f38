/* SPDX-License-Identifier: MIT */
/* For libFuzzer: FILEs of --merge. The input is a FILE, or two with a 0xff byte between them, which
 * is in no table. Whatever they are, they are added up, or there is an error that is one printable
 * line. A sum adds up, and reads back from JSON as the same sum, also one by key; three threads
 * come to the same end; and rows that were seen before are read as they are anew.
 * `make fuzz` builds it. */
#include "src/cli/cli.h"
#include "src/merge/merge.h"
#include "src/report/report.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/read_json.h"
#include "src/report/writer.h"
#include "src/tally/key_tallies.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BINS_SHOWN ((size_t)1 << 20) /* more take too long to be shown for each input */

#define KEYS_TAKEN 8 /* so few that an input can have too many */

#define KEY_BYTES_TAKEN (UINT64_C(1) << 28)

static struct merge nothing_yet(bool stats)
{
    return (struct merge){.form = {.build = options_build,
                                   .sort = options_sort,
                                   .has_moments = stats,
                                   .max_keys = KEYS_TAKEN,
                                   .max_key_bytes = KEY_BYTES_TAKEN}};
}

static int add(struct merge *merge, const struct fuzz_file *file, struct error *error)
{
    struct preopened preopened = preopened_inspect(file->name);
    return merge_file(&preopened, merge, error);
}

static int add_all(char *const *names, size_t count, unsigned threads, struct merge *merge,
                   struct error *error)
{
    struct preopened_list files;
    fuzz_require(preopened_list_open(&files, names, count) == 0, "out of memory");
    const int rc = merge_files(&files, threads, 0, merge, error);
    preopened_list_close(&files);
    return rc == 0 ? key_tallies_check(merge->keys, error) : rc;
}

static void show_keys(struct writer *out, const struct report_options *options, struct merge *merge)
{
    fuzz_require(key_tallies_sort(merge->keys, KEYS_BY_NAME, 1) == 0, "out of memory");
    const struct groups groups = groups_of_keys(merge->keys, SIZE_MAX, "key", false);
    report_write_groups(out, options, &merge->spec, &groups, &merge->tally);
    key_tallies_thaw(merge->keys);
}

/* Shows a sum in JSON, as a FILE. */
static struct fuzz_file show(struct merge *merge, bool stats, const struct shard_record *shard)
{
    static struct writer out;
    struct fuzz_file file = fuzz_file_make("", 0);
    struct report_options options = {.format = &format_json,
                                     .stats = stats,
                                     .words = merge_options(merge),
                                     .shard = shard,
                                     .quantile_count = stats,
                                     .quantiles = {{.digits = "5"}}};
    writer_begin(&out, file.fd);
    if (merge->keys)
        show_keys(&out, &options, merge);
    else
        report_write(&out, &options, &merge->spec, &merge->tally);
    fuzz_require(writer_flush(&out) == 0, "a table cannot be written");
    return file;
}

static bool same_files(const struct fuzz_file *one, const struct fuzz_file *other)
{
    const off_t len = lseek(one->fd, 0, SEEK_END);
    if (len != lseek(other->fd, 0, SEEK_END))
        return false;
    char *a = malloc((size_t)len), *b = malloc((size_t)len);
    fuzz_require(a && b && pread(one->fd, a, (size_t)len, 0) == len &&
                     pread(other->fd, b, (size_t)len, 0) == len,
                 "a table cannot be read");
    const bool same = memcmp(a, b, (size_t)len) == 0;
    free(a);
    free(b);
    return same;
}

/* Returns how many bins all tables of a sum have. */
static size_t bins_shown(struct merge *merge)
{
    if (!merge->keys)
        return merge->spec.bins;
    fuzz_require(key_tallies_sort(merge->keys, KEYS_BY_NAME, 1) == 0, "out of memory");
    const size_t keys = key_tallies_count(merge->keys) + 1;
    key_tallies_thaw(merge->keys);
    return merge->spec.bins * keys;
}

/* Adds the FILEs up and checks the sum. */
static void merge_and_check(const struct fuzz_file *files, size_t count, bool stats)
{
    struct merge merge = nothing_yet(stats), again = nothing_yet(false);
    struct shard_record shard = {.job.of = 0}, shard_again = {.job.of = 0};
    struct error error = {""};
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add(&merge, &files[i], &error);
    if (rc == 0)
        rc = key_tallies_check(merge.keys, &error);
    if (rc == 0 && merge.shards.first)
        rc = shard_join_finish(&merge.shards, true, &shard, &error);
    if (rc != 0) {
        fuzz_require_error(&error);
    } else if (bins_shown(&merge) <= BINS_SHOWN) {
        fuzz_require(merge.keys || tally_adds_up(&merge.tally, &merge.spec),
                     "a sum does not add up");
        const bool statistics = stats && histogram_spec_channels(&merge.spec) == 1;
        struct fuzz_file shown = show(&merge, statistics, shard.job.of ? &shard : NULL);
        again.form.has_moments = statistics;
        fuzz_require(add(&again, &shown, &error) == 0, "a sum cannot be read");
        fuzz_require(!again.shards.first ||
                         shard_join_finish(&again.shards, true, &shard_again, &error) == 0,
                     "a sum's shares are refused");
        struct fuzz_file second =
            show(&again, statistics, shard_again.job.of ? &shard_again : NULL);
        fuzz_require(same_files(&shown, &second), "a sum that was read differs");
        fuzz_file_close(&second);
        fuzz_file_close(&shown);
    }
    shard_record_free(&shard);
    shard_record_free(&shard_again);
    merge_free(&merge);
    merge_free(&again);
}

/* Reads the text twice, so that the second time rows were seen before, and are read anew. */
static void check_seen(const uint8_t *data, size_t size)
{
    char *text = malloc(2 * size + 1);
    struct read_json reading = {.piece = size > 0 ? data[size - 1] % 64 * 8 : 0};
    fuzz_require(text != NULL, "out of memory");
    memcpy(text, data, size);
    text[size] = '\n';
    memcpy(text + size + 1, data, size);
    fuzz_require(read_json_agrees(&reading, text, 2 * size + 1),
                 "rows that were seen are read otherwise");
    merge_free(&reading.sum);
    free(text);
}

/* Adds FILEs up, each of them twice, on one thread and on three. */
static void check_threads(const struct fuzz_file *files, size_t count)
{
    struct merge one = nothing_yet(false), three = nothing_yet(false);
    struct error error = {""}, other_error = {""};
    char *names[4];
    for (size_t i = 0; i < 2 * count; i++) {
        names[i] = strdup(files[i % count].name);
        fuzz_require(names[i] != NULL, "out of memory");
    }
    const int rc = add_all(names, 2 * count, 1, &one, &error);
    fuzz_require(add_all(names, 2 * count, 3, &three, &other_error) == rc &&
                     strcmp(error.text, other_error.text) == 0,
                 "three threads refuse something else");
    fuzz_require(rc != 0 || (one.others.tables == three.others.tables &&
                             strcmp(one.others.how.text, three.others.how.text) == 0),
                 "three threads warn of something else");
    fuzz_require(rc != 0 || (one.total == three.total && one.tables == three.tables &&
                             one.shards.count == three.shards.count &&
                             memcmp(one.tally.counts, three.tally.counts,
                                    one.tally.bins * sizeof one.tally.counts[0]) == 0 &&
                             same_keys(&one, &three)),
                 "three threads come to another sum");
    for (size_t i = 0; i < 2 * count; i++)
        free(names[i]);
    merge_free(&one);
    merge_free(&three);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
    const size_t first = cut ? (size_t)(cut - data) : size;
    struct fuzz_file files[2] = {fuzz_file_make(data, first)};
    size_t count = 1;
    if (cut)
        files[count++] = fuzz_file_make(cut + 1, size - first - 1);
    merge_and_check(files, count, false);
    merge_and_check(files, count, true);
    check_seen(data, first);
    if (size % 4 == 0) /* threads take long to start */
        check_threads(files, count);
    for (size_t i = 0; i < count; i++)
        fuzz_file_close(&files[i]);
    return 0;
}
