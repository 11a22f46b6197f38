/* SPDX-License-Identifier: MIT */
/* Cuts frames into runs, and parses these. */
#include "block_loops.h"
#include "src/base/byte_word.h"
#include "zstd_blocks.h"

#include <stdlib.h>
#include <string.h>

/* A run has its compressed bytes to itself, with margins. A corrupt stream of literals is only
 * noticed at its end, and until then loads go below its beginning: by up to 32,768 codes of 11
 * bits, less than RUN_MARGIN. No other load leaves the run by more than eight bytes. */
#define RUN_MARGIN ((size_t)48 << 10)
#define IN_SLACK 8 /* bytes after a run that may be read */

#define RUN_WINDOW_MAX ((uint64_t)128 << 20) /* frames with larger windows are not parsed */
#define BLOCK_IN_MAX (ZSTD_BLOCK_HEADER_SIZE + BLOCK_CONTENT_MAX)

/* Compressed bytes of a run beyond which it is complete with as much content as it may have
 * literals. A shorter run may have more content, but hardly ever does. */
#define IN_SHORT ((size_t)8 << 10)

/* Bytes that are read at once of a run of which most is left out: of several tiny blocks. */
#define SKIMMED ((size_t)4 << 10)

/* The least bytes of a compressed block. Some versions of libzstd take two. */
#define COMPRESSED_MIN 3

/* --- sections of a compressed block --- */

enum literals_type { LITERALS_RAW, LITERALS_RLE, LITERALS_CODED, LITERALS_TREELESS };

struct literals_header {
    enum literals_type type;
    uint32_t content; /* bytes of literals */
    uint32_t stored;  /* bytes after the header; with the table if LITERALS_CODED */
    unsigned size;    /* bytes of the header */
    unsigned streams; /* 1 or 4; of codes only */
};

/* Bytes of a section, literals or sequences, that define tables, at most. */
#define SECTION_MAX (size_t)(5 + DEFINITION_MAX)

struct sequences_header {
    uint32_t count;
    unsigned size; /* bytes, with `modes` */
    uint8_t modes; /* two bits for each table, the highest first; only if there are sequences */
};

static enum table_mode table_mode_of(uint8_t byte, enum sequence_kind kind)
{
    return (enum table_mode)(byte >> (6 - 2 * (int)kind) & 3);
}

/* Reads the header of literals at in[0..len). False: it is wrong. */
static bool read_literals_header(struct literals_header *header, const unsigned char *in,
                                 size_t len)
{
    static const uint8_t plain_sizes[4] = {1, 2, 1, 3}, coded_sizes[4] = {3, 3, 4, 5},
                         widths[4] = {10, 10, 14, 18};
    if (len < 1)
        return false;
    const enum literals_type type = (enum literals_type)(in[0] & 3);
    const unsigned format = in[0] >> 2 & 3;
    const bool is_plain = type == LITERALS_RAW || type == LITERALS_RLE;
    *header = (struct literals_header){
        .type = type, .size = is_plain ? plain_sizes[format] : coded_sizes[format]};
    if (len < header->size)
        return false;
    unsigned char copy[8] = {0};
    memcpy(copy, in, header->size);
    const uint64_t bits = byte_word(copy);
    if (is_plain) {
        header->content = (uint32_t)(bits >> (header->size == 1 ? 3 : 4));
        header->stored = type == LITERALS_RLE ? 1 : header->content;
    } else {
        const uint64_t mask = ((uint64_t)1 << widths[format]) - 1;
        header->streams = format == 0 ? 1 : 4;
        header->content = (uint32_t)(bits >> 4 & mask);
        header->stored = (uint32_t)(bits >> (4 + widths[format]) & mask);
    }
    return header->content <= BLOCK_CONTENT_MAX && header->stored <= len - header->size;
}

/* Reads the header of sequences. A count of 0 in two bytes needs the fallback: versions of libzstd
 * differ in how they take it. */
