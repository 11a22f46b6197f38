#!/bin/sh
# The command line: what is allowed, and for all else one line that says what is.
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
for bad in 0 27 f; do
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
for bad in gzip ZSTD zst ''; do
    usage "--decompress=$bad: must be one of auto, zstd, none" "--decompress=$bad"
    usage "--decompress=$bad: must be one of auto, zstd, none" -d "$bad"
done
for bad in foo CPU gpu: gpu:x gpu:-1 gpu:+1 gpu:1x gpu:2147483648 gpu:99999999999999999999 gpu0 \
    ''; do
    usage "--device=$bad: must be auto, cpu, gpu or gpu:N" "--device=$bad"
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
for bad in '' ',' '0.5,' ',0.5' '0.5,,0.9' -0.1 1.1 nan inf 0x1p-1 ' 0.5' '0.5 ' x 0.5x 1e1 50%; do
    usage "--quantiles=$bad: must be numbers from 0 to 1, 64 at most" -n "--quantiles=$bad"
done
many=0$(printf ',0%.0s' $(seq 64))
usage "64 at most" -n --quantiles="$many"
usage "--output: must name a FILE" --output=
usage "--output: must name a FILE" -o ''

# --- what there is not ---

hint="'gpuhisto --help' lists the options"
usage "--nonesuch: no such option; $hint" --nonesuch
usage "--nonesuch=3: no such option; $hint" --nonesuch=3
usage "--letters4: no such option; $hint" --letters4
usage "---: no such option; $hint" ---
usage "-x: no such option; $hint" -x
usage "-y: no such option; $hint" -by
usage "-4: no such option; $hint" -4
usage "--nonesuch: no such option" --format json --nonesuch
usage "--nonesuch: no such option" in --nonesuch
for option in --values --bins --min --max --edges --invalid --decompress --memlimit --format --output --device --kernel --chunk-size --buffers \
    --threads; do
    usage "$option: needs a value, as in $option=VALUE; $hint" $option
done
for option in -d -F -o; do
    usage "$option: needs a value; $hint" $option
    usage "$option: needs a value; $hint" -b$(echo $option | tr -d -)
done
for option in --bytes --fold-case --numbers --header --timing --quiet --verbose --help --version; do
    usage "$option=yes: takes no value; $hint" $option=yes
done

# --- what does not go together ---

usage "only one mode at a time" --bytes --letters
usage "only one mode at a time" -l2 -b
usage "only one mode at a time" -n -b
usage "only one mode at a time" -nl
usage "only one mode at a time" --numbers --values=f64 -B 2 --min=0 --max=1
usage "--bins: goes with --min and --max" -n --bins=3
usage "--min, --max: give both" -n --bins=3 --min=1
usage "--min, --max: say how many --bins" -n --min=1 --max=2
usage "--edges: says it all" -n --edges=1,2 --bins=3
usage "--log: goes with --min and --max" -n --log
usage "--quantiles, --invalid: go with --numbers" --quantiles
usage "--quantiles, --invalid: go with --numbers" --values=u8 --quantiles=0.5
usage "--quantiles, --invalid: go with --numbers" -l --invalid=count
ENGINE='' usage "--kernel=lanes: does not count in this mode" -n --kernel=lanes
ENGINE='' usage "--kernel=numbers: does not count in this mode" --bytes --kernel=numbers
usage "--fold-case: goes with --letters" --fold-case
usage "--fold-case: goes with --letters" -b -f
usage "--kernel=vectorized: runs on a GPU; leave --device=cpu out" --kernel=vectorized --device=cpu
usage "--kernel=vectorized: runs on a GPU; leave --device=cpu out" --device=cpu --kernel=vectorized

# An error says so before anything is read or written.
usage "--format=xml" --output=new --format=xml
refute "usage: no output" [ -e new ]
usage "--letters=0" missing --letters=0

# --- abbreviations, as everywhere ---

oracle letters 3 0 <in
fine --letters=3
fine --let=3
fine --le=3
fine -l3
fine --letters=03
fine -l3 --chunk=1 --buf=2 --th=2 --mem=1M --dec=none --dev=cpu --form=tsv
for short in he ver b t d f v h; do
    usage "--$short: ambiguous" --$short
done
usage "--d=cpu: ambiguous" --d=cpu
usage "--threads=0: must be" --th=0

# --- the last one wins ---

fine -l --letters=7 -l3
fine -l3 --format=json --format=tsv
fine -l3 -F csv -F tsv
fine -l3 -q -v -q
fine -l3 --chunk-size=1 --chunk-size=1G
fine -l3 --decompress=zstd --decompress=none
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

# Not an option behind "--".
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
counts "auto without a word" expected

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
prints "--help among other options" -l3 --help --nonesuch missing
prints "--version" --version
check "--version: form" grep -qE '^gpuhisto [0-9]+(\.[0-9]+)*[^ ]*$' printed
prints "-V" -V
prints "--kernel=help" --kernel=help
check "--kernel=help: auto" grep -q '^auto ' printed
check "--kernel=help: vectorized" grep -q '^vectorized ' printed
prints "--kernel=help --device=cpu" --kernel=help --device=cpu

# Help names every option, and every option that it names is there.
run --help </dev/null
cp out help
for option in bytes letters fold-case numbers values bins min max edges log quantiles invalid decompress memlimit format header output device kernel \
    chunk-size buffers threads timing quiet verbose help version; do
    check "help has --$option" grep -qE -e "--$option\b" help
done
grep -oE -e '--[a-z][a-z-]*' help | sort -u >named
while read -r option; do
    run $option=//// </dev/null
    refute "$option is there" grep -q 'no such option' err
done <named

# Every strategy that is listed may be named.
run --kernel=help </dev/null
awk '{ print $1 }' out >names
while read -r kernel; do
    [ "$kernel" = auto ] && continue
    run --kernel=$kernel --device=cpu <in
    refuses "kernel $kernel is known" 2 "--kernel=$kernel: runs on a GPU"
done <names

summary
