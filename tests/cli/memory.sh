#!/bin/sh
# SPDX-License-Identifier: MIT
# Memory does not grow with the input: 64 MiB at most on the CPU, for 300 MB; but for compressed data
# that are decompressed side by side 256 MiB more.
. "${srcdir:-.}/tests/helpers/lib.sh"

[ "$SANITIZED" = no ] || skip "sanitizers and emulators need memory of their own"

limit=65536
mkfifo pipe

watch_over 300

# look CASE TOTAL ARGUMENT...: the program's peak memory is within the limit, and it counts TOTAL bytes.
look()
{
    looked_at=$1
    total=$2
    shift 2
    "$HELPERS/peak" peak "$GPUHISTO" $ENGINE "$@" >out
    check "$looked_at: status" [ $? -eq 0 ]
    read -r kilobytes <peak
    echo "$looked_at: $kilobytes KiB"
    check "$looked_at: at most $limit KiB" [ "$kilobytes" -le $limit ]
    check "$looked_at: total" [ "$(awk '{ sum += $2 } END { printf "%.0f", sum }' out)" = "$total" ]
}

size=300000000

truncate -s $size file
look "FILE" $size file
look "standard input is a file" $size - <file
look "FILE, 8 threads, large chunks" $size --threads=8 --chunk-size=1G file
head -c $size /dev/zero >pipe &
look "fifo" $size pipe
wait $!
head -c $size /dev/zero >pipe &
look "pipe on standard input" $size - <pipe
wait $!
# zstd: as much again as its window, which is 8 MiB at most at ordinary levels.
"$HELPERS/make_zstd" -n -c -w 23 <file >file.zst
look "zstd FILE" $size file.zst
"$HELPERS/make_zstd" -f 1000000 <file >file.zst
look "zstd FILE of many frames" $size file.zst

# Very many small files: nothing is kept of those that were read.
: >none
printf 12345 >some
set --
while [ $# -lt 5000 ]; do
    set -- "$@" none none none none none none none none none none
done
look "5000 FILEs" 5 "$@" some

# Many readers, of frames as large as they may be to be held whole: 6 MB, with a window of 8 MiB.
limit=$((65536 + 262144))
"$HELPERS/make_data" uniform 100000000 >noise
"$HELPERS/make_zstd" -f 6000000 -n -w 23 -l 1 <noise >file.zst
look "zstd FILE of large frames, 16 threads" 100000000 --threads=16 file.zst
cat file.zst >pipe &
look "zstd pipe of large frames, 16 threads" 100000000 --threads=16 pipe
wait $!
# FILEs of one frame whose windows would take 640 MiB.
head -c 60000000 file | "$HELPERS/make_zstd" -n -w 25 -l 1 >large.zst
set --
while [ $# -lt 20 ]; do
    set -- "$@" large.zst
done
look "20 FILEs with large windows, 16 threads" 1200000000 --threads=16 "$@"

# Nor does it take much address space: little more than the memory, and the program itself. Stacks
# of the usual size would take 128 MiB more, and an arena a thread 1 GiB. With much less, the first
# workers may have taken it all before the last ones are started.
limit_v=$((160000 + $(wc -c <"$GPUHISTO") / 1024))
# shellcheck disable=SC3045 # every sh of Linux has it
(ulimit -v $limit_v && exec "$GPUHISTO" $ENGINE --threads=16 --verbose file.zst) >out 2>err
echo $? >status
check "16 threads, $limit_v KiB of address space: status" [ "$(cat status)" -eq 0 ]
check "16 threads, $limit_v KiB of address space: total" \
    [ "$(awk '{ sum += $2 } END { printf "%.0f", sum }' out)" = 100000000 ]
check "16 threads, $limit_v KiB of address space: workers" grep -q 'cpu: 16 workers' err

summary
