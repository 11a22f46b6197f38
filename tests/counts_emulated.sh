#!/bin/sh
# counts.sh on the emulated GPU.
. "${srcdir:-.}/tests/emulated.sh"
exec "${srcdir:-.}/tests/counts.sh"
