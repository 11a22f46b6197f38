#!/bin/sh
# Memory does not grow with the input: 64 MiB at most on the CPU, for 300 MB.
. "${srcdir:-.}/tests/helpers/lib.sh"

[ "$SANITIZED" = no ] || skip "sanitizers need memory of their own"
grep -q '^VmHWM:' /proc/self/status 2>/dev/null || skip "no VmHWM in /proc/self/status"

limit=65536
mkfifo last

watch_over 300

# look CASE TOTAL: looks at the program, process pid, which reads the fifo `last` after all
# other input and waits there; then lets it end. TOTAL is what it should have counted.
look()
{
    exec 3>last
    # The writer's open returns when the reader has the fifo open, and so is done with the rest, but
    # for the chunks of other workers; they get a moment.
    sleep 0.1
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB$/\1/p' /proc/$pid/status >peak
    exec 3>&-
    wait $pid
    check "$1: status" [ $? -eq 0 ]
    read -r kilobytes <peak
    echo "$name: $1: $kilobytes KiB"
    check "$1: at most $limit KiB" [ "$kilobytes" -le $limit ]
    # So it was this program that was looked at, and it had read everything.
    check "$1: total" [ "$(awk '{ sum += $2 } END { printf "%.0f", sum }' out)" = "$2" ]
}

size=300000000

truncate -s $size file
"$GPUHISTO" $ENGINE file last >out &
pid=$!
look "FILE" $size
"$GPUHISTO" $ENGINE - last <file >out &
pid=$!
look "standard input is a file" $size
"$GPUHISTO" $ENGINE --threads=8 --chunk-size=1G file last >out &
pid=$!
look "FILE, 8 threads, large chunks" $size
mkfifo pipe
head -c $size /dev/zero >pipe &
feeder=$!
"$GPUHISTO" $ENGINE pipe last >out &
pid=$!
look "fifo" $size
wait $feeder
head -c $size /dev/zero >pipe &
feeder=$!
"$GPUHISTO" $ENGINE - last <pipe >out &
pid=$!
look "pipe on standard input" $size
wait $feeder
# zstd: as much again as its window, which is 8 MiB at most at ordinary levels.
"$HELPERS/make_zstd" -n -c -w 23 <file >file.zst
"$GPUHISTO" $ENGINE file.zst last >out &
pid=$!
look "zstd FILE" $size
"$HELPERS/make_zstd" -f 1000000 <file >file.zst
"$GPUHISTO" $ENGINE file.zst last >out &
pid=$!
look "zstd FILE of many frames" $size
# Many readers, of frames as large as they may be to be held whole: 6 MB, with a window of 8 MiB.
"$HELPERS/make_data" uniform 100000000 >noise
"$HELPERS/make_zstd" -f 6000000 -n -w 23 -l 1 <noise >file.zst
"$GPUHISTO" $ENGINE --threads=16 file.zst last >out &
pid=$!
look "zstd FILE of large frames, 16 threads" 100000000
cat file.zst >pipe &
feeder=$!
"$GPUHISTO" $ENGINE --threads=16 pipe last >out &
pid=$!
look "zstd pipe of large frames, 16 threads" 100000000
wait $feeder

# Nor does it take much address space: little more than the memory, and the program itself.
limit_v=$((80000 + $(wc -c <"$GPUHISTO") / 1024))
# shellcheck disable=SC3045 # every sh of Linux has it
(ulimit -v $limit_v && exec "$GPUHISTO" $ENGINE --threads=16 --verbose file.zst) >out 2>err
echo $? >status
check "16 threads, $limit_v KiB of address space: status" [ "$(cat status)" -eq 0 ]
check "16 threads, $limit_v KiB of address space: total" \
    [ "$(awk '{ sum += $2 } END { printf "%.0f", sum }' out)" = 100000000 ]
check "16 threads, $limit_v KiB of address space: workers" grep -q 'cpu: 16 workers' err
# Very many small files: nothing is kept of those that were read.
: >none
set --
while [ $# -lt 5000 ]; do
    set -- "$@" none none none none none none none none none none
done
printf 12345 >some
"$GPUHISTO" $ENGINE "$@" some last >out &
pid=$!
look "5000 FILEs" 5

summary
