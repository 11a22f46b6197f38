#!/bin/sh
# SPDX-License-Identifier: MIT
# --by, --max-keys: keys, their counts and the sums of their numbers are those of oracle_by.py, a dict of Fractions,
# however the text comes, wherever it is cut, and however many keys there are.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=150 chunks="1 100" distinct=40000
else
    lines=3000 chunks="1 2 3 5 8 13 64 100 1000" distinct=1000000
fi
oracle_by="$python $srcdir/tests/helpers/oracle_by.py"

# expect FILE OPTION...: sets `way` and `options`, and makes the table that is expected.
expect()
{
    file=$1
    shift
    way=$*
    options="-q $*"
    case $way in
    *-k*) options="-s $options" ;;
    esac
    $oracle_by "$@" <"$file" >expected || broken "oracle_by.py $way"
}

# shows CASE: the last run printed that.
shows()
{
    read -r status <status
    check "$way, $1: status" [ "$status" -eq 0 ]
    case $options in
    -s*) tail -n +2 out | cut -f1-6 >rows ;;
    *) cp out rows ;;
    esac
    same "$way, $1" expected rows
}

# --- a text that has everything, cut everywhere ---

cat >make_text.py <<'END'
import random, sys
random.seed(int(sys.argv[2]))
keys = ['a', 'b', 'bb', 'GET', 'x' * 15, 'x' * 16, 'x' * 17, 'y' * 40, 'ä€', 'e\u0301', '10', '9', '-3', '1.5', '', '\x01', 'z\\']
keys = [key.encode() for key in keys] + [b'\xff', b'a\0b', b'\x80\x80q', b'2026-07-14T08:15:00', b'2026-07-14T09:00:01']
def number():
    return random.choice([b'%d' % random.randrange(1000), b'%.3f' % random.random(), b'x', b'0', b'-%d' % random.randrange(9),
                          b'9007199254740993', b'1e3', b'"7"', b' 8 '])
text = b''
for _ in range(int(sys.argv[1])):
    key = random.choice(keys)
    kind = random.randrange(8)
    quoted = b'"' + key + random.choice([b'', b',', b'""', b'\n', b'"",""']) + b'"'
    if kind == 0: line = key + b',' + number() + b',' + key
    elif kind == 1: line = quoted + b',' + number()
    elif kind == 2: line = number() + b',' + quoted + b',' + number()
    elif kind == 3: line = b'  ' + key + b' ' + number() + b'\t' + key + b' '
    elif kind == 4: line = random.choice([b'', b'   ', b'\t', b','])
    elif kind == 5: line = key
    elif kind == 6: line = b' '.join(random.choice(keys) for _ in range(random.randrange(12))) + b' ' + number()
    else: line = key + b' ' + b'-' * random.randrange(150) + b' ' + number()
    text += line + random.choice([b'\n', b'\n', b'\n', b'\r\n'])
sys.stdout.buffer.write(text[:-1] if random.randrange(2) else text)
END
make_text()
{
    $python make_text.py "$@"
}

ways()
{
    cat <<'END'
--by=1
--by=2
--by=-1
--by=-2
--by=1:1-2
--by=1:12-13
--by=1:2-
-t , --by=1
-t , --by=2:1
-t , --by=-2
--csv --by=1
--csv --by=2
--csv --by=-1
--csv --by=1:2-3
-k 2 --by=1
-k -1 --by=1
-k -1 --by=-2
-k 1 --by=3:1-1
-t , -k 2 --by=1
-t , -k -1 --by=-2
--csv -k 2 --by=1
--csv -k -1 --by=2
END
}

make_text $lines 7 >in
for frame in 50 1000; do
    "$HELPERS/make_zstd" -f $frame <in >frames.$frame
done
gzip -c in >in.gz
codecs="zstd"
"$GPUHISTO" --device=cpu -d gzip in.gz >/dev/null 2>&1 && codecs="zstd gzip"
ways >all_ways
while read -r way; do
    expect in $way
    run $options in
    shows FILE
    for chunk in $chunks; do
        run $options --chunk-size=$chunk in
        shows "chunks of $chunk"
        run $options --chunk-size=$chunk --threads=8 in
        shows "chunks of $chunk, 8 threads"
        cat in | run $options --chunk-size=$chunk --threads=2
        shows "pipe, chunks of $chunk"
    done
    for cpu in $(kernels_here); do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE $options in
        shows "$cpu"
    done
    for frame in 50 1000; do
        run $options frames.$frame
        shows "frames of $frame"
        run $options --threads=3 --chunk-size=100 frames.$frame
        shows "frames of $frame, 3 threads"
    done
    case $codecs in
    *gzip*)
        run $options --threads=3 in.gz
        shows gzip
        ;;
    esac
done <all_ways

