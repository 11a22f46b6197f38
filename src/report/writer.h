/* Text on its way to a descriptor, through a buffer. After the first error nothing more is written,
 * so that what arrived is always a beginning of what was meant. One thread at a time. */
#ifndef GPUHISTO_WRITER_H
#define GPUHISTO_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WRITER_BUFFER ((size_t)64 << 10)

struct writer {
    int fd;      /* not owned */
    int error;   /* errno of the first write that failed; 0: none did */
    size_t used; /* bytes of the buffer */
    char buffer[WRITER_BUFFER];
};

/* An empty writer to a descriptor, which may be non-blocking. */
void writer_begin(struct writer *writer, int fd);

/* Writes out what is in the buffer: all of it, however often the descriptor takes only a part, is
 * interrupted or has to be waited for. Returns 0, or the errno of the first error so far. */
int writer_flush(struct writer *writer);

/* Appends bytes; writes when the buffer is full. Errors are kept for writer_flush. */
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

/* Appends what printf would, up to 1000 bytes. */
void writer_format(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
