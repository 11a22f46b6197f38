/* SPDX-License-Identifier: MIT */
#include "engine_internal.h"
#include "src/tally/file_tallies.h"

#include <stdlib.h>
#include <string.h>

/* Bins for which a snapshot of each chunk is taken, with the rows for what lies outside: as many as
 * 16 bits can number; and of text and of floating-point values, which are more work, as many as the
 * default of three decimal digits has. */
#define SNAPSHOT_BINS ((size_t)65536 + 3)
#define SNAPSHOT_BINS_OF_DIGITS (DIGITS_BINS(900) + 3)

/* The chunks that one snapshot stands for while chunks come fast are this many times its size. */
#define PART_OF_CHUNKS 31

/* Pages that the first snapshot has, of those in pages: more than most scripts have. */
#define PAGES_FIRST 64

/* --- pages of rows --- */

static const uint64_t *page_at(const uint64_t *words, size_t position)
{
    return words + row_pages_words(position);
}

/* Returns the number of rows that a page has. */
static size_t rows_of(uint64_t page, size_t rows)
{
    const size_t left = rows - (size_t)page * ROW_PAGE;
    return left < ROW_PAGE ? left : ROW_PAGE;
}

/* True if a page can have come after `good`, or NULL for none; adds its counts to *sum. */
static bool page_follows(const uint64_t *seen, const uint64_t *good, size_t rows, uint64_t *sum)
{
    bool is_down = false;
    if (seen[0] >= row_pages_of(rows) || (good && good[0] != seen[0]))
        return false;
    const size_t used = rows_of(seen[0], rows);
    for (size_t row = 1; row <= ROW_PAGE; row++) {
        is_down |= (good && seen[row] < good[row]) || (row > used && seen[row] > 0);
        *sum += seen[row];
    }
    return !is_down;
}

/* True if `seen` can have come after `good`, both whole: pages are those of `rows` rows, no page
 * has changed its place, and no count went down. Sets *sum to the sum of the counts. */
static bool row_pages_follow(const uint64_t *seen, const uint64_t *good, size_t rows, uint64_t *sum)
{
    *sum = 0;
    if (seen[0] < good[0] || seen[0] > row_pages_of(rows))
        return false;
    for (size_t position = 0; position < seen[0]; position++)
        if (!page_follows(page_at(seen, position),
                          position < good[0] ? page_at(good, position) : NULL, rows, sum))
            return false;
    return true;
}

/* Adds the counts to rows[0..n). */
static void row_pages_add(const uint64_t *words, uint64_t *rows, size_t n)
{
    for (size_t position = 0; position < words[0]; position++) {
        const uint64_t *page = page_at(words, position);
        uint64_t *to = rows + page[0] * ROW_PAGE;
        const size_t used = rows_of(page[0], n);
        for (size_t row = 0; row < used; row++)
            to[row] += page[1 + row];
    }
}

/* --- sizes --- */

bool snapshot_is_small(const struct histogram_spec *spec)
{
    if (row_pages_has(spec))
        return true;
    const bool has_digits = spec->mode->is_text || spec->type.kind == 'f';
    return spec->bins <= (has_digits ? SNAPSHOT_BINS_OF_DIGITS : SNAPSHOT_BINS);
}

bool snapshot_is_of_chunk(const struct histogram_spec *spec)
{
    return snapshot_is_small(spec) && !row_pages_has(spec);
}

size_t snapshot_size(const struct histogram_spec *spec)
{
    return device_histogram_words(spec) * sizeof(uint64_t);
}

size_t snapshot_words(const struct snapshots *snapshots)
{
    return row_pages_has(snapshots->spec) ? row_pages_words(snapshots->pages)
                                          : device_histogram_words(snapshots->spec);
}

