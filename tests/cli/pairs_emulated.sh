#!/bin/sh
# pairs.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=gpu --chunk-size=64K"
exec "${srcdir:-.}/tests/cli/pairs.sh"
