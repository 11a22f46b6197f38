// SPDX-License-Identifier: MIT
// The shipped stages that decompress zstd, compiled for the host.
#include "tests/device/emulation.h"

#include "gpu/decode/stage_table.cu"
