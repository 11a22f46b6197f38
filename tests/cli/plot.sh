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

# --- to the letter, without UTF-8 ---

cat >expected <<'EOF_'
a-d   5  12.20  ################################
e-h   5  12.20  ################################
i-l   6  14.63  ######################################
m-p  10  24.39  ################################################################
q-t  10  24.39  ################################################################
u-x   1   2.44  ######
y-z   1   2.44  ######
EOF_
example | run -pl
counts "letters" expected
for options in "-l --plot" "-l -F plot" "-pl --format=plot" "-l --format=json -p" "-pl --percent"; do
    example | run $options
    counts "letters, $options" expected
done
sed 's/^/ /; s/ *#*$//; s/^ //' expected >columns
example | COLUMNS=30 run -pl
sed 's/ *#*$//' out >narrow
same "the columns do not depend on the width" columns narrow

cat >expected <<'EOF_'
bin  count  share
a-d      5  12.20  ########################
e-h      5  12.20  ########################
i-l      6  14.63  #############################
m-p     10  24.39  ################################################
q-t     10  24.39  ################################################
u-x      1   2.44  #####
y-z      1   2.44  #####
EOF_
example | COLUMNS=67 run -pl --header
counts "letters with a header, 67 columns" expected

printf '1\n2\n2\n3\n3\n3\n40\n-5\nx\n' >numbers
cat >expected <<'EOF_'
     <1  1  11.11   11.11  #######
      1  1  11.11   22.22  #######
      2  2  22.22   44.44  #############
      3  3  33.33   77.78  ####################
      4  0   0.00   77.78
    >=5  1  11.11   88.89  #######
invalid  1  11.11  100.00  #######
EOF_
COLUMNS=47 run -npq --edges=1,2,3,4,5 numbers
counts "edges" expected
COLUMNS=47 run -npq --edges=1,2,3,4,5 --invalid=skip numbers
sed 's/ *#*$//' out >columns
cat >expected <<'EOF_'
 <1  1  12.50   12.50
  1  1  12.50   25.00
  2  2  25.00   50.00
  3  3  37.50   87.50
  4  0   0.00   87.50
>=5  1  12.50  100.00
EOF_
same "edges without what is invalid" expected columns

cat >expected <<'EOF_'
lo  count  share  running
 0      1  20.00    20.00  ###############
 2      3  60.00    80.00  #############################################
40      1  20.00   100.00  ###############
EOF_
printf '2\n0\n2\n40\n2\n' | COLUMNS=72 run -np --header
counts "numbers" expected

cat >expected <<'EOF_'
0x00  1  10.00  \x00  #############################
0x0a  1  10.00  \n    #############################
0x20  2  20.00  \x20  ##########################################################
0x22  1  10.00  "     #############################
0x23  1  10.00  #     #############################
0x41  1  10.00  A     #############################
0x5c  1  10.00  \\    #############################
0x61  1  10.00  a     #############################
0xff  1  10.00  \xff  #############################
EOF_
printf 'a A #"\\\377\0\n' >in
run -p in
counts "bytes" expected
run -p <in
counts "bytes, standard input" expected

# Statistics follow the bars, and have two columns.
run -p in
mv out bars
run -ps in
sed '/^$/,$d' out >rows
same "statistics and bars: the bars" bars rows
check "statistics of bytes" grep -qx 'bytes        10' out
printf '1 2 3 4 5' | run -nps --header
sed -i '1,/^$/d' out
check "statistics: columns" [ "$(awk '{ print NF }' out | sort -u)" -eq 2 ]
check "statistics: a header" grep -qx 'name         value' out
check "statistics: aligned" grep -qx 'mean         3' out
check "statistics: an interval is one column" awk '/^p/ && $2 !~ /^[0-9.]+$/ { exit 1 }' out

# Edges are rounded, unless both of a bin would then look the same.
cat >expected <<'EOF_'
    0  1
 0.05  1
  0.1  1
 0.15  2
>=0.2  1
EOF_
printf '0\n0.07\n0.11\n0.16\n0.17\n0.9' | run -np -B 4 --min=0 --max=0.2
awk '{ printf "%5s%3s\n", $1, $2 }' out >shown
same "edges of twentieths" expected shown
cat >expected <<'EOF_'
1.0000000000000002 1
1.0000000000000004 1
EOF_
printf '1.0000000000000002 1.0000000000000004' |
    run -np --edges=1.0000000000000002,1.0000000000000004,1.0000000000000007
