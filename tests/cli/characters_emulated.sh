#!/bin/sh
# characters.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/characters.sh"
