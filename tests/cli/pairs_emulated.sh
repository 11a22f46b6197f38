#!/bin/sh
# SPDX-License-Identifier: MIT
# pairs.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=gpu --chunk-size=64K"
FEW_CHUNKS=yes
export FEW_CHUNKS
exec "${srcdir:-.}/tests/cli/pairs.sh"
