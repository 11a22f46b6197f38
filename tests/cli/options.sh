#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line: what is allowed; for anything else one line that says what is; and the options
# as --help and the man page have them.
completions=$(cd "${builddir:-.}" && pwd)/completions/gpuhisto.bash
. "${srcdir:-.}/tests/helpers/lib.sh"

printf 'abcde\n' >in

# usage 'TEXT' ARGUMENT...: exit status 2, nothing printed, and one line that has TEXT in it.
usage()
{
    text=$1
    shift
    run "$@" <in
    refuses "$*" 2 "$text"
}

# fine ARGUMENT...: exit status 0, and the table of `in` in file `expected`.
fine()
{
    run "$@" <in
    counts "$*" expected
}

# --- values ---

for bad in 0 27 -1 +4 x 4x 1.5 ' 4' '4 ' 0x4 99999999999999999999 ''; do
    usage "--letters=$bad: must be a whole number from 1 to 26" "--letters=$bad"
done
for bad in 0 27 B; do
    usage "--letters=$bad: must be a whole number from 1 to 26" "-l$bad"
done
for bad in 0 -1 +1 x 1x 1.5 65 99999999999999999999 ''; do
    usage "--buffers=$bad: must be a whole number from 1 to 64" "--buffers=$bad"
done
for bad in 0 -1 +1 x 1x 1.5 1025 99999999999999999999 ''; do
    usage "--threads=$bad: must be a whole number from 1 to 1024" --threads "$bad"
done
for bad in 0 0K -1 +1 x 1x 1.5M 1MiB 1KB 1T K 1025M 1073741825 2G 17179869184G \
    18446744073709551616 99999999999999999999 ''; do
    usage "--chunk-size=$bad: must be a size from 1 to 1G" "--chunk-size=$bad"
done
for bad in 0 1 1023 -1 x 1x 1T 2049M 3G 2147483649 18014398509481985K ''; do
    usage "--memlimit=$bad: must be a size from 1K to 2G" "--memlimit=$bad"
done
for bad in xml TSV ts tsvx ''; do
    usage "--format=$bad: must be one of tsv, csv, json" "--format=$bad"
    usage "--format=$bad: must be one of tsv, csv, json" -F "$bad"
done
for bad in GZIP ZSTD zst ''; do # a build without ISA-L has no gzip
    usage "--decompress=$bad: must be one of auto, zstd, " "--decompress=$bad"
    usage "--decompress=$bad: must be one of auto, zstd, " -d "$bad"
done
for bad in foo CPU gpu: gpu:x gpu:-1 gpu:+1 gpu:1x gpu:2147483648 gpu:99999999999999999999 gpu0 ALL \
    gpu:0,0 'gpu:0,' gpu:,1 gpu:1,x gpu:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 gpu:00000000000000001 \
    ''; do
    usage "--device=$bad: must be auto, cpu, gpu, all, or numbers of GPUs" "--device=$bad"
done
for bad in nonesuch AUTO vector ''; do
    usage "--kernel=$bad: no such strategy; --kernel=help" "--kernel=$bad"
done
GPUHISTO_CPU=nonesuch
export GPUHISTO_CPU
usage "GPUHISTO_CPU=nonesuch: must be one of "
unset GPUHISTO_CPU
for bad in COUNT none ''; do
    usage "--invalid=$bad: must be one of count, skip, error" -n "--invalid=$bad"
done
for bad in '' ',' '0.5,' ',0.5' '0.5,,0.9' -0.1 1.1 nan inf 0x1p-1 ' 0.5' '0.5 ' x 0.5x 1e1 50% 1.00000000000000000001; do
    usage "--quantiles=$bad: must be numbers from 0 to 1, at most 64" -n "--quantiles=$bad"
done
usage "separated by commas; for 50 %, use 0.5" -n --quantiles=50
usage "separated by commas; for 99.9 %, use 0.999" -n --quantiles=0.5,99.9
usage "separated by commas; for 90 %, use 0.9" -n --quantiles=90%
usage "separated by commas; for 100 %, use 1" -n --quantiles=100,2
for bad in 101 1e1000 -5 p50; do
    run -n --quantiles=$bad <in
    refute "--quantiles=$bad: no hint" grep -q 'for .* %' err
done
many=0$(printf ',0.%s' $(seq 101 164))
usage "at most 64" -n --quantiles="$many"
usage "of at most 40 digits" -n --quantiles=0.50000000000000000000000000000000000000001
usage "--output needs the name of a file" --output=
usage "gpuhisto: -o needs the name of a file" -o ''

