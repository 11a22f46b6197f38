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

# --- colours ---

# As grep and ls write them, around fields and separators; and what only looks like them.
awk 'BEGIN { for (i = 0; i < 300; i++) printf "%d,x %.3f, %d y=%d\n", i, i / 9, i % 13, i * 3 }' >plain
awk '{
    gsub(/[0-9.]+/, i++ % 2 ? "\033[01;31m\033[K&\033[m\033[K" : "\033[38:2::1:2:3m&\033[0m")
    gsub(/,/, "\033[36m,\033[m")
    print
}' plain >coloured
for way in "-k 2" "-k -1 --after=y=" "--after=x" "-t , -k 1" "-t , -k 2 --after=x" "-t , -k -2 --after=y=" "--csv -k 1"; do
    case $way in
    *" --after"*) way=${way##*--after} && way=--after$way ;;
    --csv*) [ -z "$on_gpu" ] || continue ;;
    esac
    run -n -q $way plain && cp out expected
    run -n -q $way coloured
    counts "colours, $way" expected
    for cpu in $counters; do
        [ "$on_gpu" ] && break
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -n -q $way coloured
        counts "colours, $way, $cpu" expected
    done
done
printf '5\t2\t5.01\ninvalid\t7\n' >expected
printf '\033[m5 \033[0m\n\033[1m"5"\033[K\n\033[1 5\n5\033[1x\n5\033\n\033[m\n5\033[m6\n\033[5\nm\033[m\n' | run -n -q -k 1
counts "what only looks like colours" expected
printf 'a 5\nb 6\n' | grep --color=always '[0-9]' | run -n -k 2
printf '5\t1\t5.01\n6\t1\t6.01\ninvalid\t0\n' | awk 'NR == 1 || /./' >expected
counts "grep --color" expected

# --- the header ---

