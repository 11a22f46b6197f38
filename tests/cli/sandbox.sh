#!/bin/sh
# SPDX-License-Identifier: MIT
# The sandbox as a user meets it: --verbose says what is in force; code that hostile input brings along
# gets nowhere; and whatever is read and written without a sandbox is read and written in it.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300
ENGINE=--device=cpu

data text 40000 >in
oracle letters 4 0 <in
cp expected table
cat in in | oracle letters 4 0
cp expected twice

run -v -l in
sed -n 's/^gpuhisto: sandbox: //p' err >said
case $(cat said) in
"none: this build has none" | "none: no "*) skip "sandbox: $(cat said)" ;;
esac
echo "sandbox.sh: $(cat said)"
landlock=$(sed -n 's/^Landlock (ABI \([0-9]*\)).*/\1/p' said)
seccomp=$(grep -c 'seccomp$' said)
grep -q 'no seccomp' said && seccomp=0

# --- what --verbose says ---

# says CASE TEXT COMMAND...: a run that succeeds says that this is in force.
says()
{
    case_=$1
    printf '%s\n' "$2" >expected
    shift 2
    run_as "$@"
    sed -n 's/^gpuhisto: sandbox: //p' err >said
    same "$case_: what is in force" expected said
    check "$case_: status" [ "$(cat status)" -eq 0 ]
}
says "--no-sandbox" "none: --no-sandbox" "$GPUHISTO" $ENGINE --no-sandbox -v -l in
run -l in
counts "without --verbose nothing is said" table
run -l --sandbox=require --no-sandbox in
counts "the last word counts" table
run -l --sandbox=no in
refuses "an unknown word" 2 "--sandbox=no: must be one of auto, require, never"
mkdir dir
if [ "$landlock" ] && [ "$seccomp" -eq 1 ]; then
    both="Landlock (ABI $landlock) and seccomp"
    says "a FILE" "$both" "$GPUHISTO" $ENGINE -v -l in
    says "a pipe" "$both" "$GPUHISTO" $ENGINE -v -l <in
    says "an output" "$both; files in the directory of --output can be replaced" \
        "$GPUHISTO" $ENGINE -v -l -o dir/out in
    says "an output that is a device" "$both" "$GPUHISTO" $ENGINE -v -l -o /dev/null in
    # More files than half of the descriptors.
    says "many files" "$both; 2 files can be opened by name" \
        sh -c 'ulimit -n 16 && exec "$@"' sh "$GPUHISTO" $ENGINE -v -l in in in in in in in in in in
    says "a sandbox that is required" "$both" "$GPUHISTO" $ENGINE --sandbox=require -v -l in
    if can_strace; then
        run_as strace -qq -o traced -e trace=seccomp -e inject=seccomp:error=EINVAL \
            "$GPUHISTO" $ENGINE --sandbox=require -l in
        refuses "half a sandbox where it is required" 1 \
            "--sandbox=require: Landlock (ABI $landlock); no seccomp: $(error_text EINVAL)"
    else
        skip_part "half a sandbox where it is required: $why_not"
    fi
else
    skip_part "what --verbose says of two parts: one is missing"
fi
if [ -x "$EMULATED" ]; then
    may="none: a GPU may be used, and CUDA needs what a sandbox forbids; see --device=cpu"
    is="none: a GPU is used, and CUDA needs what a sandbox forbids"
    says "a GPU that may be used" "$may" "$EMULATED" --device=auto -v -l in
    says "a GPU that is asked for" "$is" "$EMULATED" --device=gpu --kernel=vectorized -v -l in
    run_as "$EMULATED" --device=auto --sandbox=require -l in
    refuses "a GPU that may be used, and a sandbox is required" 1 "--sandbox=require: $may"
else
    skip_part "a GPU that may be used: $EMULATED was not built"
fi

# --- code that input brings along ---