# --- what there is not ---

hint="try 'gpuhisto --help'"
usage "--nonesuch: no such option; $hint" --nonesuch
usage "--nonesuch=3: no such option; $hint" --nonesuch=3
usage "--letters4: no such option; did you mean --letters?" --letters4
usage "--feild=1: no such option; did you mean --field=1?" --feild=1
usage "--threds=3: no such option; did you mean --threads=3?" --threds=3
usage "--yb=1: no such option; did you mean --by=1?" --yb=1
usage "--field--field--field--field--field: no such option; $hint" --field--field--field--field--field
usage "-by=1: no such option; did you mean --by=1?" -by=1
usage "-field: no such option; did you mean --field?" -field 3
usage "-stats: no such option; did you mean --stats?" -stats
usage "-top: no such option; did you mean --top?" -top 3
usage '--feild=\x1b[31m: no such option; did you mean --field=\x1b[31m?' "--feild=$(printf '\033[31m')"
usage "---: no such option; $hint" ---
usage "-x: no such option; $hint" -x
usage "-by: no such option; did you mean --by?" -by
usage "-y: no such option; $hint" -bys
usage "-4: no such option; $hint" -4
usage "--nonesuch: no such option" --format json --nonesuch
usage "--nonesuch: no such option" in --nonesuch
for option in --bins=BINS --min=X --max=Y --edges=A,B,... --invalid=HOW \
    --decompress=HOW --memlimit=SIZE --format=FORMAT --output=FILE --device=DEVICE --kernel=NAME \
    --chunk-size=SIZE --buffers=N --threads=N; do
    usage "${option%%=*}: requires an argument, as in $option" ${option%%=*}
done
usage "--threads: requires an argument" --thr
for option in d:HOW F:FORMAT o:FILE B:BINS; do
    usage "-${option%:*}: requires an argument, as in -${option%:*} ${option#*:}" -${option%:*}
    usage "-${option%:*}: requires an argument" -b${option%:*}
done
for option in --bytes --fold-case --numbers --header --timing --quiet --verbose --help --version; do
    usage "$option=yes: $option takes no argument" $option=yes
done
usage "--vers=1: --version takes no argument" --vers=1

# Letters in the wrong order: what follows -l is its value.
usage "-lf: 'f' is not a WIDTH of -l; did you mean -fl?" -lf
usage "-qlf: 'f' is not a WIDTH of -l; did you mean -qfl?" -qlf

# --- a mode that another option implies ---

seq 1 9 | sed 's/$/,&7/' >lines.csv
for options in "-k1 -t," "-k1 --csv" "--csv -k1" "--after=,"; do
    "$GPUHISTO" $ENGINE -n $options lines.csv >expected
    run $options lines.csv
    counts "$options" expected
    for more in "-B2 --min=0 --max=100" "-F json"; do
        "$GPUHISTO" $ENGINE -n $options $more lines.csv >expected
        run $more $options lines.csv
        counts "$options $more" expected
    done
done
"$GPUHISTO" --device=cpu -nt, -k1 --also -nt, -k2 lines.csv >expected
run_as "$GPUHISTO" --device=cpu -t, -k1 --also -t, -k2 lines.csv
counts "--also" expected

# --- a value that was typed as a FILE ---

for options in "--letters 4" "-l 4" "-fl 4"; do
    run $options <in
    refuses "$options" 1 "gpuhisto: 4: No such file or directory; did you mean --letters=4?"
done
run -n --quantiles 0.5,0.9 <in
refuses "--quantiles 0.5,0.9" 1 "0.5,0.9: No such file or directory; did you mean --quantiles=0.5,0.9?"
run --each 64K <in
refuses "--each 64K" 1 "64K: No such file or directory; did you mean --each=64K?"
run --each K <in
refuses "--each K" 1 "K: No such file or directory"
check "--each K: no guess" [ "$(cat err)" = "gpuhisto: K: No such file or directory" ]
run -l 4 in <in
refuses "-l 4 in" 1 "did you mean --letters=4?"
run --let 4 -o new <in
refuses "--let 4" 1 "did you mean --letters=4?"
refute "--let 4: no output" [ -e new ]
for options in "--letters 27" "--letters missing" "--letters in 4" "--letters -- 4" \
    "--letters=3 4" "4 --letters" "--bytes 4"; do
    run $options <in
    read -r status <status
    check "$options: status" [ "$status" -eq 1 ]
    refute "$options: no hint" grep -q 'did you mean' err
