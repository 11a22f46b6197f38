#!/bin/sh
# SPDX-License-Identifier: MIT
# --lines-with=/REGEX/, --lines-without=/REGEX/: the lines that count are those that Python's re matches, or
# grep -P, however the text comes and wherever it is cut; and no expression gives a wrong count or no end.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

# --- text between slashes ---

printf '1 /api/x\n2 api\n3 //\n4 /\n' >slashes
run -n -k1 --lines-with=// slashes
printf '3\t1\t3.01\ninvalid\t0\n' >expected
counts "two slashes are text" expected
run -n -k1 -F json --lines-with=/api/ slashes
if ! "$GPUHISTO" --version | grep -q '^built with .*pcre2'; then
    refuses "no PCRE2" 2 "--lines-with=/api/: this build has no regular expressions, for lack of PCRE2; pipe lines in" \
        "as in grep -P REGEX FILE | gpuhisto -n"
    printf '%s\n' '{"schema":"gpuhisto/1","mode":"numbers","options":["--numbers","--lines-with=/x/","--digits=3"],"total":1,"counted":1,"other":0,"below":0,"above":0,"invalid":0,"bins":[{"lo":5,"hi":5.01,"count":1}]}' >table
    ENGINE='' run --merge table table
    printf '5\t2\t5.01\ninvalid\t0\n' >expected
    counts "tables are added up" expected
    skip "built without PCRE2"
fi
check "words" grep -qF '"options":["--numbers","--field=1","--lines-with=/api/","--digits=3"]' out
# keeps FILE OPTIONS NUMBER...: the lines of FILE, which begin with these numbers, that count.
keeps()
{
    file=$1 options=$2
    shift 2
    printf '%s\t1\n' "$@" | sed '/^\t/d' >expected
    run -q --by=1 $options "$file"
    sed -i '/left every line out/d' err
    counts "$options" expected
}
keeps slashes --lines-with=/api/ 1 2
keeps slashes --lines-with=//api// 1
keeps slashes '--lines-with=/\Q/api/\E/' 1
keeps slashes --lines-with=/// 1 3 4
keeps slashes '--lines-with=/(?i)API|4/ --lines-without=/x$/' 2 4
keeps slashes '--lines-with=/a/ --lines-with=x --lines-with=/a/' 1

# --- against Python and grep ---

if find_python && $python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    options=
    printf 'x' | gzip >one.gz 2>/dev/null && "$GPUHISTO" --device=cpu one.gz >/dev/null 2>&1 && options=--gzip
    printf 'ab\n' | grep -qP '^a(?=b)' 2>/dev/null && options="$options --grep"
    [ "$SCALE" = small ] && runs=2500 || runs=15000
    [ "$SANITIZED" = no ] || runs=300
    check "oracle_regex.py" $python "$srcdir/tests/helpers/oracle_regex.py" --runs="${REGEX_RUNS:-$runs}" \
        --seed="${REGEX_SEED:-1}" $options "$GPUHISTO" $ENGINE
else
    skip_part "expressions that are drawn: python3 of 3.11 or later is not installed"
fi

# --- many lines, several readers ---

[ "$SCALE" = small ] && large=40000 || large=400000
awk -v lines="$large" 'BEGIN {
    for (i = 0; i < lines; i++) {
        n = (n * 16807 + 11) % 2147483647
        printf "10.0.%d.%d - \"%s /%s HTTP/1.1\" %d %d \"Agent/%d%s\" 0.%03d\n", n % 250, n % 7, n % 3 ? "GET" : "POST",
            n % 5 ? "index.html" : "img/a" n % 100 ".png", n % 11 ? 200 : 500 + n % 4, n % 10000, n % 120, n % 13 ? "" : " bot", n % 1000
    }
}' >large
"$HELPERS/make_zstd" -f 100000 <large >large.zst
sed 's/$/\r/' large >crlf
if printf 'ab\n' | grep -qP '^a(?=b)' 2>/dev/null; then
    while read -r expression; do
        grep -aP -e "$expression" large | "$GPUHISTO" --device=cpu -nsq -k-1 >expected
        grep -avP -e "$expression" large | "$GPUHISTO" --device=cpu -nsq -k-1 >others
        for threads in 1 8; do
            for file in large large.zst crlf; do
                run -nsq -k-1 --lines-with="/$expression/" --threads=$threads $file
                counts "$expression, $file, $threads threads" expected
            done
            run -nsq -k-1 --lines-without="/$expression/" --threads=$threads --chunk-size=5003 large
            counts "without $expression, $threads threads" others
            cat large | run -nsq -k-1 --lines-without="/$expression/" --threads=$threads
            counts "without $expression, pipe, $threads threads" others
        done
    done <<'END'
 5[0-9][0-9] 
