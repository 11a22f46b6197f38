#!/bin/sh
# sources.sh on the emulated GPU.
. "${srcdir:-.}/tests/emulated.sh"
exec "${srcdir:-.}/tests/sources.sh"