printf 'rt=1\nrt=2\n' >after
printf '2' | "$GPUHISTO" --device=cpu -n >expected
run -n --after=rt= --header-line after
counts "--after and a header" expected
names()
{
    printf 'id,"the ms",ms,\n1,2,3,4\n5,6,7,8\n' >a.csv
    printf 'ms,id\n30,x\n70,y\n' >b.csv
    printf '' >empty.csv
    printf 'ms\r\n' >only.csv
    printf '3 7 30 70' | "$GPUHISTO" --device=cpu -n >expected
    for how in "" --chunk-size=1 --threads=3 --csv; do
        run -n -t , -k ms --header-line $how a.csv b.csv only.csv
        counts "a column's name in each FILE, $how" expected
    done
    "$HELPERS/make_zstd" -f 3 <a.csv >a.csv.zst
    run -n -t , -k ms --header-line a.csv.zst b.csv
    counts "a column's name in zstd" expected
    "$HELPERS/dribble" <a.csv.zst | run -n -t , -k ms --header-line - b.csv
    counts "a column's name in zstd, byte by byte" expected
    cat a.csv | run -n -t , -k ms --header-line - b.csv
    counts "a column's name in a pipe" expected
    printf '3 7' | "$GPUHISTO" --device=cpu -n >expected
    { printf 'ms,the ms,id\n' && cat a.csv; } >late.csv
    "$HELPERS/make_zstd" -f 3 <late.csv >late.csv.zst
    for file in late.csv late.csv.zst; do
        run -n -t , -k ms --header-line --skip=13 "$file"
        counts "a column's name after --skip, $file" expected
        cat "$file" | run -n -t , -k ms --header-line --skip=13
        counts "a column's name after --skip, $file in a pipe" expected
    done
    printf '2 6' | "$GPUHISTO" --device=cpu -n >expected
    run -n -t , -k 'the ms' --header-line a.csv
    counts "a name in quotes" expected
    run -n --csv -k 'the ms' --header-line a.csv
    counts "a name in quotes, CSV" expected
    printf '"x ""y""\n",ms\n2,1\n6,1\n' >quoted.csv
    run -n --csv -k 'x "y"
' --header-line quoted.csv
    counts "a name with quotes and a newline" expected
    printf '\357\273\277"the ms",b\n2,1\n6,1\n' >mark.csv
    run -n -t , -k 'the ms' --header-line mark.csv
    counts "a name after a byte order mark" expected
    printf 'x\n' >>quoted.csv
    run -n --csv -k 2 --header-line --invalid=error quoted.csv
    refuses "the line after a header of two" 1 'gpuhisto: quoted.csv: line 5: no field 2'
    printf '"id" "the" "ms"\n1 2 3\n' >blanks
    printf '3' | "$GPUHISTO" --device=cpu -n >expected
    run -n -k ms --header-line blanks
    counts "a name in quotes between blanks" expected
    run -n -t , -k none --header-line a.csv
    refuses "a name that is missing" 1 "gpuhisto: a.csv: no column is called 'none'; it has $(
        head -n 1 a.csv | tr -d '\r"' | sed "s/^/'/; s/,/', '/g; s/\$/'/")"
    { printf '\357\273\277a,"b ""c""",\033,' && printf '%060d' 0 && seq 1 500 | tr '\n' ','; } >wide.csv
    run -n --csv -k none --header-line wide.csv
    refuses "many names" 1 "no column is called 'none'; it has 'a', 'b \"\"c\"\"', '\\x1b', '000" "0001', '2', '3'" ", ..."
    run --csv -k ms a.csv
    refuses "a name without --header-line" 2 "gpuhisto: --field=ms: to find a column by its name, add --header-line"
    run -t , --by=ms a.csv
    refuses "a name of --by without --header-line" 2 "gpuhisto: --by=ms: to find a column by its name, add --header-line"
    cat b.csv | run -n -t , -k none --header-line
    refuses "a name that is missing in a pipe" 1 "gpuhisto: standard input: no column is called 'none'"
    run -n -t , -k none --header-line a.csv.zst
    refuses "a name that is missing in zstd" 1 "gpuhisto: a.csv.zst: no column is called 'none'"
    printf 'ms' >short.csv
    printf 'invalid\t0\n' >expected
    run -qn -k ms --header-line short.csv
    counts "nothing but a header" expected
    run -qn -k 1 --header-line empty.csv
    counts "an empty FILE" expected
    "$HELPERS/make_zstd" <empty.csv >empty.zst
    for file in empty.csv /dev/null empty.zst; do
        for how in "-t ," --csv "--csv --invalid=skip -F json --part=1/1"; do
            run -n $how -k ms --header-line a.csv $file
            case $how in
            *--part*) [ "$(cat status)" -ne 2 ] || continue ;; # a device, or a build without it
            esac
            refuses "an empty FILE, $how" 1 "gpuhisto: $file: no column is called 'ms'"
        done
    done
    run -n -t , -k ms --header-line -F json b.csv
    check "the total" grep -q '"total":2,' out
}
[ "$on_gpu" ] || names

# Each FILE by itself has a header of its own, too.
printf 'a 1\nb 2\nc x\n' >one
printf 'd 3\ne 4\nf' >two
for file in one two; do
    tail -n +2 $file | awk '{ print (NF > 1 ? $2 : "?") }' | "$GPUHISTO" --device=cpu -n -q |
        sed "s/^/$file\t/"
done >expected
run -n -q -k 2 --header-line --each --threads=3 one two
counts "--each" expected
tail -n +2 one | awk '{ print $2 }' | "$GPUHISTO" --device=cpu -n -q --stats >expected
"$GPUHISTO" --device=cpu -n -q -k 2 --header-line --stats one >out 2>err
echo $? >status
counts "--stats" expected

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

# --- long lines ---

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

# --- quotes that are never closed ---

