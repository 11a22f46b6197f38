#!/bin/sh
# counts.sh where the emulated GPU may be used, but need not.
. "${srcdir:-.}/tests/emulated.sh"
ENGINE="--device=auto --chunk-size=64K"
exec "${srcdir:-.}/tests/counts.sh"
