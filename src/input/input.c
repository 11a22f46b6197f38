#include "input.h"
#include "codec_zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RAW_SIZE ((size_t)128 << 10)  /* of a zstd file or a pipe, looked at first */
#define MORE_SIZE ((size_t)512 << 10) /* of an open frame at a time; libzstd copies blocks cut */
#define FRAMES_SIZE ((size_t)1 << 20) /* given out at a time, as far as frames allow */
#define PIPE_SIZE ((size_t)1 << 20)   /* the most an ordinary user may ask for */

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

/* Room for cap bytes at least. */
static int reserve(const struct input *input, struct raw *raw, size_t cap, struct reason *why)
{
    if (raw->cap >= cap)
        return 0;
    unsigned char *data = realloc(raw->data, cap);
    if (!data)
        return out_of_memory(input, why);
    raw->data = data;
    raw->cap = cap;
    return 0;
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
    struct raw *raw = &input->raw;
    if (reserve(input, raw, RAW_SIZE, why) != 0)
        return -1;
    int magic;
    do {
        ssize_t got = take(input, raw->data + raw->len, raw->cap - raw->len, why);
        if (got < 0)
            return -1;
        raw->len += (size_t)got;
        magic = got == 0 ? 0 : zstd_magic(raw->data, raw->len);
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
    input->zstd = magic > 0;
    return magic;
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

/* Takes off the size what may not be a whole record; readers in series begin there. */
static int trim(struct input *input, struct reason *why)
{
    unsigned char end[NUMBER_MAX + 1];
    size_t len = input->size < sizeof end ? (size_t)input->size : sizeof end;
    ssize_t got = 0;
    if (input->zstd)
        return 0;
    if (input->records.size != RECORD_TOKENS) {
        input->size -= input->size % input->records.size;
        return 0;
    }
    if (len > 0 && (got = input_read_at(input, end, len, input->size - len, why)) < 0)
        return -1;
    input->size -= records_tail(&input->records, end, (size_t)got);
    return 0;
}

int input_open(struct input *input, const char *operand, const struct input_options *options,
               struct reason *why)
{
    bool standard = strcmp(operand, "-") == 0;
    *input = (struct input){.name = standard ? "standard input" : operand,
                            .records = {.size = options->record_size}};
    input->fd = standard ? STDIN_FILENO : open(operand, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (input->fd < 0) {
        reason_set(why, "%s: %s", input->name, strerror(errno));
        return -1;
    }
    if (examine(input, why) != 0 || recognise(input, options, why) < 0 || trim(input, why) != 0) {
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

/* A piece of text, the byte before it, and what its last token needs. */
static ssize_t read_text(const struct input *input, unsigned char *data, size_t len,
                         uint64_t offset, size_t *data_len, struct reason *why)
{
    uint64_t left = input->size - offset;
    size_t wanted = left < len + NUMBER_MAX ? (size_t)left : len + NUMBER_MAX, before = offset > 0;
    data[0] = ' '; /* stands before the first piece */
    ssize_t got = input_read_at(input, data + 1 - before, wanted + before, offset - before, why);
    if (got < 0)
        return -1;
    size_t have = (size_t)got > before ? (size_t)got - before : 0;
    *data_len = records_of_piece(data, len, 1 + have);
    return (ssize_t)(have < len ? have : len);
}

ssize_t input_read_piece(const struct input *input, unsigned char *data, size_t len,
                         uint64_t offset, size_t *data_len, struct reason *why)
{
    size_t size = input->records.size;
    if (size == RECORD_TOKENS)
        return read_text(input, data, len, offset, data_len, why);
    ssize_t got = input_read_at(input, data, len, offset, why);
    *data_len = got > 0 ? (size_t)got : 0;
    if (*data_len % size == 0)
        return got;
    reason_set(why, "%s: became shorter, and ends within a value", input->name);
    return -1;
}

ssize_t input_read(struct input *input, void *buf, size_t cap, struct reason *why)
{
    struct raw *raw = &input->raw; /* first what was seen while looking for magic */
    size_t waiting = raw->len - raw->pos;
    if (waiting == 0)
        return take(input, buf, cap, why);
    size_t len = waiting < cap ? waiting : cap;
    memcpy(buf, raw->data + raw->pos, len);
    raw->pos += len;
    return (ssize_t)len;
}

int input_check_end(const struct input *input, struct reason *why)
{
    const struct records *records = &input->records;
    if (records->cut_len == 0)
        return 0;
    reason_set(why, "%s: ends within a value, %zu of its %zu bytes are there", input->name,
               records->cut_len, records->size);
    return -1;
}

/* Reads until raw is full, or to the end. */
static int fill(struct input *input, struct raw *raw, struct reason *why)
{
    while (raw->len < raw->cap && !input->ended) {
        ssize_t got = take(input, raw->data + raw->len, raw->cap - raw->len, why);
        if (got < 0)
            return -1;
        raw->len += (size_t)got;
    }
    return 0;
}

/* Reads whole frames into raw, with more memory if need be, or the beginning of one. 0 or -1;
 * *whole is the size of the whole ones. */
static int gather_frames(struct input *input, struct raw *raw, size_t *whole, struct reason *why)
{
    size_t size = input->records.size;
    for (size_t cap = RAW_SIZE;; cap = 2 * raw->cap) {
        if (reserve(input, raw, cap, why) != 0 || fill(input, raw, why) != 0)
            return -1;
        ssize_t found = -1; /* where a value goes on, none begins; tokens may go on anywhere */
        if (input->records.cut_len == 0 && size != RECORD_TOKENS)
            found = zstd_whole_frames(raw->data, raw->len, INPUT_WINDOW_MAX, size, &raw->window);
        *whole = found > 0 ? (size_t)found : 0;
        if (found != 0 || input->ended || raw->cap >= INPUT_FRAMES_MAX)
            return 0;
    }
}

int input_frames(struct input *input, struct raw *frames, struct reason *why)
{
    struct raw *raw = &input->raw;
    size_t whole;
    if (gather_frames(input, raw, &whole, why) != 0)
        return -1;
    if (raw->len == 0)
        return 0;
    /* The two change places; what is left, the beginning of the next frame, moves over. */
    size_t cap = raw->cap < FRAMES_SIZE ? 2 * raw->cap : raw->cap;
    if (reserve(input, frames, cap, why) != 0)
        return -1;
    size_t given = whole ? whole : raw->len;
    struct raw rest = {.data = frames->data,
                       .len = raw->len - given,
                       .cap = frames->cap,
                       .offset = raw->offset + given};
    memcpy(rest.data, raw->data + given, rest.len);
    *frames = *raw;
    frames->len = given;
    frames->open = whole == 0;
    frames->to_end = input->records.size == RECORD_TOKENS;
    *raw = rest;
    return 1;
}

ssize_t input_more(struct input *input, struct raw *frames, struct reason *why)
{
    size_t len = frames->cap < MORE_SIZE ? frames->cap : MORE_SIZE;
    ssize_t got = take(input, frames->data, len, why);
    if (got > 0) {
        frames->offset += frames->len;
        frames->pos = 0;
        frames->len = (size_t)got;
    }
    return got;
}

void input_unread(struct input *input, struct raw *frames)
{
    struct raw spare = input->raw;
    frames->len -= frames->pos;
    frames->offset += frames->pos;
    memmove(frames->data, frames->data + frames->pos, frames->len);
    frames->pos = 0;
    input->raw = *frames;
    *frames = spare;
}

void input_settle(const struct input *input)
{
    if (input->regular && input->fd == STDIN_FILENO)
        (void)lseek(input->fd, input->base + (off_t)input->taken, SEEK_SET);
}

void input_close(struct input *input)
{
    free(input->raw.data);
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    *input = (struct input){.fd = -1};
}
