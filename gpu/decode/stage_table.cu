// SPDX-License-Identifier: MIT
// The stages that decompress zstd, in their order. The tests compile this for the host as well.
#include "copy.cuh"
#include "follow.cuh"
#include "keep.cuh"
#include "link.cuh"
#include "literals.cuh"
#include "parse.cuh"
#include "place.cuh"
#include "repeats.cuh"
#include "sequences.cuh"
#include "stages.h"
#include "tail.cuh"
#include "walk.cuh"

const struct zstd_stage zstd_stages[] = {
    {"parse", ZSTD_PART_TABLES, zstd_parse, parse_threads, 0, parse_grid},
    {"repeats", ZSTD_PART_TABLES, zstd_repeat_tables, repeats_threads, 0, repeats_grid},
    {"tables", ZSTD_PART_TABLES, zstd_keep_tables, ZSTD_KEEP_TABLES_THREADS, 0, keep_tables_grid},
    {"literals", ZSTD_PART_ENTROPY, zstd_literals, literals_threads, 0, literals_grid},
    {"walk", ZSTD_PART_ENTROPY, zstd_walk_states, walk_threads, 0, walk_grid},
    {"sequences", ZSTD_PART_ENTROPY, zstd_sequences, sequences_threads, 0, sequences_grid},
    {"place", ZSTD_PART_MATCHES, zstd_place, ZSTD_PLACE_THREADS, 0, place_grid},
    {"link", ZSTD_PART_MATCHES, zstd_link<ZSTD_TILE, ZSTD_LINK_THREADS, ZSTD_LINK_EACH>,
     ZSTD_LINK_THREADS, zstd_tile_shared(ZSTD_TILE), link_grid},
    {"follow", ZSTD_PART_MATCHES, zstd_follow, ZSTD_FOLLOW_THREADS, 0, follow_grid},
    {"copy", ZSTD_PART_MATCHES, zstd_copy<ZSTD_COPY_TILE, ZSTD_COPY_THREADS, ZSTD_COPY_EACH>,
     ZSTD_COPY_THREADS, zstd_tile_shared(ZSTD_COPY_TILE), copy_grid},
    {"keep", ZSTD_PART_END, zstd_keep, ZSTD_KEEP_THREADS, 0, keep_grid},
};

void (*const zstd_tail_kernel)(zstd_batch, unsigned, bool) = zstd_tail;
const unsigned zstd_tail_threads = ZSTD_TAIL_THREADS;

const unsigned zstd_stage_count = sizeof zstd_stages / sizeof *zstd_stages;
