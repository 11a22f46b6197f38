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

printf '1\nx\n2 a\ny a\n' >some
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
