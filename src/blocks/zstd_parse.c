/* SPDX-License-Identifier: MIT */
#include "zstd_parse.h"

#include <string.h>

/* The least bytes of a compressed block. Some versions of libzstd take two. */
#define COMPRESSED_MIN 3

/* A run that is being parsed. */
struct parsing {
    const struct block_loops *loops;
    const struct definitions *before;
    struct zstd_tables *tables;
    unsigned char *literals; /* where those of the next block go */
    struct operation_writer writer;
    struct repeat_offsets repeat_offsets;
    uint32_t content_max; /* bytes of a block's content */
};

/* --- tables --- */

/* Reads a table that blocks before the run have defined. */
static bool read_defined(struct sequence_table *tables, enum sequence_kind wanted,
                         const struct definition *definition)
{
    const unsigned char *in = definition->bytes;
    size_t left = definition->len;
    for (int i = 0; i <= (int)wanted; i++) {
        const enum sequence_kind kind = (enum sequence_kind)i;
        const enum table_mode mode = zstd_table_mode(definition->modes, kind);
        const int used =
            sequence_table_read(kind == wanted ? &tables[i] : NULL, kind, mode, in, left);
        if (used < 0)
            return false;
        in += used;
        left -= (size_t)used;
    }
    return true;
}

/* Sets the table of literals that a block repeats: that of an earlier block of the run, or
 * before it. */
static bool repeat_huffman(struct parsing *parsing)
{
    struct huffman_table *table = &parsing->tables->huffman;
    const struct definition *definition = &parsing->before->huffman;
    return table->is_set || (definition->is_set &&
                             huffman_table_read(table, definition->bytes, definition->len) >= 0);
}

/* Sets a table of sequences that a block repeats, likewise. */
static bool repeat_sequences(struct parsing *parsing, enum sequence_kind kind)
{
    struct sequence_table *tables = parsing->tables->sequences;
    const struct definition *definition = &parsing->before->sequences[kind];
    return tables[kind].is_set || (definition->is_set && read_defined(tables, kind, definition));
}

/* Sets a table of sequences, from its description at in[0..len) if it has one. Returns the bytes of
 * that, or -1. */
static int read_table(struct parsing *parsing, enum sequence_kind kind, enum table_mode mode,
                      const unsigned char *in, size_t len)
{
    struct sequence_table *table = &parsing->tables->sequences[kind];
    const struct sequence_table *predefined = &parsing->tables->predefined[kind];
    if (mode == TABLE_REPEATED)
        return repeat_sequences(parsing, kind) ? 0 : -1;
    if (mode != TABLE_PREDEFINED)
        return sequence_table_read(table, kind, mode, in, len);
    memcpy(table->entries, predefined->entries, sizeof *table->entries << predefined->log);
    table->log = predefined->log;
    table->is_set = true;
    return 0;
}

/* Sets the tables of a section of sequences. Returns the bytes of the descriptions, or -1. */
static int read_tables(struct parsing *parsing, uint8_t modes, const unsigned char *in, size_t len)
{
    size_t used = 0;
    for (int i = 0; i < SEQUENCE_KINDS; i++) {
        const enum sequence_kind kind = (enum sequence_kind)i;
        const int some =
            read_table(parsing, kind, zstd_table_mode(modes, kind), in + used, len - used);
        if (some < 0)
            return -1;
        used += (size_t)some;
    }
    return (int)used;
}

/* --- blocks --- */

static bool parse_coded_literals(struct parsing *parsing, const struct literals_header *header,
                                 const unsigned char *in)
{
    struct huffman_table *table = &parsing->tables->huffman;
    struct huffman_streams streams = {
        .table = table, .in = in, .len = header->stored, .out = parsing->literals};
    streams.count = header->content;
    if (header->type == LITERALS_CODED) {
        const int used = huffman_table_read(table, in, header->stored);
        if (used < 0)
            return false;
        streams.in += used;
        streams.len -= (size_t)used;
    } else if (!repeat_huffman(parsing)) {
        return false;
    }
    const struct block_loops *loops = parsing->loops;
    return header->streams == 1 ? loops->read_stream(&streams) : loops->read_streams(&streams);
}

static bool parse_literals(struct parsing *parsing, const struct literals_header *header,
                           const unsigned char *in)
{
    if (header->content > parsing->content_max)
        return false;
    if (header->type == LITERALS_RAW)
        memcpy(parsing->literals, in, header->content);
    else if (header->type == LITERALS_RLE)
        memset(parsing->literals, in[0], header->content);
    else
        return parse_coded_literals(parsing, header, in);
    return true;
}

