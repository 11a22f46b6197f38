#!/bin/sh
# SPDX-License-Identifier: MIT
# --lines-with, --lines-without: the table is that of the lines which kept_lines.py, or grep, keeps, and
# messages number lines as in the input: in every text mode, however the text comes and wherever it is cut.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=60 chunks="1 13 100" frames_of="7 50" large=20000
else
    lines=120 chunks="1 2 3 5 8 13 64 100 1000" frames_of="1 7 50 100" large=300000
fi

# expect FILE OPTION...: sets options, and makes the table and the message that are expected.
expect()
{
    file=$1
    shift
    options=$*
    case $options in
    *-k* | *--after*) kind= ;;
    *) kind=--tokens ;;
    esac
    $python "$srcdir/tests/helpers/kept_lines.py" $kind "$@" --numbers=numbers <"$file" >kept || broken "kept_lines.py"
    set --
    for option_ in $options; do
        case $option_ in
        --lines-with*) ;;
        *) set -- "$@" "$option_" ;;
        esac
    done
    case $options in
    "--by=1 "*) mode= ;;
    *) mode=-n ;;
    esac
    "$GPUHISTO" --device=cpu $mode "$@" kept >expected 2>told
    case $options in
    *--lines-without=*) ways="--lines-without" ;;
    *) ways= ;;
    esac
    case $options in
    *--lines-with=*) ways="--lines-with${ways:+ and $ways}" ;;
    esac
    sed -i "s/the input is empty,/$ways left every line out,/" told
    line=$(sed -n 's/^gpuhisto: kept: line \([0-9]*\):.*/\1/p' told)
    [ -z "$line" ] || line=$(sed -n "${line}p" numbers)
    sed -i "s/^gpuhisto: kept: line [0-9]*:/gpuhisto: NAME: line $line:/
        s/'?' is not a number/longer than 1048576 bytes/" told
}

# shows NAME CASE: the last run gave both.
shows()
{
    read -r status <status
    check "$options, $2: status" [ "$status" -eq 0 ]
    same "$options, $2" expected out
    sed "s|: NAME:|: $1:|" told >told.here
    same "$options, $2: message" told.here err
}

# --- a text that has everything, cut everywhere ---

make_text() # LINES SEED
{
    awk -v lines="$1" -v seed="$2" '
    function any(n) { seed = (seed * 16807) % 2147483647; return seed % n }
    function number() { return any(12) == 0 ? "x" : any(1000) / 8 }
    function word() { return substr("GET POST ab aab aaab error ERROR rt= GETGET b\xffb", 1 + 4 * any(10), 1 + any(6)) }
    BEGIN {
        for (i = 0; i < lines; i++) {
            kind = any(7)
            if (kind == 0) line = number() "," word() "," number()
            else if (kind == 1) line = "  GET " number() " " word() "\t" number() " rt=" number() "s  "
            else if (kind == 2) line = number() ",\"x\"\"" word() ",\nPOST 1\"," number()
            else if (kind == 3) line = number() ",\"" word() "\"," number() "aab"
            else if (kind == 4) line = number() " " number() " GET POST " number()
            else if (kind == 5) line = any(2) ? "{\"a\": [\"" word() "\", " number() "]}" : any(2) ? "" : "   "
            else line = number() " error"
            printf "%s%s", line, i + 1 == lines ? "" : any(4) ? "\n" : "\r\n"
        }
    }'
}

ways()
{
    cat <<'END'
--lines-with=GET
--lines-with=GET --lines-with=POST
--lines-without=a
--lines-with=, --lines-without=aab --lines-without=error
--units --lines-with=aab
-k 1 --lines-with=error
-k -1 --lines-with=GET --lines-without=rt=
-t , -k 3 --lines-with=1 --lines-with=2 --lines-with=5
-k 1 --lines-without=x
--csv -k 1 --lines-with=POST
--csv -k -1 --lines-without=POST
--csv -k 3 --lines-with=""
--csv -k 2 --lines-with=T --lines-without=aab
--after=rt= --lines-with=GET --lines-with=.
--after=GET --lines-without=nowhere
-k 2 --lines-with=nowhere
-k .a[1] --lines-with=GET --lines-without=aab
END
}

make_text $lines 7 >in
for frame in $frames_of; do
    "$HELPERS/make_zstd" -f $frame <in >frames.$frame
