/* SPDX-License-Identifier: MIT */
#include "frames.h"
#include "bytes.h"
#include "src/base/system.h"

#include <stdlib.h>
#include <string.h>

/* --- codecs --- */

const struct codec *const codecs[] = {
    &codec_zstd,
#if HAVE_ISAL
    &codec_gzip,
#endif
    NULL,
};

enum codec_magic codec_recognise(const unsigned char *head, size_t len, const struct codec **codec)
{
    enum codec_magic result = MAGIC_OTHER;
    for (size_t i = 0; codecs[i]; i++) {
        enum codec_magic magic = codecs[i]->magic(head, len);
        if (magic == MAGIC_OTHER)
            continue;
        result = magic;
        if (magic == MAGIC_MATCH) {
            *codec = codecs[i];
            break;
        }
    }
    return result;
}

/* --- walking --- */

/* Bytes that are read where links stand far apart: enough for the header of a frame, or a link.
 * Links that stand close together are read many at once. */
#define WALK_FEW ((size_t)64)
#define WALK_CLOSE ((uint64_t)4 << 10)

void frame_walk_begin(struct frame_walk *walk, const struct bytes *bytes, const struct codec *codec,
                      uint64_t begin, uint64_t end)
{
    walk->bytes = bytes;
    walk->codec = codec;
    walk->offset = begin;
    walk->end = end;
    walk->frame.size = walk->window_at = walk->window_len = 0;
}

/* Moves the window to hold `wanted` bytes from byte `at` of the frame on, or all up to the end.
 * Returns those bytes, with *len set to how many there are; or NULL with the error set. */
static const unsigned char *see(struct frame_walk *walk, uint64_t at, size_t wanted, size_t *len,
                                struct error *error)
{
    at += walk->offset;
    const uint64_t left = walk->end - at;
    if (wanted > left)
        wanted = (size_t)left;
    if (at < walk->window_at || at + wanted > walk->window_at + walk->window_len) {
        size_t size = at - walk->window_at < WALK_CLOSE ? WALK_WINDOW : WALK_FEW;
        size = left < size ? (size_t)left : size;
        ssize_t got = bytes_read_at(walk->bytes, walk->window, size, at, error);
        if (got < 0)
            return NULL;
        walk->window_at = at;
        walk->window_len = (size_t)got;
    }
    *len = (size_t)(walk->window_at + walk->window_len - at);
    return walk->window + (at - walk->window_at);
}

enum walk_step frame_walk_next(struct frame_walk *walk, struct error *error)
{
    const struct codec *codec = walk->codec;
    struct codec_frame *frame = &walk->frame;
    size_t len;
    walk->offset += frame->size;
    frame->size = 0;
    if (walk->offset == walk->end)
        return WALK_END;
    const uint64_t left = walk->end - walk->offset;
    const unsigned char *in = see(walk, 0, WALK_FEW, &len, error);
    enum frame_extent extent = in ? codec->peek(in, len, frame) : FRAME_UNKNOWN;
    while (extent == FRAME_PART && frame->size > 0 && frame->size <= left) {
        in = see(walk, frame->size, codec->link_size, &len, error);
        extent = in && len >= codec->link_size ? codec->follow(in, frame) : FRAME_UNKNOWN;
    }
    if (!in)
        return WALK_FAILED;
    return extent == FRAME_WHOLE && frame->size <= left ? WALK_FRAME : WALK_BROKEN;
}

/* --- batches --- */

#define FEED_SIZE ((size_t)512 << 10) /* bytes read at a time: libzstd copies cut blocks */
#define SMALL_SIZE ((size_t)4 << 10)  /* bytes of the smallest buffer */
#define BATCH_SIZE ((size_t)1 << 20)  /* bytes of a batch of many frames */

/* Bytes of whole frames that are worth a batch of their own between frames that are decoded in
 * order: every batch takes a buffer, and the bytes that are left in it are moved to another one. */
#define BATCH_MIN ((size_t)16 << 10)

/* The least memory limit of a batch of FRAMES_OPEN, in bytes, so that it need not end at every
 * frame that is a little larger than the one that it began with. */
#define MEMORY_MIN ((uint64_t)256 << 10)

/* The wait for the rest of a frame before it is decoded as it comes: a stream that is so slow does
 * not need several decoders. */
#define STREAM_WAIT_MS 50

/* A stream is fast if it gives 6.5 MiB in so many seconds, and never waits for so many
 * milliseconds. One decoder keeps up with others. */
#define GATHER_SECONDS 0.05
#define GATHER_MS 5