static bool read_sequences_header(struct sequences_header *header, const unsigned char *in,
                                  size_t len)
{
    *header = (struct sequences_header){.count = 0};
    if (len < 1)
        return false;
    header->size = in[0] < 128 ? 1 : in[0] < 255 ? 2 : 3;
    if (len < header->size)
        return false;
    if (header->size == 1)
        header->count = in[0];
    else if (header->size == 2)
        header->count = (in[0] - 128u) << 8 | in[1];
    else
        header->count = 0x7f00 + (in[1] | (uint32_t)in[2] << 8);
    if (header->count == 0)
        return header->size == 1 && len == 1;
    if (len <= header->size || (in[header->size] & 3) != 0)
        return false;
    header->modes = in[header->size++];
    return true;
}

/* --- runs --- */

int zstd_run_open(struct zstd_run *run, const struct zstd_run_limits *limits)
{
    unsigned char *memory = calloc(1, RUN_MARGIN + limits->in + IN_SLACK);
    *run = (struct zstd_run){.limits = *limits, .in = memory ? memory + RUN_MARGIN : NULL};
    for (enum sequence_kind kind = 0; kind < SEQUENCE_KINDS; kind++)
        (void)sequence_table_read(&run->tables.predefined[kind], kind, TABLE_PREDEFINED, NULL, 0);
    if (memory && parsed_run_open(&run->parsed, limits->literals, limits->operations) == 0)
        return 0;
    zstd_run_close(run);
    return -1;
}

void zstd_run_close(struct zstd_run *run)
{
    if (run->in)
        free(run->in - RUN_MARGIN);
    parsed_run_close(&run->parsed);
    run->in = NULL;
}

/* --- walking --- */

bool zstd_walk_begin(struct zstd_walk *walk, const struct zstd_frame_header *header)
{
    *walk = (struct zstd_walk){.parts = {.next = ZSTD_BLOCK, .header = *header}, .is_first = true};
    return !header->is_skippable && header->dictionary == 0 && header->window <= RUN_WINDOW_MAX;
}

void zstd_walk_begin_run(struct zstd_walk *walk, struct zstd_run *run)
{
    run->len = run->count = 0;
    run->before = walk->defined;
    run->window = walk->parts.header.window;
    run->is_last = false;
    for (unsigned i = 0; i < 3; i++)
        run->repeat_offsets.offset[i] = symbolic_offset(i);
    if (walk->is_first)
        run->repeat_offsets = (struct repeat_offsets){{1, 4, 8}};
    walk->is_first = walk->in_block = false;
    walk->operations = walk->literals = walk->content = 0;
    walk->wanted = ZSTD_BLOCK_HEADER_SIZE;
}

static void define(struct definition *definition, uint8_t modes, const unsigned char *in,
                   size_t len)
{
    definition->modes = modes;
    definition->len = (uint16_t)(len < DEFINITION_MAX ? len : DEFINITION_MAX);
    memcpy(definition->bytes, in, definition->len);
}

/* Adds the most that a block takes. Splitting a match at a short distance takes at most five
 * operations more. */
static void add_block(struct zstd_walk *walk, uint32_t literals, uint32_t sequences)
{
    const size_t content = sequences > 0 ? BLOCK_CONTENT_MAX : literals,
                 operations = 6 * (size_t)sequences + content / COPY_MAX + 1;
    walk->literals += literals;
    walk->content += content;
    walk->operations += operations < BLOCK_OPERATIONS_MAX ? operations : BLOCK_OPERATIONS_MAX;
}

/* Records which tables a compressed block defines. */
static bool pass_compressed(struct zstd_walk *walk, const unsigned char *in, size_t len)
{
    struct literals_header literals;
    struct sequences_header sequences;
    if (!read_literals_header(&literals, in, len))
        return false;
    if (literals.type == LITERALS_CODED)
        define(&walk->defined.huffman, 0, in + literals.size, literals.stored);
    in += literals.size + literals.stored;
    len -= literals.size + literals.stored;
    if (!read_sequences_header(&sequences, in, len))
        return false;
    add_block(walk, literals.content, sequences.count);
    for (enum sequence_kind kind = 0; sequences.count > 0 && kind < SEQUENCE_KINDS; kind++)
        if (table_mode_of(sequences.modes, kind) != TABLE_REPEATED)
            define(&walk->defined.sequences[kind], sequences.modes, in + sequences.size,
                   len - sequences.size);
    return true;
}

