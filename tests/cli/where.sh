#!/bin/sh
# SPDX-License-Identifier: MIT
# --where: the records that count are those for which oracle_where.py says that all conditions hold, by Fraction
# and datetime, however the text comes and wherever it is cut; and what cannot be compared is refused.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    cases_drawn=300 seeds=1
else
    cases_drawn=1500 seeds="1 2 3"
fi

# --- records and conditions that are drawn ---

# drawn NAME: runs the case and compares the table; arguments after it precede the case's options.
drawn()
{
    how=$1
    shift
    while read -r option_; do
        set -- "$@" "$option_"
    done <case.options
    case $how in
    file) run -q "$@" case.in ;;
    pipe) run -q "$@" <case.in ;;
    gzip) run -q "$@" case.in.gz ;;
    esac
    case_="$*"
    read -r status <status
    check "$case_: status" [ "$status" -eq 0 ]
    same "$case_" case.expected out
}

printf x | gzip >probe.gz
has_gzip=no
"$GPUHISTO" --device=cpu -d gzip probe.gz >/dev/null 2>&1 && has_gzip=yes
for seed in $seeds; do
    rm -f case.*
    $python "$srcdir/tests/helpers/oracle_where.py" "$seed" $cases_drawn || broken "oracle_where.py"
    for at in $(seq 0 $((cases_drawn - 1))); do
        # As its options are read a line at a time, none of them has a newline or a backslash.
        mv case.$at.in case.in
        mv case.$at.options case.options
        mv case.$at.expected case.expected
        drawn file
        for cpu in $([ $((at % 20)) -ne 1 ] || kernels_here); do
            GPUHISTO_CPU=$cpu
            export GPUHISTO_CPU
            drawn file --chunk-size=3000
            unset GPUHISTO_CPU
        done
        case $((at % 5)) in
        0) drawn file --threads=8 --chunk-size=100 ;;
        1) drawn pipe --chunk-size=13 ;;
        2) drawn file --threads=1 --chunk-size=1000 ;;
        3)
            if [ $has_gzip = yes ]; then
                gzip -c case.in >case.in.gz
                drawn gzip --threads=8
            fi
            ;;
        4) drawn pipe --threads=8 --lines-with=r ;;
        esac
    done
done

# --- modifiers, and names in quotes ---

printf 'a:b,a=b\n/user/7,2026-11-22T10:05:07+01:00\n/user/8,2026-11-22T09:55:07Z\n/item,2026-11-22T10:15:07+02:00\n' >named
printf '/user/7\t1\n/user/8\t1\n' >expected
run --csv --header-line --by='"a:b"' --where='"a:b":route=/user/*' named
counts "the route of a named column" expected
run --csv --header-line --by='"a:b"' --where='"a=b":1h=2026-11-22T09:00:00Z' named
counts "the hour of a named column" expected
if can_share; then
    "$GPUHISTO" $ENGINE --csv --header-line --by='"a:b"' --where=' "a=b":1h = 2026-11-22T09:00:00Z' -F json named >one.json
    check "words" grep -qF '"--where=\"a=b\":1h=2026-11-22T09:00:00Z"' one.json
    ENGINE='' run --merge one.json
    counts "--merge of conditions with modifiers" expected
fi
for size in 16384 16385; do
    printf '%*s;x\n' $size '' | tr ' ' a >long
    run -q --lines-with=a -t';' --by=2 --where='1:1-2=aa' long
    check "a field of $size bytes" [ "$(wc -l <out)" -eq $((size < 16385)) ]
done

# --- a log, which several threads read ---

