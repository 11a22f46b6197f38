// The table of kernels behind the strategies' names. The tests compile this for the host as well.
#include "gpu/kernels/aggregated.cuh"
#include "gpu/kernels/bitsliced.cuh"
#include "gpu/kernels/contiguous.cuh"
#include "gpu/kernels/interleaved.cuh"
#include "gpu/kernels/lanes.cuh"
#include "gpu/kernels/naive.cuh"
#include "gpu/kernels/privatized.cuh"
#include "gpu/kernels/shared.cuh"
#include "gpu/kernels/vectorized.cuh"
#include "gpu/launch.h"

// A strategy whose kernel for letters may depend on their WIDTH.
#define STRATEGY(name, about, modes, bytes, letters, shared, shared_a_warp, scratch)               \
    template <unsigned WIDTH> static counting_kernel name##_letters()                              \
    {                                                                                              \
        return letters;                                                                            \
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
#define STRATEGY(name, about, modes, bytes, letters, shared, shared_a_warp, scratch)               \
    {bytes, EVERY_WIDTH(name##_letters), shared, shared_a_warp, scratch},
#include "gpu/strategies.def"
#undef STRATEGY
};
