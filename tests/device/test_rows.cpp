// SPDX-License-Identifier: MIT
// Rows as the device finds them (gpu/count/rows.cuh), for bins built at random, against binning.c:
// of every value of 2 bytes, and of wider ones at and beside the edges, where rounding decides.
#include "tests/device/emulation.h"

#include "gpu/count/rows.cuh"

extern "C" {
#include "src/tally/histogram_spec.h"
}

#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace
{

unsigned long cases, wrong;

unsigned long long below(unsigned long long end)
{
    return random_word() % end;
}

// A histogram of values, and its map.
struct mapped {
    struct histogram_spec spec;
    struct row_map map;
    std::unique_ptr<void, decltype(&std::free)> table{nullptr, std::free};

    mapped(const struct value_type &type, const struct binning &binning)
    {
        histogram_spec_values(&spec, &type, &binning);
        map = row_map_of(&spec);
        size_t size;
        table.reset(row_table(&spec, &size));
        map.table = table.get();
    }
    mapped(const mapped &) = delete;
    mapped &operator=(const mapped &) = delete;
    ~mapped()
    {
        binning_free(&spec.binning);
    }
};

void expect(const mapped &what, unsigned long long bits, unsigned row, size_t expected)
{
    cases++;
    if (row == expected)
        return;
    wrong++;
    std::fprintf(stderr, "FAIL: %s, %zu bins, bits %llx: row %u, not %zu\n", what.spec.type.name,
                 what.spec.binning.bins, bits, row, expected);
    if (wrong > 20)
        std::exit(1);
}

// --- whole values ---

void check_whole(const mapped &what, int128 value)
{
    const struct value_type &type = what.spec.type;
    unsigned char data[8];
    for (unsigned byte = 0; byte < type.size; byte++)
        data[type.big_endian ? type.size - 1 - byte : byte] =
            static_cast<unsigned char>(value >> 8 * byte);
    unsigned long long aligned;
    std::memcpy(&aligned, data, sizeof data);
    const unsigned long long bits =
        value_bits_at(what.map, reinterpret_cast<const unsigned char *>(&aligned), 0);
    expect(what, bits, row_of_bits(what.map, bits), binning_row_whole(&what.spec.binning, value));
}

// Bins over a span of at most 2^bits, more often than not within what the type holds.
struct binning whole_bins(unsigned bits, int128 min, int128 range)
{
    const int128 first = min + static_cast<int128>(below(~0ull) % (3 * range / 2)) - range / 4;
    const int128 span = 1 + (static_cast<int128>(random_word()) % range >> below(bits));
    const size_t max = span < 70000 ? static_cast<size_t>(span) : 70000;
    const size_t bins = below(3) ? 1 + below(max) : max;
    const int128 top = static_cast<int128>(1) << 64; // no edge has more than 64 bits
    struct binning binning;
    if (first < -top || first + span > top)
        binning_own(&binning, 1 + below(70000));
    else if (binning_equal_whole(&binning, first, first + span, bins) != 0)
        std::abort();
    return binning;
}

void check_whole_type(const struct value_type &type, unsigned rounds)
{
    const unsigned bits = static_cast<unsigned>(8 * type.size);
    const int128 range = static_cast<int128>(1) << bits, min = type.kind == 'i' ? -range / 2 : 0;
    for (unsigned round = 0; round < rounds; round++) {
        const mapped what(type, whole_bins(bits, min, range));
        if (bits == 16)
            for (int128 value = min; value < min + range; value++)
                check_whole(what, value);
        for (unsigned i = 0; bits > 16 && i < 1000; i++) {
            const size_t k = below(what.spec.binning.bins + 1);
            const int128 near =
                binning_whole_edge(&what.spec.binning, k) + static_cast<int128>(below(3)) - 1;
            if (near >= min && near < min + range)
                check_whole(what, near);
            check_whole(what, min + static_cast<int128>(random_word()) % range);
        }
    }
}

// --- floats ---

// A guess may give no row, but no wrong one; and that only for few values.
unsigned long guesses, not_known;

void check_float(const mapped &what, float value)
{
    const unsigned bits = __float_as_uint(value);
    const size_t expected = binning_row(&what.spec.binning, static_cast<double>(value));
    expect(what, bits, row_of_bits(what.map, bits), expected);
    const unsigned row = guess_row(what.map, value);
    if (row != not_proven)
        expect(what, bits, row, expected);
}

struct binning float_bins()
{
    const double scale = below(2) ? 1 : std::ldexp(1, static_cast<int>(below(240)) - 120);
    const double min = below(3) ? (random_fraction() - 0.5) * scale : 0;
    const double max = min + (below(2) ? random_fraction() + 0x1p-20 : 1) * scale;
    struct binning binning;
    if (binning_equal(&binning, min, max,
                      1 + static_cast<size_t>(std::exp2(15 * random_fraction()))) != 0)
        std::abort();
    return binning;
}

void check_odd_floats(const mapped &what)
{
    for (float odd : {0.0f, -0.0f, 0x1p-149f, -0x1p-149f, INFINITY, -INFINITY, NAN, -NAN, 3.4e38f})
        check_float(what, odd);
}

void check_floats(const struct value_type &type, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        const mapped what(type, float_bins());
        const struct binning &binning = what.spec.binning;
        if (what.map.way != ROWS_OF_FLOATS)
            continue; // so many bins, or so far from zero
        check_odd_floats(what);
        for (unsigned i = 0; i < 100; i++) {
            const size_t k = i < 2 ? i * binning.bins : below(binning.bins + 1);
            float near = static_cast<float>(binning_edge(&binning, k));
            for (int step = 0; step < 3; step++)
                near = std::nextafter(near, -INFINITY);
            for (int step = -3; step <= 3; step++, near = std::nextafter(near, INFINITY))
                check_float(what, near);
            check_float(what, __uint_as_float(static_cast<unsigned>(random_word())));
            const double any = binning.min + random_fraction() * (binning.max - binning.min);
            guesses++;
            not_known += guess_row(what.map, static_cast<float>(any)) == not_proven;
            check_float(what, static_cast<float>(any));
        }
    }
}

