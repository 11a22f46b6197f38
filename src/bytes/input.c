/* SPDX-License-Identifier: MIT */
#include "enter.h"
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_SIZE ((size_t)1 << 20) /* the most an ordinary user may ask for */

/* read or pread, waiting for a non-blocking descriptor and through signals. */
static ssize_t read_patiently(const struct input *input, void *buf, size_t len, uint64_t offset)
{
    off_t at = input->base + (off_t)offset;
    if (input->regular && len > CONTENT_MAX - (uint64_t)at)
        len = (size_t)(CONTENT_MAX - (uint64_t)at); /* there are no bytes past that */
    for (;;) {
        ssize_t got = input->regular ? pread(input->fd, buf, len, at) : read(input->fd, buf, len);
        if (got >= 0)
            return got;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            poll(&(struct pollfd){.fd = input->fd, .events = POLLIN}, 1, -1);
        else if (errno != EINTR)
            return -1;
    }
}

static int read_failed(const struct input *input, uint64_t offset, struct reason *why)
{
    reason_of(why, input->name, "%s, at byte %llu", strerror(errno),
              (unsigned long long)(input->skipped + offset));
    return -1;
}

static int became_shorter(const struct input *input, struct reason *why)
{
    reason_of(why, input->name, "was truncated while it was read");
    return -1;
}

/* Judges a file whose end came `at` bytes after base, before the size that it had when it was
 * opened: it was truncated, as logrotate's copytruncate does. Only one that has no blocks, and
 * still claims the same size, may never have had so many bytes. 0 or -1. */
static int check_short(const struct input *input, uint64_t at, struct reason *why)
{
    struct stat status;
    if (!input->regular || at >= input->opened_size)
        return 0;
    if (fstat(input->fd, &status) != 0)
        return read_failed(input, at, why);
    if (input->may_be_short && status.st_size >= input->base + (off_t)input->opened_size)
        return 0;
    return became_shorter(input, why);
}

/* Takes again what was kept of a stream, and keeps it no longer. */
static ssize_t take_kept(struct kept *kept, void *buf, size_t cap)
{
    size_t len = kept_copy(kept, kept->begin, buf, cap);
    kept_drop(kept, kept->begin + len);
    return (ssize_t)len;
}

/* Whether there is something to be taken again. */
static bool has_kept(const struct input *input)
{
    return !input->keeps && kept_size(&input->kept) > 0;
}

ssize_t input_take(struct input *input, void *buf, size_t cap, struct reason *why)
{
    if (has_kept(input))
        return take_kept(&input->kept, buf, cap);
    bool is_checked = input->range.stated && !input->codec;
    uint64_t left = input->limit - input->taken;
    struct reason fault;
    if (left == 0 && !(is_checked && input->range.is_whole))
        input->ended = true;
    if (input->ended)
        return 0;
    size_t len = left > 0 && left < cap ? (size_t)left : cap;
    ssize_t got = read_patiently(input, buf, len, input->taken);
    if (got < 0)
        return read_failed(input, input->taken, why);
    if (got == 0 && check_short(input, input->taken, why) != 0)
        return -1;
    if (is_checked && (left > 0) == (got == 0)) {
        left > 0 ? content_ends_before(&input->range, &fault)
                 : content_goes_on(&input->range, &fault);
        reason_of(why, input->name, "%s", fault.text);
        return -1;
    }
    input->taken += (uint64_t)got;
    input->ended = got == 0;
    if (!input->keeps || kept_add(&input->kept, buf, (size_t)got) == 0)
        return got;
    if (input->keeps_freely) {
        input->keeps = input->keeps_freely = false;
        kept_free(&input->kept);
        return got;
    }
    reason_of(why, input->name, "out of memory");
    return -1;
}

bool input_is_over(const struct input *input)
{
    return input->ended && !has_kept(input);
}

bool input_ready(const struct input *input, int milliseconds)
{
    struct pollfd poller = {.fd = input->fd, .events = POLLIN};
    return input->regular || input->ended || has_kept(input) || poll(&poller, 1, milliseconds) != 0;
}

