#!/bin/sh
# SPDX-License-Identifier: MIT
# Paths into JSON, -k .a.b: of lines that are valid and broken in every way, however these come, against
# Python's json, and jq where it is installed.
. "${srcdir:-.}/tests/helpers/lib.sh"

find_python || skip "python3 is not installed"
python=${PYTHON:-$python}
watch_over 600
counters=$(kernels_here)
if [ "$SCALE" = small ] || [ "$SANITIZED" = yes ]; then
    chunks="1 13 1000" limits="4096 16777216"
else
    chunks="1 2 3 7 13 64 100 1000 5000" limits="64 2048 4096 1048576 16777215 16777216 16777217"
fi

oracle_json()
{
    $python "$srcdir/tests/helpers/oracle_json.py" "$@"
}

for kind in valid broken cut long; do
    oracle_json --lines=$kind >$kind || broken "oracle_json.py failed"
done
head -n 600 long >small
check "the number of lines" [ "$(wc -l <cut)" -gt 10000 ]

# The path and the steps that it has.
paths()
{
    cat <<'END'
.a ["a"]
.a.b ["a","b"]
.a[0] ["a",0]
.a[1].b ["a",1,"b"]
.a[-1] ["a",-1]
.a[-2] ["a",-2]
.["a"][0] ["a",0]
. []
.[0] [0]
.[-1].a [-1,"a"]
."a\u0020b" ["a b"]
.é ["é"]
."\u00e9" ["é"]
.["😀"] ["😀"]
."" [""]
.latency ["latency"]
.latency_ms ["latency_ms"]
."a.b" ["a.b"]
."a name that is longer than sixteen bytes" ["a name that is longer than sixteen bytes"]
END
}

# expect FILE: the table of the path, and what is wrong with the first invalid line, as Python finds it.
expect()
{
    oracle_json "$steps" <"$1" >tokens 2>wrong || broken "oracle_json.py failed"
    "$GPUHISTO" --device=cpu -n -q tokens >expected
}

# shows CASE: the last run gave both.
shows()
{
    read -r status <status
    check "$1: status" [ "$status" -eq 0 ]
    same "$1" expected out
    line=
    read -r line what <wrong
    if [ "$line" ]; then
        check "$1: message about line $line: $what" grep -q "line $line: .*$what" err
    else
        check "$1: no message" [ ! -s err ]
    fi
}

paths | while read -r path steps; do
    # A name with blanks.
    case $path$steps in *'["a name'*)
        path='."a name that is longer than sixteen bytes"' steps='["a name that is longer than sixteen bytes"]' ;;
    esac
    case $SCALE,$path in small,.[!a]* | small,.a?[01]*) kinds="valid broken" ;; *) kinds="valid broken cut" ;; esac
    for kind in $kinds; do
        expect $kind
        for cpu in $counters; do
            run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -k "$path" $kind
            shows "$kind, $path, $cpu"
        done
    done
    printf '%s %s\n' $cases $failures >counted
    [ "$failures" -eq 0 ] || exit 1
done
read -r done_ bad_ <counted
cases=$done_ failures=$bad_

# --- however they come ---

"$HELPERS/make_zstd" -f 777 <long >long.zst
"$HELPERS/make_gzip" -m 777 <long >long.gz 2>/dev/null || rm -f long.gz
path=.a.b steps='["a","b"]'
expect long
for file in long long.zst long.gz; do
    [ -e $file ] || continue
    for more in "" "--threads=3" "--threads=3 --chunk-size=1000"; do
        run -k $path $more $file
        shows "$file $more"
    done
    "$HELPERS/dribble" -n 100 <$file | run -k $path
    shows "$file in pieces"
done
for chunk in $chunks; do
    run -k $path --chunk-size="$chunk" long
    shows "chunks of $chunk"
    cat long | run -k $path --chunk-size="$chunk"
    shows "a pipe, chunks of $chunk"
done
steps='["a"]'
expect cut
run -k .a --threads=3 --chunk-size=100 cut
shows "broken lines, 3 threads, small chunks"

# --- records around the longest ---

for limit in $limits; do
    {
        printf '{"x":"%*s","a":1}\n' $((limit - 15)) ''
        printf '{"a":2,"x":"%*s"}\n' $((limit - 14)) ''
        printf '{"a":3}\n'
    } >records
    awk '{ print (length() > 16777216 ? "x" : NR) }' records | "$GPUHISTO" --device=cpu -n -q >expected
    for threads in $(few 2 3 1); do
        run -q -k .a --threads=$threads records
        counts "records of $limit bytes, $threads threads" expected
        run -q -k .a --threads=$threads --chunk-size=300K --lines-with='"a"' records
        counts "records of $limit bytes, filtered, $threads threads" expected
        cat records | run -q -k .a --threads=$threads --chunk-size=300K
        counts "records of $limit bytes in a pipe, $threads threads" expected
    done
done


# --- keys ---

for cpu in $counters; do
    for way in "--by .time:15-16 -s -k .a.b" "--by .b -k .x[0]" "--by .a.b" "--by .x[-2] --stats -k .x[0]"; do
        "$GPUHISTO" --device=cpu --threads=1 -q $way small >expected
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -q --threads=3 --chunk-size=1000 $way small
        counts "$way, $cpu" expected
    done
done

# --- as jq ---

if command -v jq >/dev/null; then
    for path in .a.b .x[0] .x[-1].b .a[0] .time '."a b"'; do
        jq -r "try ($path | if type == \"number\" then . else \"x\" end) catch \"x\"" <long |
            "$GPUHISTO" --device=cpu -nq >expected
        sed 's/"\([0-9]*\)"/"q\1"/g' long >unquoted # numbers in quotes are no numbers for jq
        run -q -k "$path" unquoted
        counts "jq, $path" expected
    done
else
    skip_part "there is no jq"
fi
summary
