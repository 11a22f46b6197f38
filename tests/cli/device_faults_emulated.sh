#!/bin/sh
# SPDX-License-Identifier: MIT
# An emulated GPU that fails, hangs, does not return, comes late or tells something else, at any of its calls, under all that it may be
# doing: the counts are exact, with whatever else was asked for to replace it, or there are none, and one line says why.
#
# A command is a file NAME.command, and what it must print without a fault in NAME.due (with messages in NAME.told). NAME.left says that
# nothing replaces the GPU.
. "${srcdir:-.}/tests/helpers/emulated.sh"
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 800
command -v xargs >/dev/null || skip "xargs is not installed"

# --- commands ---

data text 40000 >text
data text 10000 >short
data text 300000 >long
{ seq 1 900; echo odd; seq 901 2 4000; printf '7\r\n8 '; } >numbers
{ seq 1 40000; echo odd; seq 40001 60000; } >many_numbers
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%c%c%c%s", 224 + i / 4096, 128 + int(i * 7 / 64) % 64, 128 + i % 64, i % 9 ? "" : " " }' >points
"$HELPERS/make_zstd" -c <long >one.zst
"$HELPERS/make_zstd" -c -f 3000 <long >frames.zst
"$HELPERS/make_zstd" -n -f 20000 <many_numbers >numbers.zst
"$HELPERS/make_zstd" -w 12 -c <long >window.zst
gz=
if command -v gzip >/dev/null && printf '\037\213\010' >magic && ! "$GPUHISTO" --device=cpu magic >/dev/null 2>&1; then
    gz=yes
    gzip <long >one.gz
    { gzip <text; gzip -1 <many_numbers; gzip -9 <text; } >members.gz
else
    skip_part "gzip: it is not installed, or the program was built without ISA-L"
fi

# command NAME INPUT ARGUMENT...: a command on each choice of devices, from FILEs (INPUT is -) or a pipe.
names=
command()
{
    name_=$1
    input_=$2
    shift 2
    case $input_ in
    -) pipe_= ;;
    *) pipe_="cat $input_ |" ;;
    esac
    eval "$pipe_ \"\$GPUHISTO\" --device=cpu --threads=1 \"\$@\"" >due 2>told
    echo "$?" >status
    for devices_ in gpu auto two; do
        case $devices_ in
        gpu) how_="--device=gpu" ;;
        auto) how_="--device=auto" ;;
        two) how_="--device=gpu:0,1" ;;
        esac
        id=$name_.$devices_
        [ $devices_ = gpu ] && : >"$id.left"
        cp due "$id.due"
        cp told "$id.told"
        printf '%s "$GPUHISTO" %s --threads=2 --chunk-size=2K %s\n' "$pipe_" "$how_" "$*" >"$id.command"
        names="$names $id"
    done
}

command bytes - -b text text
command letters text -l4 -f
command pairs - --pairs text
command numbers - -n numbers numbers
command numbers_pipe numbers -n
command fields - -nk-1 numbers
command characters - -c points
command each - --each -l9 text numbers text
command one - -b one.zst
command frames - -l frames.zst text
command pipe one.zst -b
command window - -b window.zst
command tokens - -n numbers.zst
command tokens_pipe numbers.zst -n
command pairs_zst - --pairs one.zst
command each_zst - --each -l9 one.zst frames.zst
if [ "$gz" ]; then
    command gzip - -b one.gz members.gz
    command gzip_pipe members.gz -l3
fi
# More bins than have snapshots: a device that is lost takes counts with it. Few chunks, as each takes long.
command values - --values=u16 --bins=66000 --min=0 --max=66000 --nonzero short
for id in values.auto values.two; do : >$id.left; done

# --- a run ---

cat >one_run <<'END'
# one_run NAME FAULT: prints what is wrong.
id=$1
GPUHISTO_FAULT=$2
own=$(mktemp -d run-XXXXXX)
GPUHISTO_OFFLOAD=1
GPUHISTO_DEVICES=1
case $id in *.two) GPUHISTO_DEVICES=2 ;; esac
case $2 in
*hang:* | *stuck:*) GPUHISTO_DEADLINE=1500 ;;
stop:*) GPUHISTO_DEADLINE=2000 ;;
esac
export GPUHISTO_FAULT GPUHISTO_OFFLOAD GPUHISTO_DEVICES GPUHISTO_DEADLINE
timeout 120 sh "./$id.command" >"$own/out" 2>"$own/err"
status=$?
grep -q 'lost\|cannot use the GPU' "$own/err" && echo >>struck
# A device that cannot be opened although it was asked for is an error; and one that counts wrong may be so in its last snapshot, with
# counts that nothing replaces.
if [ $status -eq 0 ] && cmp -s "$id.due" "$own/out" &&
    [ "$(grep -v 'lost\|not a number' "$own/err" | wc -l)" -eq 0 ] && [ "$(grep 'not a number' "$own/err")" = "$(cat "$id.told")" ]; then
    why=
    [ -e "$id.left" ] && grep -q 'lost' "$own/err" && why='lost, and not refused'
    case $2 in
    none:* | late:* | stop:*) grep -q lost "$own/err" && why='lost' ;;
    esac
elif [ $status -eq 1 ] && [ ! -s "$own/out" ] && [ "$(wc -l <"$own/err")" -eq 1 ] && grep -q GPU "$own/err"; then
    why=
    case $2 in
    none:* | late:* | stop:*) why='refused for nothing' ;;
    esac
    [ -e "$id.left" ] || grep -q 'cannot use the GPU' "$own/err" || why='refused, although something replaces it'
else
    why="status $status, another table or other messages"
fi
if [ "$why" ]; then
    echo "$id, $2: $why: $(head -n 2 "$own/err" | tr '\n' ' ')"
else
    rm -r "$own"
fi
END

# --- the schedules: where few are asked for, each command has some of them, and another one others ---

calls='1 2 3 4 5 6 7 8 9 10 12 14 16 19 22 26 30 35 41 48 56 66 77 90 106 124 145 170'
[ "$ASKED" = small ] || calls="$(seq 1 80) $(seq 84 7 400)"
faults='none:1 late:1 late:3 stop:3000 wrong:1 wrong:2 wrong:3 wrong:5 wrong:9'
for n in $calls; do faults="$faults error:$n error:$n:once"; done
for n in 2 5 9 14 20 27 35 50; do faults="$faults hang:$n stuck:$n stuck:$((n + 1))"; done
reads='readerror:1 readerror:2 readerror:5 readhang:1 readstuck:1 readstuck:2'
turn=0
for id in $names; do
    case $id in
    one.* | pipe.* | window.*) all="$faults $reads content:1 content:2 content:5" ;; # which have checksums
    frames.* | tokens* | *zst*) all="$faults $reads" ;;
    *) all=$faults ;;
    esac
    for fault in $all; do
        turn=$((turn + 1))
        [ "$ASKED" = small ] && [ $((turn % 11)) -ne 0 ] && [ $fault != none:1 ] || echo "$id $fault"
    done
    turn=$((turn + 1))
done >schedules
: >struck
xargs -P 4 -n 2 sh ./one_run <schedules >wrong
sed -n '1,20s/^/FAILED: /p' wrong
check "$(wc -l <schedules) schedules, in $(wc -l <struck) of which the GPU was lost" [ ! -s wrong ]
check "some GPUs were lost" [ "$(wc -l <struck)" -gt 50 ]

summary