"GET [^"]*\.png[^"]*" 200
bot"|Agent/7\d"
^10\.0\.1\d\.
Agent/(?!1)
(?i)POST .* 0\.9\d\d$
(\d)\1\1
(?<=GET )/i
x*
END
else
    skip_part "what grep -P finds: there is no such grep"
fi

# --- bytes ---

printf '1 a\0b\n2 \377\n3 \303\251\n4 \303\n5 x\251\n' >bytes
for case in '/a\x00b/ 1' '/\xff/ 2' '/^.\x20.$/ 2 4' '/^.\x20..$/ 3 5' '/(*UTF)^.\x20.$/ 3' '/(*UTF)é/ 3' '/(*UTF)x/ 5' \
    '/(*UCP)(*UTF)\w$/ 1 3' '/(*UTF)(?i)É/ 3' '/(*CR)^..a.b$/ 1' '/[^\d\x20]$/ 1 2 3 4 5' '/\n/' '/\R|\v/'; do
    set -f
    keeps bytes --lines-with=$case
    set +f
done
printf '1 a\r\n2 a\n3 a\r\r\n4 \r' >bytes
for case in '/a$/ 1 2' '/\r/ 3' '/\x20$/ 4' '/a\s*$/ 1 2 3'; do
    set -f
    keeps bytes --lines-with=$case
    set +f
done

printf '1,"a\nb"\n2,ab\n3,"x""\na b"\r\n4,"a\n"\n' >bytes.csv
keeps_csv()
{
    expression=$1
    shift
    printf '%s\t1\n' "$@" >expected
    for size in 1 1M; do
        run -q --csv --by=1 --chunk-size=$size --lines-with="$expression" bytes.csv
        counts "CSV, $expression" expected
    done
}
keeps_csv '/a\sb/' 1 3
keeps_csv '/a[^b]/' 1 3 4
keeps_csv '/(?s)^1.*b/' 1
keeps_csv '/^\d,"?a.?b|^4/' 2 4
keeps_csv '/"$/' 1 3 4
keeps_csv '/(?m)^a b/' 3

# --- with other options ---

printf 'ms,name\n1,a7\n2,b7\n3,a8\n' >header.csv
printf '1\t1\t1.01\n3\t1\t3.01\ninvalid\t0\n' >expected
run --csv -k ms --header-line --lines-with='/a\d$/' header.csv
counts "a header" expected
run --csv -k ms --header-line --lines-with='/m|a\d/' --lines-without='/^ms/' header.csv
counts "a header is not matched" expected
run -n -t, -k 1 --lines-with='/,a/' --also -n -t, -k 1 --lines-with='/b\d/' -q header.csv
printf '1\t1\t1.01\n3\t1\t3.01\ninvalid\t0\n\n2\t1\t2.01\ninvalid\t0\n' >expected
counts "--also" expected
printf '{"a":1,"t":"x\\"y"}\n{"a":2,"t":"xy"}\n' >json
run -n -k.a --lines-with='/"t":"(?:[^"\\]|\\.)*y"/' --lines-without='/\\/' json
printf '2\t1\t2.01\ninvalid\t0\n' >expected
counts "JSON" expected
printf '1\nx\n2 a\ny a\n' >some
run -n --lines-with='/a|^x/' some
printf '2\t1\t2.01\ninvalid\t4\n' >expected
same "invalid tokens: table" expected out
message "invalid tokens: line" "some: line 2: 'x' is not a number"
run -n --invalid=error --lines-with='/a$/' some
refuses "--invalid=error" 1 "some: line 3: 'a' is not a number"
run -nq -k2 --lines-with=/a/ --lines-with=b -F json some && mv out json.1
run -nq -k2 --lines-with=b --lines-with=/a/ --lines-with=/a/ -F json some && mv out json.2
same "one order, and each once" json.1 json.2
if can_share; then
    run -nq -k-1 --lines-with='/ 5\d\d /' -F json large && mv out whole.json
    for k in 1 2 3; do
        "$GPUHISTO" $ENGINE -nq -k-1 --lines-with='/ 5\d\d /' --part=$k/3 -F json large >part.$k
    done
    ENGINE='' run --merge part.3 part.1 part.2
    mv out merged
    run -nq -k-1 --lines-with='/ 5\d\d /' large
    counts "shares" merged
    run -nq -k-1 --lines-with=' 5\d\d ' -F json large && mv out other.json
    ENGINE='' run --merge whole.json other.json
    message "--merge of other lines" 'was counted with --lines-with= 5\x5cd\x5cd , but whole.json with --lines-with=/ 5'
fi

# Lines that are long, or too long: the latter are never left out.
for bytes in 70000 1048576 1048577; do
    awk -v n=$bytes 'BEGIN { for (s = "GET 1 2 "; length(s) < n; s = s s); printf "1 GET\n%s\n2 got\n", substr(s, 1, n) }' >long
    run -nq -k2 -B1 --min=0 --max=3 --lines-with='/G(?:E|x)T(?: \d)*/' long
    case $bytes in
    1048577) printf -- '-inf\t0\t0\n0\t0\t3\n3\t0\tinf\ninvalid\t2\n' >expected ;;
    *) printf -- '-inf\t0\t0\n0\t1\t3\n3\t0\tinf\ninvalid\t1\n' >expected ;;
    esac
    same "$bytes bytes" expected out
    run -nq -k2 -B1 --min=0 --max=3 --lines-with=/nowhere/ long
    case $bytes in
    1048577) printf -- '-inf\t0\t0\n0\t0\t3\n3\t0\tinf\ninvalid\t1\n' >expected ;;
    *) printf -- '-inf\t0\t0\n0\t0\t3\n3\t0\tinf\ninvalid\t0\n' >expected ;;
    esac
    same "$bytes bytes, nowhere" expected out
