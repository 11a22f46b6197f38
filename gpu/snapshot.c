#include "snapshot.h"
#include "device.h"
#include "src/histogram/file_tallies.h"
#include "src/histogram/number.h"

#include <stdlib.h>
#include <string.h>

/* Bins for which a snapshot of each chunk is taken, with the rows for what lies outside: as many as
 * 16 bits can number; and of text and of floating-point values, which are more work, as many as the
 * default of three decimal digits has. */
#define SNAPSHOT_BINS ((size_t)65536 + 3)
#define SNAPSHOT_BINS_OF_DIGITS (DIGITS_BINS(900) + 3)

bool snapshot_each(const struct histogram *histogram)
{
    const bool has_digits = histogram->mode->is_text || histogram->type.kind == 'f';
    return histogram->bins <= (has_digits ? SNAPSHOT_BINS_OF_DIGITS : SNAPSHOT_BINS);
}

size_t snapshot_size(const struct histogram *histogram)
{
    return device_histogram_words(histogram) * sizeof(uint64_t);
}

void snapshots_init(struct snapshots *snapshots, const struct histogram *histogram, uint64_t *words)
{
    bool each = snapshot_each(histogram);
    *snapshots = (struct snapshots){.histogram = histogram, .last = each ? NULL : words};
    snapshots->good.bins = histogram->bins;
    snapshots->good.counts = each ? words : NULL;
}

/* Whether the number of samples in so many bytes is known; otherwise only the counts tell it. */
static bool samples_known(const struct histogram *histogram)
{
    return histogram_sample_size(histogram) != 0;
}

/* A tally over a snapshot, whose words stay where they are. */
static struct tally tally_of_snapshot(const struct histogram *histogram, uint64_t *words)
{
    bool has_newlines = device_histogram_words(histogram) > histogram->bins;
    return (struct tally){.bins = histogram->bins,
                          .newlines = has_newlines ? words[histogram->bins] : 0,
                          .counts = words};
}

/* Whether the chunk can have added so many samples and newlines. */
static bool growth_believable(const struct snapshots *snapshots, const struct tally *seen,
                              const struct chunk *chunk)
{
    const struct histogram *histogram = snapshots->histogram;
    const struct tally *good = &snapshots->good;
    uint64_t most = histogram->mode->samples_most(histogram, chunk->len);
    return seen->samples >= good->samples && seen->samples - good->samples <= most &&
           seen->newlines >= good->newlines && seen->newlines - good->newlines <= chunk->len;
}

/* Whether the snapshot after a chunk can be true: no count went down, it adds up to all samples so
 * far, and the chunk can hold as many as it adds. Sets the samples where only the counts tell them.
 * All in one look at the counts, which are fresh from the device and in no cache. */
static bool snapshot_believable(const struct snapshots *snapshots, struct tally *seen,
                                const struct chunk *chunk)
{
    uint64_t sum = 0;
    bool down = false;
    for (size_t bin = 0; bin < seen->bins; bin++) {
        down |= seen->counts[bin] < snapshots->good.counts[bin];
        sum += seen->counts[bin];
    }
    if (!samples_known(snapshots->histogram))
        seen->samples = sum;
    return !down && histogram_adds_up(snapshots->histogram, sum, seen->samples) &&
           growth_believable(snapshots, seen, chunk);
}

/* Reports a chunk of text whose snapshot tells what is in it. */
static void report_growth(const struct snapshots *snapshots, const struct tally *seen,
                          const struct chunk *chunk, struct lines *lines)
{
    const struct tally *good = &snapshots->good;
    size_t invalid = ROW_INVALID(&snapshots->histogram->binning);
    if (lines && chunk->origin.name)
        lines_add(lines, chunk, seen->newlines - good->newlines,
                  seen->counts[invalid] > good->counts[invalid]);
}

bool snapshots_may_show_invalid(const struct snapshots *snapshots, const uint64_t *snapshot)
{
    const struct histogram *histogram = snapshots->histogram;
    if (!snapshot || !histogram->mode->is_text)
        return histogram->mode->is_text;
    size_t invalid = ROW_INVALID(&histogram->binning);
    return snapshot[invalid] > snapshots->good.counts[invalid];
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
    file_tallies_move(files, snapshots->file, moved);
    memcpy(moved->counts, good->counts, good->bins * sizeof good->counts[0]);
    moved->samples = good->samples;
}

void snapshots_close(struct snapshots *snapshots)
{
    free(snapshots->moved.counts);
}

bool snapshots_keep(struct snapshots *snapshots, uint64_t **snapshot, const struct chunk *chunk,
                    struct lines *lines, struct file_tallies *files)
{
    const struct histogram *histogram = snapshots->histogram;
    struct tally *good = &snapshots->good;
    struct tally seen = *snapshot ? tally_of_snapshot(histogram, *snapshot) : *good;
    seen.samples = good->samples;
    seen.bytes = good->bytes + chunk->origin.bytes;
    if (samples_known(histogram))
        seen.samples += histogram->mode->samples_most(histogram, chunk->len);
    if (*snapshot && !snapshot_believable(snapshots, &seen, chunk))
        return false;
    if (!*snapshot)
        lines_add_unseen(lines, chunk);
    else if (histogram->mode->is_text)
        report_growth(snapshots, &seen, chunk, lines);
    if (files && snapshots->file != chunk->origin.at.file)
        snapshots_move(snapshots, files);
    snapshots->file = chunk->origin.at.file;
    *snapshot = good->counts; /* NULL where there was none */
    *good = seen;
    return true;
}

void snapshots_add_empty(struct snapshots *snapshots, const struct chunk *chunk,
                         struct lines *lines)
{
    lines_add_unseen(lines, chunk);
    snapshots->good.bytes += chunk->origin.bytes;
}

bool snapshots_read_last(const struct snapshots *snapshots, struct tally *tally)
{
    const struct histogram *histogram = snapshots->histogram;
    *tally = tally_of_snapshot(histogram, snapshots->last);
    tally->samples = samples_known(histogram) ? snapshots->good.samples : tally_counted(tally);
    tally->bytes = snapshots->good.bytes;
    return tally_adds_up(tally, histogram);
}
