/* SPDX-License-Identifier: MIT */
/* One file, or standard input, as it is opened: its bytes, its frames if it is compressed, and the
 * plan of what is counted, which does not change afterwards. */
#ifndef GPUHISTO_INPUT_H
#define GPUHISTO_INPUT_H

#include "content.h"
#include "unsupported_format.h"
#include "src/bytes/bytes.h"
#include "src/frames/frames.h"
#include "src/records/records.h"

struct file_shard;
struct span;

#define PIECES_OF_ALL SIZE_MAX

struct input_options {
    const struct codec *codec; /* decodes all files; NULL: the one that the first bytes tell */
    bool is_as_stored;         /* nothing is decoded */
    struct codec_options decoding;
    struct content_options content;
    struct record_kind record; /* what the content is cut into */
    const struct field *field; /* of lines; it must outlive the inputs */
    const struct field *key;   /* of their keys; the same; or NULL */
    bool skips_bom;            /* of lines: a byte order mark before the first one is left out */
    bool wants_positions;      /* chunks state where in the content they begin; not of text */
    size_t replay_max;   /* bytes of a compressed stream that are kept while a GPU decompresses it,
                          * in case that fails; 0: 32 MiB */
    struct shard *shard; /* of the files; NULL: all of them */
    size_t batch_size;   /* bytes of frames after which a batch is complete; 0: as many as are read
                          * at a time */
    size_t piece_size;   /* 0: large files are decoded in pieces; PIECES_OF_ALL: so are all; others:
                          * so are all, in pieces of so many bytes */
    uint64_t frame_memory; /* frames that need more are decoded in order; 0: FRAMES_MEMORY_MAX */
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
    const struct content_options *content;
    const struct unsupported_format *unsupported; /* what the bytes look like; or NULL */
    struct content_range range;                   /* what of the content is counted */
    uint64_t size;            /* regular, not compressed: where its whole records end, */
    uint64_t end;             /* and pieces: a shard may have less; otherwise not after begin */
    struct shard_edges edges; /* compressed: of the shard, if there are shards */
    uint64_t counted_from;    /* bytes of the file, as stored, before those of the shard */
    int32_t column;           /* that is named; 0: not known, or not needed */
    int32_t key_column;       /* the same of the key */
};

struct input {
    struct bytes bytes;
    struct frames frames;
    struct plan plan;
    const struct field *key; /* of lines; NULL: they have none */
    struct records records;  /* where what is read in order was cut */
    bool has_header;         /* the first record, a header, was not handed out yet */
    bool seeks_bom;          /* a byte order mark before the first record was not left out yet */
    bool is_begun;           /* the first record was handed out; */
    bool wants_positions;    /* as in the options */
    bool is_one_line;        /* by input_cut, ends with the file, and has carriage returns in it */
};

/* Opens a file and releases it, recognises its format, looks at what its content begins with, and
 * leaves out what is before the range; a pipe may be waited for. With a shard, which gets the
 * fingerprint, only the shard's part is read. 0, or -1 with the error set and nothing left open.
 * The name must outlive the input. */
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

/* Takes off the size what may not be a whole record, and is read in order. For input_open, without
 * shards. 0, or -1 with the error set. */
int input_trim(struct input *input, struct error *error);

/* True if bytes [taken, end) may be read by several threads at once with input_read_piece. */
bool input_parallel(const struct input *input);

/* Reads the records of a piece, file bytes [offset, offset + len) of those that are read by several
 * threads, into an empty chunk, whose len and begin it sets. The bytes of the piece that were read,
 * or -1 with the error set. Changes nothing in the input; any thread. */
ssize_t input_read_piece(const struct input *input, struct chunk *chunk, size_t len,
                         uint64_t offset, struct error *error);

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

/* Checks the end. 0, or -1 with the error that the end of a record is missing. */
int input_check_end(const struct input *input, struct error *error);

/* Closes and frees all but standard input itself. */
void input_close(struct input *input);

/* --- what belongs to a shard (file_shard.c) --- */

/* Compares a file that was opened with its shard, and sets the fingerprint if it is wanted. Bytes
 * that were added to the file since it was measured are ignored. 0, or -1 with the error set. */
int file_shard_check(struct input *input, struct file_shard *shard, struct error *error);

/* Limits a file, whose format and range are known, to the shard's part. 0, or -1 with the error
 * set. */
int file_shard_select(struct input *input, const struct file_shard *shard, struct error *error);

/* Completes the last record of the shard, in the head of a span, from the frames of the next shard.
 * 0, or -1 with the error set. */
int file_shard_complete(const struct input *input, struct span *joined, struct error *error);

#endif
