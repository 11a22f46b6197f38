/* For libFuzzer: FILEs of --merge. The input is a FILE, or two with a 0xff byte between them, which
 * is in no table. Whatever they are, they are added up, or there is a reason that is one printable
 * line. A sum adds up, and reads back from JSON as the same sum; three threads come to the same
 * end; and with rows that are known JSON is read as it is by the library alone. `make fuzz` builds
 * it. */
#include "src/cli/options.h"
#include "src/merge/merge_files.h"
#include "src/merge/table_file.h"
#include "src/report/format.h"
#include "src/report/report.h"
#include "tests/helpers/read_json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BINS_SHOWN ((size_t)1 << 20) /* more take too long to be shown for each input */

#define BINS_KNOWN ((size_t)1 << 12) /* for the same reason */

/* A FILE without a name on a disk. */
struct memory_file {
    int fd;
    char name[32];
};

static struct memory_file memory_file_make(const void *data, size_t size)
{
    struct memory_file file = {.fd = memfd_create("table", 0)};
    if (file.fd < 0 || write(file.fd, data, size) != (ssize_t)size)
        abort();
    snprintf(file.name, sizeof file.name, "/proc/self/fd/%d", file.fd);
    return file;
}

static int add(struct merge *merge, const struct memory_file *file, struct reason *why)
{
    struct read_table table = {.text = NULL};
    int rc = table_file_add(file->name, &table, merge, why);
    read_table_free(&table);
    return rc;
}

static void check_reason(const struct reason *why)
{
    const size_t len = strnlen(why->text, sizeof why->text);
    if (len == 0 || len == sizeof why->text)
        abort();
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)why->text[i] < 0x20 || why->text[i] == 0x7f)
            abort();
}

/* Shows a sum in JSON, as a FILE. */
static struct memory_file show(const struct merge *merge, bool stats,
                               const struct share_record *share)
{
    static struct writer out;
    struct memory_file file = memory_file_make("", 0);
    struct report_options options = {.stats = stats,
                                     .words = &merge->options,
                                     .share = share,
                                     .quantile_count = stats,
                                     .quantiles = {0.5}};
    while (strcmp(format_names[options.format], "json") != 0)
        options.format++;
    writer_begin(&out, file.fd);
    report_write(&out, &options, &merge->histogram, &merge->tally);
    if (writer_flush(&out) != 0)
        abort();
    return file;
}

static bool same_files(const struct memory_file *one, const struct memory_file *other)
{
    const off_t len = lseek(one->fd, 0, SEEK_END);
    if (len != lseek(other->fd, 0, SEEK_END))
        return false;
    char *a = malloc((size_t)len), *b = malloc((size_t)len);
    if (!a || !b || pread(one->fd, a, (size_t)len, 0) != len ||
        pread(other->fd, b, (size_t)len, 0) != len)
        abort();
    const bool same = memcmp(a, b, (size_t)len) == 0;
    free(a);
    free(b);
    return same;
}

/* Adds the FILEs up and checks the sum. */
static void merge_and_check(const struct memory_file *files, size_t count, bool stats)
{
    struct merge merge = {.lay = options_lay, .has_moments = stats};
    struct merge again = {.lay = options_lay, .has_moments = stats};
    struct share_record share = {.of = 0}, share_again = {.of = 0};
    struct reason why = {""};
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add(&merge, &files[i], &why);
    if (rc == 0 && merge.shares.first)
        rc = share_join_finish(&merge.shares, true, &share, &why);
    if (rc != 0) {
        check_reason(&why);
    } else if (merge.histogram.bins <= BINS_SHOWN) {
        if (!tally_adds_up(&merge.tally, &merge.histogram))
            abort();
        const bool facts = stats && histogram_channels(&merge.histogram) == 1;
        struct memory_file shown = show(&merge, facts, share.of ? &share : NULL);
        again.has_moments = facts;
        const bool is_told = merge.histogram.mode->counts_every || !merge.is_text;
        if (is_told && add(&again, &shown, &why) != 0)
            abort();
        if (is_told && again.shares.first &&
            share_join_finish(&again.shares, true, &share_again, &why) != 0)
            abort();
        if (is_told) {
            struct memory_file second = show(&again, facts, share_again.of ? &share_again : NULL);
            if (!same_files(&shown, &second))
                abort();
            close(second.fd);
        }
        close(shown.fd);
    }
    share_free(&share);
    share_free(&share_again);
    merge_free(&merge);
    merge_free(&again);
}

/* Reads the text twice, so that the second time rows are known, with and without these. */
static void check_known(const uint8_t *data, size_t size)
{
    char *text = malloc(2 * size + 1);
    bool right;
    size_t known;
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\n';
    memcpy(text + size + 1, data, size);
    const size_t piece = size > 0 ? data[size - 1] % 64 * 8 : 0;
    if (!read_json_agrees(text, 2 * size + 1, piece, BINS_KNOWN, &right, &known))
        abort();
    free(text);
}

/* Adds FILEs up, each of them twice, on one thread and on three. */
static void check_threads(const struct memory_file *files, size_t count)
{
    struct merge one = {.lay = options_lay}, three = {.lay = options_lay};
    struct reason why = {""}, other_why = {""};
    char *names[4];
    for (size_t i = 0; i < 2 * count; i++) {
        names[i] = strdup(files[i % count].name);
        if (!names[i])
            abort();
    }
    const int rc = merge_files(names, 2 * count, 1, 0, &one, &why);
    if (merge_files(names, 2 * count, 3, 0, &three, &other_why) != rc ||
        strcmp(why.text, other_why.text) != 0)
        abort();
    if (rc == 0 && (one.total != three.total || one.tables != three.tables ||
                    one.shares.part_count != three.shares.part_count ||
                    memcmp(one.tally.counts, three.tally.counts,
                           one.tally.bins * sizeof one.tally.counts[0]) != 0))
        abort();
    for (size_t i = 0; i < 2 * count; i++)
        free(names[i]);
    merge_free(&one);
    merge_free(&three);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
    const size_t first = cut ? (size_t)(cut - data) : size;
    struct memory_file files[2] = {memory_file_make(data, first)};
    size_t count = 1;
    if (cut)
        files[count++] = memory_file_make(cut + 1, size - first - 1);
    merge_and_check(files, count, false);
    merge_and_check(files, count, true);
    check_known(data, first);
    if (size % 4 == 0) /* threads take long to start */
        check_threads(files, count);
    for (size_t i = 0; i < count; i++)
        close(files[i].fd);
    return 0;
}