done
printf 'abc' >./4
printf 'a-d\t3\ne-h\t0\ni-l\t0\nm-p\t0\nq-t\t0\nu-x\t0\ny-z\t0\n' >expected
run --letters 4 <in
counts "a FILE that is called 4" expected
rm 4

# --- what does not go together ---

# clash 'ONE' 'OTHER' ARGUMENT...: these two are named, as they were typed.
clash()
{
    text="gpuhisto: $1 and $2 cannot be combined"
    shift 2
    usage "$text" "$@"
}
# needs 'ONE' 'WHAT' ARGUMENT...
needs()
{
    text="gpuhisto: $1 needs $2"
    shift 2
    usage "$text" "$@"
}

usage "gpuhisto: --bytes and --letters cannot be combined; put --also between them" --bytes --letters
usage "gpuhisto: -l and -b cannot be combined; put --also between them" -l2 -b
clash -n -b -nb
modes=$(sed -n 's/^    MODE_\([A-Z]*\),$/\1/p' "$srcdir/src/tally/histogram_spec.h" | tr A-Z a-z | grep -vx lines) # by --by alone
check "modes" [ "$(echo "$modes" | wc -l)" -ge 8 ]
for one in $modes; do
    for other in $modes; do
        [ $one != $other ] || continue
        case " $one $other " in
        *" numbers "* | *" values "*) hint= ;;
        *) hint="; put --also between them" ;;
        esac
        usage "gpuhisto: --$one and --$other cannot be combined$hint" --$one --$other
    done
done
usage "gpuhisto: --cat and --blo cannot be combined; put --also between them" --cat --blo
clash --values --numbers --values=f64 -B 2 --min=0 --max=1 --numbers
usage "--pairs=all: must be aligned, or left out" --pairs=all
usage "--pairs=: must be aligned, or left out" --pairs=
clash --characters --all --characters --all
run -c --all --nonzero <in
check "the last of --all and --nonzero" [ "$(cat status)" -eq 0 ]
ENGINE='' usage "--kernel=lanes: cannot count in this mode" -c --kernel=lanes
ENGINE='' usage "--each: the GPU cannot count files separately with 1114113 bins" -c --each --device=gpu
for bad in 0 -1 1.5 64KB x '' 9223372036854775808; do
    usage "--each=$bad: must be a size from 1 to 9223372036854775807" "--each=$bad"
done
usage "--each=4K needs --bytes, --letters or --values" -n --each=4K
usage "--each=4K needs --bytes, --letters or --values, as blocks cut characters" --blocks --each=4K
usage "--each=3 needs --pairs=aligned" --pairs --each=3
usage "--each=3: blocks must hold whole values of 2 bytes; use --each=4" --pairs=aligned --each=3
ENGINE='' usage "--each=4K: the GPU cannot count blocks separately; use --device=cpu" --each=4K --device=gpu
clash --digits --min -n --digits=2 --min=1 --max=2 --bins=3
clash --digits --edges -n --digits=2 --edges=1,2
clash --digits --log -n --digits=2 --log=2:32
usage "--digits=6: must be a whole number from 1 to 5" -n --digits=6
usage "--digits=0: must be a whole number from 1 to 5" -n --digits=0
usage "gpuhisto: --digits and -B cannot be combined for integers" --values=u32 --digits=3 -B 9
usage "--log=2:31: must be 2:32 or a single number" -n --log=2:31
usage "--log=10:9: must be 2:32 or a single number" --values=f64 --log=10:9
for base in 3 10foo 10.0.5 foo; do
    needs --log=$base "--min and --max; without these, use --log" -n --log=$base
