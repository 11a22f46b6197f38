#!/bin/sh
# SPDX-License-Identifier: MIT
# --channels: each has the counts that its values alone have.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

# apart TYPE CHANNELS MIN MAX BINS <data: a column of counts for each channel, by the oracle.
apart()
{
    bits_=${1#?}
    cat >whole
    set -- "$1" "$2" "$3" "$4" "$5" $((${bits_%be} / 8))
    channel_=0
    : >columns
    while [ $channel_ -lt "$2" ]; do
        "$HELPERS/channel" "$2" "$6" $channel_ <whole | "$HELPERS/oracle_values" "$1" "$3" "$4" "$5" >column
        if [ -s columns ]; then
            paste columns column >more
            mv more columns
        else
            mv column columns
        fi
        channel_=$((channel_ + 1))
    done
    mv columns expected
}

# columns CASE CHANNELS: the last run gave these.
columns()
{
    cut -f 2-$(($2 + 1)) out >counted
    mv counted out
    counts "$1" expected
}

# --- every type ---

# Whole records of every type and number of channels: a multiple of 8 * 64, 9, 5 and 7.
data uniform 322560 5 >in
for type in u8 i8 u16 u24be i24 u32 i32be u64 i64 f32 f64be; do
    some="1 2 3 4 5 6 7 32 64"
    [ "$SCALE" != small ] || some="2 3"
    [ "$SCALE $type" != "small u16" ] || some="2 64" # there is an oracle for each channel
    for channels in $some; do
        for bins in 5 300; do
            case $type in
            i8) range="-100 100" ;;
            u8) range="3 200" ;;
            *) range="-70000 5000000" ;;
            esac
            case $type in u*) range="3 ${range#* }" ;; esac
            [ $bins = 5 ] || case $type in *8) continue ;; esac
            apart $type "$channels" $range $bins <in
            run --values=$type --min="${range% *}" --max="${range#* }" --bins=$bins --channels="$channels" in
            columns "$type, $channels channels, $bins bins" "$channels"
        done
    done
done

# By every set of instructions that runs here.
for cpu in $(kernels_here); do
    for type in u8 i16 u32 i32 u64 f32 f64; do
        case $type in
        u8 | i16) range="0 200" ;;
        *) range="0 4000000" ;;
        esac
        apart $type 6 $range 16 <in
        GPUHISTO_CPU=$cpu run --values=$type --min=0 --max="${range#* }" --bins=16 --channels=6 in
        columns "$cpu, $type" 6
    done
done

# --- wherever they are cut ---