// --- decimal digits ---

// Edges, and the values beside them, of either sign.
void check_digits(const struct value_type &type, unsigned digits, unsigned rounds)
{
    struct binning binning;
    if (binning_digits(&binning, digits, type.size == 4) != 0)
        std::abort();
    const mapped what(type, binning);
    const bool singles = type.size == 4;
    for (unsigned round = 0; round < 1000 * rounds; round++) {
        const double edge = binning_edge(&binning, below(binning.bins + 1));
        for (const double toward : {-HUGE_VAL, HUGE_VAL, edge}) {
            const double near = singles ? static_cast<double>(std::nextafter(
                                              static_cast<float>(edge), static_cast<float>(toward)))
                                        : std::nextafter(edge, toward);
            const unsigned long long bits =
                singles ? __float_as_uint(static_cast<float>(near))
                        : static_cast<unsigned long long>(__double_as_longlong(near));
            expect(what, bits, row_of_bits(what.map, bits), binning_row(&binning, near));
        }
        const unsigned long long any = singles ? random_word() >> 32 : random_word();
        const double value = singles
                                 ? static_cast<double>(__uint_as_float(static_cast<unsigned>(any)))
                                 : __longlong_as_double(static_cast<long long>(any));
        expect(what, any, row_of_bits(what.map, any), binning_row(&binning, value));
    }
}

} // namespace

int main()
{
    const unsigned rounds = scale_is_small_or_slow() ? 20 : 200;
    for (const struct value_type *type = value_types; type->name; type++)
        if (type->kind == 'f' && type->size == 4)
            check_floats(*type, 50 * rounds);
        else if (type->kind != 'f' && type->size > 1 && type->size != 3) // no kernel counts these
            check_whole_type(*type, rounds);
    for (unsigned digits = 1; digits <= 5; digits++)
        for (const char *name : {"f32", "f64"})
            check_digits(*value_type_find(name), digits, rounds / 10);
    std::printf("%lu rows, %lu wrong; of %lu floats anywhere %lu not told by the guess\n", cases,
                wrong, guesses, not_known);
    return wrong != 0 || guesses == 0 || not_known > guesses / 50;
}
