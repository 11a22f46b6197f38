// The table of kernels and launch shapes behind the strategies' names. The tests compile this for
// the host as well.
#include "gpu/kernels/vectorized.cuh"
#include "gpu/launch.h"

const struct launch_shape launch_shapes[] = {
#define STRATEGY(name, about, modes, block, blocks)                                                \
    {name<byte_samples, block>, name<letter_samples, block>, block, blocks},
#include "gpu/strategies.def"
#undef STRATEGY
};
