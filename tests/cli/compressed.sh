#!/bin/sh
# SPDX-License-Identifier: MIT
# Several compressed FILEs, which are decompressed side by side: regular ones and FIFOs, too many to be
# open at a time, wrong ones among right ones, and memory that is short.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

zstd()
{
    "$HELPERS/make_zstd" "$@"
}

printf '\037\213\010' >magic
has_gzip=yes
"$GPUHISTO" --device=cpu magic >/dev/null 2>&1 && has_gzip=no

# Other threads are started after 4 MiB: `large` is as long, and comes first among regular FILEs.
large=--chunk-size=64K
seq 700000 >large
seq 3 60000 >small
printf '1 2 3\n4' >few
zstd -l 1 -f 100000 <large >large.zst
zstd -n -w 24 -l 1 <large >window.zst
zstd -n -f 5000 <small >small.zst
zstd <few >few.zst
"$HELPERS/make_gzip" -m 70000 <small >small.gz
[ $has_gzip = yes ] || cp small.zst small.gz

# expect FILE...: what FILEs of numbers give, by the program itself; tests/cli/numbers.sh tests that.
expect()
{
    "$GPUHISTO" --device=cpu -d none -n --min=0 --max=800000 --bins=50 "$@" >expected
}

numbers()
{
    run $large -n --min=0 --max=800000 --bins=50 "$@"
}

# --- FIFOs ---

# Two FIFOs that one program writes, one after the other. The first has frames that are decompressed in
# order, between others: who reads it may not go on to open the second before that is possible.
mkfifo one two
{
    zstd -l 1 -f 100000 <large && zstd -n -w 24 -l 1 <small && zstd -f 30000 <small &&
        zstd -n -w 24 -l 1 <large && zstd -f 30000 <small && zstd -n -w 24 -l 1 <small
} >turns.zst
expect large small small large small small small
tries=2
[ "$SCALE" = small ] || tries=10
while [ $tries -gt 0 ]; do
    for threads in 1 2 4; do
        { cat turns.zst >one && cat small.zst >two; } &
        writer=$!
        run_as timeout 60 "$GPUHISTO" $ENGINE $large --threads=$threads -n --min=0 --max=800000 \
            --bins=50 one two
        read -r status <status
        [ "$status" -eq 0 ] || timeout 1 cat two >/dev/null # lets the writer go
        wait $writer
        counts "two FIFOs of one writer, $threads threads" expected
    done
    tries=$((tries - 1))
done

# Writers that know nothing of each other.
expect large small small large few
for threads in 1 2 3 8; do
    cat small.gz >two &
    second=$!
    cat window.zst >one &
    numbers --threads=$threads large.zst two small.zst one few.zst
    wait $!
    wait $second
    counts "FIFOs among FILEs, $threads threads" expected
    "$HELPERS/dribble" -n 1000 <small.zst >two &
    numbers --threads=$threads large.zst two small.gz window.zst few.zst
    wait $!
    counts "a FIFO in small packets among FILEs, $threads threads" expected
done

# A producer that ends early.
size=$(wc -c <small.zst)
head -c $((size - 3)) small.zst >cut.zst
head -c $(($(wc -c <window.zst) / 2)) window.zst >cut.window
for file in cut.zst cut.window; do
    for threads in 1 3; do
        cat $file >one &
        numbers --threads=$threads large.zst one
        wait $!
        refuses "$file in a FIFO" 1 "one: truncated zstd data, at byte $(wc -c <$file)"
    done
done

# --- the same, and those that vanish ---

expect large few few few small
mv expected vanished
expect large large small small few few
for threads in 1 2 8; do
    numbers --threads=$threads large.zst small.zst few.zst few.zst small.zst large.zst
    counts "each FILE twice, $threads threads" expected
    numbers --threads=$threads window.zst small.gz few.zst few small.gz window.zst
    counts "each FILE twice, of all kinds, $threads threads" expected
    # It is open already, unless there are too few descriptors to hold FILEs until their turn.
    for descriptors in 15 1000; do
        cp small.zst vanishing
        (
            exec 3>one
            rm vanishing
            cat large.zst >&3
        ) &
        more=few.zst
        [ $descriptors -gt 15 ] || more=$(printf 'few.zst %.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
        (ulimit -n $descriptors && numbers --threads=$threads one few.zst few.zst $more vanishing)
        wait $!
        case $descriptors in
        15) refuses "a FILE that vanishes, $threads threads" 1 "vanishing: No such file or directory" ;;
        *) counts "a FILE that is held vanishes, $threads threads" vanished ;;
        esac
    done
done

# --- many ---

set --
plain=
count=0
while [ $count -lt 12 ]; do
    set -- "$@" small.zst small.gz few.zst window.zst few
    plain="$plain small small few large few"
    count=$((count + 1))
