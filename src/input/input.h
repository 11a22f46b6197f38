/* SPDX-License-Identifier: MIT */
/* One file, or standard input, as it is opened: its bytes, its frames if it is compressed, and the
 * plan of what is counted, which does not change afterwards. The content of a file is what
 * decompression gives or, if it is not compressed, its bytes. */
#ifndef GPUHISTO_INPUT_H
#define GPUHISTO_INPUT_H

#include "bytes.h"
#include "frames.h"
#include "records.h"
#include "src/text/lines.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk;
struct error;
struct file_shard;
struct header;

/* --- the options of the command line --- */

#define CONTENT_MAX BYTES_MAX
#define CONTENT_TO_END UINT64_MAX

/* Which content is counted. All 0: the whole content of each file. */
struct content_options {
    uint64_t skip;   /* bytes to leave out at the beginning, CONTENT_MAX at most */
    uint64_t length; /* has_length: bytes to count after them, CONTENT_MAX at most */
    bool has_length;
    const char *header_type; /* the content may begin with a header, of values of this type; NULL:
                              * no header is looked for */
    bool needs_header;       /* the type was not typed: each file must have a header */
    unsigned channels;       /* of values: more than 1 if one of each is a record */
    bool has_pairs;          /* values are pairs of bytes */
};

#define PIECES_OF_ALL SIZE_MAX

struct input_options {
    const struct codec *codec; /* decodes all files; NULL: the one that the first bytes tell */
    bool is_as_stored;         /* nothing is decoded */
    struct codec_options decoding;
    struct content_options content;
    struct record_kind record;     /* what the content is cut into */
    const struct line_spec *lines; /* of lines; it must outlive the inputs */
    bool skips_bom;       /* of lines: a byte order mark before the first one is left out */
    bool wants_positions; /* chunks state where in the content they begin; not of text */
    size_t replay_max;    /* bytes of a compressed stream that are kept while a GPU decompresses it,
                           * in case that fails; 0: 32 MiB */
    struct shard *shard;  /* of the files; NULL: all of them */
    size_t batch_size;    /* bytes of frames after which a batch is complete; 0: as many as are read
                           * at a time */
    size_t piece_size; /* 0: large files are decoded in pieces; PIECES_OF_ALL: so are all; others:
                        * so are all, in pieces of so many bytes */
    uint64_t frame_memory; /* frames that need more are decoded in order; 0: FRAMES_MEMORY_MAX */
};

/* --- the plan --- */

/* Bytes [begin, end) of a file's content. */
struct content_range {
    uint64_t begin;
    uint64_t end;       /* CONTENT_TO_END: to the end of the content */
    const char *stated; /* the format of the header that states the end, before which the content
                         * must not end; or NULL */
    bool is_whole;      /* nor may it go on after that */
};

/* The frames of a compressed file that belong to a shard: where they begin and end. */
struct shard_edges {
    bool is_first;     /* no content comes before */
    bool goes_on;      /* a record that began before them ends in them: it is not counted here */
    uint64_t content;  /* bytes of content before them, if that must be known */
    uint64_t first;    /* where in the file they begin, */
    uint64_t next;     /* the frames of the next shard begin, */
    uint64_t file_end; /* and the file ends */
};

/* The plan for a file: what is counted, and how. */
struct plan {
    const struct unsupported_format *unsupported; /* what the bytes look like; or NULL */
    struct content_range range;                   /* what of the content is counted */
    uint64_t size;            /* regular, not compressed: where its whole records end, */
    uint64_t end;             /* and pieces: a shard may have less; otherwise not after begin */
    struct shard_edges edges; /* compressed: of the shard, if there are shards */
    uint64_t counted_from;    /* bytes of the file, as stored, before those of the shard */
    struct line_columns columns;
};

/* CSV of a regular file that is read in pieces, from its second chunk on (csv_pieces.c). */
struct csv_pieces {
    bool is_open;         /* there is a lock. This and is_over belong to whoever claims pieces */
    bool is_over;         /* the rest is read in order */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t moved;
    bool is_stopped;       /* a piece is left to the reader in order, and all after it */
    uint64_t next;         /* all pieces before this offset are scanned; */
    enum csv_state quotes; /* the state there */
    uint64_t begin;        /* where the first record begins that no piece before has, */
    uint64_t newlines;     /* and how many newlines stand before it */
};

struct input {
    const struct input_options *options;
    struct bytes bytes;
    struct frames frames;
    struct plan plan;
    struct records records; /* where what is read in order was cut */
    struct csv_pieces csv;
    bool has_header;  /* the first record, a header, was not handed out yet */
    bool seeks_bom;   /* a byte order mark before the first record was not left out yet */
    bool is_begun;    /* the first record was handed out; */
    bool is_one_line; /* by input_cut, ends with the file, and has carriage returns in it */
};

