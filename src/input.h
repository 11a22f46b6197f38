/* One FILE, or standard input: opened, recognised, read. */
#ifndef GPUHISTO_INPUT_H
#define GPUHISTO_INPUT_H

#include "reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum decompress {
    DECOMPRESS_AUTO, /* zstd if the first bytes say so */
    DECOMPRESS_ZSTD, /* anything else is an error */
    DECOMPRESS_NONE, /* bytes as they are */
};

struct input_options {
    enum decompress decompress;
    uint64_t memlimit; /* the largest zstd window, bytes */
};

struct zstd_stream;

struct input {
    const char *name; /* as messages name it */
    int fd;
    bool regular;   /* pread works */
    off_t base;     /* regular: where reading began; standard input may stand anywhere */
    uint64_t size;  /* regular: bytes from base to the end, as it was when opened */
    uint64_t taken; /* bytes of the file handed out so far, to readers in parallel or in series */
    bool ended;     /* a stream gave its end; a terminal would go on after it */
    uint64_t given; /* the same after decompression: the offset of the next byte in its stream */
    struct zstd_stream *zstd; /* NULL: bytes as they are */
    bool zstd_pending;        /* the decoder may give more without being fed */
    unsigned char *raw;       /* RAW_SIZE bytes: seen while looking for magic, or to be decoded */
    size_t raw_pos, raw_len;  /* raw[raw_pos..raw_len) was not given yet */
};

/* Opens operand ("-": standard input) and looks at its first bytes if the options ask for it, which
 * may wait for a pipe. A pipe is enlarged to 1 MiB. 0, or -1 with the reason set and nothing left
 * open. The name must outlive the input. */
int input_open(struct input *input, const char *operand, const struct input_options *options,
               struct reason *why);

/* Whether bytes [taken, size) may be read by several threads at once with input_read_at. */
bool input_parallel(const struct input *input);

/* Reads file bytes [offset, offset + len) into buf; fewer where the file has become shorter. Takes
 * nothing, changes nothing, any thread. The bytes read, or -1 with the reason set. */
ssize_t input_read_at(const struct input *input, void *buf, size_t len, uint64_t offset,
                      struct reason *why);

/* Reads on, from `taken`, into buf[0..cap), cap > 0: what one read gives, decompressed if it is
 * zstd's. EINTR and EAGAIN are waited out. The bytes read, 0 at the end, or -1 with the reason set.
 * One thread at a time. */
ssize_t input_read(struct input *input, void *buf, size_t cap, struct reason *why);

/* Puts standard input's offset where reading ended. For one that will be taken from no more. */
void input_settle(const struct input *input);

/* Closes and frees all but standard input itself. */
void input_close(struct input *input);

#endif
