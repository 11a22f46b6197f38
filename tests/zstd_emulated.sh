#!/bin/sh
# zstd.sh on the emulated GPU.
. "${srcdir:-.}/tests/emulated.sh"
exec "${srcdir:-.}/tests/zstd.sh"