/* Opens a file and releases it, recognises its format, looks at what its content begins with, and
 * leaves out what is before the range; a pipe may be waited for. With a shard, which gets the
 * fingerprint, only the shard's part is read. 0, or -1 with the error set and nothing left open.
 * The name and the options must outlive the input. */
int input_open(struct input *input, struct preopened *file, const struct input_options *options,
               struct file_shard *shard, struct error *error);

/* Reads the header that a file begins with, and gives the file back, unread. 0, or -1 with the
 * error set if there is no type of values. */
int input_find_header(struct preopened *file, const struct input_options *options,
                      struct header *header, struct error *error);

/* True if columns are named that were not found yet. */
bool input_seeks_columns(const struct input *input);

/* Finds the columns that are named in the first record of text[0..len). 0, or -1 with the error
 * set. */
int input_find_columns(struct input *input, const unsigned char *text, size_t len,
                       struct error *error);

/* True if bytes [taken, end) may be read by several threads at once with input_read_piece. */
static inline bool input_parallel(const struct input *input)
{
    return input->bytes.taken < input->plan.end;
}

/* Reads the records of a piece, file bytes [offset, offset + len) of those that are read by several
 * threads, into an empty chunk, whose len and begin it sets. The bytes of the piece that were read,
 * or -1 with the error set. Changes nothing in the input; any thread. */
ssize_t input_read_piece(const struct input *input, struct chunk *chunk, size_t len,
                         uint64_t offset, struct error *error);

/* Begins to read CSV in pieces after what was cut, if that is possible and enough is left for
 * chunks of so many bytes: input_parallel is true then. Under the lock of whoever claims pieces, as
 * the next function. */
void csv_pieces_begin(struct input *input, size_t chunk_size);

/* Ends that once all pieces were claimed, or one is left to be read in order: waits for the others,
 * and goes on behind them. Returns how many bytes that were claimed will be read again. */
uint64_t csv_pieces_end(struct input *input);

/* Reads the records of a piece, as input_read_piece, and sets the origin's content to where they
 * begin. Waits for the pieces before, which other threads read. None: they will be read in order.
 * Any thread. */
ssize_t csv_pieces_read(struct input *input, struct chunk *chunk, size_t len, uint64_t offset,
                        struct error *error);

void csv_pieces_close(struct csv_pieces *pieces);

/* True if all of the input has to be read in order, by one reader. Only from the beginning on is it
 * known which newlines of CSV are in quotes, and in a range which columns are named. */
bool input_is_serial(const struct input *input);

/* Cuts a chunk of an input that is read in order, as records_cut. Sets how many bytes it accounts
 * for, marks it if its first record is the file's header, and finds the columns that are named. 0,
 * or -1 with the error set. One thread at a time. */
int input_cut(struct input *input, struct chunk *chunk, size_t waited, bool at_end,
              struct error *error);

/* Reads on in a file that is not compressed, as bytes_read. It is an error that more or fewer bytes
 * follow than its header states. */
ssize_t input_read(struct input *input, void *buf, size_t cap, struct error *error);

/* Sets the error why a file cannot end after `len` bytes of a value, or of one of each channel.
 * Returns -1. */
int input_cut_off(const struct input *input, size_t len, struct error *error);

/* Closes and frees all but standard input itself. */
void input_close(struct input *input);

/* --- the range of the content that is counted --- */

/* Returns the range that the options give. */
struct content_range content_range_of(const struct content_options *options);

/* True if the range is less than the whole content. */
static inline bool content_is_partial(const struct content_range *range)
{
    return range->begin > 0 || range->end != CONTENT_TO_END;
}

/* Compares content with what its header states, after `position` bytes of it were seen, or at its
 * end there. 0, or -1 with the error set; it does not name the file. */
int content_check(const struct content_range *range, uint64_t position, bool at_end,
                  struct error *error);

/* Returns how many of the first `position` bytes of the content are in the range. */
uint64_t content_before(const struct content_range *range, uint64_t position);

/* Returns how many of the next `max` bytes after `position` are to be read: those up to the end of
 * the range, and one more if that would be wrong. */
size_t content_left(const struct content_range *range, uint64_t position, size_t max);

/* --- shards: the files, laid end to end, are cut into N ranges of about the same size by their
 * sizes alone, so that all processes make the same cuts. Where records and compressed frames are
 * cut follows from these. --- */

/* The choice of a shard. */
struct shard_choice {
    uint64_t part, of; /* the part-th of so many, from 1; of is 0: there are no shards */
    bool wants_fingerprints;
    bool is_whole; /* no file can be cut: it belongs to the shard that has its first byte */
};

/* Bytes [begin, end) of a file, as stored, that belong to the shard. */
struct file_shard {
    size_t index; /* among all files, from 0 */
    const char *name;
    uint64_t size; /* of the file */
    uint64_t begin, end;
    bool wants_fingerprint;
    uint64_t fingerprint; /* if it is wanted: set when the file is opened */
};

