#!/bin/sh
# zstd.sh on the emulated GPU, which runs the real kernels.
GPUHISTO=${HELPERS:-./tests}/gpuhisto-emulated
ENGINE="--device=gpu --chunk-size=64K" # the default, 8M, takes long to set up
SCALE=small
export GPUHISTO ENGINE SCALE
if [ ! -x "$GPUHISTO" ]; then
    echo "${0##*/}: skipped: $GPUHISTO was not built, for want of a C++ compiler"
    exit 77
fi
exec "${srcdir:-.}/tests/zstd.sh"
