/* SPDX-License-Identifier: MIT */
#include "share.h"
#include "src/bytes/fingerprint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

__extension__ typedef unsigned __int128 wide_position;

/* Where the part-th share ends, in bytes of all FILEs. */
static uint64_t end_of_part(const struct share_choice *choice, uint64_t bytes, uint64_t part)
{
    return (uint64_t)((wide_position)bytes * part / choice->of);
}

bool share_range_of(const struct share_choice *choice, uint64_t bytes, uint64_t start,
                    uint64_t size, uint64_t *begin, uint64_t *end)
{
    uint64_t first = end_of_part(choice, bytes, choice->part - 1);
    uint64_t last = end_of_part(choice, bytes, choice->part);
    uint64_t stop = start + size;
    if (size == 0 || choice->is_whole) {
        /* An empty FILE at the end of the list begins in no share. */
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

/* Sets *size to that of a FILE. 0, SHARE_REFUSED or SHARE_FAILED. */
static int measure(const char *name, uint64_t *size, struct reason *why)
{
    struct stat status;
    if (strcmp(name, "-") == 0) {
        reason_set(why, "--part: cannot divide standard input; name files instead");
        return SHARE_REFUSED;
    }
    if (stat(name, &status) != 0) {
        reason_of(why, name, "%s", strerror(errno));
        return SHARE_FAILED;
    }
    if (!S_ISREG(status.st_mode)) {
        reason_of(why, name, "%s cannot be divided; --part needs regular files",
                  S_ISDIR(status.st_mode)    ? "a directory"
                  : S_ISFIFO(status.st_mode) ? "a pipe"
                                             : "a device");
        return SHARE_REFUSED;
    }
    *size = (uint64_t)status.st_size;
    return 0;
}

/* Measures all FILEs, and adds up their sizes. As share_open. */
static int measure_all(struct share *share, char *const *names, uint64_t *sizes, size_t count,
                       struct reason *why)
{
    for (size_t i = 0; i < count; i++) {
        int rc = measure(names[i], &sizes[i], why);
        if (rc != 0)
            return rc;
        if (sizes[i] > UINT64_MAX - share->bytes) {
            reason_of(why, names[i], "the files are too large for --part");
            return SHARE_FAILED;
        }
        share->bytes += sizes[i];
    }
    share->files = count;
    share->digest = fingerprint_list(names, sizes, count);
    return 0;
}

/* Finds what the share has of each FILE. */
static void cut_all(struct share *share, char *const *names, const uint64_t *sizes, size_t count)
{
    uint64_t start = 0;
    for (size_t i = 0; i < count; i++) {
        struct share_cut cut = {.index = i,
                                .name = names[i],
                                .size = sizes[i],
                                .wants_fingerprint = share->choice.wants_fingerprints};
        if (share_range_of(&share->choice, share->bytes, start, sizes[i], &cut.begin, &cut.end))
            share->cuts[share->count++] = cut;
        start += sizes[i];
    }
}

int share_open(struct share *share, const struct share_choice *choice, char *const *names,
               size_t count, struct reason *why)
{
    *share = (struct share){.choice = *choice};
    if (count == 0) {
        reason_set(why, "--part: cannot divide standard input; name files instead");
        return SHARE_REFUSED;
    }
    uint64_t *sizes = calloc(count, sizeof sizes[0]);
    share->cuts = calloc(count, sizeof share->cuts[0]);
    int rc = SHARE_FAILED;
    if (!sizes || !share->cuts)
        reason_set(why, "out of memory");
    else
        rc = measure_all(share, names, sizes, count, why);
    if (rc == 0)
        cut_all(share, names, sizes, count);
    else
        share_close(share);
    free(sizes);
    return rc;
}

void share_close(struct share *share)
{
    free(share->cuts);
    *share = (struct share){.cuts = NULL};
}
