#!/bin/sh
# SPDX-License-Identifier: MIT
# --by given several times: keys are tuples, which oracle_by.py counts, whatever bytes their parts have, however the text
# comes and wherever it is cut, in every format and order, and through --part and --merge.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=500 seeds="1"
else
    lines=5000 seeds="1 2 3 4 5"
fi
oracle_by="$python $srcdir/tests/helpers/oracle_by.py"

# Writes the same records in four ways: fields after ';', CSV, lines of JSON, and words. Parts of keys are prefixes of each
# other, empty, or have bytes that could pass for something between two of them. Some records lack the last fields.
cat >make_text.py <<'END'
import json, random, sys
random.seed(int(sys.argv[2]))
parts = ['', '', 'a', 'ab', 'abc', 'b', 'a\0', 'a\0\0', '\0', '\0\0\0\0', '\1', 'a\1', 'a\0b', 'b\0', '\1\0\0\0', '\3\0\0\0', 'a\2\0\0\0',
         'é', '\udcff', 'a b', ' ', '  ', 'a ', '(other)', '(invalid)', '\\', '\\x00', '/x/17/y?q', '/x/18', '\t']
numbers = ['0', '7', '10', '9', '-3', '007', '1e1', '200', '404', '9007199254740993', '9007199254740992', '-0']
only_csv = ['\n', 'a\nb', '"', 'a"b', '""', 'x;y', ';', '\r\n', ',']
def quote(text):
    return '"%s"' % text.replace('"', '""') if random.randrange(2) or set(text) & set('";\n\r') else text
plain, csv, members, words = [], [], [], []
for _ in range(int(sys.argv[1])):
    fields = [random.choice(parts), random.choice(parts[:random.randrange(1, len(parts))]), random.choice(numbers),
              '2026-11-%02dT10:%02d:%02dZ' % (random.randrange(1, 3), random.randrange(12), random.randrange(60)),
              str(random.randrange(-100, 100))]
    kept = fields[:random.choice([5, 5, 5, 5, 5, 5, 1 + random.randrange(5)])]
    if not ';'.join(kept):
        kept = fields
    plain.append(';'.join(kept))
    names = dict(zip('abctn', kept))
    members.append('{%s}' % ', '.join('"%s":%s' % (name, text if name == 'n' else json.dumps(text, ensure_ascii='\udcff' not in text))
                                      for name, text in random.sample(list(names.items()), len(names))))
    words.append(random.choice([' ', '', '\t']) + ' '.join(text.replace(' ', '_').replace('\t', '_') or '-' for text in kept))
    odd = [random.choice(only_csv) if random.randrange(6) == 0 else text for text in kept[:2]]
    csv.append(';'.join(quote(text) for text in odd + kept[2:]) or '""')
for path, records in zip(('plain', 'csv', 'json', 'words'), (plain, csv, members, words)):
    with open(path, 'wb') as file:
        file.write('\n'.join(records).encode('utf-8', 'surrogateescape') + b'\n')
END

ways()
{
    cat <<'END'
1 2
2 1
1 1
3 1
1 3
3 5
1 2 3
2:1-1 1:2-
4:5m 1:route
3 4:1d 2
1 2 3 4:1m
-1 1
END
}

# by WAY: the options of a way.
by()
{
    printf -- '--by=%s ' $1
}

# shows CASE: the last run printed what is expected.
shows()
{
    read -r status <status
    check "$way, $1: status" [ "$status" -eq 0 ]
    case $options in
    *' -s '*) tail -n +2 out | cut -f 1-$((5 + $(printf '%s\n' $way | wc -l))) >rows ;;
    *) cp out rows ;;
    esac
    same "$way, $1" expected rows
}

ways >all_ways
for seed in $seeds; do
    $python make_text.py "$lines" "$seed" || broken make_text.py
    gzip -c plain >plain.gz
    "$HELPERS/make_zstd" -f 1000 <plain >plain.zst
    codecs="plain.zst"
    "$GPUHISTO" --device=cpu -d gzip plain.gz >/dev/null 2>&1 && codecs="plain.zst plain.gz"
    while read -r way; do
        by=$(by "$way")
        options="-q -t ; $by"
        $oracle_by -t ';' $by <plain >expected || broken "oracle_by.py $by"
        check "$way: some keys" [ "$(wc -l <expected)" -gt 5 ]
        for threads in 1 8; do
            for chunk in $(few 2 100 1 1000) 8M; do
                run $options --threads=$threads --chunk-size=$chunk plain
                shows "$threads threads, chunks of $chunk"
            done
        done
        cat plain | run $options --chunk-size=64
        shows pipe
        for file in $codecs; do
            run $options --threads=3 $file
            shows $file
        done
        for cpu in $(kernels_here); do
            run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE $options plain
            shows "$cpu"
        done
        options="-q $(printf '%s\n' $by | sed 's/=-1/=5/; s/=1/=.a/; s/=2/=.b/; s/=3/=.c/; s/=4/=.t/; s/=5/=.n/')"
        case $way in
        -*) ;; # the last field is not always the same member
        *)
            for chunk in 100 8M; do
                run $options --threads=2 --chunk-size=$chunk json
                shows "JSON, chunks of $chunk"
            done
            ;;
        esac
        options="-q --csv -t ; $by"
        $oracle_by --csv -t ';' $by <csv >expected
        for chunk in 100 8M; do
            run $options --threads=2 --chunk-size=$chunk csv
            shows "CSV, chunks of $chunk"
        done
        options="-q $by"
        $oracle_by $by <words >expected
        run $options --chunk-size=1000 words
        shows words
        options="-q -s -k 5 -t ; $by"
        $oracle_by -k 5 -t ';' $by <plain >expected
        for chunk in 100 8M; do
            run $options --threads=2 --chunk-size=$chunk plain
            shows "numbers, chunks of $chunk"
        done
        options="-q -s --after=Z; $by" # every line counts, blank ones too
        sed 's/^a$/ /' words | sed 's/Z /Z;/' >after
        $oracle_by $by <after | grep -v '^(invalid)' | cut -f 1-$(printf '%s\n' $way | wc -l) >expected
        run $options after
        tail -n +2 out | grep -v '^(invalid)' | cut -f 1-$(printf '%s\n' $way | wc -l) >rows
        same "$way, --after" expected rows
    done <all_ways
