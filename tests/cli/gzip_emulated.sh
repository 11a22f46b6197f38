#!/bin/sh
# gzip.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/gzip.sh"