/* Begins a block, whose header is there. */
static bool begin_block(struct zstd_walk *walk, struct zstd_run *run)
{
    const struct zstd_block_header *header = &walk->parts.block;
    uint64_t size;
    if (zstd_part_read(&walk->parts, run->in + run->len - ZSTD_BLOCK_HEADER_SIZE,
                       ZSTD_BLOCK_HEADER_SIZE, &size) != ZSTD_PARSED)
        return false;
    /* Versions of libzstd differ in whether a compressed block may be as large as its content. */
    if (header->type == ZSTD_STORED_COMPRESSED && header->size >= BLOCK_CONTENT_MAX)
        return false;
    run->blocks[run->count++] =
        (struct zstd_block){.type = header->type, .at = (uint32_t)run->len, .size = header->size};
    run->is_last = header->is_last;
    walk->in_block = true;
    walk->wanted += header->stored;
    return true;
}

/* True if the run may have no room for another block, or is large enough. */
static bool is_complete(const struct zstd_walk *walk, const struct zstd_run *run)
{
    const struct zstd_run_limits *limits = &run->limits;
    const size_t content_max = run->len < IN_SHORT ? limits->content : limits->content_usual;
    return run->is_last || run->count == RUN_BLOCKS_MAX || run->len > limits->in - BLOCK_IN_MAX ||
           walk->literals > limits->literals - BLOCK_CONTENT_MAX ||
           walk->content > content_max - BLOCK_CONTENT_MAX ||
           walk->operations > limits->operations - BLOCK_OPERATIONS_MAX;
}

/* Ends a block, all of which is there. */
static enum walked end_block(struct zstd_walk *walk, struct zstd_run *run)
{
    const struct zstd_block *block = &run->blocks[run->count - 1];
    if (block->type != ZSTD_STORED_COMPRESSED && block->size == 0)
        run->count--;
    else if (block->type != ZSTD_STORED_COMPRESSED)
        add_block(walk, block->size, 0);
    else if (!pass_compressed(walk, run->in + block->at, block->size))
        return WALKED_WRONG;
    walk->in_block = false;
    walk->wanted += ZSTD_BLOCK_HEADER_SIZE;
    return is_complete(walk, run) ? WALKED_RUN : WALKED_ALL;
}

enum walked zstd_walk_fill(struct zstd_walk *walk, struct zstd_run *run, const unsigned char *in,
                           size_t len, size_t *used)
{
    enum walked walked = WALKED_ALL;
    while (walked == WALKED_ALL) {
        const size_t missing = walk->wanted - run->len, some = len < missing ? len : missing;
        if (some > 0 && in != run->in + run->len)
            memmove(run->in + run->len, in, some); /* it may stand in the same run */
        run->len += some;
        *used += some;
        in += some;
        len -= some;
        if (some < missing)
            return WALKED_ALL;
        if (walk->in_block)
            walked = end_block(walk, run);
        else if (!begin_block(walk, run))
            walked = WALKED_WRONG;
    }
    return walked;
}

/* The bytes of a run that were read last, if most of it is left out. */
struct skimmed {
    const struct zstd_reader *reader;
    size_t begin, end;
};

/* Reads bytes [at, at + len) of a run, and more at once, unless they were read. False: there are
 * fewer. */
static bool skim(struct skimmed *skimmed, struct zstd_run *run, size_t at, size_t len)
{
    if (at >= skimmed->begin && at + len <= skimmed->end)
        return true;
    const size_t space = run->limits.in - at, some = space < SKIMMED ? space : SKIMMED;
    skimmed->begin = at;
    skimmed->end = at + skimmed->reader->read(skimmed->reader, run->in + at, some, at);
    return at + len <= skimmed->end;
}

/* Reads those bytes of the last block that say which tables it defines. False: there are fewer. */
static bool skim_block(struct skimmed *skimmed, struct zstd_run *run)
{
    const struct zstd_block *block = &run->blocks[run->count - 1];
    struct literals_header literals;
    size_t left = block->size, at = block->at;
    if (block->type != ZSTD_STORED_COMPRESSED)
        return true;
    if (!skim(skimmed, run, at, left < SECTION_MAX ? left : SECTION_MAX))
        return false;
    if (!read_literals_header(&literals, run->in + at, left))
        return true; /* end_block says that it is wrong */
    at += literals.size + literals.stored;
    left -= literals.size + literals.stored;
    return skim(skimmed, run, at, left < SECTION_MAX ? left : SECTION_MAX);
}

