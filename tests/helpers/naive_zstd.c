/* SPDX-License-Identifier: MIT */
#include "tests/helpers/naive_zstd.h"

#include "tests/helpers/naive_zstd_tables.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MAX ((size_t)131072)
#define WINDOW_MAX ((uint64_t)1 << 27)

/* A table that a later block may repeat. */
struct table {
    bool is_there;
    struct naive_fse fse;
};

struct decoding {
    struct naive_zstd *result;
    struct naive_trap trap;
    const unsigned char *in;
    size_t len, at;
    size_t block_max;
    size_t caps[5]; /* of content, literals, sequences, blocks, frames */
    bool has_huffman;
    struct naive_huffman huffman;
    struct table lengths, offsets, matches;
    uint32_t repeat_offsets[3];
};

_Noreturn static void refuse(struct decoding *decoding, const char *why)
{
    naive_refuse(&decoding->trap, why);
}

/* Room for `more` elements after the `count` ones of an array. */
static void *grown(void *array, size_t *cap, size_t count, size_t more, size_t size)
{
    if (count + more <= *cap)
        return array;
    *cap = 2 * (count + more);
    array = realloc(array, *cap * size);
    if (!array) {
        fputs("naive_zstd: no memory\n", stderr);
        exit(1);
    }
    return array;
}

static void put_content(struct decoding *decoding, const unsigned char *bytes, size_t len)
{
    struct naive_zstd *result = decoding->result;
    result->content = grown(result->content, &decoding->caps[0], result->content_size, len, 1);
    if (len > 0)
        memcpy(result->content + result->content_size, bytes, len);
    result->content_size += len;
}

static void put_literal(struct decoding *decoding, unsigned char byte)
{
    struct naive_zstd *result = decoding->result;
    result->literals = grown(result->literals, &decoding->caps[1], result->literals_size, 1, 1);
    result->literals[result->literals_size++] = byte;
}

/* The next `bytes` bytes as a number. */
static uint64_t take(struct decoding *decoding, size_t bytes)
{
    uint64_t value = 0;
    if (decoding->len - decoding->at < bytes)
        refuse(decoding, "cut short");
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)decoding->in[decoding->at++] << 8 * i;
    return value;
}

/* --- literals --- */

static void huffman_stream(struct decoding *decoding, const unsigned char *bytes, size_t size,
                           size_t count)
{
    struct naive_bits bits = naive_bits_backwards(&decoding->trap, bytes, size);
    for (size_t i = 0; i < count; i++)
        put_literal(decoding, naive_huffman_symbol(&decoding->huffman, &bits));
    if (bits.left != 0)
        refuse(decoding, "bits are left in a stream of literals");
}

static void huffman_streams(struct decoding *decoding, const unsigned char *bytes, size_t size,
                            size_t count, bool four)
{
    if (!four) {
        huffman_stream(decoding, bytes, size, count);
        return;
    }
    if (count < 6 || size < 6)
        refuse(decoding, "too few literals for four streams");
    size_t part = (count + 3) / 4, at = 6;
    for (size_t i = 0; i < 3; i++) {
        size_t stream = bytes[2 * i] | (size_t)bytes[2 * i + 1] << 8;
        if (stream > size - at)
            refuse(decoding, "a stream of literals beyond their end");
        huffman_stream(decoding, bytes + at, stream, part);
        at += stream;
    }
    huffman_stream(decoding, bytes + at, size - at, count - 3 * part);
}

/* Raw and RLE literals, whose header is 1 to 3 bytes. */
static void plain_literals(struct decoding *decoding, unsigned type, unsigned format)
{
    size_t header = format == 1 ? 2 : format == 3 ? 3 : 1;
    size_t count = take(decoding, header) >> (header == 1 ? 3 : 4);
    if (count > decoding->block_max)
        refuse(decoding, "more literals than a block may have");
    unsigned char same = type == 1 ? (unsigned char)take(decoding, 1) : 0;
    for (size_t i = 0; i < count; i++)
        put_literal(decoding, type == 1 ? same : (unsigned char)take(decoding, 1));
}

