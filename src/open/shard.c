/* SPDX-License-Identifier: MIT */
#include "shard.h"
#include "src/bytes/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

__extension__ typedef unsigned __int128 wide_position;

/* Where the part-th shard ends, in bytes of all files. */
static uint64_t end_of_part(const struct shard_choice *choice, uint64_t bytes, uint64_t part)
{
    return (uint64_t)((wide_position)bytes * part / choice->of);
}

bool shard_range_of(const struct shard_choice *choice, uint64_t bytes, uint64_t start,
                    uint64_t size, uint64_t *begin, uint64_t *end)
{
    uint64_t first = end_of_part(choice, bytes, choice->part - 1);
    uint64_t last = end_of_part(choice, bytes, choice->part);
    uint64_t stop = start + size;
    if (size == 0 || choice->is_whole) {
        /* An empty file at the end of the list begins in no shard. */
        bool is_last = start == bytes && choice->part == choice->of;
        *begin = 0;
        *end = size;
        return is_last || (start >= first && start < last);
    }
    first = first > start ? first : start;
    last = last < stop ? last : stop;
    *begin = first - start;
    *end = last - start;
    return first < last;
}

/* Sets *size to that of a file. 0, SHARD_REFUSED or SHARD_FAILED. */
static int measure(const char *name, uint64_t *size, struct error *error)
{
    struct stat status;
    if (strcmp(name, "-") == 0) {
        error_set(error, "--part: cannot divide standard input; name files instead");
        return SHARD_REFUSED;
    }
    if (stat(name, &status) != 0) {
        error_of(error, name, "%s", strerror(errno));
        return SHARD_FAILED;
    }
    if (!S_ISREG(status.st_mode)) {
        error_of(error, name, "%s cannot be divided; --part needs regular files",
                 S_ISDIR(status.st_mode)    ? "a directory"
                 : S_ISFIFO(status.st_mode) ? "a pipe"
                                            : "a device");
        return SHARD_REFUSED;
    }
    *size = (uint64_t)status.st_size;
    return 0;
}

/* Measures all files, and adds up their sizes. As shard_open. */
static int measure_all(struct shard *shard, char *const *names, uint64_t *sizes, size_t count,
                       struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        int rc = measure(names[i], &sizes[i], error);
        if (rc != 0)
            return rc;
        if (sizes[i] > UINT64_MAX - shard->bytes) {
            error_of(error, names[i], "the files are too large for --part");
            return SHARD_FAILED;
        }
        shard->bytes += sizes[i];
    }
    shard->files = count;
    shard->digest = fingerprint_list(names, sizes, count);
    return 0;
}

/* Finds what the shard has of each file. */
static void cut_all(struct shard *shard, char *const *names, const uint64_t *sizes, size_t count)
{
    uint64_t start = 0;
    for (size_t i = 0; i < count; i++) {
        struct file_shard file = {.index = i,
                                  .name = names[i],
                                  .size = sizes[i],
                                  .wants_fingerprint = shard->choice.wants_fingerprints};
        if (shard_range_of(&shard->choice, shard->bytes, start, sizes[i], &file.begin, &file.end))
            shard->list[shard->count++] = file;
        start += sizes[i];
    }
}

int shard_open(struct shard *shard, const struct shard_choice *choice, char *const *names,
               size_t count, struct error *error)
{
    *shard = (struct shard){.choice = *choice};
    if (count == 0)
        return measure("-", NULL, error);
    uint64_t *sizes = calloc(count, sizeof sizes[0]);
    shard->list = calloc(count, sizeof shard->list[0]);
    int rc = SHARD_FAILED;
    if (!sizes || !shard->list)
        error_set(error, "out of memory");
    else
        rc = measure_all(shard, names, sizes, count, error);
    if (rc == 0)
        cut_all(shard, names, sizes, count);
    else
        shard_close(shard);
    free(sizes);
    return rc;
}

void shard_close(struct shard *shard)
{
    free(shard->list);
    *shard = (struct shard){.list = NULL};
}