# It is preloaded, and tries to read and write another file, to create one, to connect, and to run a
# program, by the thread that reads.
echo secret >secret
escapes()
{
    rm -f secret+
    run_as env ESCAPE_READ="$work/secret" ESCAPE_WRITE="$work/secret" ESCAPE_PORT="$port" \
        LD_PRELOAD="$HELPERS/escape.so" "$GPUHISTO" $ENGINE "$@"
    sed -n '/^escape: /p' err >escaped
}
# confined CASE TABLE: the last run counted all the same, and each attempt failed.
confined()
{
    check "$1: all was tried" [ "$(wc -l <escaped)" -eq 5 ]
    check "$1: nothing was done: $(cat escaped)" [ "$(grep -c ": done$" escaped)" -eq 0 ]
    check "$1: nothing was made" [ ! -e secret+ ]
    same "$1: the table" "$2" out
}
if [ "$SANITIZED" = yes ] || [ ! -r "$HELPERS/escape.so" ]; then
    skip_part "code that input brings along: escape.so was not built"
elif [ -z "$landlock" ] || [ "$seccomp" -eq 0 ]; then
    skip_part "code that input brings along: one part of the sandbox is missing"
else
    port=9 # where nobody listens; what is refused is a socket
    escapes --no-sandbox -l in
    check "without a sandbox, it reads" grep -q 'read: done' escaped
    check "without a sandbox, it writes" grep -q 'write: done' escaped
    check "without a sandbox, it creates" grep -q 'create: done' escaped
    check "without a sandbox, it has a socket" grep -q 'connect: Connection refused' escaped
    check "without a sandbox, it runs a program" grep -q 'run: done' escaped
    escapes -l in
    confined "a FILE" table
    escapes -l <in
    confined "a pipe" table
    escapes -l --threads=1 in in
    confined "two FILEs" twice
    mkdir elsewhere
    "$HELPERS/make_zstd" <in >in.zst
    escapes -l in.zst
    confined "zstd" table
    escapes -l -o elsewhere/out in
    cp elsewhere/out out
    confined "--output in another folder" table
    if can_share; then
        run -l -F json -o elsewhere/1.json in
        ENGINE='' escapes --merge elsewhere/1.json
        confined "--merge" table
    else
        skip_part "--merge: $why_not"
    fi
fi

# --- what is refused to no one ---

run -l nowhere
refuses "a missing FILE" 1 "gpuhisto: nowhere: No such file or directory"
run -l in nowhere
refuses "a missing FILE after another one" 1 "gpuhisto: nowhere: No such file or directory"
run -l dir
refuses "a directory" 1 "gpuhisto: dir: Is a directory"
run -l in dir/.
refuses "a directory after a FILE" 1 "gpuhisto: dir/.: Is a directory"
run -l -o dir in
refuses "a directory as the output" 1 "gpuhisto: dir: Is a directory"
run -l -o nowhere/out in
refuses "an output in no directory" 1 "gpuhisto: nowhere/out: No such file or directory"

cp in dir/in
ln -s ../in dir/link
ln -s dir/link link
: >x1 && : >x2 && : >x3 && : >x4
# after_others ARGUMENT...: the same after so many files that no more are held.
after_others()
{
    (ulimit -n 16 && run -l /dev/null x1 x2 x3 x4 x1 x2 x3 "$@")
}
for file in in dir/../in link /proc/self/cwd/in; do
    run -l "$file"
    counts "file $file" table
    after_others "$file" /dev/null
    counts "file $file after others" table
done
for file in - /dev/stdin /proc/self/fd/0 /dev/fd/0; do
    run -l "$file" <in
    counts "$file is a file" table
    "$HELPERS/dribble" <in | run -l "$file"
    counts "$file is a pipe" table
    run_as "$HELPERS/with_stdin" socket "$GPUHISTO" $ENGINE -l - <in
    counts "- is a socket" table
done
mkfifo fifo
cat in >fifo &
run -l fifo in
wait $!
counts "a FIFO" twice
cat in >fifo &
after_others fifo in
wait $!
counts "a FIFO after others" twice

# What another process has, the shell in parentheses, whose number its child tells.
others()
{
    run -l "/proc/$(sh -c 'echo $PPID')/$1"
}
"$HELPERS/dribble" <in | (exec 3<&0 </dev/null && others fd/3)
counts "a pipe that another process has open" table
(cp in gone && exec 3<gone && rm gone && others fd/3)
counts "a file that another process has open and nobody else" table
(others cwd/in)
counts "a file in the directory of another process" table
cat in >fifo &
(others cwd/fifo)
wait $!
counts "a FIFO in the directory of another process" table
"$HELPERS/dribble" <in | (
    exec 3<&0 </dev/null
    run_as sh -c 'cd "$1" && shift && exec "$@"' sh "/proc/$(sh -c 'echo $PPID')/fd" "$GPUHISTO" $ENGINE -l 3
)
counts "a pipe, from within the folder of what another process has open" table