int frame_batch_reserve(struct frame_batch *batch, size_t cap)
{
    if (batch->cap >= cap)
        return 0;
    unsigned char *data = realloc(batch->data, cap);
    if (!data)
        return -1;
    batch->data = data;
    batch->cap = cap;
    return 0;
}

void frame_batch_free(struct frame_batch *batch)
{
    free(batch->data);
    *batch = (struct frame_batch){0};
}

/* Returns how frames are decoded that cannot be decoded beside others, though their ends can be
 * found. */
static enum frames_kind in_order(const struct frames *frames)
{
    return frames->codec->is_chain ? FRAMES_TO_END : FRAMES_OPEN;
}

/* Looks at data[at..len), at < len, where a frame begins. */
static struct frames_ahead peek_ahead(const struct frames *frames, const struct frame_batch *batch,
                                      size_t at)
{
    const size_t len = batch->len - at;
    const size_t max =
        frames->batch_size > 0 && frames->batch_size < len ? frames->batch_size : len;
    struct frames_ahead ahead = {.kind = FRAMES_WHOLE};
    while (ahead.whole < max) {
        const unsigned char *in = batch->data + at + ahead.whole;
        const size_t left = len - ahead.whole;
        struct codec_frame frame;
        enum frame_extent extent = frames->codec->peek(in, left, &frame);
        if (extent == FRAME_WHOLE && frame.size > left)
            extent = FRAME_PART;
        /* In order: it needs too much memory to be decoded beside others, or does not tell at which
         * byte of the content the next frame begins. */
        const bool is_serial =
            frame.memory > frames->frame_memory ||
            (extent == FRAME_WHOLE && frame.content == FRAME_UNSIZED && frames->needs_sizes);
        enum frames_kind kind = extent == FRAME_UNKNOWN ? FRAMES_TO_END
                                : is_serial             ? in_order(frames)
                                                        : FRAMES_WHOLE;
        if (kind != FRAMES_WHOLE || extent == FRAME_PART) {
            const uint64_t min = kind == FRAMES_OPEN ? MEMORY_MIN : 0;
            if (ahead.whole == 0) /* otherwise it comes in the next batch */
                ahead = (struct frames_ahead){.kind = kind,
                                              .part = kind == FRAMES_WHOLE,
                                              .memory = frame.memory > min ? frame.memory : min};
            break;
        }
        if (frame.memory > ahead.memory) {
            ahead.memory = frame.memory;
            ahead.largest = ahead.whole;
        }
        ahead.whole += (size_t)frame.size;
        ahead.content = content_add(ahead.content, frame.content);
    }
    return ahead;
}

/* True if more can be read of the frame that the batch begins with: makes room for it, or waits for
 * a stream. A frame that is too large to be handed out whole, or that is the last of its file, is
 * not read here, as others wait for their turn. */
static bool can_gather_more(struct frames *frames, struct frame_batch *batch)
{
    size_t wanted = 2 * batch->cap;
    if (bytes_are_over(frames->bytes))
        return false;
    if (batch->len < batch->cap)
        return bytes_ready(frames->bytes, STREAM_WAIT_MS);
    if (frames->bytes->regular) { /* its links say how large the frame is, or at least is */
        struct frame_walk walk;
        struct error unused;
        frame_walk_begin(&walk, frames->bytes, frames->codec, batch->offset,
                         batch->offset + FRAMES_SIZE_MAX);
        (void)frame_walk_next(&walk, &unused);
        if (walk.frame.size > FRAMES_SIZE_MAX ||
            batch->offset + walk.frame.size >= frames->bytes->opened_size) {
            (void)frame_batch_reserve(batch, FEED_SIZE); /* only faster: may fail */
            return false;
        }
        if (walk.frame.size > wanted)
            wanted = (size_t)walk.frame.size;
    }
    return batch->cap < FRAMES_SIZE_MAX && frame_batch_reserve(batch, wanted) == 0;
}