done
[ "$SCALE" = full ] || set -- "$@" large.zst
[ "$SCALE" = full ] || plain="$plain large"
expect $plain
(ulimit -n 16 && numbers --threads=8 "$@")
counts "$# FILEs, 16 descriptors, 8 threads" expected
numbers --threads=8 "$@"
counts "$# FILEs, 8 threads" expected

# One of many that is wrong.
zstd -c -f 5000 <small >checked.zst
size=$(wc -c <checked.zst)
{ head -c $((size / 2)) checked.zst && printf wrong && tail -c +$((size / 2 + 6)) checked.zst; } >bad.zst
for threads in 1 8; do
    for file in bad.zst cut.zst cut.window; do
        numbers --threads=$threads "$@" $file "$@"
        refuses "one of many, $file, $threads threads" 1 "$file: " "zstd data" ", at byte "
    done
done
printf 'one 1\n' | zstd >word.zst
numbers --invalid=error --threads=8 "$@" word.zst "$@" word.zst
refuses "a token among many" 1 "word.zst: line 1: 'one' is not a number"

if [ "$SCALE" = full ]; then
    mkdir many
    bytes=$(od -An -v -to1 few.zst | tr -d '\n' | tr ' ' '\\')
    seq 100000 | while read -r name; do
        printf "$bytes" >many/"$name"
    done
    cp large.zst many/0
    { cat large && yes '1 2 3 4' | head -n 100000; } >all
    expect all
    for threads in 1 8; do
        (cd many && numbers --threads=$threads 0 $(seq 100000) && mv out err status ..)
        counts "100000 FILEs, $threads threads" expected
    done
    rm -r many
fi

# --- memory that is short ---

# in_a_heap MB THREADS FILE...: each thread beside the first has 500 KB more for its chunk. What one
# thread can do, many can: those that find no memory help the others.
in_a_heap()
{
    heap=$((1000000 * $1 + 500000 * ($2 - 1))) threads=$2 what="a heap of $1 MB, $2 threads"
    shift 2
    run_as env FAULT_HEAP=$heap LD_PRELOAD="$HELPERS/interpose.so" \
        "$GPUHISTO" $ENGINE --threads="$threads" "$@"
    read -r status <status
    if [ "$status" = 0 ]; then
        counts "$what" expected
    else
        refuses "$what" 1
        check "$what: it says so" grep -qE 'out of memory|thread' err
    fi
    [ "$threads" != 1 ] || alone=$status
    [ "$alone" != 0 ] || check "$what: as by one" [ "$status" = 0 ]
}

# FILEs whose windows are large, and which have no order of their own: of one length.
memory_is_short()
{
    data uniform 12000000 >noise
    for log in 22 23 24 25; do
        zstd -n -l 1 -w $log <noise >noise.$log
    done
    cat noise noise noise noise noise | oracle bytes
    for limit in 8 12 16 20 24 26 28 30 32 34 36 38 40 42 44 48 56 64 96 128 256; do
        for threads in 1 2 3 8; do
            in_a_heap $limit $threads noise.24 noise.25 noise.23 noise.22 noise.24
        done
    done
    check "in the end there is enough" [ "$alone" = 0 ]
    rm noise noise.*
}

# Each allocation fails in turn: never a crash, a hang, nor a wrong table.
no_memory()
{
    what=$1
    shift
    n=1
    while [ $n -lt 1000 ]; do
        rm -f mark
        run_as env FAULT_CALL=malloc FAULT_AT=$n FAULT_ERRNO=12 FAULT_MARK="$work/mark" \
            LD_PRELOAD="$HELPERS/interpose.so" timeout 60 "$GPUHISTO" $ENGINE "$@"
        [ -s mark ] || break
        if [ "$(cat status)" -eq 0 ]; then
            counts "no memory at $n, $what" expected
        else
            refuses "no memory at $n, $what" 1
            check "no memory at $n, $what: it says so" grep -qE 'memory|thread' err
        fi
        n=$((n + 1))
    done
    counts "no memory, $what: none left to fail" expected
    check "no memory, $what: some tried" [ $n -gt 10 ]
}

if can_interpose; then
    counted="-n --min=0 --max=800000 --bins=50"
    expect small small few
    no_memory "three FILEs" $counted --threads=2 small.zst small.gz few.zst
    if [ "$SCALE" = full ]; then
        expect large small large
        no_memory "FILEs read by several threads" $counted $large --threads=3 large.zst small.zst window.zst
        memory_is_short
    else
        skip_part "memory that is short: SCALE=full does it"
    fi
else
    skip_part "memory that is short: $why_not"
fi

summary
