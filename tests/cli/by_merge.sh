#!/bin/sh
# SPDX-License-Identifier: MIT
# --merge of tables by key: whatever the keys are and however the input was divided, the sum is what one run prints,
# byte by byte; and damaged tables are refused.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
command -v python3 >/dev/null || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    distinct=3000 lines=400
else
    distinct=100000 lines=4000
fi

threads=1
merge()
{
    case $threads in 1) threads=2 ;; 2) threads=5 ;; *) threads=1 ;; esac
    run_as "$GPUHISTO" --merge --threads=$threads "$@"
}

# --- keys of every kind ---

# Lines of a key and a number: keys that are empty, that have zeros, quotes, backslashes, control characters, other
# bytes than UTF-8, numbers; lines that lack the number or both; numbers that are none, large, or far apart.
cat >make_text.py <<'END'
import random, sys
random.seed(int(sys.argv[2]))
keys = [b'', b'a', b'b', b'GET', b'"', b'a"b', b'\\', b'\\x00', b'a\0b', b'\0', b'\xff', b'\xff\xff', b'\xc3', b'\xed\xa0\x80',
        b'\xef\xbf\xbd', b'\x01\x1f', b'\x7f', 'ä€😀'.encode(), b'{"key":1}', b'other', b'invalid', b'null', b'k' * 300, b'10', b'9', b'-1.5']
numbers = [b'%d' % i for i in range(50)] + [b'1.25', b'-7', b'x', b'', b'9007199254740993', b'18446744073709551615', b'1e30', b'1e-30',
                                            b'1e39', b'-1e40', b'inf', b'nan']
if len(sys.argv) > 3: # keys that are numbers, and the sums of which have few bits
    keys, numbers = [b'%d' % i for i in range(-20, 300)] + [b'1e1', b'10.0'], numbers[:52]
for _ in range(int(sys.argv[1])):
    line = random.choice(keys) + b';' + random.choice(numbers)
    sys.stdout.buffer.write(random.choice([line] * 12 + [b'', b'a', b'\xff']) + b'\n')
END

# equals TITLE OPTION...: the table in `out` is what one run of the options prints.
equals()
{
    title=$1
    shift
    mv out merged
    run -q "$@" whole
    mv out expected
    same "$title" expected merged
}

# in_steps OPTION...: three files, two of which are merged at first, are the whole.
in_steps()
{
    for k in 1 2 3; do run -q "$@" -F json part$k && mv out file$k; done
    case " $* " in *" -s "*) stats=-s ;; *) stats= ;; esac
    "$GPUHISTO" --merge $stats -F json file3 file1 >two
    cat two file2 >both
    merge $stats -F json - <both
    equals "$*: two, and one" "$@" -F json
}

# adds OPTION...: three shares and three files, merged in several trees, are the whole.
adds()
{
    in_steps "$@"
    for k in 1 2 3; do run -q "$@" -F json --part=$k/3 whole && mv out share$k; done
    for format in tsv csv json; do
        merge $stats -F $format file1 file2 file3
        equals "$*: $format" "$@" -F $format
    done
    case $* in *skip*) ;; *) # which one run leaves out, but sorts by
        merge $stats --header --top=3 file3 file2 file1
        equals "$*: --top" "$@" --header --top=3
        ;;
    esac
    case $* in *-k2*-s*) ;; *)
        COLUMNS=60 merge $stats -p file2 file1 file3
        COLUMNS=60 equals "$*: -p" "$@" -p
        COLUMNS=60 merge $stats -p --all file2 file1 file3
        COLUMNS=60 equals "$*: -p --all" "$@" -p --all
        ;;
    esac
    merge $stats share1 share2 share3
    equals "$*: shares" "$@"
    "$GPUHISTO" --merge --incomplete $stats -F json share3 share1 >two
    merge $stats -F csv share2 two
    equals "$*: shares, two at first" "$@" -F csv
    merge share1 share3
    refuses "$*: a share is missing" 1 "gpuhisto: " "share"
    merge share1 share2 share1 share3
    refuses "$*: a share is there twice" 1 "gpuhisto: share1: share 1/3 is also in share1"
}

for keys in any numbers; do
    python3 make_text.py "$lines" 7 $([ $keys = any ] || echo numbers) >whole
    sed -n "1,$((lines / 3))p" whole >part1
    sed -n "$((lines / 3 + 1)),$((lines / 2))p" whole >part2
    sed -n "$((lines / 2 + 1)),\$p" whole >part3
    adds -t ';' --by=1
    adds -t ';' --by=2
    adds -t ';' --by=1:2-3 --invalid=skip
    adds -t ';' -k2 --by=1
    adds -t ';' -k2 --by=1 -s
    adds -t ';' -k2 --by=1 -s --invalid=skip --digits=1
    adds -t ';' -k2 --by=2:1 -s --log=2:32
    adds -t ';' -k2 --by=1:1 --edges=0,10,20.5,1000