# What is counted is what had the name at the start; beyond what is held, only that may be opened.
rotates()
{
    cp in later
    (
        exec 3>fifo
        mv later later.1
        head -c 100 in >later
        cat in >&3
    ) &
    "$@"
    wait $!
}
rotates run -l fifo later
counts "a file that is rotated" twice
if [ "$landlock" ]; then
    rotates after_others fifo later
    refuses "a file that is rotated and not held" 1 "later: $(error_text EACCES)"
fi
rm -f later
(
    exec 3>fifo
    cp in later
    cat in >&3
) &
run -l fifo later
wait $!
refuses "a file that is made meanwhile" 1 "later: $(error_text ENOENT)"
mkfifo second
(
    exec 3>fifo
    mv second second.1
    mkfifo second
    cat in >&3
    exec 3>&-
    cat in >second.1
) &
run -l fifo second
kill $! 2>kill.err
wait $!
counts "a FIFO that is replaced" twice

# --- outputs ---

for out in out.tsv dir/out.tsv "$work/dir/abs.tsv" dir/../up.tsv; do
    for way in new replaced; do
        run -l -o "$out" in
        check "-o $out, $way: status" [ "$(cat status)$(cat err)" = 0 ]
        same "-o $out, $way" table "$out"
    done
done
chmod 640 out.tsv
run -l -o out.tsv in
check "the mode is kept" [ "$(stat -c %a out.tsv)" = 640 ]
run -l -o /dev/null in
check "-o /dev/null" [ "$(cat status)$(cat err)" = 0 ]
run -l -o /dev/stdout in
counts "-o /dev/stdout" table
cat fifo >from.fifo &
run -l -o fifo in
wait $!
same "-o of a FIFO" table from.fifo
check "nothing is left" [ -z "$(find . -name '.gpuhisto-*')" ]

# --- modes that do more ---

run -l --each in dir/in
check "--each" [ "$(wc -l <out)" -ge 14 ]
check "--each says nothing" [ ! -s err ]
{ cat in && sleep 0.3 && cat in; } | run -l --interval=0.1
tail -n 7 out >last
same "--interval: the last table" twice last
run -l --threads=4 --chunk-size=4K in in
counts "several threads" twice
run --values=u32 --bins=4000000 --min=0 --max=4000000 --nonzero in
check "so many bins that memory is looked up: $(cat err)" [ "$(cat status)" -eq 0 ]
if can_share; then
    run -l -F json -o dir/1.json in
    run -l -F json -o dir/2.json in
    ENGINE=''
    run --merge dir/1.json dir/2.json
    counts "--merge" twice
    run --merge - dir/2.json <dir/1.json
    counts "--merge of standard input" twice
    run --merge -F json -o dir/3.json dir/1.json dir/2.json
    check "--merge -o" [ "$(cat status)$(cat err)" = 0 ]
    run --diff dir/1.json dir/2.json
    check "--diff" [ "$(cat status)$(cat err)" = 0 ]
    run --merge dir/1.json nowhere.json
    refuses "--merge of a missing FILE" 1 "gpuhisto: nowhere.json: No such file or directory"
    run --merge dir/1.json dir
    refuses "--merge of a directory" 1 "gpuhisto: dir: Is a directory"
    "$HELPERS/dribble" <dir/2.json | (
        exec 3<&0 </dev/null
        run --merge dir/1.json "/proc/$(sh -c 'echo $PPID')/fd/3"
    )
    counts "--merge of a pipe that another process has open" twice
    ENGINE=--device=cpu
else
    skip_part "--merge: $why_not"
fi

# More files than there may be descriptors.
mkdir many
i=0
while [ $i -lt 300 ]; do
    printf 'ab' >many/$i
    i=$((i + 1))
done
cat many/* | oracle letters 4 0
(ulimit -n 64 && run -l many/*)
counts "300 files" expected
(ulimit -S -n 64 && run -v -l many/*)
check "300 files: the limit that may be raised is" grep -qv 'by name' err

summary