cut -c 1-23 out | awk '{ print $1, $2 }' >shown
same "edges that are close" expected shown

# --- UTF-8 ---

if [ "$(LC_ALL=C.UTF-8 locale charmap 2>/dev/null)" = UTF-8 ]; then
    utf8=C.UTF-8
else
    utf8=
    skip_part "UTF-8: there is no locale C.UTF-8"
fi
if [ "$utf8" ]; then
    cat >expected <<'EOF_'
a-d   5  12.20  ████████████████████████████████
e-h   5  12.20  ████████████████████████████████
i-l   6  14.63  ██████████████████████████████████████▍
m-p  10  24.39  ████████████████████████████████████████████████████████████████
q-t  10  24.39  ████████████████████████████████████████████████████████████████
u-x   1   2.44  ██████▍
y-z   1   2.44  ██████▍
EOF_
    example | LC_ALL=$utf8 run -pl
    counts "UTF-8, 80 columns" expected
    example | env -u LC_ALL LANG=$utf8 "$GPUHISTO" $ENGINE -pl >out
    same "UTF-8 by LANG" expected out
    example | env -u LC_ALL LANG=C LC_CTYPE=$utf8 "$GPUHISTO" $ENGINE -pl >out
    same "UTF-8 by LC_CTYPE" expected out
    cat >expected <<'EOF_'
a-d   5  12.20  ██████████████████████████████████████████████████████████
e-h   5  12.20  ██████████████████████████████████████████████████████████
i-l   6  14.63  █████████████████████████████████████████████████████████████████████▋
m-p  10  24.39  ████████████████████████████████████████████████████████████████████████████████████████████████████████████████████
q-t  10  24.39  ████████████████████████████████████████████████████████████████████████████████████████████████████████████████████
u-x   1   2.44  ███████████▋
y-z   1   2.44  ███████████▋
EOF_
    example | COLUMNS=132 LC_ALL=$utf8 run -pl
    counts "UTF-8, 132 columns" expected
    # An eighth is the least that is shown.
    # Bars begin in the same column of the screen, whatever it takes to show a character.
    printf 'aa\303\251\344\270\255\344\270\255e\314\201\360\237\230\200\355\225\234\n' | COLUMNS=40 LC_ALL=$utf8 run -cp
    cat >expected <<END
U+000A   1  10.00  \\n  ████████▌
U+0061   2  20.00  a   █████████████████
U+0065   1  10.00  e   ████████▌
U+00E9   1  10.00  é   ████████▌
U+0301   1  10.00  $(printf '\314\201')    ████████▌
U+4E2D   2  20.00  中  █████████████████
U+D55C   1  10.00  한  ████████▌
U+1F600  1  10.00  $(printf '\360\237\230\200')  ████████▌
END
    counts "characters of no column, one and two" expected
    printf '\344\270\255a' | COLUMNS=40 run -cp
    check "another locale: a column each" grep -q '^U+0061  1  50.00  a  #' out
    check "another locale: a column each" grep -q '^U+4E2D  1  50.00  中  #' out

    { data same 100000 && printf 'abc'; } | COLUMNS=40 LC_ALL=$utf8 run -p
    check "UTF-8: a few of many" [ "$(grep -c '  ▏$' out)" -eq 3 ]
fi
cat >expected <<'EOF_'
a-d   5  12.20  ##########################################################
e-h   5  12.20  ##########################################################
i-l   6  14.63  ######################################################################
m-p  10  24.39  ####################################################################################################################
q-t  10  24.39  ####################################################################################################################
u-x   1   2.44  ############
y-z   1   2.44  ############
EOF_
example | COLUMNS=132 run -pl
counts "132 columns" expected
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
for columns in 24 81 65535; do
    example | COLUMNS=$columns run -pl
    check "COLUMNS=$columns" [ "$(widest)" -eq "$columns" ]
done
for columns in '' 0 80x 65536 4294967376 ' 90'; do
    example | COLUMNS=$columns run -pl
    check "COLUMNS=$columns is ignored" [ "$(widest)" -eq 80 ]
done
for columns in 1 17; do # the columns alone are 16 wide
    example | COLUMNS=$columns run -pl
    check "COLUMNS=$columns: a bar each" [ "$(grep -c '  #$' out)" -eq 7 ]
    check "COLUMNS=$columns: no wider than that" [ "$(widest)" -eq 17 ]