static void packed_literals(struct decoding *decoding, unsigned type, unsigned format)
{
    static const unsigned headers[4] = {3, 3, 4, 5}, size_bits[4] = {10, 10, 14, 18};
    uint64_t header = take(decoding, headers[format]) >> 4;
    uint64_t mask = ((uint64_t)1 << size_bits[format]) - 1;
    size_t count = header & mask, size = header >> size_bits[format] & mask, tree = 0;
    if (count > decoding->block_max || size > decoding->len - decoding->at)
        refuse(decoding, "literals beyond the block");
    const unsigned char *bytes = decoding->in + decoding->at;
    if (type == 2) {
        tree = naive_huffman_read(&decoding->huffman, &decoding->trap, bytes, size);
        decoding->has_huffman = true;
    } else if (!decoding->has_huffman) {
        refuse(decoding, "no Huffman table to repeat");
    }
    huffman_streams(decoding, bytes + tree, size - tree, count, format != 0);
    decoding->at += size;
}

static void literals(struct decoding *decoding)
{
    if (decoding->at == decoding->len)
        refuse(decoding, "an empty block");
    unsigned type = decoding->in[decoding->at] & 3, format = decoding->in[decoding->at] >> 2 & 3;
    if (type < 2)
        plain_literals(decoding, type, format);
    else
        packed_literals(decoding, type, format);
}

/* --- sequences --- */

static void sequence_table(struct decoding *decoding, struct table *table, unsigned mode,
                           const struct naive_code *code)
{
    size_t left = decoding->len - decoding->at;
    const unsigned char *bytes = decoding->in + decoding->at;
    if (mode == 3) {
        if (!table->is_there)
            refuse(decoding, "no table of sequences to repeat");
        return;
    }
    if (mode == 0) {
        naive_fse_build(&table->fse, code->predefined_log, code->predefined, code->predefined_size);
    } else if (mode == 1) {
        unsigned symbol = (unsigned)take(decoding, 1);
        if (symbol >= code->symbols)
            refuse(decoding, "no such symbol");
        naive_fse_single(&table->fse, symbol);
    } else {
        decoding->at +=
            naive_fse_read(&table->fse, &decoding->trap, bytes, left, code->log_max, code->symbols);
    }
    table->is_there = true;
}

/* The offset that a sequence means, and those that are the last three after it. */
static uint32_t resolve_offset(struct decoding *decoding, const struct naive_sequence *sequence)
{
    uint32_t *repeat_offsets = decoding->repeat_offsets, offset, value = sequence->offset_value;
    unsigned which = value - 1 + (sequence->literals == 0); /* of the repeated ones */
    if (value > 3)
        offset = value - 3;
    else if (which < 3)
        offset = repeat_offsets[which];
    else
        offset = repeat_offsets[0] - 1;
    if (value > 3 || which >= 2)
        repeat_offsets[2] = repeat_offsets[1];
    if (value > 3 || which >= 1) {
        repeat_offsets[1] = repeat_offsets[0];
        repeat_offsets[0] = offset;
    }
    return offset;
}

static uint32_t code_value(const struct naive_code *code, unsigned symbol, struct naive_bits *bits)
{
    return code->base[symbol] + (uint32_t)naive_bits_read(bits, code->bits[symbol]);
}

static void read_sequences(struct decoding *decoding, size_t count)
{
    struct naive_zstd *result = decoding->result;
    size_t left = decoding->len - decoding->at;
    struct naive_bits bits =
        naive_bits_backwards(&decoding->trap, decoding->in + decoding->at, left);
    unsigned length = (unsigned)naive_bits_read(&bits, decoding->lengths.fse.log);
    unsigned offset = (unsigned)naive_bits_read(&bits, decoding->offsets.fse.log);
    unsigned match = (unsigned)naive_bits_read(&bits, decoding->matches.fse.log);
    result->sequences = grown(result->sequences, &decoding->caps[2], result->sequences_count, count,
                              sizeof *result->sequences);
    for (size_t i = 0; i < count; i++) {
        struct naive_sequence sequence;
        unsigned code = decoding->offsets.fse.rows[offset].symbol;
        sequence.offset_value = (uint32_t)1 << code | (uint32_t)naive_bits_read(&bits, code);
        sequence.match =
            code_value(&naive_match_lengths, decoding->matches.fse.rows[match].symbol, &bits);
        sequence.literals =
            code_value(&naive_literal_lengths, decoding->lengths.fse.rows[length].symbol, &bits);
        sequence.offset = resolve_offset(decoding, &sequence);
        result->sequences[result->sequences_count++] = sequence;
        if (i + 1 < count) {
            length = naive_fse_next(&decoding->lengths.fse, length, &bits);
            match = naive_fse_next(&decoding->matches.fse, match, &bits);
            offset = naive_fse_next(&decoding->offsets.fse, offset, &bits);
        }
    }
    if (bits.left != 0)
        refuse(decoding, "bits are left after the sequences");
    decoding->at = decoding->len;
}