struct shard {
    struct shard_choice choice;
    uint64_t files, bytes,
        digest;              /* of all files: how many, the sum of sizes; of names and sizes */
    struct file_shard *list; /* `count`, in order, owned */
    size_t count;
};

/* Finds the range that a shard has of a file of `size` bytes, before which `start` of all `bytes`
 * lie. An empty file belongs to one shard, with the range [0, 0). True if the shard has any. */
bool shard_range_of(const struct shard_choice *choice, uint64_t bytes, uint64_t start,
                    uint64_t size, uint64_t *begin, uint64_t *end);

/* Errors of shard_open. */
#define SHARD_REFUSED (-1) /* what cannot be divided: standard input, a pipe, a directory */
#define SHARD_FAILED (-2)

/* Looks at all files, and cuts them. The names must outlive the shard. 0; or one of the errors with
 * an error, and nothing to close. */
int shard_open(struct shard *shard, const struct shard_choice *choice, char *const *names,
               size_t count, struct error *error);

/* Frees the cuts. */
void shard_close(struct shard *shard);

/* Completes the last record of the shard, in the head of a span, from the frames of the next shard.
 * 0, or -1 with the error set. */
int file_shard_complete(const struct input *input, struct span *joined, struct error *error);

/* For input_open: compares a file with its shard, and sets the fingerprint if it is wanted. Bytes
 * that were added to the file since it was measured are ignored. 0, or -1 with the error set. */
int file_shard_check(struct input *input, struct file_shard *shard, struct error *error);

/* For input_open: limits a file, whose format and range are known, to the shard's part. 0, or -1
 * with the error set. */
int file_shard_select(struct input *input, const struct file_shard *shard, struct error *error);

/* --- formats of compressed data and of text that are recognised, but not decoded: their bytes are
 * counted as they are, and the user is told which program to pipe them through --- */

struct unsupported_format {
    const char *name;    /* as messages call it */
    const char *command; /* decodes a file to standard output */
    bool is_text;        /* a way to code characters, which matters where text is counted */
};

/* The files of a run that are in such a format; zeroed, there are none. */
struct unsupported_seen {
    const struct unsupported_format *format; /* of the first one */
    const char *name;                        /* its name, which must outlive this */
    size_t number;                           /* where it stands among the files */
    size_t others;                           /* how many more there are */
};

/* The format of compressed data with this name, or NULL. */
const struct unsupported_format *unsupported_format_find(const char *name);

/* Remembers a file, the number-th as they were given; a format of NULL is fine. Files come in any
 * order. One thread at a time. */
void unsupported_format_record(struct unsupported_seen *seen,
                               const struct unsupported_format *format, const char *name,
                               size_t number);

/* Sets *warning to one line about all that was seen; empty if that is nothing. */
void unsupported_format_warn(const struct unsupported_seen *seen, struct error *warning);

/* --- the header that content may begin with (.npy, WAV, PNM), and what it says of the values after
 * it --- */

#define HEADER_MAX ((size_t)1 << 20) /* bytes of the longest header that is read */
#define HEADER_MAGIC_MAX 12          /* bytes that tell at most whether there is a header */
#define HEADER_TYPE_MAX 16           /* size of a type's name with its NUL */
#define HEADER_HOLDS_MAX 80          /* size of the description of the values with its NUL */
#define HEADER_TO_END UINT64_MAX     /* the values reach to the end of the content */

/* The bytes that may follow the header. */
enum header_extent {
    HEADER_EXACT,   /* all bytes that it states and nothing else */
    HEADER_LEADING, /* all bytes that it states, then something else */
    HEADER_OPEN,    /* at most the bytes that it states: the writer did not know the length */
};

struct header {
    const char *format;           /* name for messages */
    size_t size;                  /* bytes of the header; the values begin there */
    char holds[HEADER_HOLDS_MAX]; /* the values as the format describes them: "<f4" */
    char type[HEADER_TYPE_MAX];   /* the TYPE of --values: "f32"; empty if there is none */
    unsigned channels;            /* interleaved channels; 0 if the header does not say */
    bool is_planar;               /* channels are stored one after the other */
    uint64_t bytes;               /* of all values, at most INT64_MAX; or HEADER_TO_END */
    enum header_extent extent;
};

enum header_status {
    HEADER_NONE,  /* there is no header */
    HEADER_PART,  /* undecided: more bytes are needed */
    HEADER_FOUND, /* *header is set */
    HEADER_WRONG, /* there is a header that cannot be read: *fault says why */
};

/* Reads the header from the first bytes of a file's content, data[0..len). HEADER_PART sets *wanted
 * to the number of bytes that are needed, more than len and at most HEADER_MAX. It does not happen
 * with `wanted` NULL: the content has no more bytes. The fault does not name the file. Any thread.
 */
enum header_status header_peek(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, struct error *fault);

/* True if the values can be counted as this type in this many channels. Otherwise sets the fault to
 * what to type instead, or that --values has no such type. */
bool header_fits(const struct header *header, const char *type, unsigned channels,
                 struct error *fault);

#endif
