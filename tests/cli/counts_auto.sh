#!/bin/sh
# SPDX-License-Identifier: MIT
# counts.sh where the emulated GPU may be used, but need not.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=auto --chunk-size=64K"
exec "${srcdir:-.}/tests/cli/counts.sh"
