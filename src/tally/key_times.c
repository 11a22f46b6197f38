/* SPDX-License-Identifier: MIT */
#include "key_tallies.h"
#include "histogram_spec.h"

#include <stdlib.h>
#include <string.h>

/* The times of a part of each key. */
struct times {
    uint32_t seconds;  /* of a bucket; 0: the part is no bucket */
    struct time first; /* with an offset, if there is any */
    bool has_offset, has_several;
    bool is_finer;  /* a time is not the beginning of a bucket in its offset */
    bool may_cross; /* a bucket in its offset is not within one of UTC */
};

struct joining {
    const struct key_tallies *keys;
    unsigned parts;
    struct times times[KEY_PARTS_MAX];
    size_t longest;      /* bytes of a name */
    unsigned char *name; /* has room for it and a time for each part */
};

/* Returns the seconds of the buckets that a key is the beginning of; 0: it is none. */
static uint32_t bucket_of(const struct key *key)
{
    const unsigned count = key->modifier_count;
    const bool is_bucket = count > 0 && key->modifiers[count - 1].kind == KEY_BUCKET;
    return is_bucket ? key->modifiers[count - 1].seconds : 0;
}

bool key_times_are_used(const struct histogram_spec *spec)
{
    bool are_used = false;
    for (unsigned i = 0; i < spec->lines.key_count; i++)
        are_used |= bucket_of(&spec->lines.keys[i]) > 0;
    return are_used;
}

/* Reads a part that should be a time with an offset. */
static bool read_part(struct key_name part, struct time *time)
{
    return time_read(part.bytes, part.bytes + part.len, time) &&
           (time->zone == TIME_AT_UTC || time->zone == TIME_OFFSET);
}

static struct key_name part_of(const struct joining *joining, struct key_name name, unsigned i)
{
    return joining->parts > 1 ? key_parts_get(name, joining->parts, i) : name;
}

/* Adds what key i has to the key that is shown. */
static void join_key(const struct joining *joining, size_t i, struct tally *tally,
                     struct key_tallies *joined)
{
    const struct key_name name = key_tallies_name(joining->keys, i);
    struct key_name parts[KEY_PARTS_MAX], shown = {NULL, 0};
    unsigned char texts[KEY_PARTS_MAX][TIME_TEXT_MAX];
    for (unsigned part = 0; part < joining->parts && name.bytes; part++) {
        const struct times *times = &joining->times[part];
        struct time time;
        parts[part] = part_of(joining, name, part);
        if (times->seconds == 0 || !read_part(parts[part], &time))
            continue;
        if (times->has_several)
            time_to_utc(&time);
        time_floor(&time, times->seconds);
        parts[part] = (struct key_name){texts[part], time_write(&time, texts[part])};
    }
    if (name.bytes)
        shown = key_parts_join(parts, joining->parts, joining->name);
    key_tallies_load(joining->keys, i, tally);
    if (tally->samples > 0 || name.bytes)
        key_tallies_add(joined, shown, tally);
}

static struct key_tallies *join(struct joining *joining, const struct histogram_spec *spec,
                                struct tally *tally)
{
    const size_t count = key_tallies_count(joining->keys);
    struct key_tallies *joined = key_tallies_open(spec, SIZE_MAX, UINT64_MAX);
    struct row_blocks blocks;
    joining->name = malloc(joining->longest + (size_t)joining->parts * TIME_TEXT_MAX);
    memset(tally->counts, 0, tally->bins * sizeof tally->counts[0]);
    row_blocks_clear(&blocks, tally->bins);
    struct row_blocks *before = tally->blocks;
    tally->blocks = &blocks;
    for (size_t i = 0; joined && joining->name && i <= count; i++) /* the last one has no key */
        join_key(joining, i, tally, joined);
    tally_clear_blocks(tally);
    tally->blocks = before;
    if (joined && (!joining->name || key_tallies_state(joined) != KEYS_COMPLETE)) {
        key_tallies_close(joined);
        joined = NULL;
    }
    free(joining->name);
    return joined;
}

enum key_times key_times_join(const struct key_tallies *keys, const struct histogram_spec *spec,
                              bool are_fine, struct tally *tally, struct key_tallies **joined)
{
    struct joining joining = {.keys = keys, .parts = key_tallies_parts(keys)};
    bool has_several = false, is_needed = false, is_coarse = false;
    for (unsigned part = 0; part < joining.parts; part++)
        joining.times[part].seconds = bucket_of(&spec->lines.keys[part]);
    for (size_t i = 0; i < key_tallies_count(keys); i++) {
        const struct key_name name = key_tallies_name(keys, i);
        joining.longest = name.len > joining.longest ? name.len : joining.longest;
        for (unsigned part = 0; part < joining.parts; part++) {
            struct times *times = &joining.times[part];
            struct time time;
            if (times->seconds == 0 || !read_part(part_of(&joining, name, part), &time))
                continue;
            if (!times->has_offset)
                times->first = time;
            times->has_offset = true;
            times->has_several |= time.zone != times->first.zone ||
                                  time.offset != times->first.offset ||
                                  time.is_west != times->first.is_west;
            times->may_cross |= 60 * (uint32_t)time.offset % times->seconds != 0;
            const int64_t local = time.local;
            times->is_finer |= time_floor(&time, times->seconds) && time.local != local;
        }
    }
    for (unsigned part = 0; part < joining.parts; part++) {
        const struct times *times = &joining.times[part];
        has_several |= times->has_several;
        is_needed |= times->has_several || times->is_finer;
        is_coarse |= times->has_several && times->may_cross && !are_fine;
    }
    if (!is_needed || is_coarse)
        return is_coarse ? KEY_TIMES_COARSE : KEY_TIMES_SAME;
    *joined = join(&joining, spec, tally);
    return !*joined ? KEY_TIMES_NO_MEMORY : has_several ? KEY_TIMES_IN_UTC : KEY_TIMES_JOINED;
}
