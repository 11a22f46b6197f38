/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include "src/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void writer_begin(struct writer *writer, int fd)
{
    writer->fd = fd;
    writer->error = 0;
    writer->used = 0;
    writer->kept_len = 0;
}

/* Keeps the buffer. 0, or the errno of a failure. */
static int keep(struct writer *writer)
{
    const size_t len = writer->kept_len + writer->used;
    char *kept = grow_list(writer->kept, &writer->kept_capacity, len, 1);
    if (!kept)
        return ENOMEM;
    memcpy(kept + writer->kept_len, writer->buffer, writer->used);
    writer->kept = kept;
    writer->kept_len = len;
    return 0;
}

/* Waits until the descriptor is ready. True if the write that failed should be repeated. */
static int may_retry(int fd)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        return poll(&ready, 1, -1) >= 0 || errno == EINTR || errno == EAGAIN;
    }
    return errno == EINTR;
}

int writer_flush(struct writer *writer)
{
    size_t done = 0;
    if (writer->fd == -1 && !writer->error && writer->used > 0) {
        writer->error = keep(writer);
        done = writer->used;
    }
    while (!writer->error && done < writer->used) {
        ssize_t some = write(writer->fd, writer->buffer + done, writer->used - done);
        if (some > 0)
            done += (size_t)some;
        else if (some == 0)
            writer->error = EIO; /* no reason was given, and no more would be written */
        else if (!may_retry(writer->fd))
            writer->error = errno;
    }
    writer->used = 0;
    return writer->error;
}

void writer_bytes(struct writer *writer, const void *bytes, size_t len)
{
    const char *from = bytes;
    while (len > 0) {
        if (writer->used == WRITER_BUFFER)
            writer_flush(writer);
        size_t space = WRITER_BUFFER - writer->used, some = len < space ? len : space;
        memcpy(writer->buffer + writer->used, from, some);
        writer->used += some;
        from += some;
        len -= some;
    }
}

void writer_count(struct writer *writer, uint64_t count)
{
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + (int)(count % 10));
    while (count /= 10);
    writer_bytes(writer, at, (size_t)(digits + sizeof digits - at));
}

void writer_format(struct writer *writer, const char *format, ...)
{
    char text[1001];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof text)
        writer_bytes(writer, text, (size_t)len);
    else if (!writer->error)
        writer->error = EOVERFLOW;
}