# open_in LINE CASE ARGUMENT...: the run is refused, as a quote that was opened there is not closed.
open_in()
{
    line_of_quote=$1 case_=$2
    shift 2
    run -n "$@"
    refuses "$case_" 1 ": a quoted field opened in line $line_of_quote is never closed"
}
never_closed()
{
    seq 10000 | sed '1,4999s/$/,a,"b ""c"""/; 5000s/$/,"oops/' >rows
    head -n 5000 rows >short
    printf '"id,ms\n1,2\n3,4\n' >header
    printf '1,2,"x\n3,4,y\n5,6,z\n' >first
    printf 'id,ms\n1,"a\nb ""c"" d","e ""f\ng\n' >doubled
    printf 'x,"\n",5\n1,"' >last
    for file in rows short; do
        "$HELPERS/make_zstd" -f 1000 <$file >$file.zst
        gzip -c $file >$file.gz
        for more in "" --chunk-size=1000 "--invalid=skip --each" --invalid=error "-s --also -n --csv -k2 -B9 --min=0 --max=9"; do
            open_in 5000 "$file, $more" --csv -k1 $more $file
        done
        open_in 5000 "$file, zstd" --csv -k1 $file.zst
        "$HELPERS/dribble" -n 1000 <$file.zst | open_in 5000 "$file, zstd in a pipe" --csv -k1 -B2
        open_in 5000 "$file, in a pipe" --csv -k1 <$file
        cat $file | open_in 5000 "$file, --interval" --csv -k1 --interval=60
        if "$GPUHISTO" $ENGINE -d gzip $file.gz >gzip.out 2>&1; then
            open_in 5000 "$file, gzip" --csv -k1 first.2 $file.gz
        fi
        if can_share; then
            open_in 5000 "$file, a share" --csv -k1 -F json --part=1/2 $file
        fi
    done
    open_in 1 "a header" --csv -k2 --header-line header
    open_in 1 "a header by name" --csv -k ms --header-line header
    open_in 1 "the first row" --csv -k2 --invalid=error first
    open_in 3 "after doubled quotes" --csv -k2 doubled
    open_in 3 "the last byte" --csv -k3 last
    for size in 1 2 3 4 5; do
        open_in 3 "after doubled quotes, chunks of $size" --csv -k2 --chunk-size=$size doubled
    done
    open_in 2 "after bytes that are left out" --csv -k1 --skip=6 doubled
    run -n -q --csv -k2 --length=5 doubled
    printf 'invalid\t1\n' >expected
    check "a range that ends before a quote" cmp -s expected out

    # Where later lines have quotes, too, the next one closes the field, and text follows.
    seq 10000 | sed 's/$/,a,"b ""c"""/; 5000s/,.*/,"oops/' >rows
    "$HELPERS/make_zstd" -f 1000 <rows >rows.zst
    printf 'x\n1,"a\nb"c,"d"\n' >four
    printf 'b",c\nd,"e"\n' >range
    what="is followed by text in line"
    for file in rows rows.zst; do
        for more in "" --chunk-size=1000 "--invalid=skip --threads=1"; do
            run -n --csv -k1 $more $file
            refuses "$file, $more" 1 "$file: a quoted field opened in line 5000 $what 5001, so a quote is missing;"
        done
    done
    # What is invalid before is said first, and a header is not.
    printf 'ms,"\n"\n1,x\n2,"\n"x\n' >after-header
    run -n --csv -k2 --header-line --invalid=error after-header
    refuses "a number before text after a quote" 1 "after-header: line 3: 'x' is not a number"
    run -n --csv -kms --header-line --invalid=error after-header
    refuses "text after a quote, a named column" 1 "a quoted field opened in line 4 $what 5"
    for size in 1 2 3 4 5 8; do
        cat four | run -n --csv -k1 -q --chunk-size=$size
        refuses "text after a quote, chunks of $size" 1 "standard input: a quoted field opened in line 2 $what 3"
    done
    run -n --csv -k1 --skip=1 range
    refuses "a range that begins in quotes" 1 "a quoted field opened in line 1 $what 2"
    printf '1,"a\nb"\r\n2,"a\nb" ,c\n3,"a"b\n4,"a""\n"\n5,"a\n""b"\t\n6,"\n"' >lenient
    printf '1 2 3 4 5 6' | "$GPUHISTO" --device=cpu -n >expected
    for size in 1 2 3 64 100; do
        run -n --csv -k1 --chunk-size=$size lenient
        counts "what is no missing quote, chunks of $size" expected
    done

    # Records that are too long: of 1048576 bytes and more, in quotes up to there or not.
    for more in "" --chunk-size=1000 --chunk-size=8M; do
        for bytes in 1048576 1048577; do
            { printf '1,"\n"\n"'; line $((bytes - 2)); printf '"\n7\n'; } >long
            run -n --csv -k1 $more long
            what="aaa...' is not a number"
            [ $bytes = 1048576 ] || what="longer than 1048576 bytes"
            message "a record in quotes of $bytes bytes, $more" "line 3: " "$what"
            check "a record in quotes of $bytes bytes, $more" grep -qx 'invalid.1' out
        done
        { printf '1,"\n"\n"'; line 1048577; printf '"\n7\n'; } >long
        run -n --csv -k1 --invalid=skip $more long
        refuses "a long field, $more" 1 "gpuhisto: long: a quoted field opened in line 3 is longer than 1048576 bytes"
        "$HELPERS/make_zstd" -f 100000 <long >long.zst
        run -n --csv -k1 $more long.zst
        refuses "a long field in zstd, $more" 1 ": a quoted field opened in line 3 is longer than 1048576 bytes"
        { printf '1\n'; line 1048577; printf ',"x\n'; line 300000; printf '\n5\n'; } >long
        open_in 2 "a quote in the rest of a record that is too long, $more" --csv -k1 $more long
        printf '"\n7\n' >>long
        run -n --csv -k1 -q $more long
        check "a record that is too long, $more" grep -qx 'invalid.1' out
    done
}
printf '1\n' >first.2
[ "$on_gpu" ] || never_closed

