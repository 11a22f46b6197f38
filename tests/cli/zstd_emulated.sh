#!/bin/sh
# zstd.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/zstd.sh"
