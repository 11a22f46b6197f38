#!/bin/sh
# SPDX-License-Identifier: MIT
# --field, --separator, --csv, --header-line, --after: fields of lines, however these come and wherever
# they are cut, against the definition (oracle_fields), awk and cut.
. "${srcdir:-.}/tests/helpers/lib.sh"
counters=$(kernels_here)

watch_over 900

# What the GPU counts of all this: neither CSV nor columns by name.
case $ENGINE in
*--device=gpu*) on_gpu=yes ;;
*) on_gpu= ;;
esac

# Starting a real GPU takes a third of a second: of loops over thousands of runs it gets a few.
SLOW_START=${SLOW_START:-}
lines=80
if [ "$SLOW_START" ]; then
    chunks=13 pieces=64 parts=frames.7 lengths="4097 1048577" sizes=100K counts_of_threads=3
elif [ "$SANITIZED" = yes ] || [ "$on_gpu" ]; then # each takes several times as long
    chunks="1 13" pieces="1 8M" parts="frames.7 cut.*" lengths="4097 1048577" sizes="100 8M"
    counts_of_threads=3 lines=40
else
    chunks="1 2 3 5 8 13 64 100 1000" pieces="1 10 100 8M" parts="frames.* cut.*"
    lengths="4095 4096 4097 300000 1048575 1048576 1048577 3000000" sizes="100 100K 8M"
    counts_of_threads="1 2 4"
    if [ "$SCALE" = small ]; then
        chunks="1 3 13 100" pieces="1 100" parts="frames.7 cut.*" lengths="4096 1048577" sizes="100 8M"
        counts_of_threads="1 4"
    fi
fi

# as_program OPTION...: sets options to what the program calls the oracle's options.
as_program()
{
    options=
    while [ $# -gt 0 ]; do
        case $1 in
        -c) options="$options --csv" ;;
        -H) options="$options --header-line" ;;
        -a)
            options="$options --after=$2"
            shift
            ;;
        *)
            options="$options $1 $2"
            shift
            ;;
        esac
        shift
    done
}

# expect FILE OPTION...: the table and the message that are expected; FILE as in oracle_fields.
expect()
{
    file=$1
    shift
    as_program "$@"
    "$HELPERS/oracle_fields" "$@" "$file" >tokens 2>told
    "$GPUHISTO" --device=cpu -n -q tokens >expected
}

# shows CASE: the last run gave both.
shows()
{
    read -r status <status
    check "$1: status" [ "$status" -eq 0 ]
    same "$1" expected out
    same "$1: message" told err
}

# fields ARGUMENT...: as run, with the options of the oracle's last call.
fields()
{
    run -n $options "$@"
}

# --- a text that has everything, cut everywhere ---

make_text() # LINES SEED
{
    awk -v lines="$1" -v seed="$2" '
    function any(n) { seed = (seed * 16807) % 2147483647; return seed % n }
    function number() { return any(9) == 0 ? "x" : any(2) ? any(1000) / 8 : -any(10000) }
    BEGIN {
        print "date level,ms;size\tms \"a, b\",rt=5,size"
        for (i = 0; i < lines; i++) {
            kind = any(8)
            if (kind == 0) line = number() "," number() "," number()
            else if (kind == 1) line = "  a " number() "\t" number() " rt=" number() "s  "
            else if (kind == 2) line = "\"" number() "\",\"x\"\"y,\n1\"," number() ";\"" number() "\""
            else if (kind == 3) line = "{\"ms\": \"" number() "\", \"rt=\":" number() "} rt= " number()
            else if (kind == 4) line = number() "\t" number() ",," number() ";"
            else if (kind == 5) line = number() " " number() " " number() " " number()
            else if (kind == 6) line = any(2) ? "" : "   "
            else line = "a,\"" number() "\"," number() "\"," number() " " number()
            printf "%s%s", line, i + 1 == lines ? "" : any(4) ? "\n" : "\r\n"
        }
    }'
}

ways()
{
    if [ "$on_gpu" ]; then every_way | grep -v '^-c'; else every_way; fi
}

