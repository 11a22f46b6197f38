/* SPDX-License-Identifier: MIT */
/* A format whose frames (members) are decoded in blocks: compressed bytes are moved to runs in the
 * order of the file, by one thread; runs are parsed by any thread, independently of each other; and
 * the parsed runs are executed in order, again by one thread. */
#ifndef GPUHISTO_BLOCK_FORMAT_H
#define GPUHISTO_BLOCK_FORMAT_H

#include "block_loops.h"
#include "src/codec/codec.h"

enum filled {
    FILLED_PART,  /* all bytes were taken: the run needs more */
    FILLED_RUN,   /* the run is complete */
    FILLED_LAST,  /* the run is complete, and no other follows */
    FILLED_WRONG, /* the data are corrupt, or not understood */
};

enum chained {
    CHAINED, /* something is to be executed next, and then added */
    PASSED,  /* nothing more of this run */
    DOUBTED, /* the data are corrupt, not understood, or better left to the codec's own decoder */
};

/* The position where a decoder can begin anew. */
struct block_restart {
    uint64_t at;      /* bytes after the beginning of the first frame, where another one begins; */
    uint64_t content; /* bytes of content that this one has given since */
};

struct block_format {
    const char *codec;  /* the name of the codec */
    size_t content_max; /* bytes of content of what is executed at once, mostly */

    /* Returns the bytes of content that matches may reach back in the frame at in[0..len), which
     * has its header; 0: such frames are left to the codec's own decoder. */
    uint64_t (*window)(const struct codec_options *options, const unsigned char *in, size_t len);

    /* --- runs: an open one can be filled, parsed and filled again --- */

    size_t run_size;            /* of its struct, zeroed before it is opened */
    size_t (*run_memory)(void); /* bytes that an open one takes at most */
    int (*run_open)(void *run, const struct block_loops *loops); /* 0, or -1: out of memory */
    void (*run_close)(void *run);
    void (*run_parse)(void *run, const struct block_loops *loops); /* a complete one; any thread */

    /* --- a stream: goes through frames from their beginning; one thread --- */

    void *(*open)(const struct block_loops *loops); /* NULL: out of memory */
    void (*close)(void *stream);                    /* NULL is fine */
    /* Begins with the frame at in[0..len), for which `window` has returned more than 0. After more
     * than `again` bytes of one, the codec's own decoder cannot begin it anew. */
    void (*begin)(void *stream, const struct codec_options *options, uint64_t again,
                  const unsigned char *in, size_t len);
    /* Moves bytes of step->in from step->used on to a run, until it is complete; is_new: these are
     * its first ones. */
    enum filled (*fill)(void *stream, void *run, bool is_new, struct decode_step *step);
    /* Completes the run with the bytes that can be parsed, and keeps the rest for the next one, as
     * no more come for now or, if is_end, at all. False: none can be parsed, and the run goes
     * on. */
    bool (*cut)(void *stream, void *run, bool is_new, bool is_end);
    /* Says what a parsed run goes on with; called with the same run until that is passed. */
    enum chained (*next)(void *stream, const void *run, const struct parsed_run **parsed);
    /* Records that execution has given `len` bytes. */
    void (*add)(void *stream, size_t len);
    /* True if all is as the frames state; called after the last run, and once all was hashed. */
    bool (*is_as_stated)(const void *stream);
    /* True if the input has ended in the middle of a frame; called after the last run. */
    bool (*is_cut)(const void *stream);
    struct block_restart (*restart)(const void *stream);

    /* --- checksums, which another thread may compute while the stream goes on --- */

    /* True if content must be hashed; and true if all of it must be hashed before `next` is
     * called. */
    bool (*hashes)(const void *stream);
    bool (*awaits_hash)(const void *stream);
    /* Hashes content[0..len), which follows what was hashed before; one thread at a time. */
    void (*hash)(void *stream, const unsigned char *content, size_t len);
};

/* Returns the format of a codec, or NULL: it is not decoded in blocks. */
const struct block_format *block_format_find(const struct codec *codec);

extern const struct block_format block_format_zstd;
extern const struct block_format block_format_gzip; /* only in builds with ISA-L */

#endif