static void sequences(struct decoding *decoding)
{
    size_t begin = decoding->at, count = take(decoding, 1);
    if (count == 255)
        count = take(decoding, 2) + 0x7f00;
    else if (count >= 128)
        count = (count - 128) << 8 | take(decoding, 1);
    if (count == 0) {
        if (decoding->at != begin + 1)
            refuse(decoding, "no sequences, in two bytes");
        if (decoding->at != decoding->len)
            refuse(decoding, "bytes are left after no sequences");
        return;
    }
    unsigned modes = (unsigned)take(decoding, 1);
    if (modes & 3)
        refuse(decoding, "reserved bits of the modes");
    sequence_table(decoding, &decoding->lengths, modes >> 6, &naive_literal_lengths);
    sequence_table(decoding, &decoding->offsets, modes >> 4 & 3, &naive_offsets);
    sequence_table(decoding, &decoding->matches, modes >> 2 & 3, &naive_match_lengths);
    read_sequences(decoding, count);
}

/* --- content --- */

static void execute(struct decoding *decoding, const struct naive_block *block,
                    const struct naive_frame *frame)
{
    struct naive_zstd *result = decoding->result;
    const unsigned char *literal = result->literals + block->first_literal;
    size_t left = result->literals_size - block->first_literal;
    size_t end = block->first_content + decoding->block_max;
    for (size_t i = block->first_sequence; i < result->sequences_count; i++) {
        struct naive_sequence sequence = result->sequences[i];
        if (sequence.literals > left)
            refuse(decoding, "literals are not there");
        put_content(decoding, literal, sequence.literals);
        literal += sequence.literals;
        left -= sequence.literals;
        if (sequence.offset == 0 || sequence.offset > frame->window ||
            sequence.offset > result->content_size - frame->first_content)
            refuse(decoding, "an offset to before the frame or its window");
        if (result->content_size + sequence.match > end)
            refuse(decoding, "more content than a block may have");
        for (uint32_t byte = 0; byte < sequence.match; byte++) {
            unsigned char copied = result->content[result->content_size - sequence.offset];
            put_content(decoding, &copied, 1);
        }
    }
    put_content(decoding, literal, left);
    if (result->content_size > end)
        refuse(decoding, "more content than a block may have");
}

static void compressed_block(struct decoding *decoding, size_t index)
{
    struct naive_zstd *result = decoding->result;
    const struct naive_frame *frame = &result->frames[result->frames_count - 1];
    size_t len = decoding->len; /* until its end, the block is all there is */
    decoding->len = decoding->at + result->blocks[index].size;
    literals(decoding);
    result->blocks[index].literals = result->literals_size - result->blocks[index].first_literal;
    sequences(decoding);
    result->blocks[index].sequences =
        result->sequences_count - result->blocks[index].first_sequence;
    execute(decoding, &result->blocks[index], frame);
    decoding->len = len;
}

/* Returns whether it was the last one. */
static bool block(struct decoding *decoding)
{
    struct naive_zstd *result = decoding->result;
    size_t header = take(decoding, 3), type = header >> 1 & 3, size = header >> 3;
    size_t index = result->blocks_count++;
    result->blocks = grown(result->blocks, &decoding->caps[3], index, 1, sizeof *result->blocks);
    struct naive_block *block = &result->blocks[index];
    memset(block, 0, sizeof *block);
    block->type = (enum naive_block_type)type;
    block->at = decoding->at;
    block->size = type == 1 ? 1 : size;
    block->frame = result->frames_count - 1;
    block->first_literal = result->literals_size;
    block->first_sequence = result->sequences_count;
    block->first_content = result->content_size;
    memcpy(block->repeat_offsets_before, decoding->repeat_offsets, sizeof decoding->repeat_offsets);
    if (type == 3)
        refuse(decoding, "a reserved type of block");
    if (size > decoding->block_max)
        refuse(decoding, "a block larger than the window");
    if (decoding->len - decoding->at < block->size)
        refuse(decoding, "cut short");
    if (type == 2) {
        compressed_block(decoding, index);
    } else {
        for (size_t i = 0; i < size; i++)
            put_content(decoding, decoding->in + decoding->at + (type == 1 ? 0 : i), 1);
        decoding->at += block->size;
    }
    memcpy(block->repeat_offsets, decoding->repeat_offsets, sizeof decoding->repeat_offsets);
    block->content = result->content_size - block->first_content;
    return header & 1;
}