# --- what is invalid ---

printf 'a 1\nb\n\nc x 3\n' >some
printf '1\t1\t1.01\ninvalid\t2\n' >expected
echo "gpuhisto: some: line 2: no field 2" >told
run -n -k 2 some
shows "--invalid=count"
run -n -k 2 --invalid=error some
refuses "--invalid=error" 1 "gpuhisto: some: line 2: no field 2"
sed 's/^invalid.*/invalid\t0/' expected >skipped
run -n -k 2 --invalid=skip some
counts "--invalid=skip" skipped
run -n -k -1 --invalid=error some
refuses "the last one" 1 "gpuhisto: some: line 2: 'b' is not a number"
run -n --after='x ' --invalid=error some
refuses "--after" 1 "gpuhisto: some: line 1: no number after 'x '"
run -n -t ' ' -k 3 --invalid=error some
refuses "a separator" 1 "gpuhisto: some: line 1: no field 3"
printf '1,,2\n' | run -n -t , -k 2 --invalid=error
refuses "an empty field" 1 "standard input: line 1: '' is not a number"
for threads in 1 2; do
    yes 'a x' | run -n -k 2 --invalid=error --threads=$threads
    refuses "endless, $threads threads" 1 "line 1: 'x' is not a number"
done

# lines_are LINE...: standard error of the last run, which was successful.
lines_are()
{
    printf 'gpuhisto: %s\n' "$@" >told
    same "standard error" told err
    check "exit status" [ "$(cat status)" -eq 0 ]
}

# Nothing but invalid lines.
none=", so no number was counted"
printf '{"latency_ms":5,"a":"latency_ms"}\n{"latency_ms":6}\n' >json
for more in "" --each "--stats --invalid=count"; do
    [ "$on_gpu" ] && [ "$more" ] && continue
    run -n --after=latency_ms $more json
    lines_are "json: line 1: no number after 'latency_ms'; did you mean --field=.latency_ms?" \
        "warning: all 2 lines are invalid$none"
