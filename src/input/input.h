/* One FILE, or standard input: opened, recognised, read. */
#ifndef GPUHISTO_INPUT_H
#define GPUHISTO_INPUT_H

#include "src/base/reason.h"
#include "src/engine/records.h"

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
    uint64_t memlimit;  /* the largest zstd window, bytes */
    size_t record_size; /* bytes, 1 to RECORD_SIZE_MAX; or RECORD_TOKENS */
};

/* Bytes of a file as they are, on their way to a decoder. */
struct raw {
    unsigned char *data;  /* cap bytes, or NULL */
    size_t pos, len, cap; /* data[pos..len) was not decoded yet */
    uint64_t offset;      /* of data[0] in the file */
    uint64_t window;      /* the largest that its frames need, bytes; if they are whole */
    bool open;            /* the last frame is not whole: it goes on in the file */
    bool to_end;          /* and so do all that follow it: they are one text */
};

struct input {
    const char *name; /* as messages name it */
    int fd;
    bool regular;  /* pread works */
    off_t base;    /* regular: where reading began; standard input may stand anywhere */
    uint64_t size; /* regular: bytes of whole records from base to the end, as it was when opened */
    uint64_t taken; /* bytes of the file handed out so far, to readers in parallel or in series */
    bool ended;     /* a stream gave its end; a terminal would go on after it */
    bool zstd;      /* read by input_frames; else as bytes */
    struct raw raw; /* seen while looking for magic or for the end of a frame, and not given yet */
    struct records records; /* how far what is read in order was cut */
};

/* No frame of a larger window, or of more compressed bytes, is handed out whole (bytes). */
#define INPUT_WINDOW_MAX ((uint64_t)8 << 20)
#define INPUT_FRAMES_MAX ((size_t)8 << 20)

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

/* Reads the records of a piece, file bytes [offset, offset + len) of those that are read by several
 * threads, into data, which has RECORDS_ROOM more for tokens; sets *data_len to their bytes there.
 * The bytes of the piece that were read, or -1 with the reason set. As input_read_at. */
ssize_t input_read_piece(const struct input *input, unsigned char *data, size_t len,
                         uint64_t offset, size_t *data_len, struct reason *why);

/* Reads on, from `taken`, into buf[0..cap), cap > 0: what one read gives. EINTR and EAGAIN are
 * waited out. The bytes read, 0 at the end, or -1 with the reason set. One thread at a time, as for
 * the three that follow. */
ssize_t input_read(struct input *input, void *buf, size_t cap, struct reason *why);

/* At the end: 0, or -1 with the reason that a value's end is missing. */
int input_check_end(const struct input *input, struct reason *why);

/* The next bytes of a zstd file, in *frames, whose memory is used again: whole frames, each of
 * whole values; or (open) the beginning of one that is too large for that, or corrupt, or cut off;
 * or (open, to_end) of all frames, if these hold a text. 1; 0 at the end; or -1 with the reason
 * set. */
int input_frames(struct input *input, struct raw *frames, struct reason *why);

/* Reads on in open frames, when all of *frames was decoded. The bytes read, 0 at the end, or -1
 * with the reason set. */
ssize_t input_more(struct input *input, struct raw *frames, struct reason *why);

/* Takes back what of *frames lies behind the end of open frames. */
void input_unread(struct input *input, struct raw *frames);

/* Puts standard input's offset where reading ended. For one that will be taken from no more. */
void input_settle(const struct input *input);

/* Closes and frees all but standard input itself. */
void input_close(struct input *input);

#endif