cat >make_log.py <<'END'
import random
random.seed(5)
for i in range(40000):
    second = i * 86400 // 40000
    print('10.0.0.%d - - [22/Nov/2026:%02d:%02d:%02d +0000] "GET /item/%d HTTP/1.1" %s %d "-" "a b" %.3f' % (
        i % 9, second // 3600, second // 60 % 60, second % 60, i, random.choice(['200', '404', '500', '503', '-']), random.randrange(10000), random.random()))
END
$python make_log.py >log
awk '$4 >= "[22/Nov/2026:10:05" && $4 < "[22/Nov/2026:10:47" && $9 >= 500' log >kept
check "some lines are kept" [ "$(wc -l <kept)" -gt 100 ]
for by in "-s -k-1" "-s -k10 --by=9" "--by=1" "-n -k-1 -B10 --min=0 --max=1"; do
    "$GPUHISTO" --device=cpu $by kept >expected
    for threads in 1 8; do
        for from in log - "--chunk-size=1000 log"; do
            run $by --threads=$threads --where='4>=10:05' --where='4<10:47' --where='9>=500' $from <log
            counts "$by, $from, $threads threads" expected
        done
    done
    run $by --where='4<10:47' --where='9>=500' --where='4>=10:05' --lines-with=GET --lines-without=POST log
    counts "$by, with strings" expected
done
"$HELPERS/make_zstd" -f 100000 <log >log.zst
run --by=1 --threads=8 --where='4>=22/Nov/2026:10:05' --where='4<22/Nov/2026:10:47' --where='9 >= 5e2' log.zst
"$GPUHISTO" --device=cpu --by=1 kept >expected
counts "zstd" expected

# --- headers, several files, messages ---

printf 'ms,code,name\n1,200,a\n2,500,b\n3,503,"c,d"\n4,,e\n' >one.csv
printf 'name,code,x,ms\na,500,9,7\nb,200,9,8\n"c,d",501,9,9\n' >other.csv
cat >expected <<END
b${tab}1
c,d${tab}1
END
run -q --by=name --csv --header-line --where='code>=500' one.csv
counts "a column's name" expected
cat >expected <<END
a${tab}1
b${tab}1
c,d${tab}2
END
run -q --by=name --csv --header-line --where='code>=500' one.csv other.csv
counts "a column of two files" expected
run -q --by=name --csv --header-line --where='code>=500' --threads=8 --chunk-size=5 one.csv other.csv
counts "a column of two files, cut" expected
printf 'c,d\t2\n' >expected
run -q --by=name --csv --header-line --where='name=c,d' one.csv other.csv
counts "content without quotes" expected
run -q --by=name --csv --header-line --where='none=1' one.csv
refuses "no such column" 1 "one.csv: no column is called 'none'; it has 'ms', 'code', 'name'"
printf 'a 1\nb x\na x\na 2\n' >lines
run -s -k2 --invalid=error --where=1=b lines
refuses "an invalid line that is kept" 1 "lines: line 2: 'x' is not a number"
run -k ms --csv --header-line --invalid=error --where='code>=503' one.csv other.csv
check "named columns, all lines that are kept are valid" [ "$(cat status)" = 0 ]
run -k name --csv --header-line --invalid=error --where='code>=500' --where='ms>2' other.csv one.csv
refuses "an invalid line that named columns keep" 1 "other.csv: line 2: 'a' is not a number"
run -s -k2 --invalid=error --where=1=c lines
message "every line left out" "--where left every line out, so nothing was counted"
run -s -k2 --lines-with=x --where=1=c lines
message "--lines-with and --where" "--lines-with and --where left every line out"
{ printf 'a '; head -c 1048576 /dev/zero | tr '\0' 1; printf ' 5\na 1\nb 2\n'; } >long
run -q --by=1 --where='1=a' long
printf 'a\t1\n(invalid)\t1\n' >expected
counts "a line that is too long" expected
printf 'a 3 min\nb 179 s\nc 181\nd 180\n' >units
printf 'a\tinvalid\t1\nd\tinvalid\t1\n' >expected
run -q --by=1 -k1 --units --where='2 = 3min' units
counts "units in the next word" expected
printf '12 v=3\n10 v=4\n11 v=5\n' >numbers
printf '3\t1\t3.01\n5\t1\t5.01\ninvalid\t0\n' >expected
run -q -n --after=v= --where='1>10' numbers
counts "--after" expected
# Between blanks a time has the words that it has for -k N:time, also if its first word is that of the line before.
printf 'a 2026-11-22 09:59:59 5\nb 2026-11-22 10:05:07 5\nc 2026-11-22 10:05:07 +0100\nd 2026-11-22 x\n' >words
printf 'b\t1\nc\t1\n' >expected
run -q --by=1 --where='2>=2026-11-22T10:00' words
counts "a date and a clock" expected
run -q --by=1 --where='2>=10:00' words
counts "the clock after a date" expected
printf 'b\t1\n' >expected
run -q --by=1 --where='2>=2026-11-22T10:00:00Z' --where='1!=a' words
counts "an offset after a clock" expected
printf 'a\t1\nb\t1\nc\t1\nd\t1\n' >expected
run -q --by=1 --where='2=2026-11-22' words
counts "a date alone" expected
printf '1.2.3.4 - - [22/Nov/2026:10:05:07 +0100] "GET /a HTTP/1.1" 200 5\n' >words
run -q -s -k4:time --where='4>=2026-11-22T09:30:00Z' words
check "an offset in the next field" grep -q "^count${tab}0" out

printf '{"id":"a","at":"22\\/Nov\\/2026:10:05:07 +0100","n":1}\n{"id":"b","at":"2026-11-22T09:05:08Z","n":null}\n{"id":"c"}\n[1\n' >json
printf 'a\t1\n' >expected
run -q --by=.id --where='.at=2026-11-22T09:05:07Z' json
counts "an escaped slash" expected
printf 'b\t1\n' >expected
run -q --by=.id --where='.n=null' json
counts "null" expected
printf 'a\t1\n' >expected
run -q --by=.id --where='.n!=0' json
counts "null is no number" expected
for size in 400 500 511 512 513 600 3070 3084 3100 9000; do
    # What decides may be anywhere in a string with escapes, or in a long field.
    zeros=$(printf '%*s' $size '' | tr ' ' '0')
    as=$(printf '%*s' $((size / 4)) '' | sed 's/ /\\u0061/g')
    printf '{"id":"a","v":"%sb"}\n{"id":"b","v":"aa"}\n{"id":"c","v":"12%s.\\u0030e-%s"}\n' "$as" "$zeros" $size >json
    printf 'a\t1\n' >expected
    run -q --by=.id --where='.v>aa' --where='.v<b' json
    counts "a string of $size escapes" expected
    printf 'c\t1\n' >expected
    [ $size -lt 4000 ] || : >expected
    run -q --by=.id --where='.v=12' json
    counts "a number of $size digits" expected
done

# --- several histograms, shares, tables ---

run -nqk2 -B1 --min=0 --max=9 --where='1=a' --also -nqk2 -B1 --min=0 --max=9 --where='1=b' lines
cat >expected <<END
-inf${tab}0${tab}0
0${tab}2${tab}9
9${tab}0${tab}inf
invalid${tab}1

-inf${tab}0${tab}0
0${tab}0${tab}9
9${tab}0${tab}inf
invalid${tab}1
END
counts "--also" expected
run -nk2 --csv --header-line --where='ms=1' --also -nk2 --csv --header-line one.csv
refuses "--also by name" 2 "cannot be counted in one pass, as they read lines differently"
if can_share; then
    "$GPUHISTO" --device=cpu -sk-1 --where='9>=500' --where='4>=10:05' log >expected
    for k in 1 2 3; do
        "$GPUHISTO" $ENGINE -qsk-1 --where='9 >= 500' --where=' 4>=10:05' --part=$k/3 -F json log >part.$k
    done
    ENGINE='' run -s --merge part.3 part.1 part.2
    counts "shares" expected
fi
"$GPUHISTO" $ENGINE -qk2 --where=' 1 = "a" ' --where='2<5' --where='1=a' -F json lines >one.json
"$GPUHISTO" $ENGINE -qk2 --where='2 < 5' --where=1=a -F json lines >two.json
same "one spelling" one.json two.json
check "words" grep -qF '"--where=1=\"a\"","--where=2<5"' one.json
"$GPUHISTO" $ENGINE -qk2 -F json lines >without.json
ENGINE='' run --merge one.json two.json
check "--merge" [ "$(cat status)" = 0 ]
ENGINE='' run --merge one.json without.json
message "--merge of a table without" "was counted without --where"
"$GPUHISTO" $ENGINE -qk2 --where='1="\x41 \"' -F json lines >one.json
ENGINE='' run --merge one.json one.json
check "a backslash" [ "$(cat status)" = 0 ]

# --- what is refused ---

wrong() # CONDITION TEXT...
{
    condition_=$1
    shift
    run -k1 --where="$condition_" </dev/null
    refuses "$condition_" 2 "--where=" "$@"
}
for text in '' 9 '=5' '9=' '9>= ' '!5' ' > 5' 'a b'; do
    wrong "$text" "must be FIELD OP VALUE, as in --where='9>=500', where OP is one of = != < <= > >="
done
for text in '9==5' '9=~5' '9=<5' '9=>5' '9<>5' '9>==5' '9!=~x'; do
    wrong "$text" "OP must be one of = != < <= > >=; if '" "' is text, write \""
done
wrong '9>== x ' "if '= x' is text, write \"= x\""
for text in '0=5' '+1=5' '-0=5' '1048577=5' '9!~5=5' '1.5=5' '0:2=5'; do
    wrong "$text" "must be 1 to 1048576, -1 for the last field, a path into JSON such as .a.b or, with --header-line, a name"
done
wrong '9:rout=5' ": ':rout' must be :FIRST-LAST, :route, or a time such as :10s, :5m, :1h or :1d"
wrong 'a:b=5' "; quote a name that has a colon, as in --where='\"a:b\"'"
wrong '9:2-1=5' ": characters must be FIRST-LAST, from 1, or -1 for the last one, as in --where=4:14-15"
wrong '9:7m=5' ": :7m must divide a day evenly"
wrong '"a=5' ": must be FIELD OP VALUE"
wrong '"a"b=5' ": must be a name of 1 to 255 bytes in quotes"
wrong ':1=5' ": must be a field of 1 to 255 bytes"
wrong 'status>=500' "; for JSON lines, use --where='.status>=500'"
wrong 'status=500' "; for JSON lines, use --where=.status=500"
wrong '.a[x]=5' "must be a path such as"
for text in 24:00 25:00 10:60 10:05:61 10:05Z 1:234 10:05:07+01:00 10:05:7; do
    wrong "4>=$text" "a time of day must be 0:00 to 23:59:59; if '$text' is text, write \"$text\""
done
for text in 2026-02-30 2026-11-22T25:00:00 2026-11-22T10 32/Nov/2026:10:05:07 22/Foo/2026 2026-11-22T10:05Z; do
    wrong "4>=$text" "a time must be as in 2026-11-22T10:05:07Z; if '$text' is text"
done
wrong '3>5m' "a number with a unit needs --units; if '5m' is text, write \"5m\""
wrong '3>5KB' "the unit is not clear"
wrong "3=$(printf '%256s' '' | tr ' ' x)" "VALUE may have at most 255 bytes"
wrong "$(printf '%256s' '' | tr ' ' x)=3" "FIELD may have at most 255 bytes"
run -k1 --units --where='3>5KB' </dev/null
refuses "--units, a unit that is not clear" 2 "the unit is not clear; if '5KB' is text, write \"5KB\""
run -k1 --csv --where='status=5' </dev/null
refuses "a name without a header" 2 "--where=status=5: to find a column by its name, add --header-line"
run -k1 --csv --where='.a=5' </dev/null
refuses "a path and CSV" 2 "--csv and --where=.a=5 cannot be combined; a path is for lines of JSON"
run -n --where='1=5' </dev/null
refuses "tokens" 2 "--where=1=5 needs --field or --after with --numbers"
for mode in -b -c -l --pairs; do
    run $mode --where=1=2 </dev/null
    refuses "$mode" 2 "$mode and --where cannot be combined; pipe lines in, as in awk "
done
run --where=1=2 </dev/null
refuses "no mode" 2 "--where needs --numbers"
many=$(seq -f '--where=1!=%g' 101 116)
run -qk1 -B1 --min=0 --max=200 $many --invalid=skip numbers
check "16 conditions" [ "$(cat status)" = 0 ]
run -k1 $many --where=1=5 </dev/null
refuses "17 conditions" 2 "--where=1=5: there may be at most 16 conditions"
run_as "$GPUHISTO" --device=gpu -nk1 --where=1=2 </dev/null
refuses "--device=gpu" 2 "--device=gpu: the GPU cannot leave lines out; leave out --device"

summary
