#!/bin/sh
# SPDX-License-Identifier: MIT
# Rows for people: --plot to the letter, at several widths, in UTF-8 and without; and which rows are
# shown, and their shares, in every format.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

unset COLUMNS LC_ALL LC_CTYPE LANG
LC_ALL=C
export LC_ALL

example()
{
    printf 'programming massively parallel processors'
}

example | COLUMNS=132 run -pl
mv out expected
if [ "$(error_text EIO)" = "I/O error" ]; then
    skip_part "a locale that there is not: musl has them all"
else
    example | COLUMNS=132 LC_ALL=nonesuch.UTF-8 run -pl
    counts "a locale that there is not" expected
fi

# --- how wide ---

# widest: characters of the longest line of out; bars are of '#'.
widest()
{
    awk 'length > most { most = length } END { print most + 0 }' out
}
terminal="$HELPERS/terminal"
if "$terminal" 50 true 2>/dev/null; then
    for columns in 17 18 400; do
        example | COLUMNS=60 "$terminal" $columns "$GPUHISTO" $ENGINE -pl >out
        wanted=$columns
        [ $columns -ge 17 ] || wanted=17
        check "a terminal of $columns columns" [ "$(widest)" -eq $wanted ]
        check "a terminal of $columns columns: rows" [ "$(wc -l <out)" -eq 7 ]
    done
    example | COLUMNS=60 "$terminal" 0 "$GPUHISTO" $ENGINE -pl >out
    check "a terminal that does not tell its width" [ "$(widest)" -eq 60 ]
    # A file is not the terminal, though standard output is one.
    example | COLUMNS=60 "$terminal" 90 "$GPUHISTO" $ENGINE -pl -o picture >out
    check "--output at a terminal: nothing there" [ ! -s out ]
    mv picture out
    check "--output at a terminal" [ "$(widest)" -eq 60 ]
    example | "$terminal" 90 "$GPUHISTO" $ENGINE -l >out
    example | run_as "$GPUHISTO" $ENGINE -l
    mv out expected
    example | "$terminal" 90 "$GPUHISTO" $ENGINE -l >out
    same "other formats are the same at a terminal" expected out
else
    skip_part "terminals: none can be opened here"
fi

# --- every mode: the columns are those of TSV, and shares and bars follow from the counts ---