done
ways >all_ways
while read -r way; do
    set -f
    expect in $way
    set +f
    run -n $options in
    shows in FILE
    for chunk in $chunks; do
        run -n $options --chunk-size=$chunk in
        shows in "chunks of $chunk"
        run -n $options --chunk-size=$chunk --threads=3 in
        shows in "chunks of $chunk, 3 threads"
        run -n $options --chunk-size=$chunk <in
        shows "standard input" "standard input, chunks of $chunk"
        cat in | run -n $options --chunk-size=$chunk
        shows "standard input" "pipe, chunks of $chunk"
    done
    for cpu in $(kernels_here); do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -n $options in
        shows in "$cpu"
    done
    for frame in $frames_of; do
        run -n $options frames.$frame
        shows frames.$frame "frames of $frame"
        run -n $options --threads=3 --chunk-size=100 frames.$frame
        shows frames.$frame "frames of $frame, 3 threads"
    done
    "$HELPERS/dribble" -n 1 <in | run -n $options
    shows "standard input" "byte by byte"
done <all_ways

# The first 2 KiB of it, which end anywhere.
for len in $(seq 1 37 2048); do
    head -c "$len" in >part
    for way in "-k 1 --lines-with=GET" "--lines-without=aab"; do
        # Where few cases are asked for, odd lengths go with one, and even ones with the other.
        [ "$SCALE" != small ] || case $way$((len % 2)) in -k*1 | --*0) ;; *) continue ;; esac
        expect part $way
        run -n $options part
        shows part "$len bytes"
    done
done

# --- against grep; several readers ---

make_text $large 11 >large
"$HELPERS/make_zstd" -f 100000 <large >large.zst
for threads in 1 4; do
    for file in large large.zst; do
        grep -aF aab large | grep -avF POST | "$GPUHISTO" --device=cpu -nsq -t, -k1 >expected
        run -nsq -t, -k1 --lines-with=aab --lines-without=POST --threads=$threads $file
        counts "grep, $file, $threads threads" expected
        grep -avF error large | "$GPUHISTO" --device=cpu -nq >expected
        run -nq --lines-without=error --threads=$threads --chunk-size=5003 $file
        counts "grep -v, $file, $threads threads" expected
    done
    expect large --csv -k 1 --lines-with=GET
    run -n $options --threads=$threads large
    shows large "large, $threads threads"
done
gzip -c large >large.gz
if "$GPUHISTO" --device=cpu -d gzip large.gz >/dev/null 2>&1; then
    run -n $options large.gz
    shows large.gz gzip
fi

# --- lines that are long, or too long ---

for bytes in 100 70000 1048576 1048577 3000000; do
    awk -v n=$bytes 'BEGIN {
        for (s = "GET 1 2 3 4 5 6 7"; length(s) < n; s = s s);
        printf "1 GET\n%s\n2 GET\n%s", substr(s, 1, n), substr(s, 1, n) }' >long
    "$HELPERS/make_zstd" -f 300000 <long >long.zst
    for way in "--lines-with=GET" "--lines-with=nowhere" "--lines-without=7G" "-k 2 --lines-with=1" \
        "--csv -k 1 --lines-without=2"; do
        set -f
        expect long $way
        set +f
        for size in 1000 100K 8M; do
            [ $size = 1000 ] && [ $bytes -gt 100000 ] && continue
            run -n $options --chunk-size=$size long
            shows long "$bytes bytes, $size"
            cat long | run -n $options --chunk-size=$size
            shows "standard input" "$bytes bytes, pipe, $size"
        done
        run -n $options long.zst
        shows long.zst "$bytes bytes, zstd"
    done
done

# Strings of every length, at the end of a vector and of the text.
awk 'BEGIN { for (i = 0; i < 200; i++) { s = s "ab"; printf "%d %s%s\n", i, substr("xxxxxxxxxxxxxxxx", 1, i % 17), s } }' >strings
for len in $(seq 1 7 400); do
    string=$(tail -n 1 strings | tail -c "$((len + 1))")
    grep -F "$string" strings | "$GPUHISTO" --device=cpu -nq -k 1 -B300 >expected
    for cpu in $(kernels_here); do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -nq -k 1 -B300 --lines-with="$string" strings
        counts "a string of $len bytes, $cpu" expected
    done
done

# --- by key ---

for way in "--by=1" "-k -1 --by=1 --digits=1" "--csv -k 1 --by=2:1-2"; do
    expect large $way --lines-with=GET --lines-without=rt=
    for file in large large.zst; do
        run -q $options --threads=3 $file
        counts "$way, $file" expected
    done
done

# --- shares ---

if can_share; then
    "$GPUHISTO" --device=cpu -nq -k 1 --lines-with=aab large -F json >whole.json
    for k in 1 2 3; do
        "$GPUHISTO" $ENGINE -nq -k 1 --lines-with=aab --part=$k/3 -F json large >part.$k
    done
    ENGINE='' run --merge part.3 part.1 part.2
    "$GPUHISTO" --device=cpu -nq -k 1 --lines-with=aab large >expected
    counts "shares" expected
fi
summary
