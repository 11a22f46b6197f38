/* Characters of UTF-8: the part of a counter's file that counts them. Before it, that file defines
 * TARGET, INLINE and OWN as for count_values.h, and
 *     OWN(find_characters)(data, rows, n)
 * which adds the rows of the characters that begin in 64 bytes, the first of them at data[0], to
 * rows[*n], and returns how many bytes these take: the last character may be left. It returns 0 and
 * changes nothing if some of the bytes are invalid; and CHARACTERS_ASCII, with nothing added, if
 * all are ASCII.
 *
 * Runs of ASCII are gathered, or taken where they are if they are long, and counted as bytes. */
#include "characters_ascii.h"
#include "count.h"
#include "src/histogram/characters.h"

#include <string.h>

/* Counts rows that were found, in those of their groups, if there are some. */
TARGET static void OWN(count_character_rows)(const struct count_plan *plan, const uint32_t *rows,
                                             size_t n, struct tally *tally,
                                             struct paged_counts *paged)
{
    const struct character_groups *groups = plan->histogram->groups;
    tally->samples += n;
    if (paged) {
        paged_count(paged, rows, n);
        return;
    }
    if (groups) {
        for (size_t i = 0; i < n; i++)
            tally->counts[character_group(groups, rows[i])]++;
        return;
    }
    for (size_t i = 0; i < n; i++)
        tally->counts[rows[i]]++;
}

/* Finds the rows of characters one by one, from data[0] up to data[upto) or a little further, but
 * not beyond data[len). Returns how many bytes these take. */
TARGET static size_t OWN(find_one_by_one)(const unsigned char *data, size_t upto, size_t len,
                                          uint32_t *rows, size_t *n)
{
    size_t at = 0;
    while (at < upto)
        at += character_decode(data + at, len - at, &rows[(*n)++]);
    return at;
}

/* Counts the ASCII that was gathered. */
TARGET static void OWN(count_ascii)(const struct count_plan *plan, const unsigned char *data,
                                    size_t len, struct character_bytes *bytes)
{
    plan->counter->count_bytes(data, len, bytes->counts);
    bytes->counted += len;
}

/* Takes the run of ASCII that data[0..len) begins with, in steps of 64 bytes; the first of these is
 * known to be ASCII. Returns how many bytes that is. */
TARGET static size_t OWN(take_ascii)(const struct count_plan *plan, const unsigned char *data,
                                     size_t len, struct character_bytes *bytes)
{
    size_t run = 64;
    while (run + 64 <= len && characters_are_ascii(data + run))
        run += 64;
    if (run >= sizeof bytes->gathered) {
        OWN(count_ascii)(plan, data, run, bytes);
        return run;
    }
    if (bytes->len + run > sizeof bytes->gathered) {
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
    struct character_bytes bytes;
    uint32_t rows[CHARACTERS_BATCH + 2 * 64];
    size_t n = 0;
    memset(bytes.counts, 0, sizeof bytes.counts);
    bytes.len = bytes.counted = 0;
    for (const unsigned char *end = data + len; data < end;) {
        const size_t left = (size_t)(end - data);
        const size_t used = left < 64 ? 0 : OWN(find_characters)(data, rows, &n);
        if (used == CHARACTERS_ASCII)
            data += OWN(take_ascii)(plan, data, left, &bytes);
        else if (used > 0)
            data += used;
        else
            data += OWN(find_one_by_one)(data, left < 64 ? left : 64, left, rows, &n);
        if (n >= CHARACTERS_BATCH) {
            OWN(count_character_rows)(plan, rows, n, tally, paged);
            n = 0;
        }
    }
    OWN(count_character_rows)(plan, rows, n, tally, paged);
    OWN(count_ascii)(plan, bytes.gathered, bytes.len, &bytes);
    characters_add_ascii(plan->histogram->groups, &bytes, tally, paged);
}
