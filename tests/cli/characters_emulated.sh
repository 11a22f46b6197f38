#!/bin/sh
# SPDX-License-Identifier: MIT
# characters.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/characters.sh"
