#!/bin/sh
# counts.sh where the emulated GPU may be used, but need not.
GPUHISTO=${HELPERS:-./tests}/gpuhisto-emulated
ENGINE="--device=auto --chunk-size=64K"
SCALE=small
export GPUHISTO ENGINE SCALE
if [ ! -x "$GPUHISTO" ]; then
    echo "${0##*/}: skipped: $GPUHISTO was not built, for want of a C++ compiler"
    exit 77
fi
exec "${srcdir:-.}/tests/counts.sh"
