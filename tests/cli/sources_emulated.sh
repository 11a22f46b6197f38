#!/bin/sh
# SPDX-License-Identifier: MIT
# sources.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/sources.sh"
