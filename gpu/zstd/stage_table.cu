// The stages that decompress zstd, in their order. The tests compile this for the host as well.
#include "gpu/zstd/follow.cuh"
#include "gpu/zstd/keep.cuh"
#include "gpu/zstd/link.cuh"
#include "gpu/zstd/literals.cuh"
#include "gpu/zstd/parse.cuh"
#include "gpu/zstd/place.cuh"
#include "gpu/zstd/repeats.cuh"
#include "gpu/zstd/sequences.cuh"
#include "gpu/zstd/stages.h"
#include "gpu/zstd/tail.cuh"
#include "gpu/zstd/walk.cuh"

const struct zstd_stage zstd_stages[] = {
    {"parse", zstd_parse, parse_threads, 0, parse_grid},
    {"repeats", zstd_repeat_tables, repeats_threads, 0, repeats_grid},
    {"literals", zstd_literals, literals_threads, 0, literals_grid},
    {"walk", zstd_walk_states, walk_threads, 0, walk_grid},
    {"sequences", zstd_sequences, sequences_threads, 0, sequences_grid},
    {"place", zstd_place, ZSTD_PLACE_THREADS, 0, place_grid},
    {"link", zstd_link<ZSTD_TILE, ZSTD_LINK_THREADS>, ZSTD_LINK_THREADS,
     zstd_link_shared(ZSTD_TILE), link_grid},
    {"follow", zstd_follow, ZSTD_FOLLOW_THREADS, 0, follow_grid},
    {"keep", zstd_keep, ZSTD_KEEP_THREADS, 0, keep_grid},
};

void (*const zstd_tail_kernel)(zstd_batch, unsigned, bool) = zstd_tail;
const unsigned zstd_tail_threads = ZSTD_TAIL_THREADS;

const unsigned zstd_stage_count = sizeof zstd_stages / sizeof *zstd_stages;