done
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
run -qnp samples
: >expected
counts "no numbers at all" expected
printf '7' >samples
printf '7  1  100.00  100.00  %s\n' "$(printf '%056d' 0 | tr 0 '#')" >expected
run -np samples
check "one row: columns" [ "$(awk '{ print $1, $2, $3, $4, NF }' out)" = "7 1 100.00 100.00 5" ]
check "one row: width" [ "$(widest)" -eq 80 ]

# More than 40 rows of digits become fewer, equal ones.
seq 1 40 >samples
run -np samples
check "40 rows" [ "$(wc -l <out)" -eq 40 ]
seq 0.5 0.5 100 >samples
run -n -B 40 samples
sed -e '/^-inf/d' -e '/inf$/d' -e '/^invalid/,$d' out | cut -f 1 >expected
check "coarser rows: 0, 5, 10, ..." [ "$(head -n 3 expected | tr '\n' ' ')" = "0 5 10 " ]
run -np samples
awk '$1 !~ /^>=/ { print $1 }' out >printed
same "coarser rows" expected printed
check "coarser rows: counts" [ "$(awk '$1 == 5 { print $2 }' out)" -eq 10 ]
run -np --quantiles=0.5 samples
check "quantiles are those of the digits" grep -q '^p50 *50\.\.50\.1$' out
run -np --digits=3 samples
check "--digits keeps its rows" [ "$(wc -l <out)" -eq 200 ]
run -np -B 5 samples
check "-B 5" [ "$(awk '{ printf "%s ", $1 }' out)" = "0 50 100 " ]

# Equal bins would put all but a few of these into one: decades, in as many parts as there is room for.
rows_shown()
{
    awk '{ printf "%s:%s ", $1, $2 }' out
}
awk 'BEGIN { for (i = 0; i < 1000; i++) print 3 + i % 90 / 10; print 30000 }' >samples
run -np samples
check "a tail" [ "$(rows_shown)" = "2:230 5:550 10:220 20:0 50:0 100:0 200:0 500:0 1000:0 2000:0 5000:0 10000:0 20000:1 " ]
{ cat samples && echo -1e9 x; } | run -npq
check "tails on both sides, and what is no number" [ "$(rows_shown)" = \
    "-1000000000:1 2:230 5:550 10:220 20:0 50:0 100:0 200:0 500:0 1000:0 2000:0 5000:0 10000:0 20000:1 invalid:1 " ]
{ cat samples && echo 1e15; } | run -np
check "a long tail: powers of ten" [ "$(rows_shown | cut -d " " -f 1-3,16)" = "1:780 10:220 100:0 1000000000000000:1" ]
{ cat samples && echo 1e30 -1e-30; } | run -np -B 4
check "-B is what is asked for" [ "$(rows_shown)" = "-5e+29:1 0:1001 5e+29:0 1e+30:1 " ]
awk 'BEGIN { for (i = 0; i < 400; i++) print i / 4000 - 10; print 5000 }' | run -np
check "decades that would spread nothing" [ "$(wc -l <out)" -le 41 ]
printf '0.001 0.5 1000' | run -np --log=2 --min=0.001 --max=1000
check "powers of two" [ "$(awk '{ printf "%s ", $1 }' out)" = \
    "2^-10 2^-9 2^-8 2^-7 2^-6 2^-5 2^-4 2^-3 2^-2 2^-1 2^0 2^1 2^2 2^3 2^4 2^5 2^6 2^7 2^8 2^9 " ]
printf '0.1 8 5e9' | run -np --log=2 --min=4 --max=10
check "short powers of two" [ "$(rows_shown)" = "<4:1 4:0 8:1 >=16:1 " ]
printf '\000\377' | run -p --values=u16 --log=2 --min=1 --max=2000000 --nonzero
check "whole powers of two" [ "$(rows_shown)" = "2^15:1 " ]

