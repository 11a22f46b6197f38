#!/bin/sh
# SPDX-License-Identifier: MIT
# --progress, and SIGUSR1: how far it is, without disturbing anything.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 120

data text 50000 >in
oracle letters 4 0 <in
cp expected table
mkfifo fifo

# told CASE LINES: standard error of the last run is at least so many lines of progress.
told()
{
    wrong=$(grep -cvE '^gpuhisto: [0-9.]+ [kMGTPE]?B, [0-9.]+ GB/s(, [0-9]+%, [0-9]+ s left)?$' err)
    check "$1: nothing but progress" [ "$wrong" -eq 0 ]
    check "$1: $2 lines" [ "$(wc -l <err)" -ge "$2" ]
}

# start ARGUMENT...: a program that waits in the midst of its input, in pid.
start()
{
    "$HELPERS/with_stdin" default "$GPUHISTO" $ENGINE -l "$@" fifo >out 2>err &
    pid=$!
    exec 3>fifo
    cat in >&3
    # The thread sanitizer keeps a signal until the thread that got it does something, and the first
    # thread, which does so all the time, gets none while it starts another.
    [ "$SANITIZED" = no ] || sleep 1
}
# end_run CASE: lets it end; it has counted everything.
end_run()
{
    exec 3>&-
    wait $pid
    check "$1: status" [ $? -eq 0 ]
    same "$1: table" table out
}

# --- by signal ---

asked()
{
    [ "$(wc -l <err)" -ge "$1" ]
}
for options in "" "--progress" "--progress=never" "-q"; do
    start $options
    for line in 1 2 3; do
        kill -USR1 $pid
        check "SIGUSR1 $line, $options" eventually asked $line
    done
    end_run "SIGUSR1, $options"
    told "SIGUSR1, $options" 3
    check "SIGUSR1, $options: one line each" [ "$(wc -l <err)" -eq 3 ]
    # Of 50000 bytes at least what is no longer in the pipe's and the program's buffers.
    check "SIGUSR1, $options: the bytes" grep -qE '^gpuhisto: ([0-9.]+ kB|0 B), ' err
done
# A storm of them, all the while that much is read.
data text 3000000 >large
oracle letters 4 0 <large
"$HELPERS/with_stdin" default "$GPUHISTO" $ENGINE -l fifo >out 2>err &
pid=$!
exec 3>fifo # it has opened it, too
{
    "$HELPERS/dribble" -n 1000 -u 50 <large >&3
    : >fed
} &
feeder=$!
exec 3>&-
while [ ! -e fed ]; do
    kill -USR1 $pid
done
wait $feeder
wait $pid
check "many SIGUSR1: status" [ $? -eq 0 ]
same "many SIGUSR1: table" expected out
told "many SIGUSR1" 1
(trap '' USR1 && exec "$GPUHISTO" $ENGINE -l fifo) >out 2>err &
pid=$!
exec 3>fifo
kill -USR1 $pid
cat in >&3
sleep 0.3
end_run "SIGUSR1 is ignored"
check "SIGUSR1 is ignored: silent" [ ! -s err ]

# One that comes before the program can answer waits if it is blocked, as env can have it.
if env --block-signal=USR1 true 2>/dev/null; then
    env --block-signal=USR1 sh -c 'kill -USR1 $$ && exec "$@"' sh "$GPUHISTO" $ENGINE -l fifo >out 2>err &
    pid=$!
    exec 3>fifo
    cat in >&3
    check "a blocked SIGUSR1" eventually asked 1
    end_run "a blocked SIGUSR1"
    told "a blocked SIGUSR1" 1
else
    skip_part "a blocked SIGUSR1: env has no --block-signal"
fi

# --- now and then ---

start --progress=always
check "always: a line" eventually asked 2
end_run "always"
told "always" 2
start --progress=auto
sleep 0.7
end_run "auto, no terminal"
check "auto, no terminal: silent" [ ! -s err ]
run -l --progress=always in
counts "too short for progress" table
run -l --progress=sometimes in
refuses "an unknown WHEN" 2 "--progress=sometimes: must be one of never, auto, always"

# A clock that is set back by an hour does not stop it.
if can_interpose; then
    FAULT_CLOCK=3600 LD_PRELOAD="$HELPERS/interpose.so" \
        "$GPUHISTO" $ENGINE -l --progress=always fifo >out 2>err &
    pid=$!
    exec 3>fifo
    cat in >&3
    check "clock set back: a line" eventually asked 2
    kill -USR1 $pid
    check "clock set back: SIGUSR1" eventually asked 3
    end_run "clock set back"
    told "clock set back" 3
else
    skip_part "a clock that is set back: $why_not"
fi

# --- how much of it ---

# A FILE that takes a while.
if [ "$SCALE" = full ]; then
    truncate -s 40G sparse
    "$HELPERS/with_stdin" default "$GPUHISTO" $ENGINE -l sparse >out 2>err &
    pid=$!
    sleep 0.3
    kill -USR1 $pid
    check "share: a line" eventually asked 1
    kill $pid
    wait $pid 2>wait.err
    check "share: told" grep -qE ', [0-9]+%, [0-9]+ s left$' err
    rm sparse
fi

# --- on a terminal ---

if command -v script >/dev/null && script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    # Standard error is the terminal; the rest is not.
    for fails in no yes; do
        [ $fails = no ] && files=fifo || files="fifo missing"
        (exec 3>fifo && cat in >&3 && sleep 1.3) &
        script -qec "'$GPUHISTO' $ENGINE -l --progress $files >out" /dev/null </dev/null >screen
        wait $!
        # What is shown in the end: what follows the last CR, or whole lines.
        tr '\r' '\n' <screen | grep -c 'GB/s' >seen
        check "terminal, fails $fails: rewritten" [ "$(cat seen)" -ge 2 ]
        check "terminal, fails $fails: on one line" [ "$(grep -c 'GB/s' screen)" -eq 1 ]
        [ $fails = yes ] || same "terminal: table" table out
    done
    tail -n 1 screen | tr '\r' '\n' | grep -v '^ *$' | tail -n 1 >last
    check "terminal: a message has the line to itself" \
        [ "$(cat last)" = "gpuhisto: missing: No such file or directory" ]
else
    skip_part "a terminal: no script command that makes one"
fi

summary
