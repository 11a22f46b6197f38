#!/bin/sh
# SPDX-License-Identifier: MIT
# pairs.sh on a real GPU; lib.sh skips without one.
ENGINE=--device=gpu
export ENGINE
exec "${srcdir:-.}/tests/cli/pairs.sh"