every_way()
{
    cat <<'END'
-k 1
-k -1
-k 2
-k -2 -H
-k 9
-t , -k 1
-t , -k -1
-t , -k 3 -H
-t ; -k -2
-t \t -k 2
-c -k 1
-c -k -1
-c -k 3
-c -t ; -k 2 -H
-a rt=
-a "ms":
-a ,
END
}

make_text $lines 7 >in
check "the size of the text" [ "$(wc -c <in)" -gt $((18 * lines)) ]
size=$(wc -c <in)
[ "$SCALE" = small ] && step=197 || step=17
cut=1
while [ $cut -lt "$size" ]; do
    { head -c $cut in | "$HELPERS/make_zstd"; tail -c +$((cut + 1)) in | "$HELPERS/make_zstd"; } >cut.$cut
    cut=$((cut + step))
done
for frame in 1 7 100; do
    "$HELPERS/make_zstd" -f $frame <in >frames.$frame
done
"$HELPERS/make_zstd" -n -f 50 <in >frames.unsized
ways | while read -r way; do
    set -f
    expect in $way
    set +f
    case_="$way"
    fields in
    shows "$case_, FILE"
    for chunk in $chunks; do
        if [ $chunk != 1 ] || [ -z "$on_gpu" ]; then # it differs by how many read, and takes a second
            fields --chunk-size=$chunk in
            shows "$case_, FILE, chunks of $chunk"
        fi
        fields --chunk-size=$chunk --threads=3 in
        shows "$case_, FILE, chunks of $chunk, 3 threads"
    done
    for cpu in $counters; do
        [ "$on_gpu" ] && break
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -n $options in
        shows "$case_, $cpu"
    done
    for frames in $parts; do
        sed "s/: in:/: $frames:/" told >kept
        mv told told-in && mv kept told
        fields $frames
        shows "$case_, $frames"
        fields --threads=3 --chunk-size=100 $frames
        shows "$case_, $frames, 3 threads"
        mv told-in told
    done
    sed 's/: in:/: standard input:/' told >kept && mv kept told
    fields <in
    shows "$case_, standard input"
    for chunk in $pieces; do
        cat in | fields --chunk-size=$chunk
        shows "$case_, pipe, chunks of $chunk"
    done
    "$HELPERS/dribble" -n 1 <in | fields
    shows "$case_, byte by byte"
    "$HELPERS/dribble" -n 1 <frames.100 | fields
    shows "$case_, zstd byte by byte"
    printf '%s %s\n' $cases $failures >counted
    [ "$failures" -eq 0 ] || exit 1
done
read -r done_ bad_ <counted
cases=$done_ failures=$bad_

# --- a text large enough for several readers ---

[ "$SCALE" = small ] && lines=30000 || lines=300000
[ "$on_gpu" ] && [ -z "$SLOW_START" ] && lines=5000
make_text $lines 11 >large
"$HELPERS/make_zstd" -f 100000 <large >large.zst
for way in "-k 2" "-k -1" "-t , -k 2" "-t , -k -1" "-c -k 2" "-a rt="; do
    case $on_gpu$way in yes-c*) continue ;; esac
    expect large $way
    for threads in $counts_of_threads; do
        fields --threads=$threads large
        shows "large, $way, $threads threads"
        fields --threads=$threads --chunk-size=5003 large
        shows "large, $way, $threads threads, small chunks"
        sed 's/: large:/: large.zst:/' told >kept && mv told told-in && mv kept told
        fields --threads=$threads large.zst
        shows "large, $way, zstd, $threads threads"
        mv told-in told
    done
    sed 's/: large:/: standard input:/' told >kept && mv kept told
    cat large | fields
    shows "large, $way, pipe"
done

# --- ranges of FILEs, which begin and end within lines ---

make_text 2000 13 >whole
"$HELPERS/make_zstd" -f 3000 <whole >whole.zst
for way in "-k 2" "-t , -k -1" "-c -k 2" "-c -k 2 -H"; do
    case $on_gpu$way in yes-c*) continue ;; esac
    for range in 0:100 1:5000 777:20001 12346:1000000; do
        tail -c +$((${range%:*} + 1)) whole | head -c "${range#*:}" >part
        expect part $way
        for file in whole whole.zst; do
            for more in "" "--chunk-size=100 --threads=3"; do
                fields -q --skip="${range%:*}" --length="${range#*:}" $more $file
                counts "$way, $range of $file $more" expected
            done
        done
    done
