/* SPDX-License-Identifier: MIT */
#include "peek.h"

#include <stdlib.h>

int peek_begin(struct peek *peek, struct bytes *bytes, const struct codec *codec,
               const struct codec_options *options, struct reason *why)
{
    *peek = (struct peek){
        .bytes = bytes, .codec = codec, .end = bytes->is_cut ? bytes->opened_size : UINT64_MAX};
    if (!codec)
        return 0;
    peek->decoder = codec->open(options);
    peek->data = malloc(PEEK_SIZE);
    if (peek->decoder && peek->data)
        return 0;
    reason_of(why, bytes->name, "out of memory");
    peek_end(peek);
    return -1;
}

void peek_end(struct peek *peek)
{
    decoder_close(peek->decoder);
    free(peek->data);
    *peek = (struct peek){.decoder = NULL};
}

/* Reads the next bytes of the file to buf. How many, or -1 with the reason set. */
static ssize_t peek_stored(struct peek *peek, unsigned char *buf, size_t cap, struct reason *why)
{
    const uint64_t left = peek->end - peek->offset;
    ssize_t got = bytes_see(peek->bytes, buf, left < cap ? (size_t)left : cap, peek->offset, why);
    peek->offset += got > 0 ? (uint64_t)got : 0;
    return got;
}

/* Feeds the decoder. As peek_stored. */
static ssize_t peek_feed(struct peek *peek, struct reason *why)
{
    if (!peek->bytes->regular && peek->offset >= PEEK_STREAM_MAX)
        return reason_of(why, peek->bytes->name, "has no content in its first 16 MiB");
    ssize_t got = peek_stored(peek, peek->data, PEEK_SIZE, why);
    peek->pos = 0;
    peek->len = got > 0 ? (size_t)got : 0;
    return got;
}

/* Takes one step of decoding. The bytes that it made, or -1 with the reason set. */
static ssize_t peek_step(struct peek *peek, unsigned char *out, size_t cap, struct reason *why)
{
    struct reason fault;
    struct decode_step step = {
        .in = peek->data + peek->pos, .in_len = peek->len - peek->pos, .out = out, .cap = cap};
    switch (peek->codec->decode(peek->decoder, &step, &fault)) {
    case DECODE_NO_MEMORY:
        return reason_of(why, peek->bytes->name, "out of memory");
    case DECODE_FAULT:
        return reason_of(why, peek->bytes->name, "%s, at byte %llu", fault.text,
                         (unsigned long long)peek->frame);
    default:
        peek->pos += step.used;
        peek->is_dry = step.made == 0;
        return (ssize_t)step.made;
    }
}

ssize_t peek_read(struct peek *peek, unsigned char *out, size_t cap, struct reason *why)
{
    ssize_t made = 0;
    if (!peek->codec)
        return peek_stored(peek, out, cap, why);
    while (made == 0) {
        bool is_complete = peek->codec->complete(peek->decoder);
        if (peek->pos == peek->len && (is_complete || peek->is_dry)) {
            ssize_t got = peek_feed(peek, why);
            if (got < 0 || (got == 0 && is_complete))
                return got;
            if (got == 0)
                return reason_of(why, peek->bytes->name, "truncated %s data, at byte %llu",
                                 peek->codec->name, (unsigned long long)peek->offset);
        }
        if (is_complete)
            peek->frame = peek->offset - (peek->len - peek->pos);
        made = peek_step(peek, out, cap, why);
    }
    return made;
}
