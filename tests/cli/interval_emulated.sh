#!/bin/sh
# SPDX-License-Identifier: MIT
# interval.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=gpu --chunk-size=4K"
exec "${srcdir:-.}/tests/cli/interval.sh"
