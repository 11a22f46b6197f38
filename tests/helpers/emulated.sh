# For scripts that run on the emulated GPU, which executes the real kernels.
GPUHISTO=${EMULATED:-./tests/device/gpuhisto-emulated}
ENGINE="--device=gpu --kernel=vectorized --chunk-size=64K" # the fastest to emulate
SCALE=small
export GPUHISTO ENGINE SCALE
if [ ! -x "$GPUHISTO" ]; then
    echo "${0##*/}: skipped: $GPUHISTO was not built, as there is no C++17 compiler"
    exit 77
fi