done
run -n --after=latency_ms --invalid=skip json
lines_are "warning: all 2 lines are invalid$none"
printf 'a rt 1\nb rt=0.5\nrt\n' | run -n --after=rt
check "a hint at the second line" grep -q "line 2: '=0.5' is not a number; did you mean --after='rt='?" err
printf 'x rt y rt = -.5\n"rt = 1"\n' | run -n --after=rt
lines_are "standard input: line 1: 'y' is not a number; did you mean --after='rt ='?" \
    "warning: all 2 lines are invalid$none"
printf 'a\nb c\n' >words
run -n words
lines_are "words: line 1: 'a' is not a number" "warning: all 3 tokens are invalid$none"
run -n -q --after=x words
check "-q" [ ! -s err ]
printf 'x' | run -n
lines_are "standard input: line 1: 'x' is not a number"
hint_at_json()
{
    run --header-line -k latency_ms json
    refuses "a name of JSON" 1 "json: no column is called 'latency_ms'; did you mean --field=.latency_ms without --header-line?"
    "$HELPERS/make_zstd" <json | run --csv --header-line -k latency_ms
    refuses "a name of JSON in zstd" 1 "called 'latency_ms'; did you mean --field=.latency_ms without --header-line?"
}
[ "$on_gpu" ] || hint_at_json

# Carriage returns alone end no line.
returns="has carriage returns instead of newlines, so all of it is one line; use tr '\\r' '\\n' <FILE | gpuhisto"
printf 'id,ms\r1,5\r2,6\r' >mac
{ printf 'id,ms\r'; awk 'BEGIN { for (i = 0; i < 300000; i++) printf "%d,5\r", i }'; } >mac.large
printf 'id,ms\r\n1,5\r\n2,6' >dos
one_lines()
{
    for way in "-t ," --csv "-t , --csv --chunk-size=1" "-t , --chunk-size=1"; do
        for file in mac mac.large mac.zst; do
            case $file$way in *large*chunk*) continue ;; esac
            "$HELPERS/make_zstd" -f 7 <mac >mac.zst
            run $way -k2 --header-line $file
            lines_are "warning: $file: $returns"
        done
        run $way -k2 --header-line - <mac
        lines_are "warning: standard input: $returns"
        run $way -k2 --header-line dos
        check "lines of DOS, $way" [ ! -s err ]
    done
    # Only the last line has one, which ends with the file.
    for rows in 2 300000; do
        { seq $rows && printf '1\r2'; } >last
        run -nk1 last
        lines_are "last: line $((rows + 1)): '1\\x0d2' is not a number"
    done
    run -t , -k2 --header-line --each dos mac mac.large mac.zst --threads=3
    lines_are "warning: mac: $returns; so are 2 more files"
    if can_share; then
        run -t , -k2 --header-line -F json --part=1/1 mac
        lines_are "warning: mac: $returns"
    fi
}
[ "$on_gpu" ] || one_lines

# as TABLE-ROWS TEXT OPTION...: rows separated by blanks, columns by colons.
as()
{
    printf '%s' "$1" | tr ' :' '\n\t' >expected
    echo >>expected
    printf -- "$2" >text
    shift 2
    run -n -q -B10 --min=0 --max=10 "$@" text
    sed -i '/\t0\t[0-9]*$/d; /\t0\tinf$/d' out
    counts "$*" expected
}
as '1:1:2 2:1:3 invalid:0' 'a  1 \n\tb\t2\t\r\n' -k 2
as '1:1:2 invalid:1' '"1"\n1"\n' -t , -k 1
as '1:4:2 invalid:2' '1\n"1"\n\v1\f\n"\v1"\r\r\n"1\n1"\n' -k 1
as '1:2:2 5:1:6 invalid:1' 'a "1"\nb 1\r\r\nc "\f5"\v\nd ""\n' -k -1
as '1:2:2 invalid:0' ' " 1 " ,2\n1' -t , -k 1
as '1:1:2 invalid:3' '1,2\n1 2,3\n,3\n"",1\n' -t , -k 1
[ "$on_gpu" ] || as '4:1:5 invalid:2' '"a,\n",4\n"b\n",",4",5\n"c""",x\n' --csv -k 2
[ "$on_gpu" ] || as '3:1:4 invalid:0' '"a;\n";3\n' --csv -t ';' -k 2
as '1:1:2 5:1:6 7:1:8 invalid:3' 'rt=1.5;s\nrt = 1\nart="7", rt=9\nrt=5.\nrt=.1.2\nrt= 1e0e\n' --after=rt=
as '1:3:2 invalid:5' 'rt=\nrt=-\nrt=x1\nrt=1-2\nrt=""1\nrt=1:5\nrt=1,x\nrt=1\\n"\n' --after=rt=
as '5:1:6 invalid:0' '{"a": "x", "latency_ms": "5.5", "b": 7}\n' '--after="latency_ms":'