done

# --- many keys with the same first parts ---

$python - <<'END' >many
import random
random.seed(7)
for _ in range(4000):
    number = random.choice([random.randrange(-50, 3000), '%d.0' % random.randrange(100), '9007199254740%d' % random.randrange(990, 999)])
    print(random.choice(['200', '200', '200.0', '1000']), random.choice('ab'), '/api/%d/x' % random.randrange(2000), number)
END
for way in '1 3' '1 4' '2 1 3' '2 1 4' '1 2 4 3' '2 4 3' '3 1'; do
    by=$(by "$way")
    options="-q $by"
    $oracle_by $by <many >expected
    for threads in 1 8; do
        run $options --threads=$threads many
        shows "many keys, $threads threads"
    done
done

# --- shards, and tables that are read again ---

json_of()
{
    $python - "$1" <<'END'
import json, sys
for line in open(sys.argv[1], encoding='utf-8'):
    table = json.loads(line)
    for row in table['bins']:
        if 'key' in row:
            key = [bytes.fromhex(part) for part in row['key_bytes']] if 'key_bytes' in row else [part.encode() for part in row['key']]
            print(repr(key), row['count'])
END
}

if can_share; then
    for way in '1 2' '2 1 3' '4:5m 1'; do
        by=$(by "$way")
        $oracle_by -t ';' $by <plain >expected
        $oracle_by -k 5 -t ';' $by <plain >expected.numbers
        for part in 1 2 3; do
            "$GPUHISTO" $ENGINE -q -t ';' $by -F json --part=$part/3 plain >part.$part || broken "--part=$part/3"
            "$GPUHISTO" $ENGINE -q -t ';' $by -k 5 -s -F json --part=$part/3 plain >numbers.$part || broken "--part=$part/3"
        done
        options=-q
        run_as "$GPUHISTO" -q --merge part.1 part.2 part.3
        shows --merge
        options="-q -s "
        run_as "$GPUHISTO" -q -s --merge numbers.1 numbers.2 numbers.3
        cp expected.numbers expected
        shows "--merge of numbers"
        run $options --top=3 --header -t ';' $by -k 5 plain
        cp out expected
        run_as "$GPUHISTO" -q -s --top=3 --header --merge numbers.1 numbers.2 numbers.3
        same "$way, --merge --top --header" expected out
        run_as "$GPUHISTO" -q --merge part.1 part.2 part.3 -F json
        json_of out >rows
        run -q -t ';' $by -F json plain
        json_of out >expected
        same "$way, --merge to JSON" expected rows
    done
else
    skip_part "--merge: $why_not"
fi

# --- formats ---

# Parts are in columns, and names that are shortened still differ.
cat >columns.py <<'END'
import re, sys
lines = sys.stdin.read().split('\n')[:-1]
begins = [found.start() for found in re.finditer('(key[0-9]|count) ', lines[0])]
names = [line[:begins[-1]] for line in lines[1:]]
assert len(set(names)) == len(names) > 5, names
assert all(name[begin - 2:begin] == '  ' for name in names for begin in begins[1:]), names
assert all(re.fullmatch('[ -~]* *[0-9]+ +[0-9.]+(  #+)?', line) for line in lines[1:]), lines
assert any('...' in name for name in names) == (int(sys.argv[1]) < 100), names
END
for way in '1 2' '2 1 3' '1 2 3 4'; do
    for columns in 20 40 300; do
        COLUMNS=$columns run -q -t ';' $(by "$way") -p --all --header plain
        check "$way: a plot of $columns columns" $python columns.py $columns <out
    done
done

# --- long fields ---

$python - <<'END' >long
import sys
for i in range(6):
    for size in 400000, 700000, 1048570 - i, 3:
        sys.stdout.buffer.write(b'/%s/%d?x;q%d\n' % (b'k' * (size - 9), i % 2, i % 3))
END
for way in '1 2' '1 1' '1:route 2 1' '1:2- 1:2- 1:2- 1:2-'; do
    options="-q -t ; $(by "$way")"
    $oracle_by -t ';' $(by "$way") <long >expected
    for chunk in 100000 8M; do
        run $options --chunk-size=$chunk long
        shows "long fields, chunks of $chunk"
    done
done

summary
