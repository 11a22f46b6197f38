/* SPDX-License-Identifier: MIT */
/* A zstd frame, beside libzstd as a stream, without checksums. */
#include "bench/blocks.h"
#include "tests/helpers/frame_by_blocks.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define OUT_SIZE ((size_t)128 << 10) /* bytes that libzstd gives at a time */

static bool zstd_recognises(const struct bytes_of_file *file)
{
    struct zstd_frame_header header;
    return zstd_parse_frame(file->data, file->len, &header) == ZSTD_PARSED;
}

static double run_libzstd(const struct bytes_of_file *file)
{
    unsigned char *out = memory_of(OUT_SIZE);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer from = {file->data, file->len, 0};
    size_t hint = 1;
    const double begin = now();
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 31);
#if HAVE_DECL_ZSTD_D_EXPERIMENTALPARAM3
    ZSTD_DCtx_setParameter(context, ZSTD_d_experimentalParam3, 1); /* no checksum */
#endif
    while (hint != 0 && !ZSTD_isError(hint)) {
        ZSTD_outBuffer to = {out, OUT_SIZE, 0};
        hint = ZSTD_decompressStream(context, &to, &from);
    }
    const double seconds = now() - begin;
    if (ZSTD_isError(hint))
        die("libzstd", ZSTD_getErrorName(hint));
    ZSTD_freeDCtx(context);
    free(out);
    return seconds;
}

static void execute(const struct block_loops *loops, struct zstd_run *run, struct window_ring *ring,
                    struct repeat_offsets *repeat_offsets)
{
    const struct parsed_run *parsed = &run->parsed;
    const struct execution execution = {.repeat_offsets = *repeat_offsets,
                                        .history = ring->content};
    if (parsed->needs_fallback ||
        !loops->execute(parsed, &execution, ring_make_room(ring, parsed->content)))
        die("blocks", "doubtful");
    for (int i = 0; i < 3; i++)
        repeat_offsets->offset[i] =
            offset_resolve(parsed->after.offset[i], &execution.repeat_offsets);
    ring->at += parsed->content;
    ring->content += parsed->content;
}

static void run_frame(const struct block_loops *loops, const struct bytes_of_file *file,
                      struct zstd_run *run, struct taken *taken)
{
    struct zstd_frame_header header;
    struct zstd_walk walk;
    struct repeat_offsets repeat_offsets = {{0}};
    if (zstd_parse_frame(file->data, file->len, &header) != ZSTD_PARSED ||
        !zstd_walk_begin(&walk, &header))
        die("blocks", "no frame that is parsed");
    struct window_ring ring = {.window = header.window,
                               .size = 2 * (size_t)header.window + ((size_t)16 << 20)};
    ring.data = memory_of(ring.size);
    memset(ring.data, 0, ring.size); /* so that no round pays for fresh memory */
    size_t at = header.size;
    do {
        const double begin = now();
        zstd_walk_begin_run(&walk, run);
        if (zstd_walk_fill(&walk, run, file->data + at, file->len - at, &at) != WALKED_RUN)
            die("blocks", "corrupt");
        (void)zstd_parse(run, loops);
        const double parsed = now();
        execute(loops, run, &ring, &repeat_offsets);
        taken->parse += parsed - begin;
        taken->execute += now() - parsed;
        taken->operations += run->parsed.operations_len;
    } while (!run->is_last);
    taken->content = ring.content;
    free(ring.data);
}

static struct taken run_zstd(const struct block_loops *loops, const struct bytes_of_file *file)
{
    struct zstd_run *run = by_blocks_run();
    struct taken taken = {.content = 0};
    run_frame(loops, file, run, &taken);
    zstd_run_close(run);
    free(run);
    return taken;
}

const struct block_format zstd_blocks = {
    .library = "libzstd",
    .recognises = zstd_recognises,
    .run = run_zstd,
    .run_library = run_libzstd,
};