enum frames_result frames_peek(struct frames *frames, struct frames_ahead *ahead,
                               struct error *error)
{
    struct frame_batch *batch = &frames->pending;
    /* A small file gets no more memory than it has bytes and one that shows its end: mapping memory
     * takes most of the time with many small files. */
    const uint64_t size = frames->bytes->opened_size;
    size_t first = FRAMES_SIZE_FIRST;
    if (size > 0 && size < FRAMES_SIZE_FIRST)
        first = size < SMALL_SIZE ? SMALL_SIZE : (size_t)size + 1;
    if (frame_batch_reserve(batch, first) != 0)
        return FRAMES_NO_MEMORY;
    do {
        /* A stream gives the bytes that are there, and is waited for only if there are none. */
        while (batch->len < batch->cap && !bytes_are_over(frames->bytes) &&
               (batch->len == 0 || bytes_ready(frames->bytes, 0))) {
            ssize_t got =
                bytes_read(frames->bytes, batch->data + batch->len, batch->cap - batch->len, error);
            if (got < 0)
                return FRAMES_FAILED;
            batch->len += (size_t)got;
        }
        if (batch->len == 0 && frames->bytes->taken > 0)
            return FRAMES_END;
        if (batch->len == 0) {
            error_of(error, frames->bytes->name, "not %s data (it is empty)", frames->codec->name);
            return FRAMES_FAILED;
        }
        *ahead = peek_ahead(frames, batch, 0);
    } while (ahead->part && can_gather_more(frames, batch));
    if (ahead->part)
        ahead->kind = in_order(frames);
    return FRAMES_AHEAD;
}

int frames_acquire(struct frames *frames, const struct frames_ahead *ahead,
                   struct frame_batch *batch)
{
    struct frame_batch *own = &frames->pending;
    const size_t given = ahead->kind == FRAMES_WHOLE ? ahead->whole : own->len;
    const size_t rest = own->len - given, min = rest > FRAMES_SIZE_FIRST ? rest : FRAMES_SIZE_FIRST;
    const size_t wanted = own->cap < BATCH_SIZE ? 2 * own->cap : own->cap;
    if (rest > 0 && frame_batch_reserve(batch, wanted) != 0 && frame_batch_reserve(batch, min) != 0)
        return -1;
    /* The buffers are swapped; if no bytes are left over, no second one is needed yet. */
    const struct frame_batch next = {
        .data = batch->data, .len = rest, .cap = batch->cap, .offset = own->offset + given};
    if (rest > 0)
        memcpy(next.data, own->data + given, rest);
    *batch = *own;
    batch->len = given;
    batch->kind = ahead->kind;
    batch->memory = ahead->memory;
    batch->content = ahead->content;
    *own = next;
    return 0;
}

/* Drops the first bytes of a batch. */
static void drop(struct frame_batch *batch, size_t len)
{
    batch->offset += len;
    batch->len -= len;
    batch->pos = batch->in_order = 0;
    memmove(batch->data, batch->data + len, batch->len);
}

void frames_drop(struct frames *frames, const struct frames_ahead *ahead)
{
    drop(&frames->pending, ahead->whole);
}

void frames_seek(struct frames *frames, uint64_t offset)
{
    frames->pending.pos = frames->pending.len = 0;
    frames->pending.offset = frames->bytes->taken = offset;
    frames->bytes->ended &= !frames->bytes->regular;
}

ssize_t frames_feed(struct frames *frames, struct frame_batch *batch, struct error *error)
{
    if (batch->cap > BATCH_SIZE) { /* what it took to see that the frame is a large one */
        unsigned char *smaller = realloc(batch->data, BATCH_SIZE);
        batch->data = smaller ? smaller : batch->data;
        batch->cap = smaller ? BATCH_SIZE : batch->cap;
    }
    size_t len = batch->cap < FEED_SIZE ? batch->cap : FEED_SIZE;
    ssize_t got = bytes_read(frames->bytes, batch->data, len, error);
    if (got > 0) {
        batch->offset += batch->len;
        batch->pos = batch->in_order = 0;
        batch->len = (size_t)got;
    }
    return got;
}

int frames_gather(struct frames *frames, struct frame_batch *batch, size_t min, struct error *error)
{
    const struct timespec begin = clock_now();
    while (batch->len - batch->pos < min) {
        if (bytes_are_over(frames->bytes) || clock_seconds_since(&begin) > GATHER_SECONDS ||
            !bytes_ready(frames->bytes, GATHER_MS) ||
            frame_batch_reserve(batch, batch->pos + min) != 0)
            return 0;
        ssize_t got =
            bytes_read(frames->bytes, batch->data + batch->len, batch->cap - batch->len, error);
        if (got < 0)
            return -1;
        batch->len += (size_t)got;
    }
    return bytes_ready(frames->bytes, GATHER_MS);
}

bool frames_resume(const struct frames *frames, struct frame_batch *batch)
{
    size_t at = batch->pos;
    if (at < batch->in_order)
        return true;
    if (at == batch->len)
        return false;
    struct frames_ahead next = peek_ahead(frames, batch, at);
    bool is_little = next.whole > 0 && next.whole < BATCH_MIN && next.memory <= batch->memory;
    if (is_little && next.whole < batch->len - at) {
        at += next.whole;
        next = peek_ahead(frames, batch, at);
    }
    bool goes_on = !next.part && next.kind != FRAMES_WHOLE && next.memory <= batch->memory;
    batch->in_order = goes_on ? at : 0;
    if (goes_on && frames->codec->is_chain)
        batch->kind = FRAMES_TO_END;
    return goes_on;
}

