/* SPDX-License-Identifier: MIT */
#include "peek.h"

#include <stdlib.h>

#define PEEK_FIRST ((size_t)512)        /* bytes of content that are given first: mostly enough */
#define PEEK_SIZE ((size_t)64 << 10)    /* bytes that are read, and given, at a time */
#define STREAM_MAX ((uint64_t)16 << 20) /* bytes of a compressed stream that are looked at */

/* A look that has begun. */
struct peeking {
    const struct peek *peek;
    uint64_t offset; /* of the next byte to read */
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
    const uint64_t left = peeking->peek->end - peeking->offset;
    ssize_t got = bytes_peek(peeking->peek->frames->bytes, buf, left < cap ? (size_t)left : cap,
                             peeking->offset, error);
    peeking->offset += got > 0 ? (uint64_t)got : 0;
    return got;
}

/* Feeds the decoder. Returns the bytes read, or -1, as read_stored. */
static ssize_t feed(struct peeking *peeking, struct error *error)
{
    const struct bytes *bytes = peeking->peek->frames->bytes;
    if (!bytes->regular && peeking->offset >= STREAM_MAX)
        return error_of(error, bytes->name, "has no content in its first 16 MiB");
    ssize_t got = read_stored(peeking, peeking->data, PEEK_SIZE, error);
    peeking->pos = 0;
    peeking->len = got > 0 ? (size_t)got : 0;
    return got;
}

/* Takes one step of decoding. Returns the bytes that it made, or -1 with the error set. */
static ssize_t decode_step(struct peeking *peeking, unsigned char *out, size_t cap,
                           struct error *error)
{
    const char *name = peeking->peek->frames->bytes->name;
    struct error fault;
    struct decode_step step = {.in = peeking->data + peeking->pos,
                               .in_len = peeking->len - peeking->pos,
                               .out = out,
                               .cap = cap};
    switch (peeking->peek->frames->codec->decode(peeking->decoder, &step, &fault)) {
    case DECODE_NO_MEMORY:
        return error_of(error, name, "out of memory");
    case DECODE_FAULT:
        return error_of(error, name, "%s, at byte %llu", fault.text,
                        (unsigned long long)peeking->frame);
    default:
        peeking->pos += step.used;
        peeking->is_dry = step.made == 0;
        return (ssize_t)step.made;
    }
}

/* Decodes on, to out[0..cap). Returns the bytes, 0 at the end, or -1 with the error set. */
static ssize_t decode(struct peeking *peeking, unsigned char *out, size_t cap, struct error *error)
{
    const struct codec *codec = peeking->peek->frames->codec;
    ssize_t made = 0;
    while (made == 0) {
        bool is_complete = codec->complete(peeking->decoder);
        if (peeking->pos == peeking->len && (is_complete || peeking->is_dry)) {
            ssize_t got = feed(peeking, error);
            if (got < 0 || (got == 0 && is_complete))
                return got;
            if (got == 0)
                return error_of(error, peeking->peek->frames->bytes->name,
                                "truncated %s data, at byte %llu", codec->name,
                                (unsigned long long)peeking->offset);
        }
        if (is_complete)
            peeking->frame = peeking->offset - (peeking->len - peeking->pos);
        made = decode_step(peeking, out, cap, error);
    }
    return made;
}

int peek_content(const struct peek *peek, peek_sink *sink, void *arg, struct error *error)
{
    const struct codec *codec = peek->frames->codec;
    unsigned char out[PEEK_SIZE];
    struct peeking peeking = {.peek = peek, .offset = peek->begin};
    ssize_t got = 1;
    int more = 1;
    if (codec) {
        peeking.decoder = codec->open(peek->frames->decoding);
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
        return error_of(error, peek->frames->bytes->name, "out of memory");
    return got < 0 ? -1 : 0;
}
