// SPDX-License-Identifier: MIT
// The kernels of the strategies, by name and mode. The tests compile this for the host as well.
#include "gpu/count/textbook/aggregated.cuh"
#include "gpu/count/bitsliced.cuh"
#include "gpu/count/characters.cuh"
#include "gpu/count/textbook/contiguous.cuh"
#include "gpu/count/fields.cuh"
#include "gpu/count/textbook/interleaved.cuh"
#include "gpu/count/lanes.cuh"
#include "gpu/count/lanes_values.cuh"
#include "gpu/count/matched.cuh"
#include "gpu/count/textbook/naive.cuh"
#include "gpu/count/numbers.cuh"
#include "gpu/count/packed.cuh"
#include "gpu/count/pairs.cuh"
#include "gpu/count/partitioned.cuh"
#include "gpu/count/textbook/privatized.cuh"
#include "gpu/count/textbook/shared.cuh"
#include "gpu/count/textbook/vectorized.cuh"
#include "gpu/count/launch.h"
#include "gpu/count/row_pages.cuh"
#include "gpu/count/tuning.h"

// Returns the kernel of `lanes`: equal bins have kernels of their own.
static counting_kernel lanes_of(const row_map &map)
{
    switch (map.size) {
    case 1:
        return lanes<byte_value_samples>;
    case 2:
        return map.way == ROWS_BY_16_BITS   ? lanes_values<2, ROWS_BY_16_BITS>
               : map.way == ROWS_BY_32_BITS ? lanes_values<2, ROWS_BY_32_BITS>
                                            : lanes_values<2, ANY_WAY>;
    case 4:
        return map.way == ROWS_BY_32_BITS   ? lanes_values<4, ROWS_BY_32_BITS>
               : map.way == ROWS_OF_FLOATS  ? lanes_values<4, ROWS_OF_FLOATS>
               : map.way == ROWS_OF_DOUBLES ? lanes_values<4, ROWS_OF_DOUBLES>
                                            : lanes_values<4, ANY_WAY>;
    default:
        return map.way == ROWS_BY_64_BITS   ? lanes_values<8, ROWS_BY_64_BITS>
               : map.way == ROWS_OF_DOUBLES ? lanes_values<8, ROWS_OF_DOUBLES>
                                            : lanes_values<8, ANY_WAY>;
    }
}

// Returns the kernel of `characters`: groups have one of their own.
static counting_kernel characters_of(const struct histogram_spec *spec)
{
    return spec->groups ? characters<character_group_rows> : characters<character_rows>;
}

// The kernels for many bins, by what comes up with many: bins of their own, equal ones of doubles,
// and log-linear ones.
#define FOR_MANY_BINS(kernel)                                                                      \
    static counting_kernel kernel##_of(const row_map &map)                                         \
    {                                                                                              \
        switch (map.size) {                                                                        \
        case 1:                                                                                    \
            return kernel<1, ANY_WAY>;                                                             \
        case 2:                                                                                    \
            return map.way == ROWS_BY_16_BITS ? kernel<2, ROWS_BY_16_BITS> : kernel<2, ANY_WAY>;   \
        case 4:                                                                                    \
            return map.way == ROWS_BY_32_BITS && !map.reciprocal ? kernel<4, OWN_WAY>              \
                   : map.way == ROWS_BY_32_BITS                  ? kernel<4, ROWS_BY_32_BITS>      \
                   : map.way == ROWS_OF_DOUBLES                  ? kernel<4, ROWS_OF_DOUBLES>      \
                   : map.way == ROWS_LOG_LINEAR                  ? kernel<4, ROWS_LOG_LINEAR>      \
                                                                 : kernel<4, ANY_WAY>;                              \
        default:                                                                                   \
            return map.way == ROWS_BY_64_BITS   ? kernel<8, ROWS_BY_64_BITS>                       \
                   : map.way == ROWS_OF_DOUBLES ? kernel<8, ROWS_OF_DOUBLES>                       \
                   : map.way == ROWS_LOG_LINEAR ? kernel<8, ROWS_LOG_LINEAR>                       \
                                                : kernel<8, ANY_WAY>;                              \
        }                                                                                          \
    }
