#!/bin/sh
# SPDX-License-Identifier: MIT
# Kernels that need much shared memory, on emulated GPUs whose blocks have less of it than the newest
# have: 163 KiB with compute capability 8.0, 99 with 8.6, 8.9 and 12.0, 64 with 7.5. All that the GPU
# counts must be what the CPU counts.
. "${srcdir:-.}/tests/helpers/emulated.sh"
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600
data uniform 40001 1 >random || broken "no data"
data text 40002 2 >text || broken "no data"
cat random text random >mixed
head -c 120000 mixed >values

# alike WHAT FILE OPTION...: the GPU's table is the CPU's.
alike()
{
    what=$1
    file=$2
    shift 2
    "$GPUHISTO" --device=cpu "$@" "$file" >expected 2>err || broken "$what: $(cat err)"
    run_as "$GPUHISTO" --device=gpu --chunk-size=64K $kernel "$@" "$file"
    counts "$what, $shared bytes of shared memory" expected
}

for shared in 65536 101376 166912 232448; do
    export GPUHISTO_SHARED_MEMORY=$shared
    kernel=
    alike "pairs" mixed --pairs
    alike "aligned pairs" mixed --pairs=aligned
    if [ $shared -gt 65536 ]; then
        alike "characters" mixed --characters
        alike "categories" mixed --categories
    else
        run_as "$GPUHISTO" --device=gpu --characters mixed
        refuses "characters, $shared bytes of shared memory" 1 \
            "--kernel=characters needs " "bytes of a block's shared memory, and the GPU has 65536"
    fi
    for bins in 65536 100000 262144; do
        kernel=--kernel=packed
        alike "$bins bins, packed" values --values=u32 --bins=$bins --min=0 --max=4294967296 --nonzero
    done
    kernel=--kernel=partitioned
    alike "2^20 bins, partitioned" values --values=u32 --bins=1048576 --min=0 --max=4294967296 --nonzero
done

summary
