#!/bin/sh
# values.sh on the emulated GPU.
. "${srcdir:-.}/tests/emulated.sh"
ENGINE="--device=gpu --chunk-size=64K"
KERNEL=matched # quick to emulate, however many bins
export KERNEL
exec "${srcdir:-.}/tests/values.sh"
