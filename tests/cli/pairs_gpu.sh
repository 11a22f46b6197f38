#!/bin/sh
# SPDX-License-Identifier: MIT
# pairs.sh on a real GPU; lib.sh skips without one.
ENGINE=--device=gpu SLOW_START=yes
export ENGINE SLOW_START
exec "${srcdir:-.}/tests/cli/pairs.sh"
