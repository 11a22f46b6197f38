/* SPDX-License-Identifier: MIT */
/* One FILE, or standard input: opened, its format recognised, its bytes read as they are. input.c
 * has the bytes, pieces.c the records of files that are read by several threads. */
#ifndef GPUHISTO_INPUT_H
#define GPUHISTO_INPUT_H

#include "src/base/held.h"
#include "src/base/reason.h"
#include "src/records/records.h"
#include "src/frames/codec.h"
#include "src/open/content.h"
#include "src/open/foreign.h"
#include "src/open/heading.h"
#include "kept.h"
#include "src/open/part.h"
#include "src/frames/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum decompress {
    DECOMPRESS_AUTO,  /* by the codec that the first bytes tell, if any */
    DECOMPRESS_NONE,  /* bytes as they are */
    DECOMPRESS_CODEC, /* by one codec; anything else is an error */
};

struct input_options {
    enum decompress decompress;
    const struct codec *codec; /* DECOMPRESS_CODEC: which */
    struct codec_options decoding;
    struct content_options content;
    size_t record_size;        /* bytes, 1 to RECORD_SIZE_MAX; or RECORD_TOKENS and the like */
    const struct field *field; /* of lines; it must outlive the inputs */
    size_t kept_most; /* bytes of a compressed stream that are kept while an engine decompresses it
                       * by itself, in case it fails; 0: 256 MiB */
    struct share *share; /* of the FILEs; NULL: all of them */
    size_t batch_size;   /* bytes of compressed units after which a batch is complete; 0: as many as
                          * are read at a time */
    uint64_t unit_memory; /* units that need more are decoded in order; 0: UNITS_MEMORY_MAX */
};

struct input {
    const char *name; /* the operand; "standard input" */
    int fd;
    int error;         /* errno, if it could not be opened; otherwise 0 */
    bool regular;      /* pread works */
    bool may_be_short; /* regular, without blocks on a disk: may end before its size, as in /sys */
    bool is_cut;       /* regular: opened_size bytes are read, whatever was added since */
    off_t base;        /* regular: where reading begins; standard input may stand anywhere */
    uint64_t skipped;  /* regular: bytes between where it stood and base */
    uint64_t opened_size; /* regular: bytes to read, from base on, as known when it was opened */
    uint64_t size;        /* of these, in whole records */
    uint64_t end;         /* of these, where pieces end: a share may have less than all */
    uint64_t taken; /* bytes of the file handed out so far, to readers in parallel or in series */
    uint64_t limit; /* bytes that may be taken at most */
    bool ended;     /* a stream gave its end; a terminal would go on after it */
    struct content_range range; /* what is counted; only decoding.c has to look if it is compressed,
                                 * as otherwise nothing else is handed out */
    struct heading heading;     /* compressed: what the content begins with */
    const struct codec *codec;  /* what it is compressed with; NULL: bytes as they are */
    const struct foreign *foreign; /* what these bytes look like, if that is encoded; or NULL */
    struct units units; /* read, but not handed out yet: the first bytes of a stream, or those that
                         * follow a batch */
    struct kept kept;   /* of a stream: what was taken, while that is kept; then what of it is taken
                         * again before the stream goes on */
    bool keeps;         /* the first of these, */
    bool keeps_freely;  /* but that may end at any time: nothing relies on it yet */
    uint64_t unit_memory; /* units that need more are decoded in order */
    size_t batch_size;    /* as in the options */
    const struct content_options *content;
    struct records records;  /* where what is read in order was cut */
    bool has_header;         /* the first record, a header, was not handed out yet */
    bool is_begun;           /* the first record was handed out by input_cut; */
    bool is_one_line;        /* it ends with the file, and has carriage returns in it */
    struct part_edges edges; /* compressed: of the share, if there are shares */
    uint64_t counted_from;   /* bytes of the FILE, as stored, before those of the share */
    int32_t column;          /* of lines: what the name of a column stands for; 0: not known, or not
                              * needed */
};

/* Opens a FILE, which is then held no longer, looks at its first bytes if the options ask for it,
 * and leaves out those before the range, which may wait for a pipe. A pipe is enlarged to 1 MiB.
 * With a cut, which gets the fingerprint, only what belongs to it is read. 0, or -1 with the reason
 * set and nothing left open. The name must outlive the input. */