/* Parses the sequences of a block. Sets *literals to how many they take. */
static bool parse_sequences(struct parsing *parsing, const unsigned char *in, size_t len,
                            uint32_t *literals)
{
    struct sequences sequences = {.tables = parsing->tables->sequences,
                                  .content_max = parsing->writer.content + parsing->content_max,
                                  .repeat_offsets = parsing->repeat_offsets,
                                  .writer = parsing->writer};
    struct sequences_header header;
    *literals = 0;
    if (!zstd_read_sequences_header(&header, in, len))
        return false;
    if (header.count == 0)
        return true;
    in += header.size;
    len -= header.size;
    const int used = read_tables(parsing, header.modes, in, len);
    if (used < 0)
        return false;
    sequences.in = in + used;
    sequences.len = len - (size_t)used;
    sequences.count = header.count;
    if (!parsing->loops->parse_sequences(&sequences))
        return false;
    parsing->repeat_offsets = sequences.repeat_offsets;
    parsing->writer = sequences.writer;
    *literals = sequences.literals;
    return true;
}

/* Adds literals without a match, which have been written. */
static void add_literals(struct parsing *parsing, uint32_t count)
{
    if (count > 0)
        operations_add_long(&parsing->writer, count, 0, 0);
}

static bool parse_compressed(struct parsing *parsing, const unsigned char *in, size_t len)
{
    const uint32_t begin = parsing->writer.content;
    struct literals_header header;
    uint32_t taken;
    if (len < COMPRESSED_MIN || !zstd_read_literals_header(&header, in, len))
        return false;
    in += header.size;
    len -= header.size;
    if (!parse_literals(parsing, &header, in) ||
        !parse_sequences(parsing, in + header.stored, len - header.stored, &taken) ||
        taken > header.content)
        return false;
    const uint32_t rest = header.content - taken;
    if (parsing->writer.content - begin + rest > parsing->content_max) /* no room is kept for it */
        return false;
    parsing->literals += header.content;
    add_literals(parsing, rest);
    return true;
}

static bool parse_block(struct parsing *parsing, const struct zstd_block *block,
                        const unsigned char *in)
{
    if (block->type == ZSTD_STORED_COMPRESSED)
        return parse_compressed(parsing, in, block->size);
    if (block->type == ZSTD_STORED_RAW)
        memcpy(parsing->literals, in, block->size);
    else
        memset(parsing->literals, in[0], block->size);
    parsing->literals += block->size;
    add_literals(parsing, block->size);
    return true;
}

static struct run_position position_of(const struct parsing *parsing,
                                       const struct parsed_run *parsed)
{
    return (struct run_position){(size_t)(parsing->writer.next - parsed->operations),
                                 (size_t)(parsing->literals - parsed->literals),
                                 parsing->writer.content};
}

void zstd_parse_begin(struct zstd_run *run)
{
    run->parsed_blocks = 0;
    run->literals = run->parsed.literals;
    run->writer = (struct operation_writer){.next = run->parsed.operations};
    run->last_offsets = run->repeat_offsets;
    run->tables.huffman.is_set = false;
    for (int i = 0; i < SEQUENCE_KINDS; i++)
        run->tables.sequences[i].is_set = false;
}

bool zstd_parse_blocks(struct zstd_run *run, const struct block_loops *loops, unsigned blocks)
{
    struct parsed_run *parsed = &run->parsed;
    struct parsing parsing = {.loops = loops,
                              .before = &run->before,
                              .tables = &run->tables,
                              .literals = run->literals,
                              .writer = run->writer,
                              .repeat_offsets = run->last_offsets,
                              .content_max = BLOCK_CONTENT_MAX};
    if (run->window < BLOCK_CONTENT_MAX)
        parsing.content_max = (uint32_t)run->window;
    bool is_right = true;
    unsigned i = run->parsed_blocks;
    const unsigned end = run->count - i < blocks ? run->count : i + blocks;
    for (; is_right && i < end; i++) {
        is_right = parse_block(&parsing, &run->blocks[i], run->in + run->blocks[i].at);
        run->blocks[i].end = position_of(&parsing, parsed);
    }
    run->parsed_blocks = i;
    run->literals = parsing.literals;
    run->writer = parsing.writer;
    run->last_offsets = parsing.repeat_offsets;
    parsed->needs_fallback = !is_right || parsing.writer.offset_max > run->window;
    const struct run_position position = position_of(&parsing, parsed);
    parsed->literals_len = position.literals;
    parsed->operations_len = position.operations;
    parsed->content = position.content;
    parsed->reach = 0 - (uint32_t)parsing.writer.min;
    parsed->after = parsing.repeat_offsets;
    return i == run->count || parsed->needs_fallback;
}

void zstd_parse(struct zstd_run *run, const struct block_loops *loops)
{
    zstd_parse_begin(run);
    (void)zstd_parse_blocks(run, loops, RUN_BLOCKS_MAX);
}
