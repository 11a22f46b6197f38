// The shipped table of kernels, compiled for the host.
#include "tests/emulation.h"

#include "gpu/strategies.cu"