enum walked zstd_walk_skim(struct zstd_walk *walk, struct zstd_run *run,
                           const struct zstd_reader *reader)
{
    struct skimmed skimmed = {.reader = reader};
    enum walked walked = WALKED_ALL;
    while (walked == WALKED_ALL &&
           skim(&skimmed, run, walk->wanted - ZSTD_BLOCK_HEADER_SIZE, ZSTD_BLOCK_HEADER_SIZE)) {
        run->len = walk->wanted;
        if (!begin_block(walk, run))
            return WALKED_WRONG;
        if (!skim_block(&skimmed, run))
            return WALKED_ALL;
        run->len = walk->wanted;
        walked = end_block(walk, run);
    }
    return walked;
}

/* --- parsing: tables --- */

/* Reads a table of sequences that blocks before the run have defined. */
static bool read_defined(struct sequence_table *tables, enum sequence_kind wanted,
                         const struct definition *definition)
{
    const unsigned char *in = definition->bytes;
    size_t left = definition->len;
    for (enum sequence_kind kind = 0; kind <= wanted; kind++) {
        const enum table_mode mode = table_mode_of(definition->modes, kind);
        const int used =
            sequence_table_read(kind == wanted ? &tables[kind] : NULL, kind, mode, in, left);
        if (used < 0)
            return false;
        in += used;
        left -= (size_t)used;
    }
    return true;
}

/* Chooses a table of sequences, and sets it from its description at in[0..len) if it has one; if it
 * is repeated, it is that of an earlier block of the run, or before it. Returns the bytes of the
 * description, or -1. */
static int read_table(struct zstd_run *run, enum sequence_kind kind, enum table_mode mode,
                      const unsigned char *in, size_t len)
{
    struct zstd_tables *tables = &run->tables;
    const struct definition *before = &run->before.sequences[kind];
    if (mode == TABLE_REPEATED && tables->sequences[kind])
        return 0;
    tables->sequences[kind] =
        mode == TABLE_PREDEFINED ? &tables->predefined[kind] : &tables->described[kind];
    if (mode == TABLE_PREDEFINED)
        return 0;
    if (mode == TABLE_REPEATED)
        return before->len > 0 && read_defined(tables->described, kind, before) ? 0 : -1;
    return sequence_table_read(&tables->described[kind], kind, mode, in, len);
}

/* --- parsing: blocks --- */

/* Sets literals from as many bytes, or from one that is repeated. */
static void set_literals(struct zstd_run *run, const unsigned char *in, size_t len, bool is_rle)
{
    if (is_rle)
        memset(run->literals, in[0], len);
    else
        memcpy(run->literals, in, len);
}

/* Parses literals whose header was read to run->literals. */
static bool parse_literals(struct zstd_run *run, const struct block_loops *loops,
                           const struct literals_header *header, const unsigned char *in)
{
    struct huffman_table *table = &run->tables.huffman;
    const struct definition *before = &run->before.huffman;
    struct huffman_streams streams = {.table = table,
                                      .in = in,
                                      .len = header->stored,
                                      .out = run->literals,
                                      .count = header->content};
    int used = 0;
    if (header->content > zstd_block_max(run->window))
        return false;
    if (header->type == LITERALS_RAW || header->type == LITERALS_RLE) {
        set_literals(run, in, header->content, header->type == LITERALS_RLE);
        return true;
    }
    if (header->type == LITERALS_CODED)
        used = huffman_table_read(table, in, header->stored);
    else if (table->log == 0 && huffman_table_read(table, before->bytes, before->len) < 0)
        return false;
    if (used < 0)
        return false;
    streams.in += used;
    streams.len -= (size_t)used;
    return header->streams == 1 ? loops->read_stream(&streams) : loops->read_streams(&streams);
}

