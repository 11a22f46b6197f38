#!/bin/sh
# SPDX-License-Identifier: MIT
# characters.sh on a real GPU; lib.sh skips without one.
ENGINE=--device=gpu
export ENGINE
exec "${srcdir:-.}/tests/cli/characters.sh"