ssize_t input_read_at(const struct input *input, void *buf, size_t len, uint64_t offset,
                      struct reason *why)
{
    size_t done = 0;
    while (done < len) {
        ssize_t got = read_patiently(input, (char *)buf + done, len - done, offset + done);
        if (got < 0)
            return read_failed(input, offset + done, why);
        if (got == 0 && check_short(input, offset + done, why) != 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

bool input_peek(const struct input *input, void *buf, size_t len, uint64_t offset)
{
    return read_patiently(input, buf, len, offset) == (ssize_t)len;
}

int input_find_end(const struct input *input, uint64_t *end, struct reason *why)
{
    struct stat status;
    if (fstat(input->fd, &status) != 0)
        return read_failed(input, input->opened_size, why);
    const off_t size = status.st_size > input->base ? status.st_size - input->base : 0;
    *end = (uint64_t)size < input->limit ? (uint64_t)size : input->limit;
    return *end < input->opened_size ? became_shorter(input, why) : 0;
}

/* --- what it is --- */

/* Finds the format that data which begin with head[0..len) have. MAGIC_PART: more bytes must be
 * seen. */
static enum codec_magic recognise_head(struct input *input, const unsigned char *head, size_t len)
{
    enum codec_magic ours = codec_recognise(head, len, &input->codec);
    if (ours == MAGIC_MATCH)
        return ours;
    const size_t size = input->records.size;
    const bool is_text = records_are_text(size) && size != RECORD_PAIRS;
    enum codec_magic others = foreign_recognise(head, len, is_text, &input->foreign);
    return others == MAGIC_OTHER ? ours : others;
}

/* Looks at the first bytes of a regular file, taking none. 0 or -1. */
static int recognise_file(struct input *input, struct reason *why)
{
    unsigned char head[CODEC_MAGIC_MAX];
    bool is_known = input->opened_size > 0 || input->is_cut;
    bool is_tiny = is_known && input->opened_size < sizeof head;
    ssize_t got =
        input_read_at(input, head, is_tiny ? (size_t)input->opened_size : sizeof head, 0, why);
    if (got < 0)
        return -1;
    recognise_head(input, head, (size_t)got);
    return 0;
}

/* Bytes of a stream to take next, to recognise it. A whole buffer is asked for, so that the reads
 * that follow begin at a page of the pipe again, but past the end of the range no more than shows
 * the format: a stream that is not compressed is left where the range ends. */
static size_t recognising_size(const struct input *input)
{
    const struct units *first = &input->units;
    size_t room = first->cap - first->len;
    if (first->len >= input->range.end)
        return 1;
    return content_room(&input->range, first->len, room);
}

/* The same of a stream, where bytes that were looked at are taken: they wait in `units`. */
static int recognise_stream(struct input *input, struct reason *why)
{
    struct units *first = &input->units;
    enum codec_magic magic = MAGIC_PART;
    if (units_reserve(first, UNITS_SIZE_FIRST) != 0) {
        reason_of(why, input->name, "out of memory");
        return -1;
    }
    if (first->len > 0)
        magic = recognise_head(input, first->data, first->len);
    while (magic == MAGIC_PART && !input->ended) {
        ssize_t got = input_take(input, first->data + first->len, recognising_size(input), why);
        if (got < 0)
            return -1;
        first->len += (size_t)got;
        magic = recognise_head(input, first->data, first->len);
    }
    return 0;
}

static int recognise(struct input *input, const struct input_options *options, struct reason *why)
{
    switch (options->decompress) {
    case DECOMPRESS_AUTO:
        if ((input->regular ? recognise_file(input, why) : recognise_stream(input, why)) != 0)
            return -1;
        break;
    case DECOMPRESS_CODEC:
        input->codec = options->codec;
        break;
    default:
        break;
    }
    return input->codec ? input->codec->load(why) : 0;
}

/* Finds what kind of file it is, and what follows from that. 0 or -1. */
static int look_at_file(struct input *input, struct reason *why)
{
    struct stat status;
    if (fstat(input->fd, &status) != 0)
        return read_failed(input, 0, why);
    if (S_ISDIR(status.st_mode)) {
        reason_of(why, input->name, "%s", strerror(EISDIR));
        return -1;
    }
    if (S_ISFIFO(status.st_mode)) {
        int size = fcntl(input->fd, F_GETPIPE_SZ);
        if (size >= 0 && (size_t)size < PIPE_SIZE)
            fcntl(input->fd, F_SETPIPE_SZ, (int)PIPE_SIZE); /* only faster: may fail */
    }
    off_t base = S_ISREG(status.st_mode) ? lseek(input->fd, 0, SEEK_CUR) : -1;
    input->regular = base >= 0;
    input->base = input->regular ? base : 0;
    if (input->regular && status.st_size > base)
        input->opened_size = (uint64_t)(status.st_size - base);
    input->may_be_short = status.st_blocks == 0;
    return 0;
}

/* Takes over what was read of a stream before. */
static void take_head(struct input *input, struct held *file)
{
    if (!file->head)
        return;
    input->units = (struct units){.data = file->head, .len = file->head_len, .cap = file->head_len};
    input->taken = file->head_len;
    file->head = NULL;
}

int input_recognise(struct input *input, struct held *file, const struct input_options *options,
                    struct share_cut *cut, struct reason *why)
{
    bool standard = strcmp(file->name, "-") == 0;
    *input = (struct input){.name = standard ? "standard input" : file->name,
                            .batch_size = options->batch_size,
                            .unit_memory =
                                options->unit_memory > 0 ? options->unit_memory : UNITS_MEMORY_MAX,
                            .content = &options->content,
                            .limit = UINT64_MAX,
                            .range = content_range_of(&options->content),
                            .records = {.size = options->record_size, .field = options->field}};
    input->has_header = options->field && options->field->has_header;
    input->fd = standard ? STDIN_FILENO : held_open(file);
    if (input->fd < 0) {
        input->error = errno;
        reason_of(why, input->name, "%s", strerror(input->error));
        return -1;
    }
    take_head(input, file);
    bool is_nothing = input->range.begin == input->range.end; /* whatever the format */
    int rc = look_at_file(input, why);
    if (rc == 0 && cut)
        rc = part_check(input, cut, why);
    if (rc == 0 && !is_nothing)
        rc = recognise(input, options, why);
    if (rc != 0)
        input_close(input);
    return rc;
}

int input_open(struct input *input, struct held *file, const struct input_options *options,
               struct share_cut *cut, struct reason *why)
{
    if (input_recognise(input, file, options, cut, why) != 0)
        return -1;
    int rc = enter_range(input, &options->content, why);
    if (rc == 0)
        rc = cut ? part_enter(input, cut, &options->decoding, why) : input_trim(input, why);
    if (rc != 0)
        input_close(input);
    return rc;
}

bool input_needs_positions(const struct input *input)
{
    bool has_values = input->records.size > 1 && !records_are_text(input->records.size);
    return has_values || content_is_partial(&input->range);
}

bool input_parallel(const struct input *input)
{
    return input->regular && !input->codec && input->taken < input->end;
}

/* --- its bytes --- */

ssize_t input_read(struct input *input, void *buf, size_t cap, struct reason *why)
{
    struct units *first = &input->units; /* what was seen while looking for magic */
    size_t waiting = first->len - first->pos;
    if (waiting == 0)
        return input_take(input, buf, cap, why);
    size_t len = waiting < cap ? waiting : cap;
    memcpy(buf, first->data + first->pos, len);
    first->pos += len;
    return (ssize_t)len;
}

int input_cut_off(const char *name, const struct content_options *options, size_t len, size_t size,
                  struct reason *why)
{
    if (options->channels > 1)
        reason_of(why, name, "ends inside a record of %u channels, after %zu of its %zu bytes",
                  options->channels, len, size);
    else if (options->has_pairs)
        reason_of(why, name, "ends inside a pair: its number of bytes is odd");
    else
        reason_of(why, name, "ends inside a value, after %zu of its %zu bytes", len, size);
    return -1;
}

int input_check_end(const struct input *input, struct reason *why)
{
    const struct records *records = &input->records;
    if (records->cut_len == 0 || records_are_text(records->size))
        return 0;
    return input_cut_off(input->name, input->content, records->cut_len, records->size, why);
}

void input_settle(const struct input *input)
{
    struct stat status;
    off_t began = input->base - (off_t)input->skipped, at = input->base + (off_t)input->taken;
    if (!input->regular || input->fd != STDIN_FILENO || fstat(input->fd, &status) != 0)
        return;
    if (input->skipped > 0 && at > status.st_size) /* the range begins after the end */
        at = status.st_size > began ? status.st_size : began;
    (void)lseek(input->fd, at, SEEK_SET);
}

void input_close(struct input *input)
{
    units_free(&input->units);
    kept_free(&input->kept);
    heading_free(&input->heading);
    records_close(&input->records);
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    *input = (struct input){.fd = -1};
}