done
for kind in '{"k":"a b","n":1}' '{"k":"\u00e9\u0000","n":2}' '{"n":3}' '{"k":null,"n":"4"}' '{"k":"\ud800","n":5'; do
    echo "$kind"
done >part1
cat part1 part1 >part2
cat part2 part2 >part3
cat part1 part2 part3 >whole
adds --by=.k
adds -k.n --by=.k -s
printf 'url;ms\na;1\nb;2\na;3\n' >part1
printf 'url;ms\nb;9\nc;10\n' >part2
printf 'url;ms\n' >part3
cat part1 part2 part3 >whole
for part in part1 part2 part3; do
    run --header-line -t ';' --by=url -kms -s -F json $part && mv out $part.json
done
merge --header -s part1.json part2.json part3.json
mv out merged
run --header-line -t ';' --by=url -kms -s --header part1 part2 part3
same "a column by its name, and a file without lines" out merged
check "its name is the column's" grep -q '^url	count' merged
printf 'a;1\n' >whole
: >part1
cp part1 part2
cp whole part3
adds -t ';' --by=1
adds -t ';' --by=1 -k2 -s
: >whole
cp whole part3
adds -t ';' --by=1
adds -t ';' --by=1 -k2

# A key of 1 MiB, less what a line has besides; each byte is six in JSON, or three and two.
for byte in '\001' '\377'; do
    head -c 1048570 /dev/zero | tr '\0' "$byte" >long
    for k in 1 2 3; do { cat long; echo "$k;$k"; } >part$k; done
    cat part1 part2 part3 >whole
    if [ "$SCALE" = small ]; then # MiBs of JSON are slow to read
        [ $byte = '\001' ] && in_steps -t ';' --by=1 || in_steps -t ';' --by=1 -k2 -s
    else
        adds -t ';' --by=1
        adds -t ';' --by=1 -k2 -s
    fi
done

# --- many keys ---

python3 - "$distinct" >whole <<'END'
import random, sys
count = int(sys.argv[1])
random.seed(3)
for i in range(3 * count): print('/page/%d/%x %d.%d' % (i % count, i % count * 2654435761, random.randrange(100), random.randrange(10)))
END
sed -n "1,$((2 * distinct))p" whole >part1
sed -n "$((2 * distinct + 1)),\$p" whole >part2
for options in --by=1 '--by=1 -k2 -s'; do
    stats=${options#--by=1}
    stats=${stats# -k2}
    for part in part1 part2; do run $options -F json $part && mv out $part.json; done
    merge $stats part1.json part2.json
    equals "$distinct keys: $options" $options
    merge $stats --max-keys=$((distinct - 1)) part1.json part2.json
    refuses "$options: one key too many" 1 "gpuhisto: " "more than $((distinct - 1)) keys; use a "
    merge $stats --max-keys="$distinct" part1.json part2.json
    check "$options: as many as allowed" [ "$(cat status)" = 0 ]
done

# --- what cannot be merged ---

printf 'a 1\nb 2\na 3\n\nc\n' >few
run -q --by=1 -F json few && cp out lines.json

# A small table, truncated at every byte, and with every byte of it changed: a reason in one line, or the table.
run -q --by=1 -k2 -s -F json few && head -n 1 out >one.json
sed -i 's/"tables":3/"tables":1/; s/"table":1/"table":1/; s/"quantiles.*"moments"/"moments"/' one.json
for table in lines.json one.json; do
    length=$(($(wc -c <"$table") - 2))
    step=1
    [ "$SANITIZED" = yes ] && step=7
    for len in $(seq 0 $step "$length"); do
        head -c "$len" "$table" >in
        "$GPUHISTO" --merge in >out 2>err
        echo $? >>truncated.$table
        wc -l <err >>lines.$table
    done
    check "$table, truncated at every byte: the status" [ "$(sort -u truncated.$table)" = 1 ]
    check "$table, truncated at every byte: one line" [ "$(sort -u lines.$table)" = 1 ]
done

# Memory does not grow with a list of keys beyond --max-keys.
python3 - >in <<'END'
import sys
sys.stdout.write('{"schema":"gpuhisto/1","mode":"lines","options":["--by=1"],"total":3000000,"counted":3000000,"other":0,"invalid":0,"bins":[')
sys.stdout.write(','.join('{"key":"%d","count":1}' % i for i in range(300000)))
sys.stdout.write(']}\n')
END
merge --max-keys=1000 in
refuses "more keys than allowed" 1 "gpuhisto: in: byte " "more than 1000 keys; use a greater --max-keys"

summary
