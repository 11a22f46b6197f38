#!/bin/sh
# SPDX-License-Identifier: MIT
# counts.sh on two GPUs at once.
ENGINE="--device=gpu:0,1"
export ENGINE
exec "${srcdir:-.}/tests/cli/counts.sh"
