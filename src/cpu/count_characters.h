/* SPDX-License-Identifier: MIT */
/* Characters of UTF-8: the part of a counter's file that counts them. Before it, that file defines
 * TARGET, INLINE and OWN as for count_values.h, and
 *     OWN(find_characters)(data, rows, n, bytes)
 * which finds the characters that begin in 64 bytes, the first of them at data[0]: it adds the rows
 * of those that are not ASCII to rows[*n], and the others to the bytes that are gathered. It
 * returns how many bytes all these take: the last character may be left. It returns 0 and changes
 * nothing if some of the bytes are invalid; and CHARACTERS_ASCII, with nothing added, if all are
 * ASCII. Up to 15 rows and 63 bytes after those that are added may be written, and CHARACTERS_READ
 * bytes are read. With the ASCII, others may be gathered.
 *
 * ASCII is counted as bytes are: text of any script has blanks, whose count would be waited for
 * again and again. Runs of it are gathered too, or taken where they are if they are long. */
#include "characters_ascii.h"
#include "count.h"
#include "src/count/characters.h"

#include <string.h>

#define GROUP_TURNS 4

/* Counts of groups in turns, as neighbours are mostly of one group. */
struct group_counts {
    uint64_t turns[GROUP_TURNS][CHARACTER_GROUPS_MAX];
};

/* Adds one; why the address is worked out apart says paged_counts.c. */
INLINE void OWN(count_at)(uint64_t *count)
{
    __asm__("" : "+r"(count));
    ++*count;
}

TARGET static void OWN(count_groups)(const struct character_groups *groups, const uint32_t *rows,
                                     size_t n, struct group_counts *counts)
{
    const struct character_groups by = *groups; /* which counts cannot point into */
    size_t i = 0;
    for (; i + GROUP_TURNS <= n; i += GROUP_TURNS) {
        OWN(count_at)(&counts->turns[0][character_group(&by, rows[i])]);
        OWN(count_at)(&counts->turns[1][character_group(&by, rows[i + 1])]);
        OWN(count_at)(&counts->turns[2][character_group(&by, rows[i + 2])]);
        OWN(count_at)(&counts->turns[3][character_group(&by, rows[i + 3])]);
    }
    for (; i < n; i++)
        counts->turns[0][character_group(&by, rows[i])]++;
}

TARGET static void OWN(add_groups)(const struct character_groups *groups,
                                   const struct group_counts *counts, struct tally *tally)
{
    for (size_t group = 0; group <= groups->count; group++)
        for (size_t turn = 0; turn < GROUP_TURNS; turn++)
            tally->counts[group] += counts->turns[turn][group];
}

/* Counts rows that were found, in those of their groups, if there are some. */
TARGET static void OWN(count_character_rows)(const struct count_plan *plan, const uint32_t *rows,
                                             size_t n, struct tally *tally,
                                             struct paged_counts *paged,
                                             struct group_counts *groups)
{
    tally->samples += n;
    if (paged)
        paged_count(paged, rows, n);
    else if (plan->histogram->groups)
        OWN(count_groups)(plan->histogram->groups, rows, n, groups);
    else
        for (size_t i = 0; i < n; i++)
            tally->counts[rows[i]]++;
}

