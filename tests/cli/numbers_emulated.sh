#!/bin/sh
# SPDX-License-Identifier: MIT
# numbers.sh on the emulated GPU, with the kernels that auto takes.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=gpu --chunk-size=64K"
exec "${srcdir:-.}/tests/cli/numbers.sh"