/* --- frames --- */

/* Reads the frame's header after its magic number. Returns its descriptor. */
static unsigned frame_header(struct decoding *decoding, struct naive_frame *frame)
{
    static const size_t dictionaries[4] = {0, 1, 2, 4}, contents[4] = {0, 2, 4, 8};
    unsigned descriptor = (unsigned)take(decoding, 1);
    bool is_single = descriptor >> 5 & 1;
    size_t stated = contents[descriptor >> 6];
    if (stated == 0 && is_single)
        stated = 1;
    if (descriptor & 8)
        refuse(decoding, "a reserved bit of the frame");
    if (!is_single) {
        unsigned window = (unsigned)take(decoding, 1);
        frame->window = (uint64_t)1 << (10 + (window >> 3));
        frame->window += frame->window / 8 * (window & 7);
    }
    if (take(decoding, dictionaries[descriptor & 3]) != 0)
        refuse(decoding, "a dictionary");
    frame->stated = take(decoding, stated) + (stated == 2 ? 256 : 0);
    if (stated == 0)
        frame->stated = UINT64_MAX;
    if (is_single)
        frame->window = frame->stated;
    if (frame->window > WINDOW_MAX)
        refuse(decoding, "a window of more than 2^27 bytes");
    return descriptor;
}

static void frame(struct decoding *decoding)
{
    static const uint32_t at_first[3] = {1, 4, 8};
    struct naive_zstd *result = decoding->result;
    uint32_t magic = (uint32_t)take(decoding, 4);
    if ((magic & 0xfffffff0) == 0x184d2a50) {
        size_t size = take(decoding, 4);
        if (size > decoding->len - decoding->at)
            refuse(decoding, "cut short");
        decoding->at += size;
        return;
    }
    if (magic != 0xfd2fb528)
        refuse(decoding, "no frame");
    size_t index = result->frames_count++;
    result->frames = grown(result->frames, &decoding->caps[4], index, 1, sizeof *result->frames);
    struct naive_frame *frame = &result->frames[index];
    memset(frame, 0, sizeof *frame);
    frame->at = decoding->at - 4;
    frame->first_block = result->blocks_count;
    frame->first_content = result->content_size;
    unsigned descriptor = frame_header(decoding, frame);
    decoding->block_max = frame->window < BLOCK_MAX ? (size_t)frame->window : BLOCK_MAX;
    memcpy(decoding->repeat_offsets, at_first, sizeof at_first);
    decoding->has_huffman = false;
    decoding->lengths.is_there = decoding->offsets.is_there = decoding->matches.is_there = false;
    while (!block(decoding))
        continue;
    take(decoding, descriptor & 4 ? 4 : 0);
    frame->size = decoding->at - frame->at;
    frame->blocks = result->blocks_count - frame->first_block;
    frame->content = result->content_size - frame->first_content;
    if (frame->stated != UINT64_MAX && frame->stated != frame->content)
        refuse(decoding, "content of another size than is stated");
}

int naive_zstd_decode(struct naive_zstd *result, const unsigned char *in, size_t len)
{
    memset(result, 0, sizeof *result);
    struct decoding *decoding = calloc(1, sizeof *decoding);
    if (!decoding) {
        fputs("naive_zstd: no memory\n", stderr);
        exit(1);
    }
    decoding->result = result;
    /* A block without literals has a pointer to where they would be. */
    result->literals = grown(result->literals, &decoding->caps[1], 0, 1, 1);
    decoding->in = in;
    decoding->len = len;
    if (setjmp(decoding->trap.where) == 0)
        while (decoding->at < decoding->len)
            frame(decoding);
    result->why = decoding->trap.why;
    free(decoding);
    return !result->why;
}

void naive_zstd_free(struct naive_zstd *result)
{
    free(result->content);
    free(result->literals);
    free(result->sequences);
    free(result->blocks);
    free(result->frames);
    memset(result, 0, sizeof *result);
}