done
needs --log=2:32 "--numbers, --values=f32 or --values=f64" --values=u16 --log=2:32
clash --log=2:32 --max -n --log=2:32 --max=2
clash --log -B -n --log=2:32 -B 5
needs --min --max=Y -n --bins=3 --min=1
needs --max --min=X -n --bins=3 --max=1
needs --min "--bins=BINS or --log" -n --min=1 --max=2
needs --min "--numbers or --values" --min=1 --max=2
clash --edges --bins -n --edges=1,2 --bins=3
clash --edges --log -n --edges=1,2 --log
clash --min --edges -n --min=1 --edges=1,2 --max=2
clash --log --bins -n --log --bins=3 --min=1 --max=2
needs --quantiles "--numbers, --values, --merge or --diff" -l --quantiles=0.5
needs --invalid --numbers --stats --values=u8 --invalid=count
needs -f --letters -f
needs --fold --letters --bytes --fold
needs --csv "--field=N or --by=FIELD" -n --csv
needs -t "--field=N or --by=FIELD" -n -t,
needs --header-line "--field=N, --after=STRING or --by=FIELD" -n --header-line
needs --by=2 "--field or --after with --numbers" -n --by=2
needs --top "--by=FIELD" --top=3
needs --sort "--by=FIELD, --merge or --diff" --sort=count
clash --sort -s --by=1 --sort=count -s
needs --bins "--min and --max with --by" -k1 --by=2 --bins=3
needs --max-keys --by=FIELD --max-keys=3
clash --by=.a --csv --by=.a --csv
ENGINE='' usage "--device=gpu: the GPU cannot count by key; leave out --device" --by=1 --device=gpu
for bad in 1:0 1:0-1 1:2-1 1:-2--3 1:--1 1:-0 1:2-3-4 1:2---3 1:- 1:1048577 1:1-1048577 1:9999999999999999999; do
    usage "--by=$bad: characters must be FIRST-LAST, from 1, or -1 for the last one, as in --by=4:14-15" "--by=$bad"
done
for bad in x '' Route m 5M 5min 1w 1.5h 1:5x 5m: "$(printf %040d 1)"; do
    usage ":${bad##*:}' must be :FIRST-LAST, :route, or a time such as :10s, :5m, :1h or :1d" "--by=1:$bad"
done
for bad in 0s 7s 11m 7h 25h 86401s 0d 367d 527041m 99999999999999999999d 0000000000000000001s; do
    usage "--by=1:$bad: :$bad must divide a day evenly, as :10s, :5m and :6h do, or be :1d to :366d" "--by=1:$bad"
done
usage "--by=1:1:2:3:4:5: there may be at most 4 modifiers" --by=1:1:2:3:4:5
usage "--by=a:b: ':b' must be :FIRST-LAST, :route, or a time such as :10s, :5m, :1h or :1d; quote a name that has a colon, as in --by='\"a:b\"'" \
    --header-line --by=a:b
for bad in '"' '"a' '"a"b' '"a:1' '"a"":1'; do
    usage "--by=$bad: must be a name of 1 to 255 bytes in quotes, and perhaps modifiers after colons, as in --by='\"a:b\":1-3'" \
        --header-line "--by=$bad"
done
usage '--by="": must be a field of 1 to 255 bytes' --header-line '--by=""'
for bad in '"1"' '"a":1' '".a"' '"-1":5m'; do
    usage ": to find a column by its name, add --header-line" "--by=$bad"
done
usage "--field=4:5m: ':5m' must be :time, or :each, :sum or :last of a list of numbers" -k 4:5m
usage "--by=1:\\x12: ':\\x12' must be :FIRST-LAST" "--by=1:$(printf '\022')"
for bad in 0 x -x 1048577 '1 ' 0:route; do
    shown=${bad%:*}
    usage "--by=$shown: must be 1 to 1048576, -1 for the last field" "--by=$bad"