bool snapshot_is_whole(struct snapshots *snapshots, const uint64_t *words, size_t count)
{
    const size_t all = row_pages_of(snapshots->spec->bins);
    if (!words || !row_pages_has(snapshots->spec) || words[0] > all)
        return true;                     /* the last cannot be, which is seen where it is judged */
    if (words[0] > snapshots->pages / 2) /* before they are needed */
        snapshots->pages = words[0] < all / 2 ? 2 * words[0] : all;
    return row_pages_words(words[0]) <= count;
}

unsigned snapshot_interval(const struct snapshots *snapshots, size_t chunk_size, unsigned slots)
{
    const size_t size = snapshot_words(snapshots) * sizeof(uint64_t);
    const size_t chunks = PART_OF_CHUNKS * size / chunk_size + 1;
    const unsigned max = slots / 4 > 0 ? slots / 4 : 1;
    return chunks < max ? (unsigned)chunks : max;
}

void snapshots_init(struct snapshots *snapshots, const struct histogram_spec *spec, uint64_t *words)
{
    bool is_small = snapshot_is_small(spec);
    *snapshots = (struct snapshots){.spec = spec, .last = is_small ? NULL : words};
    snapshots->good.bins = spec->bins;
    snapshots->good.counts = is_small ? words : NULL;
    snapshots->pages = PAGES_FIRST;
}

/* True if the number of samples in so many bytes is known; otherwise only the counts tell it. */
static bool samples_known(const struct histogram_spec *spec)
{
    return histogram_spec_sample_size(spec) != 0 || spec->mode->has_pairs;
}

/* A tally over a snapshot, whose words stay where they are. */
static struct tally tally_of_snapshot(const struct histogram_spec *spec, uint64_t *words)
{
    bool has_newlines = spec->mode->is_text;
    return (struct tally){
        .bins = spec->bins, .newlines = has_newlines ? words[spec->bins] : 0, .counts = words};
}

/* Newlines and invalid samples so far, as the end of a snapshot of text tells. NULL: those of the
 * last good one. */
static struct chunk_text text_so_far(const struct snapshots *snapshots, const uint64_t *words)
{
    const size_t invalid = ROW_INVALID(&snapshots->spec->binning);
    const struct tally *good = &snapshots->good;
    return words ? (struct chunk_text){true, words[good->bins], words[invalid]}
                 : (struct chunk_text){true, good->newlines, good->counts[invalid]};
}

struct chunk_text snapshots_grow(const struct snapshots *snapshots, struct snapshot_growth *growth,
                                 const struct chunk *chunk, const uint64_t *before,
                                 const uint64_t *words)
{
    const struct histogram_spec *spec = snapshots->spec;
    growth->samples_max += histogram_spec_samples_max(spec, chunk->len);
    growth->bytes += chunk->origin.bytes;
    if (!words || !spec->mode->is_text)
        return (struct chunk_text){.is_known = false};
    const struct chunk_text old = text_so_far(snapshots, before),
                            now = text_so_far(snapshots, words);
    growth->cannot_be |= now.newlines < old.newlines || now.newlines - old.newlines > chunk->len ||
                         now.invalid < old.invalid;
    return (struct chunk_text){true, now.newlines - old.newlines, now.invalid - old.invalid};
}

/* True if no count went down; sets *sum to the sum of the counts. */
static bool counts_follow(const struct snapshots *snapshots, const struct tally *seen,
                          uint64_t *sum)
{
    const uint64_t *good = snapshots->good.counts;
    bool down = false;
    if (row_pages_has(snapshots->spec))
        return row_pages_follow(seen->counts, good, seen->bins, sum);
    *sum = 0;
    for (size_t bin = 0; bin < seen->bins; bin++) {
        down |= seen->counts[bin] < good[bin];
        *sum += seen->counts[bin];
    }
    return !down;
}

/* No count may have gone down, and the counts must add up to all samples so far, no more of which
 * are new than the chunks can hold: all in one look at the counts, which are fresh from the device
 * and in no cache. */
