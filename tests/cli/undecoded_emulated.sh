#!/bin/sh
# zstd data that the emulated GPU decompresses by itself: from FILEs and pipes, however bytes arrive,
# and when it is lost in the middle of a frame.
. "${srcdir:-.}/tests/helpers/emulated.sh"
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

zstd()
{
    "$HELPERS/make_zstd" "$@"
}

data text 300000 >in
zstd -c <in >one.zst
oracle bytes <in
mv expected table

# --- what it takes ---

run -b --timing one.zst
same "a FILE" table out
check "--timing says what memory that took" \
    grep -qE '^gpuhisto: gpu: decompressing takes [1-9][0-9.]* MiB of its memory and [0-9.]+ MiB of the host.s, for [0-9.]+ MiB of content at a time$' err
run -b --timing in
refute "--timing says nothing of it if nothing was decompressed" grep -q decompressing err

summary