/* Parses the sequences of a block. Sets *literals to how many they take. */
static bool parse_sequences(struct zstd_run *run, const struct block_loops *loops,
                            const unsigned char *in, size_t len, uint32_t *literals)
{
    struct sequences sequences = {.tables = run->tables.sequences,
                                  .content_max =
                                      run->writer.content + (uint32_t)zstd_block_max(run->window),
                                  .repeat_offsets = run->last_offsets,
                                  .writer = run->writer};
    struct sequences_header header;
    *literals = 0;
    if (!read_sequences_header(&header, in, len))
        return false;
    if (header.count == 0)
        return true;
    in += header.size;
    len -= header.size;
    for (enum sequence_kind kind = 0; kind < SEQUENCE_KINDS; kind++) {
        const int used = read_table(run, kind, table_mode_of(header.modes, kind), in, len);
        if (used < 0)
            return false;
        in += used;
        len -= (size_t)used;
    }
    sequences.in = in;
    sequences.len = len;
    sequences.count = header.count;
    if (!loops->parse_sequences(&sequences))
        return false;
    run->last_offsets = sequences.repeat_offsets;
    run->writer = sequences.writer;
    *literals = sequences.literals;
    return true;
}

static bool parse_compressed(struct zstd_run *run, const struct block_loops *loops,
                             const unsigned char *in, size_t len)
{
    const uint32_t begin = run->writer.content;
    struct literals_header header;
    uint32_t taken;
    if (len < COMPRESSED_MIN || !read_literals_header(&header, in, len))
        return false;
    in += header.size;
    len -= header.size;
    if (!parse_literals(run, loops, &header, in) ||
        !parse_sequences(run, loops, in + header.stored, len - header.stored, &taken) ||
        taken > header.content)
        return false;
    const uint32_t rest = header.content - taken;
    if (run->writer.content - begin + rest >
        zstd_block_max(run->window)) /* no room is kept for it */
        return false;
    run->literals += header.content;
    if (rest > 0)
        operations_add_long(&run->writer, rest, 0, 0);
    return true;
}

/* Returns how far a run is parsed. */
static struct run_position position_of(const struct zstd_run *run)
{
    return (struct run_position){(size_t)(run->writer.next - run->parsed.operations),
                                 (size_t)(run->literals - run->parsed.literals),
                                 run->writer.content};
}

/* Parses a block for which there is room, as there is unless a file was changed since its blocks
 * were walked over. */
static bool parse_block(struct zstd_run *run, const struct block_loops *loops,
                        const struct zstd_block *block)
{
    const unsigned char *in = run->in + block->at;
    const struct run_position at = position_of(run);
    if (at.literals + BLOCK_CONTENT_MAX > run->limits.literals ||
        at.content + BLOCK_CONTENT_MAX > run->limits.content ||
        at.operations + BLOCK_OPERATIONS_MAX > run->limits.operations)
        return false;
    if (block->type == ZSTD_STORED_COMPRESSED)
        return parse_compressed(run, loops, in, block->size);
    set_literals(run, in, block->size, block->type == ZSTD_STORED_RLE);
    run->literals += block->size;
    operations_add_long(&run->writer, block->size, 0, 0);
    return true;
}

bool zstd_parse(struct zstd_run *run, const struct block_loops *loops)
{
    struct parsed_run *parsed = &run->parsed;
    bool is_right = true;
    run->literals = run->parsed.literals;
    run->writer = (struct operation_writer){.next = run->parsed.operations};
    run->last_offsets = run->repeat_offsets;
    run->tables.huffman.log = 0;
    memset(run->tables.sequences, 0, sizeof run->tables.sequences);
    for (unsigned i = 0; is_right && i < run->count; i++) {
        is_right = parse_block(run, loops, &run->blocks[i]);
        run->blocks[i].end = position_of(run);
    }
    const struct run_position position = position_of(run);
    parsed->needs_fallback = !is_right || run->writer.offset_max > run->window;
    parsed->literals_len = position.literals;
    parsed->operations_len = position.operations;
    parsed->content = position.content;
    parsed->reach = 0 - (uint32_t)run->writer.min;
    parsed->after = run->last_offsets;
    memcpy(parsed->less, run->writer.less, sizeof parsed->less);
    return !parsed->needs_fallback;
}
