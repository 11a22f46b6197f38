#!/bin/sh
# SPDX-License-Identifier: MIT
# values.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=gpu --kernel=naive --chunk-size=64K" # quick to emulate, however many bins
exec "${srcdir:-.}/tests/cli/values.sh"
