// The table of kernels behind the strategies' names. The tests compile this for the host as well.
#include "gpu/kernels/aggregated.cuh"
#include "gpu/kernels/bitsliced.cuh"
#include "gpu/kernels/contiguous.cuh"
#include "gpu/kernels/interleaved.cuh"
#include "gpu/kernels/lanes.cuh"
#include "gpu/kernels/lanes_values.cuh"
#include "gpu/kernels/matched.cuh"
#include "gpu/kernels/naive.cuh"
#include "gpu/kernels/numbers.cuh"
#include "gpu/kernels/privatized.cuh"
#include "gpu/kernels/shared.cuh"
#include "gpu/kernels/vectorized.cuh"
#include "gpu/launch.h"

// Equal bins have kernels of their own.
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

// A strategy whose kernels may depend on the WIDTH of letters, and on the map of values.
#define STRATEGY(name, about, modes, bytes, letters, values, numbers, table, scratch)              \
    template <unsigned WIDTH> static counting_kernel name##_letters()                              \
    {                                                                                              \
        return letters;                                                                            \
    }                                                                                              \
    static counting_kernel name##_values([[maybe_unused]] const row_map &map)                      \
    {                                                                                              \
        return values;                                                                             \
    }
#include "gpu/strategies.def"
#undef STRATEGY

#define EVERY_WIDTH(of)                                                                            \
    {                                                                                              \
        of<1>(), of<2>(), of<3>(), of<4>(), of<5>(), of<6>(), of<7>(), of<8>(), of<9>(), of<10>(), \
            of<11>(), of<12>(), of<13>(), of<14>(), of<15>(), of<16>(), of<17>(), of<18>(),        \
            of<19>(), of<20>(), of<21>(), of<22>(), of<23>(), of<24>(), of<25>(), of<26>()         \
    }

const struct strategy_kernels strategy_kernels[] = {
#define STRATEGY(name, about, modes, bytes, letters, values, numbers, table, scratch)              \
    {bytes, EVERY_WIDTH(name##_letters), name##_values, numbers, table, scratch},
#include "gpu/strategies.def"
#undef STRATEGY
};

const counting_kernel rest_of_numbers = numbers_rest;
