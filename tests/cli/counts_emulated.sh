#!/bin/sh
# SPDX-License-Identifier: MIT
# counts.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/counts.sh"
