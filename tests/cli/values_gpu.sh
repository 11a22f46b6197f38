#!/bin/sh
# SPDX-License-Identifier: MIT
# values.sh on a real GPU; lib.sh skips without one.
ENGINE=--device=gpu
export ENGINE
exec "${srcdir:-.}/tests/cli/values.sh"
