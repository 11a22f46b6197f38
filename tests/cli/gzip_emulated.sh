#!/bin/sh
# SPDX-License-Identifier: MIT
# gzip.sh on the emulated GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
exec "${srcdir:-.}/tests/cli/gzip.sh"
