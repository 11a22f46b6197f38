/* SPDX-License-Identifier: MIT */
/* Members of gzip, beside ISA-L as the program uses it, which computes the checksum in passing.
 * What is parsed is all that runs and their chain parse; beginnings are searched once more,
 * everywhere, to measure that. Checksums are not computed here. */
#include "bench/blocks.h"
#include "src/parallel/gzip_pieces.h"
#include "src/codec/codec.h"

#include <stdlib.h>
#include <string.h>

#define STEP ((size_t)256 << 10) /* bytes that ISA-L takes, and gives, at a time */
#define RING_SIZE (DEFLATE_WINDOW + (size_t)DEFLATE_RUN_CONTENT_MAX + EXECUTE_SLACK)

static bool gzip_recognises(const struct bytes_of_file *file)
{
    return file->len > GZIP_MAGIC_SIZE && memcmp(file->data, gzip_magic, GZIP_MAGIC_SIZE) == 0;
}

static double run_isal(const struct bytes_of_file *file)
{
    static const struct codec_options options = {.memlimit = 1024};
    const struct codec *codec;
    struct decode_step step = {.cap = STEP};
    struct error error;
    if (codec_recognise(file->data, file->len, &codec) != MAGIC_MATCH)
        return 0;
    unsigned char *out = memory_of(STEP);
    struct decoder *decoder = codec->open(&options);
    const double begin = now();
    for (size_t at = 0; decoder && at < file->len; at += step.used) {
        step.in = file->data + at;
        step.in_len = file->len - at < STEP ? file->len - at : STEP;
        step.out = out;
        if (codec->decode(decoder, &step, &error) != DECODE_OK)
            die("ISA-L", error.text);
    }
    const double seconds = decoder ? now() - begin : 0;
    decoder_close(decoder);
    free(out);
    return seconds;
}

static double find_everywhere(const struct block_loops *loops, const struct bytes_of_file *file)
{
    unsigned char *in = memory_of(file->len + DEFLATE_SLACK);
    const struct deflate_input input = {in, 8 * (uint64_t)file->len};
    memcpy(in, file->data, file->len);
    const double begin = now();
    for (uint64_t at = 0; at != DEFLATE_NONE;)
        at = deflate_find(loops, &input, at + 1, input.bits, NULL);
    const double seconds = now() - begin;
    free(in);
    return seconds;
}

/* What takes part in a round. */
struct gzip_round {
    const struct block_loops *loops;
    struct gzip_chain chain;
    struct gzip_cutter cutter;
    struct gzip_run run;
    struct window_ring ring;
    struct taken taken;
};

/* Chains a run, and executes what follows. */
static void chain_run(struct gzip_round *round)
{
    const struct parsed_run *parsed;
    double begin = now();
    enum gzip_chained chained;
    while ((chained = gzip_chain_next(&round->chain, &round->run, &parsed)) == GZIP_CHAINED ||
           chained == GZIP_ENDED) {
        if (chained == GZIP_ENDED)
            continue;
        struct run_cursor cursor = {.next = parsed->operations,
                                    .end = parsed->operations + parsed->operations_len,
                                    .literals = parsed->literals};
        const double chosen = now();
        unsigned char *out = ring_make_room(&round->ring, parsed->content);
        (void)round->loops->execute_some(&cursor, out, out + parsed->content);
        round->ring.at += parsed->content;
        round->ring.content += parsed->content;
        round->taken.operations += parsed->operations_len;
        round->taken.parse += chosen - begin;
        begin = now();
        round->taken.execute += begin - chosen;
    }
    if (chained == GZIP_WRONG)
        die("blocks", "corrupt");
}

static struct taken run_gzip(const struct block_loops *loops, const struct bytes_of_file *file)
{
    struct gzip_round *round = memory_of(sizeof *round);
    bool more = true;
    *round = (struct gzip_round){.loops = loops,
                                 .cutter = {.piece = GZIP_PIECE},
                                 .ring = {.window = DEFLATE_WINDOW, .size = RING_SIZE}};
    round->ring.data = memory_of(round->ring.size);
    memset(round->ring.data, 0, round->ring.size); /* so that no round pays for fresh memory */
    if (gzip_chain_open(&round->chain, loops) != 0 || gzip_run_open(&round->run, loops) != 0)
        die("memory", "there is too little");
    for (size_t at = 0; more;) {
        const double begin = now();
        gzip_cutter_begin(&round->cutter, &round->run);
        const size_t left = file->len - at, space = round->run.len_max - round->run.len,
                     some = left < space ? left : space;
        memcpy(round->run.in + round->run.len, file->data + at, some);
        round->run.len += some;
        at += some;
        more = gzip_cutter_end(&round->cutter, &round->run);
        gzip_run_parse(&round->run);
        round->taken.parse += now() - begin;
        chain_run(round);
    }
    struct taken taken = round->taken;
    taken.content = round->ring.content;
    taken.find = find_everywhere(loops, file);
    gzip_run_close(&round->run);
    gzip_chain_close(&round->chain);
    free(round->ring.data);
    free(round);
    return taken;
}

const struct block_format gzip_blocks = {
    .library = "ISA-L",
    .recognises = gzip_recognises,
    .run = run_gzip,
    .run_library = run_isal,
};
