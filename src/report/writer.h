/* SPDX-License-Identifier: MIT */
/* Buffered text for a descriptor. After the first error nothing more is written, so what was
 * written is always the beginning of the whole text. One thread at a time. */
#ifndef GPUHISTO_WRITER_H
#define GPUHISTO_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WRITER_BUFFER ((size_t)64 << 10)

struct writer {
    int fd;      /* not owned; -1: text is kept */
    int error;   /* errno of the first write that failed; 0: none did */
    size_t used; /* bytes of the buffer */
    char *kept;  /* what was flushed without a descriptor; owned, free it */
    size_t kept_len, kept_capacity;
    char buffer[WRITER_BUFFER];
};

/* Begins a text for a descriptor, which may be non-blocking; -1: one that is kept in memory, in
 * `kept` once it is flushed. The latter the first time for a writer of all zeros; later its memory
 * is used again. */
void writer_begin(struct writer *writer, int fd);

/* Writes all of the buffer: repeats writes that were partial, interrupted or would have blocked.
 * Returns 0, or the errno of the first error so far. */
int writer_flush(struct writer *writer);

/* Appends bytes, and writes the buffer when it is full. writer_flush returns errors. */
void writer_bytes(struct writer *writer, const void *bytes, size_t len);

/* Appends a terminated text. */
static inline void writer_text(struct writer *writer, const char *text)
{
    writer_bytes(writer, text, strlen(text));
}

static inline void writer_char(struct writer *writer, char byte)
{
    if (writer->used == WRITER_BUFFER)
        writer_flush(writer);
    writer->buffer[writer->used++] = byte;
}

/* Appends an integer in decimal digits. */
void writer_count(struct writer *writer, uint64_t count);

/* Appends what printf would; more than 1000 bytes are the error EOVERFLOW. */
void writer_format(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
