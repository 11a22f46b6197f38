// SPDX-License-Identifier: MIT
// The kernels that count characters, launched in the emulation: bytes of any length at any
// alignment, between others that belong to no text, so that characters lie over every boundary
// between words, lanes, warps and blocks; in caches of few places and of many. And the one that
// gathers pages of rows.
#include "tests/device/emulation.h"

#include "gpu/count/characters.cuh"
#include "gpu/count/launch.h"

extern "C" {
#include "tests/helpers/check_characters.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
}

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace
{

unsigned long cases, wrong;

// A histogram and the arguments that stay the same for it.
struct counted {
    struct histogram_spec spec;
    struct count_args args = {};
    std::unique_ptr<void, decltype(&std::free)> table{nullptr, std::free};
    std::vector<unsigned long long> is, due;

    counted(void (*build)(struct histogram_spec *), unsigned slots)
    {
        build(&spec);
        args.map = sample_map_of(&spec);
        if (spec.groups) {
            size_t size;
            table.reset(group_table(&spec, &size));
            args.map.groups.table = static_cast<const uint16_t *>(table.get());
        }
        args.shape.bins = spec.groups ? CHARACTER_GROUPS_MAX : slots;
        is.resize(spec.bins);
        due.resize(spec.bins);
    }
};

void expect(counted &of, const unsigned char *data, size_t len)
{
    uint32_t point;
    for (size_t at = 0; at < len;) {
        at += characters_naive(data + at, len - at, &point);
        of.due[of.spec.groups ? character_group(of.spec.groups, point) : point]++;
    }
}

// One histogram, many texts.
void check(counted &of, const unsigned char *data, size_t len)
{
    of.args.data = data;
    of.args.len = len;
    of.args.counts = of.is.data();
    expect(of, data, len);
    emulate_launch(2, CHARACTERS_BLOCK, sizeof(character_table) + of.args.shape.bins * 8, [&] {
        if (of.spec.groups)
            characters<character_group_rows>(of.args);
        else
            characters<character_rows>(of.args);
    });
    cases++;
    if (of.is == of.due)
        return;
    std::fprintf(stderr, "FAIL: %zu bins, %u places, %zu bytes at %zu:", of.spec.bins,
                 of.args.shape.bins, len, reinterpret_cast<size_t>(data) % 16);
    for (size_t i = 0; i < len && i < 60; i++)
        std::fprintf(stderr, " %02x", data[i]);
    std::fprintf(stderr, "\n");
    of.due = of.is;
    if (++wrong > 20)
        std::exit(1);
}

void check_all(void (*build)(struct histogram_spec *), unsigned slots, bool quick)
{
    alignas(16) static unsigned char memory[4096];
    counted of(build, slots);
    for (size_t begin = 0; begin < 16; begin += quick ? 5 : 1)
        for (size_t len = 0; len < 2200; len = len * 2 + random_below(4)) {
            std::memset(memory, begin % 2 ? 0xe4 : 0xbf, sizeof memory);
            unsigned char *const data = memory + 16 + begin;
            if (random_below(2))
                characters_make_hard(data, len);
            else if (len > 0)
                characters_make(data, len, random_below(3) * static_cast<unsigned>(len) / 40);
            check(of, data, len);
        }
}

// Counts come up in more and more pages, which keep their places.
void check_pages()
{
    constexpr unsigned pages = 100, rows = pages * ROW_PAGE - 17;
    std::vector<unsigned long long> counts(pages * ROW_PAGE), words(row_pages_words(pages));
    std::vector<unsigned> slots(pages);
    std::vector<uint64_t> good(words.begin(), words.end()), seen, added(rows);
    const row_pages_args args = {counts.data(), pages, slots.data(), words.data()};
    for (unsigned turn = 0; turn < 12; turn++) {
        unsigned long long total = 0;
        uint64_t sum;
        for (unsigned i = 0; i < turn * turn; i++)
            counts[random_below(rows)]++;
        emulate_launch(row_pages_grid(pages), row_pages_block, 0, [&] { row_pages_kernel(args); });
        seen.assign(words.begin(), words.end());
        std::fill(added.begin(), added.end(), 0);
        row_pages_add(seen.data(), added.data(), rows);
        for (const unsigned long long count : counts)
            total += count;
        const bool is_right = row_pages_follow(seen.data(), good.data(), rows, &sum) &&
                              sum == total &&
                              std::equal(added.begin(), added.end(), counts.begin());
        const bool is_refused = sum == 0 || !row_pages_follow(good.data(), seen.data(), rows, &sum);
        cases++;
        if (!is_right || !(is_refused || good == seen)) {
            std::fprintf(stderr, "FAIL: pages, turn %u\n", turn);
            wrong++;
        }
        good = seen;
    }
}

} // namespace

int main()
{
    const bool quick = scale_is_small_or_slow();
    random_seed(20261124);
    check_all(histogram_spec_characters, characters_slots_max, true);
    check_all(histogram_spec_characters, 16, quick); // most find no place
    check_all(histogram_spec_categories, 0, true);
    check_all(histogram_spec_blocks, 0, quick);
    emulate_seed(7);
    check_all(histogram_spec_characters, 1024, true);
    check_pages();
    std::printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}
