/* SPDX-License-Identifier: MIT */
#include "file_shard.h"
#include "input.h"
#include "shard.h"
#include "src/bytes/fingerprint.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Refuses a file that states a size of 0 and has bytes, as those in /proc do. 0, or -1 with the
 * reason set. */
static int check_sized(const struct input *input, struct reason *why)
{
    struct stat status;
    char byte;
    ssize_t got = bytes_read_at(&input->bytes, &byte, 1, 0, why);
    if (got <= 0)
        return (int)got;
    if (fstat(input->bytes.fd, &status) == 0 && status.st_size > 0)
        return 0; /* what was added since it was measured */
    return reason_of(why, input->bytes.name,
                     "has a size of 0 but is not empty, so it cannot be divided");
}

int file_shard_check(struct input *input, struct file_shard *shard, struct reason *why)
{
    if (!input->bytes.regular)
        return reason_of(why, input->bytes.name, "is no longer a regular file");
    if (input->bytes.opened_size < shard->size)
        return reason_of(why, input->bytes.name, "was truncated after it was divided into shares");
    if (shard->size == 0 && check_sized(input, why) != 0)
        return -1;
    input->bytes.opened_size = shard->size;
    input->bytes.is_cut = true;
    input->bytes.may_be_short = false;
    if (!shard->wants_fingerprint)
        return 0;
    int rc = fingerprint_file(input->bytes.fd, shard->size, &shard->fingerprint);
    if (rc > 0)
        reason_of(why, input->bytes.name, "was truncated while it was read");
    else if (rc < 0)
        reason_of(why, input->bytes.name, "%s", strerror(errno));
    return rc == 0 ? 0 : -1;
}

/* --- bytes as they are --- */

/* Where in the range of the content that is counted a byte of the file lies, or the nearest end. */
static uint64_t place_in_range(const struct input *input, uint64_t offset)
{
    uint64_t place = offset > input->bytes.skipped ? offset - input->bytes.skipped : 0;
    return place < input->bytes.opened_size ? place : input->bytes.opened_size;
}

static uint64_t round_up(uint64_t place, size_t size)
{
    return (place + size - 1) / size * size;
}

/* Pieces are those values that begin in the shard. The file may end within one. 0, or -1 with the
 * reason set. */
static int enter_values(struct input *input, uint64_t begin, uint64_t end, struct reason *why)
{
    size_t size = input->records.kind.size, left = (size_t)(input->bytes.opened_size % size);
    uint64_t whole = input->bytes.opened_size - left;
    if (left > 0 && begin <= whole && whole < end)
        return input_cut_off(input->bytes.name, input->plan.content, left, size, why);
    begin = round_up(begin, size);
    end = round_up(end, size);
    input->bytes.taken = begin < whole ? begin : whole;
    input->plan.end = end < whole ? end : whole;
    input->plan.size = whole;
    return 0;
}

/* Pieces of text are read up to the ends of their last records, wherever the shard ends. */
static int enter_plain(struct input *input, const struct file_shard *shard, struct reason *why)
{
    uint64_t begin = place_in_range(input, shard->begin), end = place_in_range(input, shard->end);
    input->bytes.limit = input->bytes.opened_size;
    if (input_is_serial(input)) {
        input->plan.size = input->plan.end = 0;
        return 0;
    }
    if (!record_is_text(&input->records.kind)) {
        if (enter_values(input, begin, end, why) != 0)
            return -1;
    } else {
        input->plan.size = input->bytes.opened_size;
        input->bytes.taken = begin;
        input->plan.end = end;
    }
    input->has_header &= input->bytes.taken == 0;
    input->plan.counted_from =
        input->bytes.taken > 0 ? input->bytes.skipped + input->bytes.taken : 0;
    input->bytes.ended = true; /* nothing is read in order */
    return 0;
}

int file_shard_select(struct input *input, const struct file_shard *shard,
                      const struct codec_options *options, struct reason *why)
{
    return input->frames.codec ? file_shard_select_frames(input, shard, options, why)
                               : enter_plain(input, shard, why);
}
