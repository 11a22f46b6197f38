/* SPDX-License-Identifier: MIT */
/* Counts characters of UTF-8: the body of a file of kernels, which defines TARGET and INLINE as for
 * count_numbers.h, and gets count_characters for its struct cpu_kernels. It defines
 *     find_characters(data, rows, n, bytes)
 * which finds the characters that begin in the 64 bytes at data, where one begins. It adds the rows
 * of those that are not ASCII to rows[*n], and gathers the others in `bytes`. Returns how many
 * bytes all of them take; it may leave the last one. Returns 0 and changes nothing if some are
 * invalid, and CHARACTERS_ASCII with nothing added if all are ASCII. It may write up to 15 rows and
 * 63 bytes more, may gather bytes that are not ASCII, and reads CHARACTERS_READ bytes.
 *
 * ASCII is counted as bytes are: text of any script has blanks, whose counts would wait for each
 * other. Short runs are gathered, too; long ones are counted where they are. */
#include "count.h"
#include "src/tally/characters.h"
#include "src/tally/histogram_spec.h"
#include "src/tally/paged_counts.h"

#include <string.h>

/* --- ASCII --- */

#define CHARACTERS_BATCH 1024     /* rows that are found before they are counted */
#define CHARACTERS_READ 72        /* bytes that are read to find the characters of 64 */
#define CHARACTERS_ASCII SIZE_MAX /* in place of a number of bytes: all are ASCII */
#define CHARACTERS_GATHERED 8192  /* bytes of ASCII that are counted at once, or a few more */
#define ASCII_VALUES 128

/* The ASCII among characters, which is gathered and counted as bytes. Some of the gathered bytes
 * may not be ASCII; their counts are ignored. */
struct character_bytes {
    uint64_t counts[256];
    size_t len; /* bytes gathered; before a step at most CHARACTERS_GATHERED */
    unsigned char gathered[CHARACTERS_GATHERED + 128]; /* a step of 64, written by vectors */
};

/* True if 64 bytes are all ASCII. */
static inline bool characters_are_ascii(const unsigned char *data)
{
    uint64_t words[8];
    memcpy(words, data, sizeof words);
    return ((words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] |
             words[7]) &
            0x8080808080808080u) == 0;
}

/* Gathers 64 bytes, some of which are ASCII. */
static inline void characters_gather_all(const unsigned char *data, struct character_bytes *bytes)
{
    memcpy(bytes->gathered + bytes->len, data, 64);
    bytes->len += 64;
}

TARGET INLINE size_t find_characters(const unsigned char *data, uint32_t *rows, size_t *n,
                                     struct character_bytes *bytes);

/* --- characters --- */

#define GROUP_TURNS 4

/* The counts of a piece of text, and where they go. */
struct character_counting {
    const struct count_plan *plan;
    struct tally *tally;
    struct paged_counts *paged;
    struct character_bytes bytes;
    /* Counts of groups in tables that are used alternately, as neighbours are mostly of one group.
     */
    uint64_t groups[GROUP_TURNS][CHARACTER_GROUPS_MAX];
};

/* Adds one. paged_counts.c says why the address is computed first. */
INLINE void count_at(uint64_t *count)
{
    __asm__("" : "+r"(count));
    ++*count;
}

TARGET static void count_groups(struct character_counting *counting, const uint32_t *rows, size_t n)
{
    const struct character_groups by = *counting->plan->spec->groups; /* no count is in it */
    uint64_t(*counts)[CHARACTER_GROUPS_MAX] = counting->groups;
    size_t i = 0;
    for (; i + GROUP_TURNS <= n; i += GROUP_TURNS) {
        count_at(&counts[0][character_group(&by, rows[i])]);
        count_at(&counts[1][character_group(&by, rows[i + 1])]);
        count_at(&counts[2][character_group(&by, rows[i + 2])]);
        count_at(&counts[3][character_group(&by, rows[i + 3])]);
    }
    for (; i < n; i++)
        counts[0][character_group(&by, rows[i])]++;
}

/* Adds the counts of groups to the tally. */
TARGET static void add_groups(const struct character_counting *counting, size_t groups)
{
    for (size_t group = 0; group <= groups; group++)
        for (size_t turn = 0; turn < GROUP_TURNS; turn++)
            counting->tally->counts[group] += counting->groups[turn][group];
}