head -c 24000 in >some
"$HELPERS/make_zstd" -f 1001 <some >frames.zst
"$HELPERS/make_zstd" -n -f 777 <some >unsized.zst
"$HELPERS/make_zstd" <some >one.zst
for pair in u8:3 u16:3 u24:5 f32:10 u64:3; do
    type=${pair%:*}
    channels=${pair#*:}
    options="--values=$type --min=0 --max=200 --bins=10 --channels=$channels"
    apart "$type" "$channels" 0 200 10 <some
    for size in 1 7 4K; do
        run $options --chunk-size=$size --threads=3 some
        columns "$pair, chunks of $size" "$channels"
    done
    "$HELPERS/dribble" -n 11 <some | run $options
    columns "$pair, pipe" "$channels"
    for file in frames.zst unsized.zst one.zst; do
        run $options --threads=3 $file
        columns "$pair, $file" "$channels"
        "$HELPERS/dribble" -n 99 <$file | run $options
        columns "$pair, $file, pipe" "$channels"
    done
    tail -c +12 some | head -c 1200 | apart "$type" "$channels" 0 200 10
    for file in some frames.zst unsized.zst one.zst; do
        run $options --skip=11 --length=1200 $file
        columns "$pair, a range of $file" "$channels"
    done
    cat some some some | apart "$type" "$channels" 0 200 10
    run $options some frames.zst some
    columns "$pair, FILEs" "$channels"
done
run --values=u16 --min=0 --max=200 --bins=10 some
mv out expected
run --values=u16 --min=0 --max=200 --bins=10 --channels=1 some
counts "one channel" expected

# --- statistics and pictures ---

# statistics_of FILE ARGUMENT...: those of one channel, as a row.
statistics_of()
{
    "$GPUHISTO" --device=cpu -s -q "$@" | awk -F '\t' '
    {
        row = row "\t" $2
        if ($1 ~ /^p[0-9]/) row = row "\t" ($3 == "" ? $2 : $3)
    }
    END { print row }'
}

# More than a batch of each channel, and a part of one.
data uniform 75600 8 >in
head -c 37800 in >half
"$HELPERS/make_zstd" -f 1001 <in >in.zst
for pair in u8:3 i8:2 i16:2 u24be:4 f32:3 f64be:5 i64:3 u64be:9; do
    type=${pair%:*}
    channels=${pair#*:}
    bits=${type#?}
    for bins in --edges=0,100,1000000 --digits=1; do
        channel=0
        : >expected
        : >pictures
        while [ $channel -lt "$channels" ]; do
            "$HELPERS/channel" "$channels" $((${bits%be} / 8)) $channel <in >one
            channel=$((channel + 1))
            echo "$channel$(statistics_of --values=$type $bins one)" >>expected
            [ $channel = 1 ] || echo >>pictures
            echo "==> channel $channel <==" >>pictures
            "$GPUHISTO" --device=cpu -ps --values=$type $bins one >>pictures
        done
        for threads in 1 3; do
            run -s --values=$type --channels="$channels" $bins --threads=$threads --chunk-size=4K in.zst
            sed -i 1d out
            counts "$pair, statistics, $bins, $threads threads" expected
        done
        run -ps --values=$type --channels="$channels" $bins in
        counts "$pair, pictures, $bins" pictures
    done
done
for cpu in $(kernels_here); do
    GPUHISTO_CPU=$cpu run -s --values=u64be --channels=9 --digits=1 in
    sed -i 1d out
    counts "$cpu, statistics" expected
done
run -s --values=u64be --channels=9 --digits=1 -F csv --each in half
check "statistics, --each: rows" [ "$(cut -d , -f 1-2 out | sed -n '1p;2p;10p;11p;19p' | tr '\n' ' ')" = \
    "file,channel in,1 in,9 half,1 half,9 " ]
printf '\0\1\0\3\377\3' >in
run --values=u8 -B 4 --channels=2 -F json --quantiles=1 in
cp out with.json
if can_share; then
    run --values=u8 -B 4 --channels=2 in
    mv out expected
    run_as "$GPUHISTO" --merge with.json
    counts "statistics, json: --merge" expected
    data uniform 75600 8 >in
    tail -c +37801 in >rest
    options="--values=f64be --channels=5 --edges=0,100,1000000"
    run -s -F json $options in
    mv out expected
    for part in half rest; do run -s -F json -o $part.json $options $part; done
    run_as "$GPUHISTO" --merge -s -F json half.json rest.json
    same "--merge, statistics" expected out
    run -ps $options in
    mv out expected
    run_as "$GPUHISTO" --merge -ps half.json rest.json
    counts "--merge, pictures" expected
    sed 's/"check":"../&0/' half.json >damaged.json
    run_as "$GPUHISTO" --merge -s damaged.json
    refuses "--merge, damaged moments" 1 '"moments" are damaged'
    run_as "$GPUHISTO" --merge --percent half.json
    refuses "--merge, --percent" 1 "--percent: cannot be combined with tables of several channels"
fi

# --- bins over what was seen ---

data uniform 24000 3 >in
for type in f32 f64; do
    for bins in 1 5 20; do
        run --values=$type --channels=5 -B $bins in
        check "$type, $bins bins: status" [ "$(cat status)" -eq 0 ]
        awk -F '\t' '$1 != "invalid" { print $NF }' out | sed '/^inf$/d' | paste -s -d , >edges
        mv out coarse
        run --values=$type --channels=5 --edges="$(cat edges)" in
        counts "$type, $bins bins" coarse
    done
done
for type in f32 f64; do
    run --values=$type --channels=2 --nonzero in
    cut -f 1,2 out | grep -v "${tab}0$" >first
    cut -f 1,3 out | grep -v "${tab}0$" >second
    for channel in 0 1; do
        "$HELPERS/channel" 2 "$((${type#f} / 8))" $channel <in >apart
        run --values=$type --nonzero apart
        cut -f 1,2 out >expected
        [ $channel = 0 ] && same "$type, digits, channel 1" expected first || same "$type, digits, channel 2" expected second
    done
done

summary
