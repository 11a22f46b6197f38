# Sourced by scripts that run on the emulated GPU, which runs the real kernels.
GPUHISTO=${EMULATED:-./tests/device/gpuhisto-emulated}
ENGINE="--device=gpu --kernel=vectorized --chunk-size=64K" # the quickest to emulate
SCALE=small
export GPUHISTO ENGINE SCALE
if [ ! -x "$GPUHISTO" ]; then
    echo "${0##*/}: skipped: $GPUHISTO was not built, for want of a C++ compiler"
    exit 77
fi