# picture_of TSV KIND WIDTH TOTAL: what --plot should print of rows of TSV. KIND: bytes, letters,
# numbers; or floats, whose bins reach to infinity. Counts are below 2^53 / 10^4, so that awk's arithmetic is exact before it is rounded.
picture_of()
{
    awk -F '\t' -v kind="$2" -v width="$3" -v total="$4" '
    function percent(count,  units) {
        units = total ? int((count * 20000 + total) / total / 2) : 0
        return sprintf("%d.%02d", int(units / 100), units % 100)
    }
    function edge(text) { return text ~ /[.]/ ? sprintf("%.12g", text) : text }
    function left(text, width) { return sprintf("%-" width "s", text) }
    function right(text, width) { return sprintf("%" width "s", text) }
    function max(a, b) { return a > b ? a : b }
    {
        name[NR] = edge($1); count[NR] = $2
        if (kind == "numbers" && $1 == "-inf") name[NR] = "<" edge($3)
        if (kind == "numbers" && $3 == "inf") name[NR] = ">=" edge($1)
        more[NR] = kind == "bytes" ? ($3 == "\047 \047" ? "\\x20" : $3 == "\\x22" ? "\"" : $3) : ""
        largest = max(largest, $2)
    }
    END {
        if (kind == "floats") kind = "numbers"
        for (i = 1; i <= NR; i++) {
            running += count[i]
            share[i] = percent(count[i])
            if (kind == "numbers") more[i] = percent(running)
            a = max(a, length(name[i])); b = max(b, length(count[i]))
            c = max(c, length(share[i])); d = max(d, length(more[i]))
        }
        room = max(1, width - a - b - c - 6 - (d ? d + 2 : 0))
        for (i = 1; i <= NR; i++) {
            line = (kind == "numbers" ? right(name[i], a) : left(name[i], a)) "  " \
                right(count[i], b) "  " right(share[i], c)
            if (d) line = line "  " (kind == "numbers" ? right(more[i], d) : left(more[i], d))
            bar = ""
            if (count[i] > 0) {
                bar = sprintf("%" max(1, int((count[i] * room * 2 + largest) / largest / 2)) "s", "")
                gsub(/ /, "#", bar)
                bar = "  " bar
            }
            else sub(/ *$/, "", line)
            print line bar
        }
    }' "$1"
}
# pictures KIND TOTAL ARGUMENT...: for rows without a count left out, and for all of them.
pictures()
{
    kind=$1 total=$2
    shift 2
    for shown in "--nonzero 40 133" "--all 80"; do
        rows=${shown%% *}
        run -q "$@" $rows samples
        mv out table
        for columns in ${shown#* }; do
            picture_of table $kind $columns $total >expected
            COLUMNS=$columns run -q "$@" -p $rows samples
            counts "$*, $columns columns, $rows" expected
        done
    done
}
data text 100000 >samples
pictures bytes 100000 --bytes
pictures letters 100000 -l1
pictures letters 100000 -fl26
pictures numbers 50000 --values=u16 -B 12 --min=0 --max=40000
pictures numbers 100000 --values=u8
pictures numbers 100000 --values=i8
pictures numbers 25000 --values=f32 --log --min=1e-9 --max=1e9
{ seq 1 995 && printf '0.25\n-3e-7\ninf\n-inf\nnan\n'; } >samples
pictures floats 1000 -n --log=2:32
pictures numbers 1000 -n --digits=3
pictures numbers 1000 -n -B 7 --min=0 --max=999
: >samples
pictures bytes 0 --bytes
pictures letters 0 -l
pictures numbers 0 -n -B 2 --min=0 --max=1

# --- pipelines ---

data text 50000 >samples
run samples
sort -t "$tab" -k2,2nr out | head -n 5 | cut -f 1,2 | tr '\t' ' ' >expected
"$GPUHISTO" $ENGINE -p samples | sort -k2nr | head -n 5 | awk '{ print $1, $2 }' >out
same "sort -k2nr | head" expected out
"$GPUHISTO" $ENGINE -p samples | awk '{ print NF }' | sort -u >out
echo 5 >expected
same "each row of bytes has five columns" expected out
"$GPUHISTO" $ENGINE -p --header samples | awk 'NR == 1' >out
same_names=$(awk '{ print $1, $2, $3, $4 }' out)
check "the header has names for four" [ "$same_names" = "bin count share char" ]
"$GPUHISTO" $ENGINE -p samples | awk '{ n += $2; p += $3 } END { print n, (p > 99 && p < 101) }' >out
echo "50000 1" >expected
same "counts and shares add up" expected out
refute "no escapes" grep -q "$(printf '\033')" out

# --- memory for wider bins that cannot be had: the picture is not one of other bins ---

if can_interpose; then
    seq 1 500 >in
    run -n -p in
    mv out expected
    n=1
    while [ $n -lt 300 ]; do
        rm -f mark
        run_as env FAULT_CALL=malloc FAULT_AT=$n FAULT_ERRNO=12 FAULT_MARK="$work/mark" \
            LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE -n -p in
        [ -s mark ] || break
        if [ "$(cat status)" -eq 0 ]; then
            counts "no memory at $n" expected
        else
            refuses "no memory at $n" 1
            check "no memory at $n: it says so" grep -qE 'memory|thread' err
        fi
        n=$((n + 1))
    done
    counts "no memory: none left to fail" expected
else
    skip_part "memory that cannot be had: $why_not"
fi

summary
