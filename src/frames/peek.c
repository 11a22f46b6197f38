/* SPDX-License-Identifier: MIT */
#include "peek.h"
#include "src/bytes/input.h"

#include <stdlib.h>

int peek_begin(struct peek *peek, const struct input *input, const struct codec_options *options,
               uint64_t offset, uint64_t end, struct reason *why)
{
    *peek = (struct peek){
        .input = input,
        .decoder = input->codec->open(options),
        .data = malloc(PEEK_SIZE),
        .offset = offset,
        .end = end,
    };
    if (peek->decoder && peek->data)
        return 0;
    reason_of(why, input->name, "out of memory");
    peek_end(peek);
    return -1;
}

void peek_end(struct peek *peek)
{
    decoder_close(peek->decoder);
    free(peek->data);
    *peek = (struct peek){.decoder = NULL};
}

static ssize_t peek_failed(const struct peek *peek, const char *fault, uint64_t at,
                           struct reason *why)
{
    reason_of(why, peek->input->name, "%s, at byte %llu", fault, (unsigned long long)at);
    return -1;
}

/* Reads the next bytes of the file. How many, or -1 with the reason set. */
static ssize_t peek_feed(struct peek *peek, struct reason *why)
{
    uint64_t left = peek->end - peek->offset;
    size_t len = left < PEEK_SIZE ? (size_t)left : PEEK_SIZE;
    ssize_t got = input_read_at(peek->input, peek->data, len, peek->offset, why);
    peek->pos = 0;
    peek->len = got > 0 ? (size_t)got : 0;
    peek->offset += peek->len;
    return got;
}

static ssize_t peek_truncated(const struct peek *peek, struct reason *why)
{
    struct reason fault;
    reason_set(&fault, "truncated %s data", peek->input->codec->name);
    return peek_failed(peek, fault.text, peek->offset, why);
}

/* Takes one step of decoding. The bytes that it made, or -1 with the reason set. */
static ssize_t peek_step(struct peek *peek, unsigned char *out, size_t cap, struct reason *why)
{
    struct reason fault;
    struct decode_step step = {
        .in = peek->data + peek->pos, .in_len = peek->len - peek->pos, .out = out, .cap = cap};
    switch (peek->input->codec->decode(peek->decoder, &step, &fault)) {
    case DECODE_NO_MEMORY:
        reason_of(why, peek->input->name, "out of memory");
        return -1;
    case DECODE_FAULT:
        return peek_failed(peek, fault.text, peek->unit, why);
    default:
        peek->pos += step.used;
        peek->is_dry = step.made == 0;
        return (ssize_t)step.made;
    }
}

ssize_t peek_read(struct peek *peek, unsigned char *out, size_t cap, struct reason *why)
{
    const struct codec *codec = peek->input->codec;
    ssize_t made = 0;
    while (made == 0) {
        bool is_complete = codec->complete(peek->decoder);
        if (peek->pos == peek->len && (is_complete || peek->is_dry)) {
            ssize_t got = peek_feed(peek, why);
            if (got < 0 || (got == 0 && is_complete))
                return got;
            if (got == 0)
                return peek_truncated(peek, why);
        }
        if (is_complete)
            peek->unit = peek->offset - (peek->len - peek->pos);
        made = peek_step(peek, out, cap, why);
    }
    return made;
}