done

# More stack than compiled code has: such a line is interpreted.
awk 'BEGIN { for (s = "ab"; length(s) < 100000; s = s s); print "1 " s "c"; print "2 " s "d" }' >deep
run -nq -k1 --lines-with='/^\d (?:a|b)*c$/' deep
printf '1\t1\t1.01\ninvalid\t0\n' >expected
counts "a deep match" expected

# --- what cannot be decided ---

backtracks='takes more backtracking than PCRE2 is allowed in the line'
awk 'BEGIN { for (i = 0; i < 20000; i++) print i, "aab"; print 7, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"
             for (i = 0; i < 20000; i++) print i, "aab" }' >hostile
"$HELPERS/make_zstd" -f 10000 <hostile >hostile.zst
sed 's/$/\r/' hostile >hostile.crlf
printf 'old\n' >table
for threads in 1 8; do
    for option in --lines-with --lines-without; do
        for file in hostile hostile.zst hostile.crlf; do
            run -n -k1 "$option=/ (a+)+(b|\$)/" --threads=$threads $file
            refuses "$option, $file, $threads threads" 1 "gpuhisto: $file: line 20001: $option=/ (a+)+(b|\$)/: $backtracks '7 aaaa" "aaa!'"
        done
        run -n -k1 "$option=/ (a+)+(?!c)\$/" --threads=$threads -o table hostile
        refuses "$option, output" 1 "$option=/ (a+)+(?!c)\$/: $backtracks"
        same "$option, output: as it was" table - <<'END'
old
END
    done
    run -n -k1 --lines-with=/a/ --also -n -k1 --lines-with='/ (a+)+$/' --threads=$threads <hostile
    refuses "--also, $threads threads" 1 "standard input: --lines-with=/ (a+)+\$/: $backtracks"
    run -q --by=1 --lines-with='/ (a+)+$/' --threads=$threads hostile
    refuses "--by, $threads threads" 1 "hostile: line 20001: --lines-with=/ (a+)+\$/: $backtracks"
    run -n -k1 --each --lines-with='/ (a+)+$/' --threads=$threads some hostile
    refuses "--each, $threads threads" 1 "hostile: line 20001: --lines-with=/ (a+)+\$/: $backtracks"
