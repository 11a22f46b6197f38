// SPDX-License-Identifier: MIT
// The kernels that parse and count decimal text, launched in the emulation: texts of any length at
// any alignment, cut and shifted over every boundary between lanes, warps and blocks, against the
// CPU's parser and the definition of the bins.
#include "tests/device/emulation.h"

#include "gpu/count/numbers.cuh"

extern "C" {
#include "gpu/count/sample_map.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/text_rows.h"
}

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace
{

unsigned long cases, wrong;
bool quick;

// A histogram and the arguments that stay the same for it.
struct counted {
    struct histogram_spec spec;
    struct count_args args = {};
    std::unique_ptr<void, decltype(&std::free)> table{nullptr, std::free};

    explicit counted(const struct binning &binning)
    {
        histogram_spec_numbers(&spec, &binning);
        args.map = sample_map_of(&spec);
        size_t size;
        table.reset(row_table(&spec, &size));
        args.map.rows.table = table.get();
        args.powers = number_powers();
    }
    counted(const counted &) = delete;
    counted &operator=(const counted &) = delete;
    ~counted()
    {
        binning_free(&spec.binning);
    }
};

using counts_of_rows = std::vector<unsigned long long>;

std::vector<std::uint64_t> expect(const struct histogram_spec &spec, const std::string &text)
{
    std::vector<std::uint64_t> counts(spec.bins + 1); // and newlines
    text_rows_add(&spec, reinterpret_cast<const unsigned char *>(text.data()), text.size(),
                  counts.data());
    return counts;
}

// Counts a text as the device does, in memory that ends where it ends.
counts_of_rows count(const counted &what, const std::string &text, unsigned alignment,
                     unsigned grid, unsigned warps)
{
    counts_of_rows counts(what.spec.bins + 1);
    const std::unique_ptr<unsigned char[]> memory(new unsigned char[alignment + text.size()]);
    std::memcpy(memory.get() + alignment, text.data(), text.size());
    std::vector<unsigned> rest(words_for_rest(text.size()));
    struct count_args args = what.args;
    args.data = memory.get() + alignment;
    args.len = text.size();
    args.counts = counts.data();
    args.rest = rest.data();
    emulate_launch(grid, 32 * warps, sizeof(row_cache) + warps * sizeof(warp_text),
                   [=] { numbers(args); });
    emulate_launch(2, NUMBERS_REST_BLOCK, 0, [=] { numbers_rest(args); });
    return counts;
}

void check(const counted &what, const std::string &text, unsigned alignment = 0, unsigned grid = 1,
           unsigned warps = 2)
{
    cases++;
    const counts_of_rows is = count(what, text, alignment, grid, warps);
    const std::vector<std::uint64_t> due = expect(what.spec, text);
    for (size_t row = 0; row < due.size(); row++)
        if (is[row] != due[row] && wrong++ < 20)
            std::fprintf(stderr,
                         "FAIL: %zu bytes at %u, grid %u, %u warps: row %zu of %zu: %llu, not "
                         "%llu: \"%.60s\"\n",
                         text.size(), alignment, grid, warps, row, due.size(), is[row],
                         static_cast<unsigned long long>(due[row]), text.c_str());
}

const char mixed[] =
    "1 22\t333\n4444\v55555\f666666\r7777777\r\n88888888\n\n  999999999 \t\n\v\f\r1.5 -2.25 +3 .5 "
    "5. "
    "-0 1e5 1.7976931348623157e308 x 12abc - . 123456789012345678901234567890 inf -inf nan 1\x80 "
    "0.1234567890123456789012345678 -123456789012345678901234567.1 9007199254740993 1e400 \xff "
    "9007199254740993.0000000001 9007199254740992.9999999999 9007199254740993.0000000000 Infinity "
    "-9007199254740993.00000000000000000000000000000000000000000000000000000000000000001 1e-320 7";

// All of it, every end of it, and moved over the boundaries of pieces, warps and blocks.
void check_cuts(const counted &what)
{
    const std::string text(mixed, sizeof mixed - 1);
    const size_t step = quick ? 37 : 1;
    for (size_t len = 0; len <= text.size(); len += step) {
        check(what, text.substr(0, len), random_below(16));
        check(what, text.substr(text.size() - len), random_below(16));
    }
    for (size_t shift = 0; shift < text.size(); shift += step) {
        for (unsigned boundary : {32u, 1024u, 2048u, 4096u}) {
            const std::string front(boundary > shift ? boundary - shift : 0, "\n \t1"[shift % 4]);
            check(what, front + text, random_below(16), 1 + random_below(3), 1 + random_below(3));
        }
    }
    for (unsigned alignment = 0; alignment < 16; alignment++)
        for (size_t len = 0; len < 70; len += quick ? 13 : 1)
            check(what, text.substr(len, len), alignment);
}

// Tokens of all lengths, dense and apart, of all kinds of white space.
void check_lengths(const counted &what)
{
    for (size_t token = 1; token < 70; token += quick ? 9 : 1)
        for (size_t spaces = 1; spaces < 40; spaces += quick ? 13 : 3) {
            std::string text;
            while (text.size() < 5000) {
                text.append(token, static_cast<char>('1' + random_below(9)));
                for (size_t i = 0; i < spaces; i++)
                    text += "\n \t\r\v\f"[random_below(6)];
            }
            check(what, text, random_below(16), 2, 1);
        }
    std::string dense;
    for (unsigned i = 0; i < 5000; i++)
        dense += i % 2 ? '\n' : static_cast<char>('0' + i % 10);
    check(what, dense);
    check(what, dense, 1, 3, 3);
    check(what, std::string(10000, '\n'), 3);
}

void check_long(const counted &what)
{
    for (size_t len : {31u, 32u, 33u, 2047u, 2048u, 2049u, 4095u, 4096u, 4097u, 20000u})
        for (size_t front : {0u, 1u, 31u, 32u, 2000u, 2047u, 2048u}) {
            const std::string zeros(len - 1, '0'), space(front, ' ');
            check(what, space + zeros + "7", random_below(16));
            check(what, space + zeros + "7\n" + zeros + "x 5\n", random_below(16), 2);
        }
    std::string many;
    for (unsigned i = 0; i < 500; i++)
        many += "9007199254740993.000" + std::to_string(i % 2) + (i % 3 ? " " : "\n");
    check(what, many, 5, 3, 3);
}

void check_random(const counted &what)
{
    static const char characters[] = "0123456789012345678901234567890123456789.....eE+-infx";
    static const char spaces[] = "\n\n\n\n\n\n\n\n \t\r\v\f";
    for (unsigned round = 0; round < (quick ? 3u : 60u); round++) {
        std::string text;
        const size_t len = random_below(60000);
        while (text.size() < len) {
            char number[64];
            const double value =
                std::ldexp(static_cast<double>(random_word()), -static_cast<int>(random_below(80)));
            if (random_below(8))
                std::snprintf(number, sizeof number, random_below(2) ? "%.*g" : "%.*f",
                              static_cast<int>(random_below(20)), value);
            else
                *number = '\0';
            text += number;
            for (unsigned i = *number ? 0 : 1 + random_below(30); i > 0; i--)
                text += characters[random_below(sizeof characters - 1)];
            do
                text += spaces[random_below(sizeof spaces - 1)];
            while (random_below(8) == 0);
        }
        check(what, text, random_below(16), 1 + random_below(4), 1 + random_below(8));
    }
}

void check_all(const struct binning &binning)
{
    const counted what(binning);
    check_cuts(what);
    check_lengths(what);
    check_long(what);
    check_random(what);
}

struct binning equal_bins(size_t bins)
{
    struct binning binning;
    if (binning_equal(&binning, 0, 1000000, bins) != 0)
        std::abort();
    return binning;
}

} // namespace

int main()
{
    quick = scale_is_small_or_slow();
    struct binning binning;
    const double edges[] = {-5, 0, 0.5, 1, 9007199254740994, 1e300};
    number_prepare();
    binning_log_linear(&binning);
    check_all(binning);
    if (binning_digits(&binning, 3, false) != 0)
        std::abort();
    check_all(binning);
    check_all(equal_bins(10));
    check_all(equal_bins(5000)); // more rows than a block has places for
    quick = true;
    if (binning_edges(&binning, edges, std::size(edges)) != 0)
        std::abort();
    check_all(binning);
    emulate_seed(7);
    check_all(equal_bins(3));
    std::printf("%lu texts, %lu rows wrong\n", cases, wrong);
    return wrong != 0;
}
