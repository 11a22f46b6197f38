// SPDX-License-Identifier: MIT
// The stages of all formats, in their order. The tests compile this for the host as well.
#include "gpu/decode/gzip/chain.cuh"
#include "gpu/decode/gzip/content.cuh"
#include "gpu/decode/gzip/find.cuh"
#include "gpu/decode/gzip/parse.cuh"
#include "gpu/decode/matches.cuh"
#include "gpu/decode/stages.h"
#include "gpu/decode/zstd/headers.cuh"
#include "gpu/decode/zstd/literals.cuh"
#include "gpu/decode/zstd/sequences.cuh"

#include <iterator>

/* clang-format off */
static const struct decode_stage zstd_stages[] = {
    {.name = "parse", .part = DECODE_PART_CHAINED, .kernel = zstd_parse,
     .block = parse_threads, .grid = grid_of_blocks<parse_threads>},
    {.name = "repeats", .part = DECODE_PART_CHAINED, .kernel = zstd_repeats,
     .block = repeats_threads, .grid = grid_of_blocks<repeats_threads>},
    {.name = "tables", .part = DECODE_PART_CHAINED, .kernel = zstd_keep_tables,
     .block = keep_tables_threads, .grid = grid_of_one},
    {.name = "literals", .part = DECODE_PART_FREE, .kernel = zstd_literals,
     .block = literals_threads, .grid = grid_of_blocks<literals_blocks>},
    {.name = "walk", .part = DECODE_PART_FREE, .kernel = zstd_walk,
     .block = walk_threads, .grid = grid_of_blocks<walk_blocks>},
    {.name = "sequences", .part = DECODE_PART_FREE, .kernel = zstd_sequences,
     .block = sequences_threads, .grid = grid_of_blocks<sequences_blocks>},
    {.name = "place", .part = DECODE_PART_MATCHES, .kernel = decode_place<DECODE_ZSTD>,
     .block = DECODE_PLACE_THREADS, .grid = grid_of_one},
    {.name = "link", .part = DECODE_PART_MATCHES, .kernel = decode_link,
     .block = DECODE_LINK_THREADS, .shared = DECODE_TILE_SHARED,
     .grid = [](const decode_batch *batch, unsigned) {
         return decode_copies_frames(batch) ? 0 : batch->blocks * DECODE_LINK_TILES;
     }},
    {.name = "follow", .part = DECODE_PART_MATCHES, .kernel = decode_follow,
     .block = DECODE_FOLLOW_THREADS, .grid = follow_grid},
    {.name = "copy", .part = DECODE_PART_MATCHES, .kernel = decode_copy,
     .block = DECODE_COPY_THREADS, .shared = DECODE_TILE_SHARED,
     .grid = [](const decode_batch *batch, unsigned) {
         return decode_copies_frames(batch) ? batch->frames : 0;
     }},
    {.name = "keep", .part = DECODE_PART_END, .kernel = decode_keep,
     .block = DECODE_KEEP_THREADS, .grid = grid_of_room<DECODE_KEEP_THREADS * 16>},
};

static const struct decode_stage gzip_stages[] = {
    {.name = "find", .part = DECODE_PART_FREE, .kernel = gzip_find,
     .block = GZIP_FIND_THREADS,
     .grid = [](const decode_batch *batch, unsigned) {
         return (batch->in_size - DECODE_CARRY) / (4 * GZIP_FIND_PIECE) + 1;
     }},
    {.name = "sort", .part = DECODE_PART_FREE, .kernel = gzip_sort,
     .block = GZIP_SORT_THREADS, .grid = grid_of_one},
    {.name = "parse", .part = DECODE_PART_FREE, .kernel = gzip_parse,
     .block = GZIP_PARSE_THREADS,
     .grid = [](const decode_batch *batch, unsigned resident) { // as blocks of a usual size
         return grid_of_resident((batch->in_size - DECODE_CARRY) / 4096 + 1, resident);
     }},
    {.name = "chain", .part = DECODE_PART_CHAINED, .kernel = gzip_chain,
     .block = GZIP_CHAIN_THREADS, .grid = grid_of_one},
    {.name = "order", .part = DECODE_PART_FREE, .kernel = gzip_order,
     .block = GZIP_ORDER_THREADS,
     .grid = [](const decode_batch *batch, unsigned resident) {
         return grid_of_resident(batch->gzip.units_max / GZIP_ORDER_THREADS + 1, resident);
     }},
    {.name = "place", .part = DECODE_PART_FREE, .kernel = decode_place<DECODE_GZIP>,
     .block = DECODE_PLACE_THREADS, .grid = grid_of_one},
    {.name = "copy", .part = DECODE_PART_FREE, .kernel = gzip_copy,
     .block = GZIP_COPY_THREADS, .shared = DECODE_TILE_SHARED,
     .grid = [](const decode_batch *batch, unsigned) { return batch->room / GZIP_SEGMENT + 1; }},
    {.name = "windows", .part = DECODE_PART_MATCHES, .kernel = gzip_windows,
     .block = GZIP_WINDOWS_THREADS, .shared = GZIP_WINDOWS_SHARED, .grid = grid_of_one},
    {.name = "resolve", .part = DECODE_PART_MATCHES, .kernel = gzip_resolve,
     .block = GZIP_RESOLVE_THREADS, .grid = grid_of_room<GZIP_RESOLVE_PIECE>},
    {.name = "crc", .part = DECODE_PART_MATCHES, .kernel = gzip_crc,
     .block = GZIP_CRC_THREADS, .grid = grid_of_room<GZIP_CRC_UNIT>},
    {.name = "verify", .part = DECODE_PART_MATCHES, .kernel = gzip_verify,
     .block = GZIP_VERIFY_THREADS,
     .grid = [](const decode_batch *batch, unsigned resident) { // a few: one member, or thousands
         return grid_of_resident(batch->gzip.frames_max / (GZIP_VERIFY_THREADS / 32) + 1, resident);
     }},
    {.name = "keep", .part = DECODE_PART_END, .kernel = decode_keep,
     .block = DECODE_KEEP_THREADS, .grid = grid_of_room<DECODE_KEEP_THREADS * 16>},
};
/* clang-format on */

void (*const decode_tail_kernel)(decode_batch, unsigned, bool) = decode_tail;

static_assert(std::size(zstd_stages) <= DECODE_STAGES_MAX &&
                  std::size(gzip_stages) <= DECODE_STAGES_MAX,
              "there are not so many");
const struct decode_stage_list decode_stages[DECODE_FORMATS] = {
    {zstd_stages, std::size(zstd_stages)}, // DECODE_ZSTD
    {gzip_stages, std::size(gzip_stages)}, // DECODE_GZIP
};