/* Four bytes, the first one highest. */
INLINE uint32_t OWN(four_bytes)(const unsigned char *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

/* Finds characters one by one, from data[0] up to data[upto), 64 at most, or a little further, but
 * not beyond data[len): rows of those that are not ASCII, and the bytes of others. Returns how many
 * bytes these take. */
TARGET static size_t OWN(find_one_by_one)(const unsigned char *data, size_t upto, size_t len,
                                          uint32_t *rows, size_t *n, struct character_bytes *bytes)
{
    size_t at = 0, found = *n, gathered = bytes->len;
    while (at < upto) {
        if (data[at] < 0x80) {
            bytes->gathered[gathered++] = data[at++];
            continue;
        }
        /* Nearly all others are of two bytes or three. */
        const uint32_t four = len - at >= 4 ? OWN(four_bytes)(data + at) : 0;
        const uint32_t of_2 = (four >> 18 & 0x7c0) | (four >> 16 & 0x3f);
        if ((four & 0xe0c00000) == 0xc0800000 && of_2 >= 0x80) {
            rows[found++] = of_2;
            at += 2;
            continue;
        }
        const uint32_t of_3 = (four >> 12 & 0xf000) | (four >> 10 & 0xfc0) | (four >> 8 & 0x3f);
        if ((four & 0xf0c0c000) == 0xe0808000 && of_3 >= 0x800 && of_3 - 0xd800 >= 0x800) {
            rows[found++] = of_3;
            at += 3;
            continue;
        }
        at += character_decode(data + at, len - at, &rows[found++]);
    }
    *n = found;
    bytes->len = gathered;
    return at;
}

/* Counts the ASCII that was gathered. */
TARGET static void OWN(count_ascii)(const struct count_plan *plan, const unsigned char *data,
                                    size_t len, struct character_bytes *bytes)
{
    plan->counter->count_bytes(data, len, bytes->counts);
}

/* Takes the run of ASCII that data[0..len) begins with, in steps of 64 bytes; the first of these is
 * known to be ASCII. Returns how many bytes that is. */
TARGET static size_t OWN(take_ascii)(const struct count_plan *plan, const unsigned char *data,
                                     size_t len, struct character_bytes *bytes)
{
    size_t run = 64;
    while (run + 64 <= len && characters_are_ascii(data + run))
        run += 64;
    if (run >= CHARACTERS_GATHERED) {
        OWN(count_ascii)(plan, data, run, bytes);
        return run;
    }
    if (bytes->len + run > CHARACTERS_GATHERED) {
        OWN(count_ascii)(plan, bytes->gathered, bytes->len, bytes);
        bytes->len = 0;
    }
    memcpy(bytes->gathered + bytes->len, data, run);
    bytes->len += run;
    return run;
}

TARGET static void OWN(count_all_characters)(const struct count_plan *plan,
                                             const unsigned char *data, size_t len,
                                             struct tally *tally, struct paged_counts *paged)
{
    const struct character_groups *groups = plan->histogram->groups;
    struct group_counts group_counts;
    struct character_bytes bytes;
    uint32_t rows[CHARACTERS_BATCH + 2 * 64];
    size_t n = 0;
    memset(bytes.counts, 0, sizeof bytes.counts);
    bytes.len = 0;
    if (groups)
        memset(&group_counts, 0, sizeof group_counts);
    for (const unsigned char *end = data + len; data < end;) {
        const size_t left = (size_t)(end - data);
        const size_t used =
            left < CHARACTERS_READ ? 0 : OWN(find_characters)(data, rows, &n, &bytes);
        if (used == CHARACTERS_ASCII)
            data += OWN(take_ascii)(plan, data, left, &bytes);
        else if (used > 0)
            data += used;
        else
            data += OWN(find_one_by_one)(data, left < 64 ? left : 64, left, rows, &n, &bytes);
        if (bytes.len > CHARACTERS_GATHERED) {
            OWN(count_ascii)(plan, bytes.gathered, bytes.len, &bytes);
            bytes.len = 0;
        }
        if (n >= CHARACTERS_BATCH) {
            OWN(count_character_rows)(plan, rows, n, tally, paged, &group_counts);
            n = 0;
        }
    }
    if (n > 0)
        OWN(count_character_rows)(plan, rows, n, tally, paged, &group_counts);
    if (bytes.len > 0)
        OWN(count_ascii)(plan, bytes.gathered, bytes.len, &bytes);
    characters_add_ascii(groups, &bytes, tally, paged);
    if (groups)
        OWN(add_groups)(groups, &group_counts, tally);
}