void frames_return(struct frames *frames, struct frame_batch *batch)
{
    struct frame_batch spare = frames->pending;
    drop(batch, batch->pos);
    frames->pending = *batch;
    *batch = spare;
}

/* --- looking at content --- */

#define PEEK_FIRST ((size_t)512)        /* bytes of content that are given first: mostly enough */
#define PEEK_SIZE ((size_t)64 << 10)    /* bytes that are read, and given, at a time */
#define STREAM_MAX ((uint64_t)16 << 20) /* bytes of a compressed stream that are looked at */

/* A look that has begun. */
struct peeking {
    const struct frames *frames;
    uint64_t offset, end; /* of the next byte to read, and of the last ones */
    struct decoder *decoder;
    unsigned char *data; /* PEEK_SIZE bytes */
    size_t pos, len;     /* data[pos..len) was not decoded yet */
    bool is_dry;         /* the decoder gives nothing more without being fed */
    uint64_t frame;      /* where the frame begins that is being decoded */
};

/* Reads the next bytes of the file to buf. Returns how many, or -1 with the error set. */
static ssize_t read_stored(struct peeking *peeking, unsigned char *buf, size_t cap,
                           struct error *error)
{
    const uint64_t left = peeking->end - peeking->offset;
    ssize_t got = bytes_peek(peeking->frames->bytes, buf, left < cap ? (size_t)left : cap,
                             peeking->offset, error);
    peeking->offset += got > 0 ? (uint64_t)got : 0;
    return got;
}

/* Decodes on, to out[0..cap). Returns the bytes, 0 at the end, or -1 with the error set. */
static ssize_t decode(struct peeking *peeking, unsigned char *out, size_t cap, struct error *error)
{
    const struct codec *codec = peeking->frames->codec;
    const struct bytes *bytes = peeking->frames->bytes;
    struct decode_step step = {.made = 0};
    while (step.made == 0) {
        const bool is_complete = codec->complete(peeking->decoder);
        if (peeking->pos == peeking->len && (is_complete || peeking->is_dry)) {
            if (!bytes->regular && peeking->offset >= STREAM_MAX)
                return error_of(error, bytes->name, "has no content in its first 16 MiB");
            ssize_t got = read_stored(peeking, peeking->data, PEEK_SIZE, error);
            if (got < 0 || (got == 0 && is_complete))
                return got;
            if (got == 0)
                return error_of(error, bytes->name, "truncated %s data, at byte %llu", codec->name,
                                (unsigned long long)peeking->offset);
            peeking->pos = 0;
            peeking->len = (size_t)got;
        }
        if (is_complete)
            peeking->frame = peeking->offset - (peeking->len - peeking->pos);
        step = (struct decode_step){.in = peeking->data + peeking->pos,
                                    .in_len = peeking->len - peeking->pos,
                                    .out = out,
                                    .cap = cap};
        struct error fault;
        const enum decode_status status = codec->decode(peeking->decoder, &step, &fault);
        if (status == DECODE_NO_MEMORY)
            return error_of(error, bytes->name, "out of memory");
        if (status == DECODE_FAULT)
            return error_of(error, bytes->name, "%s, at byte %llu", fault.text,
                            (unsigned long long)peeking->frame);
        peeking->pos += step.used;
        peeking->is_dry = step.made == 0;
    }
    return (ssize_t)step.made;
}

int peek_content(const struct frames *frames, uint64_t begin, uint64_t end, peek_sink *sink,
                 void *arg, struct error *error)
{
    const struct codec *codec = frames->codec;
    unsigned char out[PEEK_SIZE];
    struct peeking peeking = {.frames = frames, .offset = begin, .end = end};
    ssize_t got = 1;
    int more = 1;
    if (codec) {
        peeking.decoder = codec->open(frames->decoding);
        peeking.data = malloc(PEEK_SIZE);
        more = peeking.decoder && peeking.data ? 1 : -1;
    }
    for (size_t cap = PEEK_FIRST; more > 0 && got > 0; cap *= cap < PEEK_SIZE ? 2 : 1) {
        got = codec ? decode(&peeking, out, cap, error) : read_stored(&peeking, out, cap, error);
        if (got >= 0)
            more = sink(arg, out, (size_t)got);
    }
    decoder_close(peeking.decoder);
    free(peeking.data);
    if (more < 0)
        return error_of(error, frames->bytes->name, "out of memory");
    return got < 0 ? -1 : 0;
}