# What follows a string is a number only if all of it is one: the beginning of a word is not.
printf '5 inf 12.5 12.5 45 12.5 1' | "$GPUHISTO" --device=cpu -n -q >expected
printf 'invalid\t8\n' >>expected && sed -i '/^invalid\t0/d' expected
printf 'v=%s\n' info infinite 28m35s 0x1F 1,234 350ms 1.2.3 2026-11-26 5 INF '12.5,' '"12.5"}' 45% 12.5. 1, >words
for cpu in $counters; do
    [ "$on_gpu" ] && [ "$cpu" != portable ] && continue
    run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -n -q --after=v= words
    counts "words after a string, $cpu" expected
done
run -n --after=v= --invalid=error words
refuses "a word after a string" 1 "gpuhisto: words: line 1: 'info' is not a number"

# --- what does not go together ---

while read -r arguments; do
    set -f
    run $arguments </dev/null
    set +f
    refuses "$arguments" 2 " needs --"
done <<'END'
-t ,
--csv
--header-line
-b -k 3
-c --after=x
--values=u8 -k 1
-n -t ,
-n --csv
-n --header-line
END
for arguments in "-n -k 1 --after=x" "-n -t , --after=x" "-n --csv --after=x"; do
    run $arguments </dev/null
    refuses "$arguments" 2 "and --after cannot be combined"
done
for arguments in "-n -k 0" "-n -k x" "-n -k 0 --header-line" "-n -k 1,2" "-n -k --1" "-n -k 99999999"; do
    run $arguments </dev/null
    refuses "$arguments" 2 "--field=" "must be 1 to 1048576, -1 for the last field, a path into JSON such as .a.b or, with --header-line, a name"
done
run -k latency_ms </dev/null
refuses "a name without a header" 2 "--field=latency_ms: must be " "a name; for JSON lines, use --field=.latency_ms"
for separator in "" ab "
" '\n'; do
    run -n -k 1 -t "$separator" </dev/null
    refuses "-t '$separator'" 2 "--separator=" "must be one byte"
done
run -n -k 1 --csv -t '"' </dev/null
refuses "-t '\"'" 2 "cannot be combined, as CSV quotes fields with it"
for string in "" "a
b"; do
    run -n --after="$string" </dev/null
    refuses "--after='$string'" 2 "--after=" "must be text within a line"
done
after=$(printf '%0129d' 0)
for arguments in "--csv -k 1" "-k .a" "-k x --header-line" "--after=$after"; do
    run_as "$GPUHISTO" --device=gpu -n $arguments </dev/null
    refuses "--device=gpu $arguments" 2 "--device=gpu: the GPU cannot count CSV, JSON, named columns or what follows a long STRING; leave out --device"
done
run_as "$GPUHISTO" --kernel=numbers -n -k 1 </dev/null
refuses "--kernel=numbers" 2 "--kernel=numbers: cannot count in this mode"
run_as "$GPUHISTO" --kernel=fields -n </dev/null
refuses "--kernel=fields" 2 "--kernel=fields: cannot count in this mode"

summary