# Whose empty rows are left out by default: of bytes and single values, and around bins.
printf '\1\1\3' >samples
rows_of()
{
    run "$@" -p samples
    awk '{ printf "%s ", $1 }' out
}
check "empty rows of bytes" [ "$(rows_of)" = "0x01 0x03 " ]
check "empty rows of u8" [ "$(rows_of --values=u8)" = "1 3 " ]
check "empty rows of u8 from 0 to 4" [ "$(rows_of --values=u8 -B 5)" = "1 3 " ]
check "empty rows of bins" [ "$(rows_of --values=u8 -B 3 --min=0 --max=6)" = "0 2 4 " ]
check "empty rows of edges" [ "$(rows_of --values=u8 --edges=0,1,2,3)" = "0 1 2 >=3 " ]
check "empty rows of letters" [ "$(rows_of -l)" = "a-d e-h i-l m-p q-t u-x y-z " ]
check "--nonzero letters" [ "$(rows_of -l --nonzero)" = "" ]
check "--all bytes" [ "$(rows_of --all | wc -w)" -eq 256 ]
check "--all u8" [ "$(rows_of --values=u8 --all | wc -w)" -eq 259 ]

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

# --- --percent ---

printf 'bin\tcount\tshare\trunning\na-i\t3\t42.8571\t42.8571\nj-r\t1\t14.2857\t57.1429\ns-z\t1\t14.2857\t71.4286\n' >expected
printf 'abc.k/z' | run -l9 --percent --header
counts "letters, --percent" expected
tr '\t' , <expected >expected.csv
printf 'abc.k/z' | run -l9 --percent --header -F csv
counts "letters, csv, --percent" expected.csv
printf 'lo\tcount\thi\tshare\trunning\n-inf\t1\t1\t11.1111\t11.1111\n1\t3\t3\t33.3333\t44.4444\n3\t3\t5\t33.3333\t77.7778\n5\t1\tinf\t11.1111\t88.8889\ninvalid\t1\t\t11.1111\t100.0000\n' >expected
run -nq --edges=1,3,5 --percent --header numbers
counts "edges, --percent" expected
tr '\t' , <expected >expected.csv
run -nq --edges=1,3,5 --percent --header -F csv numbers
counts "edges, csv, --percent" expected.csv
printf '%s\n' '{"schema":"gpuhisto/1","mode":"numbers","options":["--numbers","--edges=1,3,5"],"total":9,"counted":6,"other":3,"below":1,"above":1,"invalid":1,"bins":[{"lo":1,"hi":3,"count":3,"share":33.3333,"running":44.4444},{"lo":3,"hi":5,"count":3,"share":33.3333,"running":77.7778}]}' >expected
run -nq --edges=1,3,5 --percent -F json numbers
counts "edges, json, --percent" expected
run --percent samples
check "bytes: the last running share" [ "$(tail -n 1 out | cut -f 5)" = 100.0000 ]
check "bytes: five fields" awk -F '\t' 'NF != 5 { exit 1 }' out
run --percent <in
check "bytes: a double quote" grep -qF "0x22${tab}1${tab}\\x22${tab}10.0000${tab}" out
run -F csv --percent <in
check "bytes, csv: a double quote" grep -qF '0x22,1,"""",10.0000,' out
run -b --percent </dev/null
check "nothing: no share" [ "$(cut -f 4,5 out | sort -u)" = "0.0000${tab}0.0000" ]
run -n --percent --nonzero numbers 2>/dev/null
check "--percent --nonzero" [ "$(cut -f 1,5 out | tr '\t\n' '= ')" = \
    "-5=11.1111 1=22.2222 2=44.4444 3=77.7778 40=88.8889 invalid=100.0000 " ]

# --- --nonzero and --all ---

run in
grep -v "${tab}0${tab}" out >expected
run --nonzero in
counts "--nonzero" expected
run --all --nonzero in
counts "--all --nonzero: the last one" expected
run in
mv out expected
run --all in
counts "--all: as it is" expected
run --nonzero --all in
counts "--nonzero --all: the last one" expected
run --nonzero -F json in
check "--nonzero, json" [ "$(grep -o '"bin":' out | wc -l)" -eq 9 ]
run -n -q numbers
check "sparse: what is invalid is shown" [ "$(wc -l <out)" -eq 6 ]
printf '5' | run -n
check "sparse: even if there is none" [ "$(wc -l <out)" -eq 2 ]
printf '5' | run -n --nonzero
check "sparse, --nonzero: not even that" [ "$(wc -l <out)" -eq 1 ]
run -n -q --all numbers
check "sparse, --all: rows" [ "$(wc -l <out)" -eq 138606 ]
check "sparse, --all: counts" [ "$(awk -F '\t' '{ n += $2 } END { print n }' out)" -eq 9 ]
run -n -q --all -F json numbers
check "sparse, --all, json" [ "$(grep -o '"lo":' out | wc -l)" -eq 138603 ]

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