int input_open(struct input *input, struct held *file, const struct input_options *options,
               struct share_cut *cut, struct reason *why);

/* The first part of input_open: opens a FILE and finds its format. Nothing of it is left out yet,
 * and what was taken of a stream waits in `units`. */
int input_recognise(struct input *input, struct held *file, const struct input_options *options,
                    struct share_cut *cut, struct reason *why);

/* Whether it must be known of each unit of a compressed file how many bytes of content stand before
 * it: values are cut by that, and ranges begin and end by it. */
bool input_needs_positions(const struct input *input);

/* Reads file bytes [offset, offset + len), which were there when the file was opened, into buf;
 * fewer only if the file may be short. The bytes read, or -1 with the reason set. Any thread. */
ssize_t input_read_at(const struct input *input, void *buf, size_t len, uint64_t offset,
                      struct reason *why);

/* Takes off the size what may not be a whole record; what is read in series begins there. Finds the
 * column that is named, if pieces are read at all. 0, or -1 with the reason set. input_open does it
 * where there are no shares.
 */
int input_trim(struct input *input, struct reason *why);

/* Finds the column that is named, if one is, in the header of a file that is read in pieces. 0, or
 * -1 with the reason set. */
int input_find_column(struct input *input, struct reason *why);

/* Whether bytes [taken, end) may be read by several threads at once with input_read_piece. */
bool input_parallel(const struct input *input);

/* Reads the records of a piece, file bytes [offset, offset + len) of those that are read by several
 * threads, into an empty chunk, whose len and begin it sets. The bytes of the piece that were read,
 * or -1 with the reason set. Changes nothing in the input; any thread. */
ssize_t input_read_piece(const struct input *input, struct chunk *chunk, size_t len,
                         uint64_t offset, struct reason *why);

/* Whether all of the input has to be read in order, by one reader: only from the beginning on is it
 * known which newlines of CSV are in quotes, and a column's name is known only after the header. */
bool input_is_serial(const struct input *input);

/* Cuts a chunk of an input that is read in order, as records_cut. Sets how many bytes it accounts
 * for, marks it if its first record is the FILE's header, and finds the column that is named. 0, or
 * -1 with the reason set. One thread at a time. */
int input_cut(struct input *input, struct chunk *chunk, size_t waited, bool at_end,
              struct reason *why);

/* Reads on, from `taken` up to `limit`, into buf[0..cap), cap > 0: what one read gives. EINTR and
 * EAGAIN are waited out. The bytes read, 0 at the end, or -1 with the reason set. One thread at a
 * time, as for all that follow. */
ssize_t input_read(struct input *input, void *buf, size_t cap, struct reason *why);

/* The same of a compressed file, without what waits in `units`. */
ssize_t input_take(struct input *input, void *buf, size_t cap, struct reason *why);

/* Reads file bytes [offset, offset + len) of a regular file, taking none. Whether all are there. */
bool input_peek(const struct input *input, void *buf, size_t len, uint64_t offset);

/* Finds where a regular file ends by now: what was added since it was opened is read, too, unless
 * the limit is before that, as in a share. 0; or -1 with the reason set, if it became shorter. */
int input_find_end(const struct input *input, uint64_t *end, struct reason *why);

/* Whether input_take has nothing more to give. */
bool input_is_over(const struct input *input);

/* Whether input_take would not wait, or will not in so many milliseconds. */
bool input_ready(const struct input *input, int milliseconds);

/* Sets the reason why a FILE of this name cannot end after `len` bytes of a record of `size`: a
 * value, or one of each channel. -1. */
int input_cut_off(const char *name, const struct content_options *options, size_t len, size_t size,
                  struct reason *why);

/* At the end: 0, or -1 with the reason that the end of a record is missing. */
int input_check_end(const struct input *input, struct reason *why);

/* Puts standard input's offset where reading ended; nothing more may be taken from the input. */
void input_settle(const struct input *input);

/* Closes and frees all but standard input itself. */
void input_close(struct input *input);

#endif
