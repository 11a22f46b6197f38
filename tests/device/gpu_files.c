/* SPDX-License-Identifier: MIT */
#include "tests/device/gpu_files.h"
#include "src/input/engine.h"
#include "src/tally/histogram_spec.h"

#include "gpu/count/strategy.h"
#include "gpu/decode/decoder.h"
#include "gpu/engine/gpu_engine.h"
#include "tests/helpers/need.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpu_files {
    struct histogram_spec spec;
    const struct codec *codec;
    struct engine *engine;
    uint64_t expected[256]; /* of all files that were taken */
};

struct gpu_files *gpu_files_open(const struct codec *codec, const char *batch, bool no_check)
{
    const struct gpu_options options = {.strategy =
                                            strategy_find("vectorized"), /* quickly emulated */
                                        .chunk_size = 65536,
                                        .buffers = 1,
                                        .deadline_ms = 200000,
                                        .no_check = no_check};
    struct gpu_files *files = need(calloc(1, sizeof *files));
    struct error error = {""};
    if (batch ? setenv("GPUHISTO_BATCH", batch, 1) : unsetenv("GPUHISTO_BATCH"))
        need(NULL);
    files->codec = codec;
    histogram_spec_bytes(&files->spec);
    files->engine = gpu_engine_open(&files->spec, &options, &error);
    if (!files->engine) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return files;
}

/* Gives it all that it wants of the file. 0, or -1 if it is lost. */
static int give(struct gpu_files *files, const unsigned char *bytes, size_t len, size_t at_once,
                struct compressed_rest *rest)
{
    const struct compressed_start start = {
        .codec = files->codec, .size = at_once ? 0 : len, .memlimit = UINT64_MAX};
    struct gpu_decoder *decoder = gpu_decoder_begin(files->engine, &start);
    struct compressed_next next = {.is_wanted = true, .need = 1};
    size_t arrived = at_once ? 0 : len;
    uint64_t index = 0;
    if (!decoder)
        return -1;
    while (next.is_wanted && next.at <= len) {
        struct chunk *chunk = gpu_decoder_acquire(decoder);
        if (!chunk)
            break;
        const uint64_t at = next.at;
        const size_t wanted = next.need < len - at ? (size_t)(at + next.need) : len;
        arrived = arrived + at_once < wanted ? wanted : arrived + at_once;
        arrived = arrived < len ? arrived : len;
        chunk->len = arrived - at < chunk->cap ? (size_t)(arrived - at) : chunk->cap;
        if (chunk->len > 0) /* of an empty file there may be no bytes */
            memcpy(chunk->data, bytes + at, chunk->len);
        chunk->origin = (struct origin){.at.index = index++,
                                        .end = at + chunk->len == len ? ENDS_FILE : ENDS_NOTHING};
        gpu_decoder_submit(decoder, chunk, at, &next);
        if (next.is_wanted && at_once)
            (void)gpu_decoder_poll(decoder);
    }
    return gpu_decoder_finish(decoder, rest);
}

enum gpu_file_result gpu_files_count(struct gpu_files *files, const unsigned char *bytes,
                                     size_t len, size_t at_once, const unsigned char *content,
                                     size_t size)
{
    struct compressed_rest rest;
    uint64_t counts[256] = {0};
    struct tally seen = {.bins = 256, .counts = counts};
    if (give(files, bytes, len, at_once, &rest) != 0 || engine_peek(files->engine, &seen) != 0)
        return GPU_FILE_WRONG;
    free(rest.tail);
    for (size_t i = 0; !rest.is_refused && content && i < size; i++)
        files->expected[content[i]]++;
    const bool is_right = memcmp(counts, files->expected, sizeof counts) == 0;
    memcpy(files->expected, counts, sizeof counts);
    if (!is_right || (!rest.is_refused && (!content || rest.bytes != size)))
        return GPU_FILE_WRONG;
    return rest.is_refused ? GPU_FILE_LEFT : GPU_FILE_TAKEN;
}

void gpu_files_close(struct gpu_files *files)
{
    engine_close(files->engine);
    free(files);
}