bool snapshots_believe(const struct snapshots *snapshots, const struct snapshot_growth *growth,
                       uint64_t *words, struct tally *seen)
{
    const struct histogram_spec *spec = snapshots->spec;
    const struct tally *good = &snapshots->good;
    uint64_t sum;
    *seen = words ? tally_of_snapshot(spec, words) : *good;
    seen->samples = good->samples + (samples_known(spec) ? growth->samples_max : 0);
    seen->bytes = good->bytes + growth->bytes;
    if (!words || growth->cannot_be)
        return !words;
    const bool follow = counts_follow(snapshots, seen, &sum);
    if (!samples_known(spec))
        seen->samples = sum;
    return follow && histogram_spec_adds_up(spec, sum, seen->samples) &&
           seen->samples >= good->samples && seen->samples - good->samples <= growth->samples_max;
}

void snapshots_move(struct snapshots *snapshots, struct file_tallies *files)
{
    const struct tally *good = &snapshots->good;
    struct tally *moved = &snapshots->moved;
    if (!moved->counts)
        *moved = (struct tally){.bins = good->bins, .counts = calloc(good->bins, sizeof(uint64_t))};
    if (!moved->counts) {
        file_tallies_lose(files);
        return;
    }
    for (size_t row = 0; row < good->bins; row++)
        moved->counts[row] = good->counts[row] - moved->counts[row];
    moved->samples = good->samples - moved->samples;
    file_tallies_move(files, (struct file_block){.file = snapshots->file}, moved);
    memcpy(moved->counts, good->counts, good->bins * sizeof good->counts[0]);
    moved->samples = good->samples;
}

/* Copies a tally over another one, whose counts stay where they are. */
static void copy_tally(const struct histogram_spec *spec, struct tally *to,
                       const struct tally *from)
{
    uint64_t *counts = to->counts;
    if (counts && row_pages_has(spec))
        memcpy(counts, from->counts, row_pages_words(from->counts[0]) * sizeof *counts);
    else if (counts)
        memcpy(counts, from->counts, snapshot_size(spec));
    *to = *from;
    to->counts = counts;
}

int snapshots_save(struct snapshots *snapshots)
{
    struct tally *saved = &snapshots->saved;
    if (snapshots->good.counts && !saved->counts)
        saved->counts = malloc(snapshot_size(snapshots->spec));
    if (snapshots->good.counts && !saved->counts)
        return -1;
    copy_tally(snapshots->spec, saved, &snapshots->good);
    return 0;
}

void snapshots_go_back(struct snapshots *snapshots)
{
    copy_tally(snapshots->spec, &snapshots->good, &snapshots->saved);
}

void snapshots_keep(struct snapshots *snapshots, uint64_t **words, const struct tally *seen,
                    size_t file, struct file_tallies *files)
{
    if (files && snapshots->file != file)
        snapshots_move(snapshots, files);
    snapshots->file = file;
    *words = snapshots->good.counts; /* NULL where there was none */
    snapshots->good = *seen;
}

void snapshots_add_empty(struct snapshots *snapshots, const struct chunk *chunk,
                         struct error_locator *locator)
{
    error_locator_add_unseen(locator, chunk);
    snapshots->good.bytes += chunk->origin.bytes;
}

void snapshots_add_good(const struct snapshots *snapshots, struct tally *tally)
{
    const struct tally *good = &snapshots->good;
    if (!row_pages_has(snapshots->spec)) {
        tally_add(tally, good);
        return;
    }
    row_pages_add(good->counts, tally->counts, tally->bins);
    tally->samples += good->samples;
    tally->bytes += good->bytes;
}

bool snapshots_read_last(const struct snapshots *snapshots, struct tally *tally)
{
    const struct histogram_spec *spec = snapshots->spec;
    *tally = tally_of_snapshot(spec, snapshots->last);
    tally->samples = samples_known(spec) ? snapshots->good.samples : tally_counted(tally);
    tally->bytes = snapshots->good.bytes;
    return tally_adds_up(tally, spec);
}