done
usage "--by=:1-2: must be a field of 1 to 255 bytes" --by=:1-2
usage "--by=.a[: must be a path such as" --by=.a[
for bad in 0 -1 x 1000000001; do
    usage "--max-keys=$bad: must be a whole number from 1 to 1000000000" --by=1 "--max-keys=$bad"
done
clash --csv '-t "' -n --csv -t '"' -k1
usage "gpuhisto: --percent and -s cannot be combined; --format=json and --plot have both" -b --percent -s
usage "-s and -F pgm cannot be combined; --format=json has both" --pairs -s -F pgm
usage "--format=pgm and --quantiles cannot be combined; --format=json has both" --by=1 -k2 --format=pgm --quantiles
clash "-F pgm" --header --pairs -F pgm --header
needs "-F pgm" "--pairs, or --by with --field or --after" -Fpgm
needs "-F pgm" "--pairs, or --by with --field or --after" --by=1 -Fpgm
clash -o --interval -o new --interval=1
ENGINE='' clash --bytes --merge --bytes --merge
ENGINE='' clash --dif --threads --dif --threads=2
ENGINE='' usage "--kernel=lanes: cannot count in this mode" -n --kernel=lanes
ENGINE='' usage "--kernel=numbers: cannot count in this mode" --bytes --kernel=numbers
clash --kernel=vectorized --device=cpu --kernel=vectorized --device=cpu
clash --device=cpu --kernel=vectorized --device=cpu --kernel=vectorized

# What does not go with keys or with lines says what to type instead, which is tried.
key='; pipe the lines of one key in, as in grep KEY FILE | gpuhisto -b'
for mode in -b -c -l --categories --blocks --pairs; do
    usage "--by and $mode cannot be combined$key" --by=1 $mode
    usage "$mode and --lines-with cannot be combined; pipe lines in, as in grep -F STRING FILE | gpuhisto -b" \
        $mode --lines-with=a
    usage "--lines-without and $mode cannot be combined; pipe lines in, as in grep -vF STRING FILE | gpuhisto -b" \
        --lines-without=a $mode
done
usage "--by and --values cannot be combined; turn values into text, as in od -An -v -w8 -tu4 FILE | gpuhisto --by=1 -k2" \
    --by=1 --values=u32
printf 'abcdefgh' >two
od -An -v -w8 -tu4 two >columns
run --by=1 -k2 -s -F json columns
check "values as text" grep -q '"key":"1684234849",.*"sum":1751606885,' out
usage "--by and --also cannot be combined; run gpuhisto once for each histogram" --by=1 --also -b
usage "--also and --by cannot be combined; run gpuhisto once for each histogram" -b --also --by=1
usage "--by and --each cannot be combined; run gpuhisto once for each file" --by=1 --each

# The fuzzer's dictionary has every option, and every word that is a value of one.
dictionary="$srcdir/tests/fuzz/options.dict"
run --help </dev/null
sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' out | sort >names
sed -n 's/^"--\([a-z-]*\)=\{0,1\}"$/\1/p' "$dictionary" | sort >entries
same "options of --help (-) and in options.dict (+)" names entries
sed -n '/--kernel/d; s/^    .*) words="\(.*\)" ;;$/\1/p' "$completions" | tr ' ' '\n' | sort -u >words
sed -n 's/^"\(.*\)"$/\1/p' "$dictionary" | sort >entries
check "words of values" [ "$(wc -l <words)" -ge 40 ]
: >nothing
comm -23 words entries >strangers
same "words of values that options.dict lacks" nothing strangers

# The man page has them, too, but for types whose bytes are in the other order, and modifiers.
{ grep -v 'be$' words; printf '%s\n' route 10s each sum last time; } |
    while read -r word; do grep -qwF -- "$word" "$srcdir/doc/gpuhisto.1" || echo "$word"; done >strangers
same "words that the man page lacks" nothing strangers

# --- numbers: decimal, wherever they stand; with --numbers the same as for whole types ---

for mode in --numbers --values=f64 --values=u32; do
    [ $mode = --values=u32 ] && kind="whole number of at most 64 bits" || kind=number
    for bad in 0x10 0X10 0x1p3 inf -inf infinity nan 1e999 ' 1' '1 ' 1x --1 1e . e5 ''; do
        usage "--min=$bad: must be a $kind" $mode --bins=2 --min="$bad" --max=99
        usage "--max=$bad: must be a $kind" $mode --bins=2 --min=1 --max="$bad"
        usage "--edges=1,$bad: must be ${kind%% of *}s" $mode --edges="1,$bad"
    done
    usage "--max=1: must be greater than --min=1" $mode --bins=2 --min=1 --max=1
    usage "--max=1: must be greater than --min=2" $mode --log --min=2 --max=1
    usage "--min=0: must be greater than 0 with --log" $mode --log --min=0 --max=1
    for bad in 0x10 inf nan x 1.00009 1000001 -10 0 '' 1,5 1e400 1e-400 1.1000000000000000001; do
        usage "--log=$bad: must be a number from 1.0001 to 1000000 of at most 18 digits" \
            $mode --log="$bad" --min=1 --max=2
    done
    usage "--edges=2,1: must be in ascending order" $mode --edges=2,1
    usage "--edges=1,1: must be in ascending order" $mode --edges=1,1
    usage "--edges=1: must be at least two numbers" $mode --edges=1
done
usage "--min=1.5: must be a whole number" --values=u32 -B 2 --min=1.5 --max=3
usage "--max=36893488147419103232: must be a whole number" --values=u64 -B 2 --min=1 \
    --max=36893488147419103232
usage "--max=1e308: the range from --min=-1e308 is too large for a double" -n -B 2 --min=-1e308 --max=1e308
usage "--bins=10: the bins would be too narrow for doubles" -n -B 10 --min=0 --max=1e-310
usage "--max=1.7e308: the power of --log=10 that covers it is too large for a double" \
    -n --log --min=1 --max=1.7e308
for base in 1.5 1.50 01.5 +1.5 15e-1 0.15E+1 1.500000000000000000000000000; do
    run -n --log=$base --min=1 --max=3 </dev/null
    check "--log=$base" [ "$(cat status)" -eq 0 ]
    cp out "powers-$base"
    same "--log=$base is --log=1.5" powers-1.5 "powers-$base"
done

# --- what was typed cannot spoil the message, nor hide the reason ---

newline=$(printf '1\n2')
escape=$(printf '\033[31m')
usage '--letters=1\x0a2: must be a whole number' --letters="$newline"
usage '--values=\x1b[31m: must be u8' --values="$escape"
usage '--min=\x1b[31m: must be a number' -n -B 2 --min="$escape" --max=1
usage '--max=1: must be greater than --min=0000' -n -B 2 --min="$(printf '%0999d' 1)" --max=1
usage '--edges=\x1b[31m: must be numbers' -n --edges="$escape"
usage '--quantiles=\x1b[31m: must be numbers' -n --quantiles="$escape"
usage '--\x1b[31m: no such option' --"$escape"
usage '-\x1b: no such option' -"$escape"
usage '-\xc3: no such option' "$(printf -- '-\303\244')"
long=$(printf '%05000d' 7 | tr 0 7)
for option in --letters --bins --threads; do
    usage ": must be a whole number from 1 to" "$option=$long"
done
for option in --values --format --device --decompress --progress --invalid --chunk-size --memlimit
do
    usage ": must be" -n "$option=$long"
done
usage ": no such strategy" "--kernel=$long"
usage ": no such option" "--x$long"

# An error says so before anything is read or written.
usage "--format=xml" --output=new --format=xml
refute "usage: no output" [ -e new ]
usage "--letters=0" missing --letters=0

# --- abbreviations, as everywhere ---

oracle letters 3 0 <in
fine --letters=3
fine --let=3
fine --lett=3
fine -l3
fine --letters=03
fine -l3 --chunk=1 --buf=2 --th=2 --mem=1M --deco=none --dev=cpu --form=tsv
usage "--he: ambiguous; could be --header-line, --header or --help" --he
usage "--ver: ambiguous; could be --verbose or --version" --ver
usage "--b: ambiguous; could be --bytes, --blocks, --bins, --by or --buffers" --b
usage "--t: ambiguous; could be --top, --threads or --timing" --t
usage "--f: ambiguous; could be --fold-case, --field or --format" --f
usage "--d=cpu: ambiguous; could be --digits, --decimal, --decompress, --diff or --device" --d=cpu
usage "--threads=0: must be" --th=0

# --- the last one wins ---

fine -l --letters=7 -l3
fine -l3 --format=json --format=tsv
fine -l3 -F csv -F tsv
fine -l3 -q -v -q
fine -l3 --chunk-size=1 --chunk-size=1G
fine -l3 --decompress=zstd --decompress=none
fine -l3 --no-check --no-check
fine -l3 --device=gpu --device=cpu
fine -l3 --device=gpu --device=auto
fine -l3 --kernel=vectorized --kernel=auto
run -l3 -o other -o new <in
mv new out
counts "-o other -o new" expected
refute "the output that lost" [ -e other ]
oracle letters 4 0 <in
fine -l3 -l
oracle letters 3 1 <in
fine -l3 -f -f

# --- what is allowed, to its bounds ---

oracle bytes <in
for size in 1 2 1K 1k 1M 1m 1G 1g 1024M 1073741824 007; do
    fine --chunk-size=$size
done
for size in 1K 1024 2G 128M 2048M 2147483648; do
    fine --memlimit=$size
done
for number in 1 64; do
    fine --buffers=$number
done
for number in 1 1024; do
    fine --threads=$number
done
fine -qb
fine -
fine --
fine -- in
fine -b --kernel=auto
for device in auto cpu; do
    fine --device=$device
done

# Not an option after "--".
cp in ./--bytes
fine -- --bytes
run -- --letters <in
refuses "-- --letters" 1 "--letters: No such file"

# --- a GPU that is not there ---

run --device=gpu:1000000 <in
refuses "gpu:1000000" 1 "cannot use the GPU: "
"$GPUHISTO" --device=gpu --chunk-size=64K <in >out 2>err
echo $? >status
if [ "$(cat status)" -eq 0 ]; then
    counts "gpu" expected
    run_as "$GPUHISTO" --kernel=vectorized --chunk-size=64K <in
    counts "a kernel implies a GPU" expected
else
    refuses "gpu" 1 "cannot use the GPU: "
    run_as "$GPUHISTO" --kernel=vectorized --chunk-size=64K <in
    refuses "a kernel implies a GPU" 1 "cannot use the GPU: "
    run_as "$GPUHISTO" --device=auto --kernel=vectorized --chunk-size=64K <in
    refuses "a kernel implies a GPU, not auto" 1 "cannot use the GPU: "
fi
run_as "$GPUHISTO" <in
counts "auto without --verbose" expected

# --- what is printed on request ---

# prints CASE ARGUMENT...: exit status 0, something on standard output, nothing on standard error;
# and when that cannot be written, 1 and a message.
prints()
{
    what=$1
    shift
    run "$@" </dev/null
    read -r status <status
    check "$what: status" [ "$status" -eq 0 ]
    check "$what: something" [ -s out ]
    check "$what: no message" [ ! -s err ]
    mv out printed
    if [ -c /dev/full ]; then
        "$GPUHISTO" $ENGINE "$@" >/dev/full 2>err
        echo $? >status
        : >out
        refuses "$what to /dev/full" 1 'standard output' 'No space left'
    fi
    "$GPUHISTO" $ENGINE "$@" >&- 2>err
    echo $? >status
    : >out
    refuses "$what to nowhere" 1 'standard output'
}

prints "--help" --help
check "--help: usage" grep -q '^Usage: gpuhisto' printed
prints "-h" -h
check "-h: one screen, not $(wc -l <printed) lines" [ "$(wc -l <printed)" -le 24 ]
check "-h: 80 columns" [ "$(awk 'length > 80' printed | wc -l)" -eq 0 ]
check "-h: a dozen options or so" [ "$(grep -c -- ' --[a-z]' printed)" -ge 12 ]
check "-h: where the rest is" grep -q -- '--help' printed
prints "--help among other options" -l3 --help --nonesuch missing
prints "--version" --version
check "--version: form" grep -qE '^gpuhisto [0-9]+(\.[0-9]+)*[^ ]*$' printed
check "--version: libraries" grep -q '^built with zstd [0-9]' printed
cp printed version
if run_as "$GPUHISTO" --device=gpu <in && grep -q 'built without CUDA' err; then
    check "--version: no CUDA" grep -q '^built without .*CUDA$' version
    run_as "$GPUHISTO" -v <in
    check "-v: no CUDA" grep -q 'gpu: not used: built without CUDA$' err
fi
prints "-V" -V
prints "--kernel=help" --kernel=help
check "--kernel=help: auto" grep -q '^auto ' printed
check "--kernel=help: vectorized" grep -q '^vectorized ' printed
prints "--kernel=help --device=cpu" --kernel=help --device=cpu

# --- help and the man page: the same options, with arguments of the same names ---

run --help </dev/null
cp out help
check "--help: 80 columns" [ "$(awk 'length > 80' help | wc -l)" -eq 0 ]

# listed FILE: "b bytes", "- values=type" or "l letters[=width]" for each option of the help.
listed()
{
    sed -nE 's/^(  -(.), |      )--([a-z-]+)(\[?=[^ ]*)?( .*)?$/\2 \3 \4/p' "$1" |
        awk '{ print (/^ / ? "- " : $1 " ") (/^ / ? $1 tolower($2) : $2 tolower($3)) }' | sort
}
# documented FILE: the same of the items of the man page. The macros of an item are
#     Fl X [Ar ARGUMENT] , Fl Fl NAME [Ns [Op] = Ns Ar ARGUMENT...] , ...
documented()
{
    awk '
    function flush() {
        if (name != "")
            print (letter == "" ? "-" : letter), name (optional ? "[=" : argument != "" ? "=" : "") \
                argument (optional ? "]" : "")
        letter = name = argument = ""
        optional = 0
    }
    /^\.It .*Fl / {
        for (i = 2; i <= NF; i++) {
            if ($i == "Fl" && $(i + 1) == "Fl") {
                if (name != "")
                    flush()
                name = $(i + 2)
                i += 2
            } else if ($i == "Fl") {
                flush()
                letter = $++i
            } else if ($i == "Op") {
                optional = 1
            } else if ($i == "Ar" && name != "") {
                argument = argument tolower($++i)
            } else if ($i == "," && $(i + 1) == "Ns") {
                argument = argument ","
            }
        }
        flush()
    }' "$1" | sort
}
listed help >help-options
documented "$srcdir/doc/gpuhisto.1" >man-options
check "--help: options" [ "$(wc -l <help-options)" -ge 28 ]
same "--help (-) and the man page (+)" help-options man-options

# The synopsis has the letters: those without an argument in one group, others with theirs.
awk '$1 != "-" && $2 !~ /^[a-z-]+=/ { print $1 }' help-options | sort >letters
sed -n 's/^\.Op Fl \([[:alpha:]]*\)$/\1/p' "$srcdir/doc/gpuhisto.1" | grep -o . | sort >synopsis
same "letters of --help (-) and the synopsis (+)" letters synopsis
awk '$1 != "-" && $2 ~ /^[a-z-]+=/ { sub(/.*=/, "", $2); print ".Op Fl " $1 " Ar " $2 }' \
    help-options >with-argument
while read -r line; do
    check "the synopsis: $line" grep -qxF "$line" "$srcdir/doc/gpuhisto.1"
done <with-argument

# Every option that help names is there.
while read -r letter name; do
    option=--${name%%[\[=]*}
    run "$option=////" </dev/null
    refute "$option is there" grep -q 'no such option' err
    [ "$letter" = - ] || run "-$letter////" </dev/null
    refute "-$letter is there" grep -q -e "-$letter: no such option" err
done <help-options

# --- out of memory is not a usage error ---

if can_interpose; then
    for options in --edges=1,2 --log '--log=1.01'; do
        for n in 1 2 3 4; do
            case $options in
            --log*) set -- "$options" --min=1e-300 --max=1e300 ;;
            *) set -- "$options" ;;
            esac
            run_as env FAULT_CALL=malloc FAULT_AT=$n FAULT_ERRNO=12 \
                LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE -n "$@" </dev/null
            refuses "$options, allocation $n fails" 1 "gpuhisto: out of memory"
        done
    done
