#!/bin/sh
# SPDX-License-Identifier: MIT
# ranges.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=gpu --kernel=naive --chunk-size=64K" # of values, too
exec "${srcdir:-.}/tests/cli/ranges.sh"
