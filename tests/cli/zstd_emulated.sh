#!/bin/sh
# SPDX-License-Identifier: MIT
# zstd.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/zstd.sh"