# The first 2 KiB, which end anywhere, byte by byte.
[ "$SCALE" = small ] && step=71 || step=31
for len in $(seq 1 $step 2048); do
    head -c "$len" in >part
    for way in "--by=2" "-t , -k 2 --by=1"; do
        # Where few cases are asked for, odd lengths go with one, and even ones with the other.
        [ "$SCALE" != small ] || case $way$((len % 2)) in --by=21 | -t*0) ;; *) continue ;; esac
        expect part $way
        "$HELPERS/dribble" -n 1 <part | run $options
        shows "$len bytes, byte by byte"
        for cpu in $(kernels_here); do
            run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE $options part
            shows "$len bytes, $cpu"
        done
    done
done

# --- colours ---

awk 'BEGIN { for (i = 0; i < 300; i++) printf "%s %d,k%dm%dK,%d\n", i % 2 ? "GET" : "item", i % 7, i % 5, i % 3, i }' >plain
awk '{
    gsub(/[A-Za-z0-9]+/, i++ % 2 ? "\033[01;31m\033[K&\033[m\033[K" : i % 5 ? "&" : "&\033[0m")
    gsub(/,/, "\033[36m,\033[m")
    print
}' plain >coloured
for way in --by=1 "--by=1:1-2" "-t , --by=2" "--csv --by=3" "-t , --by=2 -k 3" "--csv --by=2 -k -1"; do
    run $way plain && cp out expected
    for cpu in $(kernels_here); do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE $way coloured
        counts "colours, $way, $cpu" expected
    done
done

# --- long keys, and what has none ---

for bytes in $(few 2 1048577 100 1048575 70000 1048574); do
    $python -c "
k = b'k' * ($bytes - 1)
import sys; sys.stdout.buffer.write(b'\n'.join([k + b'a 1', k + b'b 2', k + b'a 3', b'short 4']))" >long
    for way in "--by=1" "-k -1 --by=1" "--by=1:1-3"; do
        expect long $way
        for chunk in 100000 8M; do
            run $options --chunk-size=$chunk long
            shows "keys of $bytes bytes, chunks of $chunk"
            cat long | run $options --chunk-size=$chunk
            shows "keys of $bytes bytes, chunks of $chunk, pipe"
        done
    done
done

# --- many keys, and too many ---

awk -v n="$distinct" 'BEGIN { for (i = 0; i < 3 * n; i++) printf "key%d %d\n", (i * 7919) % n, i % 1000 }' >many
for way in "--by=1" "-k 2 --by=1"; do
    expect many $way
    for threads in 1 2 8; do
        run $options --threads=$threads many
        shows "$distinct keys, $threads threads"
    done
    cat many | run $options --max-keys="$distinct"
    shows "$distinct keys of as many"
    run $options --max-keys=$((distinct - 1)) many
    refuses "$way, $distinct keys, one less allowed" 1 "more than $((distinct - 1)) keys; "
done
# Names of all lengths, lines without a key or a number, and numbers that no double says, where keys hardly repeat.
awk 'BEGIN { for (i = 0; i < 150000; i++) { k = i % 9 ? (i * 7919) % 50000 : (i - 1) * 7919 % 50000
    name = sprintf("%d%*s", k, k % 70, ""); gsub(" ", "x", name)
    if (i % 50 == 0) print "," i; else if (i % 60 == 0) print name; else if (i % 70 == 0) print name ",none"
    else if (i > 100000 && i % 900 == 0) print name ",91071992547" 400000 + i; else print name "," i % 1000 } }' >ugly
for way in "-t, --by=1" "-t, -k 2 --by=1"; do
    expect ugly $way
    for threads in 1 3; do
        run $options --threads=$threads ugly
        shows "ugly lines, $threads threads"
        cat ugly | run $options --threads=$threads --chunk-size=3000
        shows "ugly lines, $threads threads, pipe"
    done
done
# Sums of large numbers, of which tables of many threads have few.
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "key%d 9107199254%06d\n", (i * 7919) % 20000, i }' >large
expect large -k 2 --by=1
for threads in 1 64; do
    run $options --threads=$threads large
    shows "large numbers, $threads threads"
done
# More than 1 GiB of names.
if [ "$SCALE" != small ] && [ "$SANITIZED" != yes ]; then
    python3 -c "
import sys
for i in range(1100):
    sys.stdout.buffer.write(b'%d' % i + b'k' * 1000000 + b'\n')" 2>/dev/null | run --by=1 --threads=2
    refuses "keys of 1.1 GB" 1 "gpuhisto: keys and their bins take more than 1024 MiB; use a shorter part of the field, such as --by=1:1-8, fewer bins, or --max-keys=2097152"
fi

# --- together with others ---

"$HELPERS/dribble" -n 4000 <many | run --by=1:1-4 --interval=0.1 --threads=2
read -r status <status
check "--interval: status" [ "$status" -eq 0 ]
tail -n 10 out >rows
$oracle_by --by=1:1-4 <many >expected
same "--interval" expected rows
printf 'a\nb\nc\n' | "$HELPERS/dribble" -n 4 -u 400000 | run --by=1 --max-keys=1 --interval=0.1 --chunk-size=4
refuses "--interval, too many keys" 1 "gpuhisto: more than 1 key; "
grep -F 'key1' many >kept
expect kept --by=2
run --by=2 --lines-with=key1 many
shows "--lines-with"
summary
