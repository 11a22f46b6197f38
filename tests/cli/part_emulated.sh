#!/bin/sh
# SPDX-License-Identifier: MIT
# part.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/part.sh"