done

# --- as awk and cut ---

awk 'BEGIN { for (i = 0; i < 5000; i++) printf "%d\t %d  %.3f,%d,%d %d\n", i, i % 7, i / 9, i % 13, i * 3, i }' >plain
for k in 1 2 3 4; do
    awk "{ print \$$k }" plain | "$GPUHISTO" --device=cpu -n -q >expected
    run -n -q -k $k plain
    counts "awk, field $k" expected
done
awk '{ print $NF }' plain | "$GPUHISTO" --device=cpu -n >expected
run -n -k -1 plain
counts "awk, the last one" expected
awk '{ print $(NF - 1) }' plain | "$GPUHISTO" --device=cpu -n -q >expected
run -nqk-2 plain
counts "awk, the last but one" expected
cut -d , -f 2 plain | "$GPUHISTO" --device=cpu -n >expected
run -n -t , -k 2 plain
counts "cut" expected

# --- a file that grows, and long lines ---

# A FILE that grows while it is read, and one whose size is not known.
printf 'a 1\nb 23' >grows
mkfifo gate
(
    exec 3>gate
    printf '45\nc 7\n' >>grows
    exec 3>&-
) &
run -n -k 2 gate grows
wait $!
printf '1 2345 7' | "$GPUHISTO" --device=cpu -n >expected
counts "a file that grew" expected

line() # BYTES: a line of so many bytes, of which the last field is 5
{
    awk -v n=$(($1 - 2)) 'BEGIN { for (s = "aaaaaaaaaaaaaaaa"; length(s) < n; s = s s); printf "%s 5", substr(s, 1, n) }'
}
for bytes in $lengths; do
    { printf 'x 1\n'; line $bytes; printf '\ny 2\n'; line $bytes; } >long
    { printf 'x 1\n'; line $bytes; printf '\n\n\n\ny 2\n'; line 40; } >long.2
    [ "$on_gpu" ] && [ $bytes -gt 2000000 ] && continue
    for way in "-k -1" "-k 2" "-c -t : -k 1" "-a a "; do
        case $on_gpu$way in yes-c*) continue ;; esac
        set -f
        case $way in
        -a*) options=--after=a ;;
        esac
        for file in long long.2; do
            case $way in
            -a*)
                "$HELPERS/oracle_fields" -a 'a ' $file >tokens 2>told
                "$GPUHISTO" --device=cpu -n -q tokens >expected
                ;;
            *) expect $file $way ;;
            esac
            for size in $sizes; do
                [ $size = 100 ] && [ $bytes -gt 5000 ] && continue
                for threads in 1 3; do
                    case $way in
                    -a*) run -n "--after=a " --threads=$threads --chunk-size=$size $file ;;
                    *) fields --threads=$threads --chunk-size=$size $file ;;
                    esac
                    shows "$bytes bytes, $way, $size, $threads threads"
                done
            done
            case $way in
            -a*) continue ;;
            esac
            sed "s/: $file:/: standard input:/" told >kept && mv kept told
            cat $file | fields
            shows "$bytes bytes, $way, pipe"
            for frame in 1000 1000000 100000000; do
                [ $frame = 1000 ] && [ $bytes -gt 300000 ] && continue
                "$HELPERS/make_zstd" -f $frame <$file >long.zst
                fields <long.zst
                shows "$bytes bytes, $way, frames of $frame"
            done
        done
        set +f
    done
done
# The rest of a line that is too long is not a line, whatever is in it.
{ line 1048577; awk 'BEGIN { for (i = 0; i < 300000; i++) printf " %d", i; print ""; print "y 6" }'; } >long
expect long -k -1
fields long
shows "a line of several chunks"
sed 's/: long:/: standard input:/' told >kept && mv kept told
cat long | fields --chunk-size=10K
shows "a line of several chunks, pipe"

summary
