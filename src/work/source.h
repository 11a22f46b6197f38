/* SPDX-License-Identifier: MIT */
/* All the input, as chunks: standard input and the FILEs, in order, for any number of readers. */
#ifndef GPUHISTO_SOURCE_H
#define GPUHISTO_SOURCE_H

#include "src/engine/chunk.h"
#include "src/bytes/input.h"

struct source;
struct reader;

/* How the bytes come that a chunk is filled with. */
enum flow {
    FLOW_FILE,    /* readers read side by side, and it is known how much is left */
    FLOW_PIPE,    /* readers take turns */
    FLOW_DECODED, /* readers decompress, side by side if they can, and count for others if not */
};

/* Filled chunks that may wait for another reader to count them, beside one for each reader. */
#define SOURCE_GIVEN_MAX 8

/* A source over `count` operands ("-": standard input), which must outlive it; none: standard
 * input. Holds the first ones, and opens none of them yet. NULL if memory is short. */
struct source *source_open(char *const *operands, size_t count,
                           const struct input_options *options);

/* How many FILEs there are, at least one. */
size_t source_files(const struct source *source);

/* Before readers: reads the header that the first file begins with, as files were given. What was
 * read of a stream is read again. 0; or -1 with the reason set, if it says no type of values. */
int source_find_header(struct source *source, struct header *header, struct reason *why);

/* Before readers: replaces the options, with others of the same range. */
void source_set_options(struct source *source, const struct input_options *options);

/* Before readers: loads the libraries that files will be decompressed with, as far as that can be
 * known: what is not a regular file may be compressed in any way. One that cannot be loaded is an
 * error when it is needed. */
void source_load_codecs(struct source *source);

/* True if all files are regular, and one of them has something to read. */
bool source_is_regular(const struct source *source);

/* A new reader of the source, for one thread. NULL if memory is short. */
struct reader *reader_open(struct source *source);

/* Frees the reader; NULL is fine. It reads no more, and all its chunks are submitted. */
void reader_close(struct reader *reader);

/* What an engine could decompress of a FILE that it does not have. In bytes of content, estimated.
 */
struct undecoded_offer {
    double again;     /* what the unit that it would begin with has given already */
    double unit_left; /* what is left of that unit: after it the FILE can be had without `again` */
    double left;      /* what is left of the FILE; HUGE_VAL: not known */
    double rate;      /* bytes a second at which that comes otherwise; 0: not measured */
    bool is_last;     /* no other FILE is left to be begun: readers have nothing else to do */
};

/* Where chunks go. Any thread calls its functions. */
struct source_sink {
    void *arg;
    /* Chooses the memory for the next chunk, or waits for it. NULL: there will be none. */
    struct chunk *(*choose)(void *arg, enum flow flow);
    /* A GPU that decompresses (gpu/decoder.h), is idle, and should have
     * what is offered; NULL: there is none now. Without an offer: whether one is free. May be NULL
     * itself: there never is one. */
    struct engine *(*undecoder)(void *arg, const struct undecoded_offer *offer);
    /* Whether there is such an engine, or may come one: then what it takes to begin a frame of a
     * pipe anew is kept. May be NULL: there is none. */
    bool (*may_undecode)(void *arg);
    /* Whether the reader that asks should end, rather than take more to decompress: others have
     * better use for its processor, and go on. May be NULL: all go on. */
    bool (*is_surplus)(void *arg);
};

/* Sets *chunk to the next chunk to be submitted. This reader has filled it, in memory that the sink
 * chose for *flow; or another one has, which goes on decompressing meanwhile. NULL: there is none
 * now. Its len may be 0. It never holds bytes of two FILEs. A thread must submit it before it calls
 * this again, or ends, as others may wait for it. 1: go on; 0: after the last FILE, or is_surplus;
 * -1: an error, which source_error tells unless choose gave NULL, or the engine of `undecoder` was
 * lost. After 0 or -1 the reader is to be closed. */
int source_read(struct reader *reader, const struct source_sink *sink, struct chunk **chunk,
                enum flow *flow);

/* Whether one more reader would find something to read or to decompress. If not, because others
 * have all that is left to themselves, such as one large frame, it could only count what they give
 * away; there may be more later. Any thread. */
bool source_has_work(struct source *source);

/* Bytes that are known to be still to come, from files that are not compressed as far as known; 0
 * for pipes. Any thread, also inside choose; without waiting. */
uint64_t source_left(struct source *source);

/* Of compressed FILEs that an engine could decompress by itself, bytes of content. */
struct source_content {
    double done; /* decompressed by readers so far */
    double left; /* still to come, as estimated: FILEs go on, and are, as those before */
};

/* Any thread, without waiting. */
struct source_content source_content(struct source *source);

/* Of pipes, while one is decoded whose frame an engine could begin anew. All 0: none is. */
struct stream_content {
    double taken;   /* bytes of pipes that were decoded, */
    double done;    /* and of content that they gave, */
    double seconds; /* while decoders were at work for so long */
    double again;   /* of that content, what the frame that is being decoded has given */
    double left;    /* content still to come: what the frame states, or as much as it has given; and
                     * as much as came before it */
    double room;    /* bytes of the frame that can still be kept: with more it cannot begin anew */
};

/* Any thread, without waiting. */
struct stream_content source_stream_content(struct source *source);

/* How much of the bytes to read was read, 0 to 1; 0 where that is not known, because a FILE is not
 * regular, or is compressed and a range of its content is counted. Compressed bytes count as they
 * are. Any thread, without waiting. */
double source_share(struct source *source);

/* The first error, or NULL; one line that begins with the name. Lives as long as the source. */
const char *source_error(struct source *source);

/* After the run: sets *warning to what to say of FILEs that were counted as they are, but look like
 * data compressed by another program; empty if there were none. */
void source_foreign(struct source *source, struct reason *warning);

/* After the run: sets *warning to what to say of FILEs of lines that end with carriage returns
 * alone, and so are one line; empty if there were none. */
void source_one_line(const struct source *source, struct reason *warning);

/* After the run: true if one of the FILEs was decompressed. */
bool source_has_decoded(const struct source *source);

/* The i-th FILE in the order in which they are read, to be held until its turn. NULL: there are no
 * more. Before readers. */
struct held *source_file(struct source *source, size_t i);

/* Frees it; no reader may be left. */
void source_close(struct source *source);

#endif
