// SPDX-License-Identifier: MIT
// The shipped stages that decompress zstd, compiled for the host.
#include "tests/device/emulation.h"

#include "gpu/zstd/stage_table.cu"
