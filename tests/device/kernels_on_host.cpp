// SPDX-License-Identifier: MIT
// The shipped table of kernels, compiled for the host.
#include "tests/device/emulation.h"

#include "gpu/count/kernel_table.cu"