else
    skip_part "allocations that fail: $why_not"
fi
# Powers take the memory that they need.
little()
{
    run_as sh -c 'ulimit -v 65536 && exec "$@"' sh "$GPUHISTO" $ENGINE "$@" </dev/null
}
little -n --edges=1,2
if [ "$(cat status)" -eq 0 ]; then
    little -n --log --min=1e-300 --max=1e300
    check "--log in 64 MiB: status" [ "$(cat status)" -eq 0 ]
    check "--log in 64 MiB: bins" [ "$(wc -l <out)" -eq 603 ]
    little -n --log=1.0001 --min=5e-324 --max=1e308
    refuses "--log=1.0001 in 64 MiB" 1 "gpuhisto: out of memory"
else
    skip_part "powers in 64 MiB: the program does not run in them"
fi

# Every strategy that is listed may be named.
run --kernel=help </dev/null
awk '{ print $1 }' out >names
while read -r kernel; do
    [ "$kernel" = auto ] && continue
    run --kernel=$kernel --device=cpu <in
    refuses "kernel $kernel is known" 2 "--kernel=$kernel and --device=cpu cannot be combined"
done <names

# --- the CPU's counters: every one has a row of `all_kernels`, and is in the man page ---

sed -n 's/^const struct \([a-z_]*\) \1_\([a-z0-9]*\) = {/\2/p' "$srcdir"/src/cpu/count_*.c | sort >written
sed -n 's/^    &[a-z_]*_\([a-z0-9]*\),$/\1/p' "$srcdir/src/cpu/count.c" | sort >rows
check "counters in src/cpu" [ "$(wc -l <written)" -ge 4 ]
same "counters in src/cpu (-) and rows of count.c (+)" written rows
while read -r counter; do
    check "man page: $counter" sh -c 'sed -n "/^\.It Ev GPUHISTO_CPU/,/^\.It Ev COLUMNS/p" "$1" |
        grep "^\.Cm" | tr " " "\n" | grep -qx "$2"' sh "$srcdir/doc/gpuhisto.1" "$counter"
done <written
kernels_here | tr ' ' '\n' | sort >here
comm -23 here written >strangers
same "counters that run here and are not in src/cpu" nothing strangers
for counter in $(cat here); do
    run_as env GPUHISTO_CPU="$counter" "$GPUHISTO" --device=cpu -v --bytes in
    check "GPUHISTO_CPU=$counter" [ "$(cat status)" -eq 0 ]
done
check "portable runs anywhere" grep -qx portable here

summary
