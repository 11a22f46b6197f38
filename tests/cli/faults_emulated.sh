#!/bin/sh
# SPDX-License-Identifier: MIT
# A GPU that fails at any call, by the whole program: --device=gpu says why and prints no table.
# (What auto makes of it, device_faults_emulated.sh tells; the program would ask for a GPU only for an input that is
# too long for a test.)
. "${srcdir:-.}/tests/helpers/emulated.sh"
ENGINE="--device=gpu --kernel=vectorized --chunk-size=1K"
. "${srcdir:-.}/tests/helpers/lib.sh"

data text 5000 >in
oracle letters 4 0 <in
cp expected table
oracle bytes <in
mv expected bytes
echo old >old

# with PLAN ARGUMENT...
with()
{
    plan=$1
    shift
    run_as env GPUHISTO_FAULT="$plan" "$GPUHISTO" $ENGINE "$@"
}

# The calls in turn, then in growing steps, until there are none so late: how many there are depends
# on how often the program looks for what has arrived.
for once in "" :once; do
    n=1
    failing=0
    counted=0
    while [ $counted -lt 3 ] && [ $n -lt 1000000 ]; do
        cp old new
        with error:$n$once -l -o new in
        if [ "$(cat status)" -eq 0 ]; then
            counted=$((counted + 1))
            cp new out
            counts "call $n fails$once" table
        else
            counted=0
            failing=$((failing + 1))
            refuses "call $n fails$once" 1
            same "call $n fails$once: the old file" old new
        fi
        [ $n -lt 50 ] && n=$((n + 1)) || n=$((n * 5 / 4))
    done
    check "calls failed$once" [ $failing -ge 20 ]
    check "calls failed$once, and then none" [ $counted -eq 3 ]
done

for n in 1 2 3 4 5; do
    with wrong:$n -l in
    if [ "$(cat status)" -eq 0 ]; then
        counts "snapshot $n is wrong, but not the last" table
    else
        refuses "snapshot $n is wrong" 1
    fi
    # As many as bytes came in, there must be. On a busy machine chunks share a snapshot, and there are fewer.
    with wrong:$n -b in
    if [ "$n" -gt 1 ] && [ "$(cat status)" -eq 0 ]; then
        counts "snapshot $n is wrong, bytes, but there is none" bytes
    else
        refuses "snapshot $n is wrong, bytes" 1
    fi
    with late:$n -l in
    counts "snapshots come after $n looks" table
    cat in | with late:$n -l
    counts "snapshots come after $n looks, pipe" table
done

# A call that never returns: within the deadline the device is lost. --device=gpu says so; with a CPU to
# take over, the counts are exact. The thread that made the call is left, and holds up no exit.
stuck() # CALL ARGUMENT...
{
    plan=stuck:$1
    shift
    run_as env GPUHISTO_FAULT="$plan" GPUHISTO_DEVICES=2 GPUHISTO_OFFLOAD=1 timeout 60 "$GPUHISTO" "$@"
}
be_patient --chunk-size=1K -l in
for n in 1 2 3 4 5 6 7 8 9 10 15 20 21 30; do
    stuck $n $ENGINE -l in
    if [ "$(cat status)" -eq 0 ]; then
        counts "call $n never returns, but is not made" table
    else
        refuses "call $n never returns" 1 "the device does not answer"
    fi
    stuck $n --device=auto --chunk-size=1K -ql in
    counts "call $n never returns, auto" table
    stuck $n --device=gpu:0,1 --chunk-size=1K -ql in
    if [ $n -eq 1 ]; then
        refuses "the first of two GPUs never opens" 1 "the device does not answer"
    else
        counts "call $n of the first of two GPUs never returns" table
    fi
done
unset GPUHISTO_DEADLINE

# A device that counts wrong is found out by what it counts; of nothing there is nothing to believe.
run_as env GPUHISTO_FAULT=wrong:1 "$GPUHISTO" --device=gpu --values=u32 --bins=200000 --min=0 \
    --max=1000000 </dev/null
check "nothing to count, too many bins for snapshots" [ "$(cat status)" = 0 ]

with error:1 -l </dev/null
refuses "no device" 1 "cannot use the GPU: emulated failure"
# Without ENGINE: a kernel by name would imply the GPU.
run_as env GPUHISTO_FAULT=error:1 "$GPUHISTO" --device=auto -l in
counts "no device, auto" table

# A kernel that cannot hold the bins.
"$GPUHISTO" --kernel=shared --values=u32 --bins=16777216 in >out 2>err
echo $? >status
refuses "too many bins for a kernel" 1 \
    "cannot use the GPU: --kernel=shared needs 67108876 bytes of a block's shared memory, and the GPU has 232448"

# More memory than there is: neither the out-of-memory killer nor a table.
available=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
if [ "${available:-99999999}" -lt 64000000 ]; then
    "$GPUHISTO" --device=gpu --buffers=64 --chunk-size=1G -l in >out 2>err
    echo $? >status
    refuses "64 GiB of buffers" 1 "cannot use the GPU: 64 buffers of 1024.0 MiB need 65536 MiB of memory, but " \
        " MiB are available; lower --buffers or --chunk-size"
else
    skip_part "buffers that do not fit: there is too much memory, or MemAvailable is not known"
fi

summary