/* Counts rows that were found, or their groups. */
TARGET static void count_found(struct character_counting *counting, const uint32_t *rows, size_t n)
{
    counting->tally->samples += n;
    if (counting->paged)
        paged_count(counting->paged, rows, n);
    else if (counting->plan->spec->groups)
        count_groups(counting, rows, n);
    else
        for (size_t i = 0; i < n; i++)
            counting->tally->counts[rows[i]]++;
}

/* Returns four bytes, the first one highest. */
INLINE uint32_t four_bytes(const unsigned char *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

/* Finds characters one by one, as find_characters: those that begin in 64 bytes, or in data[0..len)
 * if that is less. */
TARGET static size_t find_one_by_one(const unsigned char *data, size_t len, uint32_t *rows,
                                     size_t *n, struct character_bytes *bytes)
{
    const size_t upto = len < 64 ? len : 64;
    size_t at = 0, found = *n, gathered = bytes->len;
    while (at < upto) {
        if (data[at] < 0x80) {
            bytes->gathered[gathered++] = data[at++];
            continue;
        }
        /* Nearly all others have two or three bytes. */
        const uint32_t four = len - at >= 4 ? four_bytes(data + at) : 0;
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

/* Counts the ASCII that was gathered, and begins anew. */
TARGET static void count_gathered(struct character_counting *counting)
{
    struct character_bytes *bytes = &counting->bytes;
    counting->plan->kernels->count_bytes(bytes->gathered, bytes->len, bytes->counts);
    bytes->len = 0;
}

/* Counts or gathers the run of ASCII that data[0..len) begins with, in steps of 64 bytes, the first
 * of which is known to be ASCII. Returns how many bytes that is. */
TARGET static size_t count_run_of_ascii(struct character_counting *counting,
                                        const unsigned char *data, size_t len)
{
    struct character_bytes *bytes = &counting->bytes;
    size_t run = 64;
    while (run + 64 <= len && characters_are_ascii(data + run))
        run += 64;
    if (run >= CHARACTERS_GATHERED) {
        counting->plan->kernels->count_bytes(data, run, bytes->counts);
        return run;
    }
    if (bytes->len + run > CHARACTERS_GATHERED)
        count_gathered(counting);
    memcpy(bytes->gathered + bytes->len, data, run);
    bytes->len += run;
    return run;
}

/* Adds the counts of ASCII to the tally or the pages. */
static void add_ascii(const struct character_counting *counting)
{
    const struct character_groups *groups = counting->plan->spec->groups;
    for (uint32_t row = 0; row < ASCII_VALUES; row++) {
        const uint64_t count = counting->bytes.counts[row];
        counting->tally->samples += count;
        if (counting->paged)
            paged_count_times(counting->paged, row, count);
        else
            counting->tally->counts[groups ? character_group(groups, row) : row] += count;
    }
}

TARGET static void count_characters(const struct count_plan *plan, const unsigned char *data,
                                    size_t len, struct tally *tally, struct paged_counts *paged)
{
    const struct character_groups *groups = plan->spec->groups;
    struct character_counting counting;
    uint32_t rows[CHARACTERS_BATCH + 2 * 64];
    size_t n = 0;
    counting.plan = plan, counting.tally = tally, counting.paged = paged;
    memset(counting.bytes.counts, 0, sizeof counting.bytes.counts);
    counting.bytes.len = 0;
    if (groups)
        memset(counting.groups, 0, sizeof counting.groups);
    for (const unsigned char *end = data + len; data < end;) {
        const size_t left = (size_t)(end - data);
        const size_t used =
            left < CHARACTERS_READ ? 0 : find_characters(data, rows, &n, &counting.bytes);
        if (used == CHARACTERS_ASCII)
            data += count_run_of_ascii(&counting, data, left);
        else if (used > 0)
            data += used;
        else
            data += find_one_by_one(data, left, rows, &n, &counting.bytes);
        if (counting.bytes.len > CHARACTERS_GATHERED)
            count_gathered(&counting);
        if (n >= CHARACTERS_BATCH) {
            count_found(&counting, rows, n);
            n = 0;
        }
    }
    if (n > 0)
        count_found(&counting, rows, n);
    if (counting.bytes.len > 0)
        count_gathered(&counting);
    add_ascii(&counting);
    if (groups)
        add_groups(&counting, groups->count);
}
