#include "input.h"
#include "source_zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RAW_SIZE ((size_t)128 << 10) /* what libzstd likes to be fed at a time */
#define PIPE_SIZE ((size_t)1 << 20)  /* the most an ordinary user may ask for */

/* read or pread, waiting for a non-blocking descriptor and through signals. */
static ssize_t read_patiently(const struct input *input, void *buf, size_t len, uint64_t offset)
{
    for (;;) {
        ssize_t got = input->regular ? pread(input->fd, buf, len, input->base + (off_t)offset)
                                     : read(input->fd, buf, len);
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
    reason_set(why, "%s: %s, at byte %llu", input->name, strerror(errno),
               (unsigned long long)offset);
    return -1;
}

/* Takes the next bytes of the file as they are. */
static ssize_t take(struct input *input, void *buf, size_t len, struct reason *why)
{
    if (input->ended)
        return 0;
    ssize_t got = read_patiently(input, buf, len, input->taken);
    if (got < 0)
        return read_failed(input, input->taken, why);
    input->ended = got == 0;
    input->taken += (uint64_t)got;
    return got;
}

static int out_of_memory(const struct input *input, struct reason *why)
{
    reason_set(why, "%s: %s", input->name, strerror(ENOMEM));
    return -1;
}

/* Sets up the decoder; what was seen of the file so far is in raw. */
static int begin_zstd(struct input *input, uint64_t memlimit, struct reason *why)
{
    if (!input->raw)
        input->raw = malloc(RAW_SIZE);
    input->zstd = zstd_stream_open(memlimit);
    return input->raw && input->zstd ? 0 : out_of_memory(input, why);
}

/* Looks at the first bytes of a regular file, taking none. 1 zstd, 0 not, -1 error. */
static int regular_magic(const struct input *input, struct reason *why)
{
    unsigned char head[ZSTD_MAGIC_SIZE];
    ssize_t got = input_read_at(input, head, sizeof head, 0, why);
    return got < 0 ? -1 : zstd_magic(head, (size_t)got) == 1;
}

/* The same of a stream, where bytes that were looked at are taken: they wait in raw. A whole raw
 * buffer is asked for, so that the reads that follow begin at a page of the pipe again. */
static int stream_magic(struct input *input, struct reason *why)
{
    input->raw = malloc(RAW_SIZE);
    if (!input->raw)
        return out_of_memory(input, why);
    int magic;
    do {
        ssize_t got = take(input, input->raw + input->raw_len, RAW_SIZE - input->raw_len, why);
        if (got < 0)
            return -1;
        input->raw_len += (size_t)got;
        magic = got == 0 ? 0 : zstd_magic(input->raw, input->raw_len);
    } while (magic < 0);
    return magic;
}

static int recognise(struct input *input, const struct input_options *options, struct reason *why)
{
    if (options->decompress == DECOMPRESS_NONE)
        return 0;
    int magic = 1;
    if (options->decompress == DECOMPRESS_AUTO)
        magic = input->regular ? regular_magic(input, why) : stream_magic(input, why);
    return magic > 0 ? begin_zstd(input, options->memlimit, why) : magic;
}

/* What kind of file it is, and what follows from that. */
static int examine(struct input *input, struct reason *why)
{
    struct stat status;
    if (fstat(input->fd, &status) != 0)
        return read_failed(input, 0, why);
    if (S_ISFIFO(status.st_mode)) {
        int size = fcntl(input->fd, F_GETPIPE_SZ);
        if (size >= 0 && (size_t)size < PIPE_SIZE)
            fcntl(input->fd, F_SETPIPE_SZ, (int)PIPE_SIZE); /* only faster: may fail */
    }
    off_t base = S_ISREG(status.st_mode) ? lseek(input->fd, 0, SEEK_CUR) : -1;
    input->regular = base >= 0;
    input->base = input->regular ? base : 0;
    if (input->regular && status.st_size > base)
        input->size = (uint64_t)(status.st_size - base);
    return 0;
}

int input_open(struct input *input, const char *operand, const struct input_options *options,
               struct reason *why)
{
    bool standard = strcmp(operand, "-") == 0;
    *input = (struct input){.name = standard ? "standard input" : operand};
    input->fd = standard ? STDIN_FILENO : open(operand, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (input->fd < 0) {
        reason_set(why, "%s: %s", input->name, strerror(errno));
        return -1;
    }
    if (examine(input, why) != 0 || recognise(input, options, why) < 0) {
        input_close(input);
        return -1;
    }
    return 0;
}

bool input_parallel(const struct input *input)
{
    return input->regular && !input->zstd && input->taken < input->size;
}

ssize_t input_read_at(const struct input *input, void *buf, size_t len, uint64_t offset,
                      struct reason *why)
{
    size_t done = 0;
    while (done < len) {
        ssize_t got = read_patiently(input, (char *)buf + done, len - done, offset + done);
        if (got < 0)
            return read_failed(input, offset + done, why);
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Bytes of a zstd stream: at least one, or 0 at the end. */
static ssize_t read_zstd(struct input *input, void *buf, size_t cap, struct reason *why)
{
    for (;;) {
        if (input->raw_pos == input->raw_len && !input->zstd_pending) {
            ssize_t got = take(input, input->raw, RAW_SIZE, why);
            if (got < 0)
                return -1;
            if (got == 0 && !zstd_stream_complete(input->zstd)) {
                reason_set(why, "%s: truncated zstd data, at byte %llu", input->name,
                           (unsigned long long)input->taken);
                return -1;
            }
            if (got == 0)
                return 0;
            input->raw_pos = 0;
            input->raw_len = (size_t)got;
        }
        size_t used, made;
        struct reason fault;
        int rc =
            zstd_stream_decode(input->zstd, input->raw + input->raw_pos,
                               input->raw_len - input->raw_pos, &used, buf, cap, &made, &fault);
        input->raw_pos += used;
        input->zstd_pending = made == cap;
        if (rc != 0) {
            uint64_t at = input->taken - (input->raw_len - input->raw_pos);
            reason_set(why, "%s: %s, at byte %llu", input->name, fault.text,
                       (unsigned long long)at);
            return -1;
        }
        if (made > 0)
            return (ssize_t)made;
    }
}

/* Bytes as they are: first what was seen while looking for magic. */
static ssize_t read_plain(struct input *input, void *buf, size_t cap, struct reason *why)
{
    size_t waiting = input->raw_len - input->raw_pos;
    if (waiting == 0)
        return take(input, buf, cap, why);
    size_t len = waiting < cap ? waiting : cap;
    memcpy(buf, input->raw + input->raw_pos, len);
    input->raw_pos += len;
    return (ssize_t)len;
}

ssize_t input_read(struct input *input, void *buf, size_t cap, struct reason *why)
{
    ssize_t got = input->zstd ? read_zstd(input, buf, cap, why) : read_plain(input, buf, cap, why);
    if (got > 0)
        input->given += (uint64_t)got;
    return got;
}

void input_settle(const struct input *input)
{
    if (input->regular && input->fd == STDIN_FILENO)
        (void)lseek(input->fd, input->base + (off_t)input->taken, SEEK_SET);
}

void input_close(struct input *input)
{
    zstd_stream_close(input->zstd);
    free(input->raw);
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    *input = (struct input){.fd = -1};
}
