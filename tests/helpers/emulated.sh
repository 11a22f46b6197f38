# SPDX-License-Identifier: MIT
# For scripts that run on the emulated GPU, which executes the real kernels.
GPUHISTO=${EMULATED:-./tests/device/gpuhisto-emulated}
ENGINE="--device=gpu --kernel=vectorized --chunk-size=64K" # the fastest to emulate
SCALE=small
export GPUHISTO ENGINE SCALE
if [ ! -x "$GPUHISTO" ]; then
    echo "${0##*/}: skipped: $GPUHISTO was not built: that takes a C++17 compiler and a little-endian machine"
    exit 77
fi