FOR_MANY_BINS(packed)
FOR_MANY_BINS(partition)
#undef FOR_MANY_BINS

static counting_kernel partition_count_of(unsigned bins)
{
    return partition_shape_for(bins).rows <= PARTITION_WORDS_MAX ? partition_count<false>
                                                                 : partition_count<true>;
}

#define EVERY_WIDTH(of)                                                                            \
    {                                                                                              \
        of<1>(), of<2>(), of<3>(), of<4>(), of<5>(), of<6>(), of<7>(), of<8>(), of<9>(), of<10>(), \
            of<11>(), of<12>(), of<13>(), of<14>(), of<15>(), of<16>(), of<17>(), of<18>(),        \
            of<19>(), of<20>(), of<21>(), of<22>(), of<23>(), of<24>(), of<25>(), of<26>()         \
    }

// In a row, `spec` is what is counted, WIDTH that of letters, and `map` the row map of values.
#define STRATEGY(name, about, modes, bytes, letters, values, numbers, others, second, table,       \
                 scratch)                                                                          \
    template <unsigned WIDTH> static counting_kernel name##_of_width()                             \
    {                                                                                              \
        return letters;                                                                            \
    }                                                                                              \
    static counting_kernel name##_for(const struct histogram_spec *spec)                           \
    {                                                                                              \
        static const counting_kernel by_width[LETTERS] = EVERY_WIDTH(name##_of_width);             \
        [[maybe_unused]] row_map map;                                                              \
        switch (spec->mode->id) {                                                                  \
        case MODE_BYTES:                                                                           \
            return bytes;                                                                          \
        case MODE_LETTERS:                                                                         \
            return by_width[spec->width - 1];                                                      \
        case MODE_VALUES:                                                                          \
            map = row_map_of(spec);                                                                \
            return values;                                                                         \
        case MODE_NUMBERS:                                                                         \
            return numbers;                                                                        \
        default:                                                                                   \
            return others;                                                                         \
        }                                                                                          \
    }                                                                                              \
    static counting_kernel name##_second([[maybe_unused]] unsigned bins)                           \
    {                                                                                              \
        return second;                                                                             \
    }
#include "strategies.def"
#undef STRATEGY

// True if there is a kernel, of which `text` is the column, for those of the modes that it is for.
static constexpr bool has_kernel(unsigned counted, unsigned column_modes, const char *text)
{
    const char *none = "nullptr";
    while (*text && *text == *none)
        text++, none++;
    return (counted & column_modes) == 0 || *text != *none;
}

constexpr unsigned own_columns =
    1u << MODE_BYTES | 1u << MODE_LETTERS | 1u << MODE_VALUES | 1u << MODE_NUMBERS;

#define STRATEGY(name, about, modes, bytes, letters, values, numbers, others, second, table,       \
                 scratch)                                                                          \
    static_assert(tuning_for(STRATEGY_##name, 0), "tuning.h has no row for " #name);               \
    static_assert(has_kernel(modes, 1u << MODE_BYTES, #bytes) &&                                   \
                      has_kernel(modes, 1u << MODE_LETTERS, #letters) &&                           \
                      has_kernel(modes, 1u << MODE_VALUES, #values) &&                             \
                      has_kernel(modes, 1u << MODE_NUMBERS, #numbers) &&                           \
                      has_kernel(modes, ~own_columns, #others),                                    \
                  "a mode of " #name " has no kernel");
#include "strategies.def"
#undef STRATEGY

const struct strategy_kernels strategy_kernels[] = {
#define STRATEGY(name, about, modes, bytes, letters, values, numbers, others, second, table,       \
                 scratch)                                                                          \
    {name##_for, name##_second, table, scratch},
#include "strategies.def"
#undef STRATEGY
};

void (*const row_pages_kernel)(row_pages_args args) = gather_row_pages;
