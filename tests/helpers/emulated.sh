# SPDX-License-Identifier: MIT
# For scripts that run on the emulated GPU, which executes the real kernels.
GPUHISTO=${EMULATED:-./tests/device/gpuhisto-emulated}
ENGINE="--device=gpu --kernel=vectorized --chunk-size=64K" # the fastest to emulate
ASKED=${SCALE:-full} # what few goes by
SCALE=small
unset CUDA_VISIBLE_DEVICES # of real ones
export GPUHISTO ENGINE ASKED SCALE
if [ ! -x "$GPUHISTO" ]; then
    echo "${0##*/}: skipped: $GPUHISTO was not built: that takes a C++17 compiler and a little-endian machine"
    exit 77
fi

# be_patient ARGUMENT...: from now on the program waits for a device for 200 ms, or for four times as long as it
# must to count with these arguments and two healthy ones, which sanitizers and a busy machine make slow.
be_patient()
{
    GPUHISTO_DEADLINE=50
    export GPUHISTO_DEADLINE
    until GPUHISTO_DEVICES=2 "$GPUHISTO" --device=gpu:0,1 "$@" >healthy 2>&1 && ! grep -q 'was lost' healthy; do
        GPUHISTO_DEADLINE=$((GPUHISTO_DEADLINE * 2))
        [ $GPUHISTO_DEADLINE -lt 5000 ] || break # not for want of patience
    done
    GPUHISTO_DEADLINE=$((GPUHISTO_DEADLINE * 4))
}