done
# The first of several, wherever the text is cut.
awk 'NR % 9000 == 500 { print 8, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" } 1' hostile >several
cat some hostile >several.2
"$HELPERS/make_zstd" -f 3000 <several >several.zst
for threads in 1 8; do
    for chunk in 100 5000 8M; do
        for file in several several.zst; do
            run -n -k1 --lines-with='/ (a+)+$/' --threads=$threads --chunk-size=$chunk $file several.2 </dev/null
            refuses "$file, $threads threads, chunks of $chunk" 1 "gpuhisto: $file: line 500: --lines-with=/ (a+)+\$/: $backtracks '8 aaa"
        done
        run -n -k1 --lines-with='/ (a+)+$/' --threads=$threads --chunk-size=$chunk --skip=100000 several
        refuses "--skip, $threads threads, chunks of $chunk" 1 "gpuhisto: several: line $(tail -c +100001 several | grep -n '^8 ' | sed -n '1s/:.*//p'): --lines-with="
        run -q --csv --header-line --by=x --lines-with='/,(a+)+$/' --threads=$threads --chunk-size=$chunk - <<'END'
x,y
"a
b",c
"b
c",aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!
END
        refuses "CSV, $threads threads, chunks of $chunk" 1 "standard input: line 4: --lines-with="
    done
done
run -nq -k1 --lines-with='/ (a+)+$/' --lines-with=b hostile
grep b hostile | "$GPUHISTO" --device=cpu -nq -k1 >expected
case $(cat status) in
0) sed '/invalid/!d; s/.*/invalid\t0/' expected >none && same "left out by a string" none out ;;
*) refuses "perhaps left out by a string" 1 "$backtracks" ;;
esac
run -nq -k1 --lines-with='/ (a++)+$/' hostile
printf 'invalid\t0\n' >expected
same "a possessive repeat" expected out

# --- what is refused ---

while read -r expression what; do
    run -n "--lines-with=$expression" </dev/null
    refuses "$expression" 2 "gpuhisto: --lines-with=$expression: $what of the expression; see pcre2pattern(3)"
done <<'END'
/(/ missing closing parenthesis at byte 1
/a{2,1}/ numbers out of order in {} quantifier at byte 5
/\/ \ at end of pattern at byte 1
/[z-a]/ range out of order in character class at byte 3
END
run -n -k1 --lines-without='/*/' -o table some
refuses "an output" 2 "--lines-without=/*/: quantifier does not follow a repeatable item at byte 0"
same "an output: as it was" table - <<'END'
old
END
run -n "--lines-with=/a
b/" </dev/null
refuses "two lines" 2 "must be text within a line"
run -n --lines-with=/a/ --also -n --lines-with='/(/' </dev/null
refuses "--also" 2 "--lines-with=/(/: missing closing parenthesis"
many=$(seq -f --lines-with=/%g/ 101 116)
run -n $many --lines-without=/x/ </dev/null
refuses "17 expressions" 2 "--lines-without=/x/: there may be at most 16 such strings"
run_as "$GPUHISTO" --device=gpu -n --lines-with=/x/ </dev/null
refuses "--device=gpu" 2 "--device=gpu: the GPU cannot leave lines out; leave out --device"

# --- the library ---

mkdir broken
: >broken/libpcre2-8.so.0
run_as env LD_LIBRARY_PATH="$work/broken" "$GPUHISTO" $ENGINE -n --lines-with=/x/ some
if [ "$(cat status)" = 1 ] && grep -q 'cannot load' err; then
    refuses "a library that cannot be loaded" 1 "gpuhisto: --lines-with=/x/: cannot load " "libpcre2-8.so.0" \
        "; install libpcre2-8-0 (Debian, Ubuntu) or pcre2 (Fedora, brew)"
    printf '2\t1\t2.01\ninvalid\t0\n' >expected
    run_as env LD_LIBRARY_PATH="$work/broken" "$GPUHISTO" $ENGINE -nq --lines-with=2 -k1 some
    counts "a string does not need it" expected
    if can_share; then
        run_as env LD_LIBRARY_PATH="$work/broken" "$GPUHISTO" --merge whole.json -q
        counts "a table does not need it" merged
    fi
else
    skip_part "a library that cannot be loaded: it is found elsewhere"
fi

summary
