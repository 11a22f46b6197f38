// SPDX-License-Identifier: MIT
// The stages of all formats, in their order. The tests compile this for the host as well.
#include "gpu/decode/gzip/chain.cuh"
#include "gpu/decode/gzip/content.cuh"
#include "gpu/decode/gzip/crc.cuh"
#include "gpu/decode/gzip/find.cuh"
#include "gpu/decode/keep.cuh"
#include "gpu/decode/matches.cuh"
#include "gpu/decode/stages.h"
#include "gpu/decode/zstd/headers.cuh"
#include "gpu/decode/zstd/literals.cuh"
#include "gpu/decode/zstd/sequences.cuh"

static const struct decode_stage zstd_stages[] = {
    {"parse", DECODE_PART_CHAINED, zstd_parse, parse_threads, 0, grid_of_blocks<parse_threads>},
    {"repeats", DECODE_PART_CHAINED, zstd_repeats, repeats_threads, 0,
     grid_of_blocks<repeats_threads>},
    {"tables", DECODE_PART_CHAINED, zstd_keep_tables, keep_tables_threads, 0, grid_of_one},
    {"literals", DECODE_PART_FREE, zstd_literals, literals_threads, 0,
     grid_of_blocks<literals_blocks>},
    {"walk", DECODE_PART_FREE, zstd_walk, walk_threads, 0, grid_of_blocks<walk_blocks>},
    {"sequences", DECODE_PART_FREE, zstd_sequences, sequences_threads, 0,
     grid_of_blocks<sequences_blocks>},
    {"place", DECODE_PART_MATCHES, decode_place<DECODE_ZSTD>, DECODE_PLACE_THREADS, 0, grid_of_one},
    {"link", DECODE_PART_MATCHES, decode_link<DECODE_TILE, DECODE_LINK_THREADS, DECODE_LINK_EACH>,
     DECODE_LINK_THREADS, decode_tile_shared(DECODE_TILE), link_grid},
    {"follow", DECODE_PART_MATCHES, decode_follow, DECODE_FOLLOW_THREADS, 0, follow_grid},
    {"copy", DECODE_PART_MATCHES,
     decode_copy<DECODE_COPY_TILE, DECODE_COPY_THREADS, DECODE_COPY_EACH>, DECODE_COPY_THREADS,
     decode_tile_shared(DECODE_COPY_TILE), copy_grid},
    {"keep", DECODE_PART_END, decode_keep, DECODE_KEEP_THREADS, 0, keep_grid},
};

static const struct decode_stage gzip_stages[] = {
    {"find", DECODE_PART_FREE, gzip_find, GZIP_FIND_THREADS, 0, gzip_find_grid},
    {"sort", DECODE_PART_FREE, gzip_sort, GZIP_SORT_THREADS, 0, gzip_sort_grid},
    {"parse", DECODE_PART_FREE, gzip_parse, GZIP_PARSE_THREADS, 0, gzip_parse_grid},
    {"chain", DECODE_PART_CHAINED, gzip_chain, GZIP_CHAIN_THREADS, 0, gzip_chain_grid},
    {"order", DECODE_PART_FREE, gzip_order, GZIP_ORDER_THREADS, 0, gzip_order_grid},
    {"place", DECODE_PART_FREE, decode_place<DECODE_GZIP>, DECODE_PLACE_THREADS, 0, grid_of_one},
    {"copy", DECODE_PART_FREE, gzip_copy, GZIP_COPY_THREADS, decode_tile_shared(GZIP_COPY_TILE),
     gzip_copy_grid},
    {"windows", DECODE_PART_MATCHES, gzip_windows, GZIP_WINDOWS_THREADS, GZIP_WINDOWS_SHARED,
     gzip_windows_grid},
    {"resolve", DECODE_PART_MATCHES, gzip_resolve, GZIP_RESOLVE_THREADS, 0, gzip_resolve_grid},
    {"crc", DECODE_PART_MATCHES, gzip_crc, GZIP_CRC_THREADS, 0, gzip_crc_grid},
    {"verify", DECODE_PART_MATCHES, gzip_verify, GZIP_VERIFY_THREADS, 0, gzip_verify_grid},
    {"keep", DECODE_PART_END, decode_keep, DECODE_KEEP_THREADS, 0, keep_grid},
};

void (*const decode_tail_kernel)(decode_batch, unsigned, bool) = decode_tail;
const unsigned decode_tail_threads = DECODE_TAIL_THREADS;

template <unsigned Count>
static constexpr struct decode_stage_list list_of(const struct decode_stage (&stages)[Count])
{
    static_assert(Count <= DECODE_STAGES_MAX, "there are not so many");
    return {stages, Count};
}

const struct decode_stage_list decode_stages[DECODE_FORMATS] = {
    list_of(zstd_stages), // DECODE_ZSTD
    list_of(gzip_stages), // DECODE_GZIP
};
