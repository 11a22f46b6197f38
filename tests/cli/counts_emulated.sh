#!/bin/sh
# counts.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/counts.sh"
