/* SPDX-License-Identifier: MIT */
#include "planner.h"

/* --- zstd --- */

static void begin_zstd(struct decode_walk *walk, uint64_t at, const struct decode_limits *limits)
{
    walk->zstd = (struct zstd_walk){.at = at,
                                    .window_max = limits->window_max,
                                    .leave_checksums = !limits->no_check && !limits->can_hash};
}

static enum decode_planned plan_zstd(struct decode_walk *walk, struct decode_plan *plan,
                                     const unsigned char *in, size_t len, bool is_end)
{
    (void)is_end;
    return zstd_plan_blocks(&walk->zstd, plan, in, len);
}

static struct decode_ahead peek_zstd(const struct decode_walk *walk)
{
    const struct zstd_walk *zstd = &walk->zstd;
    const bool in_frame = zstd->parts.next == ZSTD_BLOCK;
    return (struct decode_ahead){.at = zstd->at,
                                 .in_frame = in_frame,
                                 .is_hashed = in_frame && zstd->parts.header.has_checksum};
}

/* --- gzip --- */

#if HAVE_ISAL

/* Begins a file. The limits are not needed: no window is beyond them, and checksums are verified in
 * any case, as on the cores. */
static void begin_gzip(struct decode_walk *walk, uint64_t at, const struct decode_limits *limits)
{
    (void)limits;
    walk->gzip = (struct gzip_walk){.at = at};
}

static enum decode_planned plan_gzip(struct decode_walk *walk, struct decode_plan *plan,
                                     const unsigned char *in, size_t len, bool is_end)
{
    (void)in;
    return gzip_plan_piece(&walk->gzip, plan, len, is_end);
}

/* Returns what comes next. If a member is cut short, the device refuses it. */
static struct decode_ahead peek_gzip(const struct decode_walk *walk)
{
    return (struct decode_ahead){.at = walk->gzip.at};
}

static void learn_gzip(struct decode_walk *walk, const struct decode_plan *plan, uint32_t content)
{
    gzip_plan_learn(&walk->gzip, plan, content);
}

static bool plan_gzip_again(struct decode_walk *walk, const struct decode_plan *plan)
{
    return gzip_plan_again(&walk->gzip, plan);
}

#endif

/* --- all --- */

static const struct decode_planner planners[] = {
    {DECODE_ZSTD, &codec_zstd, begin_zstd, plan_zstd, peek_zstd, NULL, NULL},
#if HAVE_ISAL
    {DECODE_GZIP, &codec_gzip, begin_gzip, plan_gzip, peek_gzip, learn_gzip, plan_gzip_again},
#endif
};

const struct decode_planner *decode_planner_find(const struct codec *codec)
{
    for (size_t i = 0; i < sizeof planners / sizeof planners[0]; i++)
        if (planners[i].codec == codec)
            return &planners[i];
    return NULL;
}
