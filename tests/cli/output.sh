#!/bin/sh
# SPDX-License-Identifier: MIT
# How the table is written: everything in order, or up to the first error and no further; and which
# file it is that --output replaces.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

data text 5000 >in
run -l <in
cp out table
rows=100000
run -q --values=u32 --bins=$rows <in
cp out large.table
check "a large table" [ "$(wc -c <large.table)" -gt 1000000 ]
large="-q --values=u32 --bins=$rows"
mkdir dir
echo old >old

# begins CASE: what was written to standard output is a beginning of the large table, not all of it.
begins()
{
    size=$(wc -c <out)
    check "$1: not all" [ "$size" -lt "$(wc -c <large.table)" ]
    head -c "$size" large.table >beginning
    same "$1: nothing left out" beginning out
}

# --- the first error is the last write ---

if can_interpose; then
    for at in 1 2 3 10; do
        run_as env FAULT_CALL=write FAULT_FD=1 FAULT_AT=$at FAULT_ERRNO=28 \
            LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE $large <in
        begins "write $at fails"
        : >out
        refuses "write $at fails" 1 "standard output: No space left on device"
    done
    for most in 1 7 5000; do
        run_as env FAULT_SHORT=$most FAULT_EINTR=1 LD_PRELOAD="$HELPERS/interpose.so" \
            "$GPUHISTO" $ENGINE -b <in
        cp out short
        run -b <in
        counts "writes of 1 to $most bytes, interrupted" short
    done
    run_as env FAULT_SHORT=5000 FAULT_EINTR=1 LD_PRELOAD="$HELPERS/interpose.so" \
        "$GPUHISTO" $ENGINE $large <in
    counts "many writes, interrupted" large.table
    for option in --help --version --kernel=help; do
        run $option
        cp out text
        run_as env FAULT_SHORT=3 FAULT_EINTR=1 LD_PRELOAD="$HELPERS/interpose.so" \
            "$GPUHISTO" $option
        counts "$option, short writes" text
        run_as env FAULT_CALL=close FAULT_FD=1 FAULT_AT=1 LD_PRELOAD="$HELPERS/interpose.so" \
            "$GPUHISTO" $option
        : >out
        refuses "$option, a failed close" 1 "standard output: Input/output error"
    done
else
    skip_part "writes that fail: $why_not"
fi
if can_strace; then
    run_as strace -f -o strace.out -e trace=write -e inject=write:error=ENOSPC:when=1 \
        "$GPUHISTO" $ENGINE $large <in
    check "strace, the first write fails: nothing comes after it" [ ! -s out ]
    refuses "strace, the first write fails" 1 "standard output: No space left on device"
    run_as strace -f -o strace.out -e trace=write -e inject=write:error=EINTR:when=1..5 \
        "$GPUHISTO" $ENGINE $large <in
    counts "strace, interrupted" large.table
else
    skip_part "strace: $why_not"
fi

# A pipe that does not block, and a reader that is late.
"$HELPERS/with_stdin" slow "$GPUHISTO" $ENGINE $large in 2>err | { sleep 0.5 && cat; } >out
echo 0 >status
counts "a non-blocking pipe" large.table

for option in --help --version --kernel=help; do
    if [ -c /dev/full ]; then
        "$GPUHISTO" $option >/dev/full 2>err
        echo $? >status
        : >out
        refuses "$option, full" 1 "standard output: No space left on device"
    fi
    "$GPUHISTO" $option >&- 2>err
    echo $? >status
    : >out
    refuses "$option, closed" 1 "standard output: Bad file descriptor"
done

# --- what is put on disk, and when ---

if can_strace; then
    calls=fsync,linkat,renameat,renameat2
    order()
    {
        # A call that another thread interrupts takes two lines, and linkat two calls at times.
        sed -n 's/^[0-9]* *\([a-z]*\)[0-9]*(.*/\1/p' strace.out | uniq | tr '\n' ' '
    }
    run_as strace -f -o strace.out -e trace=$calls "$GPUHISTO" $ENGINE -l -o dir/new in
    case $(order) in
    "fsync linkat fsync " | "fsync renameat fsync ") passed ;;
    *) failed "a new file: order of calls: $(order)" ;;
    esac
    run_as strace -f -o strace.out -e trace=$calls "$GPUHISTO" $ENGINE -l -o dir/new in
    case $(order) in
    "fsync linkat renameat fsync " | "fsync renameat fsync ") passed ;;
    *) failed "an old file: order of calls: $(order)" ;;
    esac
fi

# --- an access list ---

# The group's bits of the mode are then the list's mask, which the group itself need not have.

# listed MODE LIST [COMMAND...]: writes dir/listed, which has this mode and list, by the command;
# leaves what it had in `list` and what it has now in `kept`, both with the mode.
listed()
{
    mode_=$1
    list_=$2
    shift 2
    rm -f dir/listed
    echo old >dir/listed
    setfacl -b dir/listed # what it has of its directory's
    chmod "$mode_" dir/listed
    [ -z "$list_" ] || setfacl -m "$list_" dir/listed
    { stat -c %a dir/listed && getfacl -pc dir/listed; } >list
    run_as "$@" "$GPUHISTO" $ENGINE -l -o dir/listed in
    { stat -c %a dir/listed && getfacl -pc dir/listed; } >kept
    check "$list_: status" [ "$(cat status)" = 0 ]
}

# loses CASE: nobody but the owner may use the file, and there is a warning.
loses()
{
    check "$1: a warning" grep -q "cannot keep its access list" err
    check "$1: one line" [ "$(wc -l <err)" = 1 ]
    check "$1: only the owner" grep -q '^600$' kept
    check "$1: no list" [ "$(grep -cE '^(user|group|mask|default):[^:]|^mask' kept)" = 0 ]
}

access_lists()
{
    for mode in 640 660 2664 4755; do
        listed $mode u:1234:rw-,g::---,m::rw- env
        same "an access list is kept, mode $mode" list kept
    done
    setfacl -d -m u:1234:rw dir
    listed 640 ''
    same "a directory's default list is not taken over" list kept
    setfacl -k dir
    if can_interpose; then
        for call in "getxattr 5" "fsetxattr 95" "fsetxattr 28"; do
            for mode in 604 664; do
                listed $mode u:1234:rw-,g::--- env FAULT_CALL="${call% *}" FAULT_AT=1 \
                    FAULT_ERRNO="${call#* }" LD_PRELOAD="$HELPERS/interpose.so"
                loses "$call, mode $mode"
            done
        done
        listed 640 '' env FAULT_CALL=getxattr FAULT_AT=1 FAULT_ERRNO=61 \
            LD_PRELOAD="$HELPERS/interpose.so"
        check "no list, no warning" [ ! -s err ]
    else
        skip_part "access lists that cannot be read or set: $why_not"
    fi
    if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
        chmod 777 . dir
        listed_by_another
    else
        skip_part "an access list of another owner's file: not root, or no setpriv"
    fi
    rm -f dir/listed
}

# Who writes it is neither its owner nor of its group, and the list speaks of that group.
listed_by_another()
{
    rm -f dir/listed
    echo old >dir/listed
    chmod 660 dir/listed
    setfacl -m u:1234:rw,g::rw dir/listed
    chown 2000:2000 dir/listed
    run_as setpriv --reuid=1234 --regid=3000 --clear-groups "$GPUHISTO" $ENGINE -l -o dir/listed in
    { stat -c %a dir/listed && getfacl -pc dir/listed; } >kept
    loses "another's group"
}

if command -v setfacl >/dev/null && echo old >dir/new && setfacl -m u:1234:rw- dir/new 2>setfacl.err; then
    access_lists
else
    skip_part "access lists: no setfacl, or none of this file system's"
fi

# --- an output that is also an input ---

cp in own
ln -s own own.link
ln own own.hard
for way in own own.link own.hard ./own; do
    run -l -o $way in own
    refuses "-o $way, which is counted" 1 'own: is also an input, which --output would replace'
    run -l -o $way <own
    refuses "-o $way, standard input" 1 "$way: is also the input, which --output would replace"
    run -l -o $way - <own
    refuses "-o $way, standard input by its name" 1 '-: is also an input'
done
same "an output that is an input stays" in own
run -l -o own.new own
same "another output beside it" table own.new
run -l --output=- <own
counts "--output=- is standard output" table
check "--output=- makes no file" [ ! -e - ]
run -l -o old --output=- <own
counts "--output=- is the last one given" table
run -l -o /dev/null /dev/null
check "a device that is both" [ "$(cat status)" = 0 ]
rm -f own own.*
run -l -F json -o own.json in
if can_share; then
    run_as "$GPUHISTO" --merge own.json own.json -F json -o own.json
    check "--merge into one of its tables" [ "$(cat status)" = 0 ]
    run_as "$GPUHISTO" --merge own.json
    "$GPUHISTO" $ENGINE -l in in >expected
    counts "--merge into one of its tables: both counted" expected
else
    skip_part "--merge into one of its tables: $why_not"
fi

# --- descriptors by name ---

for number in 4294967297 " 1" +1 01; do
    run -l -o "/dev/fd/$number" in
    refuses "/dev/fd/$number" 1 "No such file or directory"
done
oracle letters 4 0 <in
exec 3>gone
rm gone
run -l -o "/proc/$$/fd/3" in
check "a deleted file: status" [ "$(cat status)" = 0 ]
check "a deleted file: no other one" [ ! -e "gone (deleted)" ]
same "a deleted file: the table" expected "/proc/$$/fd/3"
exec 3>&-

# --- names ---

echo old >dir/new
run -l -o dir/new/ <in
refuses "a file with a slash" 1 dir/new/ 'Not a directory'
run -l -o dir/ <in
refuses "a directory with a slash" 1 dir/ 'Is a directory'
run -l -o dir/.. <in
refuses "the directory above" 1 dir/.. 'Is a directory'
run -l -o /dev/fd/77 <in
refuses "a descriptor that is not open" 1 /dev/fd/77 'Bad file descriptor'
"$GPUHISTO" $ENGINE -l -o /dev/fd/7 in 7<in >out 2>err
echo $? >status
refuses "a descriptor for reading" 1 /dev/fd/7 'Bad file descriptor'
if [ -d /proc/self/fd ]; then
    "$GPUHISTO" $ENGINE -l -o /proc/thread-self/fd/1 in 2>err | cat >out
    echo 0 >status
    counts "another name of /proc for a pipe" table
fi
if can_interpose; then
    for umask in 022 077 0; do
        for way in "" FAULT_NO_TMPFILE=1; do
            rm -f dir/new
            (umask $umask && run_as env $way LD_PRELOAD="$HELPERS/interpose.so" \
                "$GPUHISTO" $ENGINE -l -o dir/new in)
            mode=$(stat -c %a dir/new)
            check "umask $umask, $way: mode" [ "$mode" = "$(printf %o $((0666 & ~umask)))" ]
        done
    done
fi

# --- files and links of others ---

# as_another COMMAND...: by another user than root.
as_another()
{
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

mode_and_owner()
{
    stat -c '%a %u:%g' "$1"
}

others()
{
    chmod 711 .
    echo mine >dir/new
    chown 65534:65534 dir/new
    chmod 4755 dir/new
    run -l -o dir/new in
    check "another's file keeps owner and setuid" \
        [ "$(mode_and_owner dir/new)" = "4755 65534:65534" ]
    same "another's file" table dir/new

    mkdir theirs
    chown 65534:65534 theirs
    echo root >theirs/file
    chmod 6775 theirs/file
    cp in theirs/in
    run_as as_another "$GPUHISTO" $ENGINE -l -o theirs/file theirs/in
    check "root's file by another: nothing of root's is left" \
        [ "$(mode_and_owner theirs/file)" = "755 65534:65534" ]
    same "root's file by another" table theirs/file

    mkdir elsewhere shared
    chmod 1777 shared
    echo secret >elsewhere/file
    as_another ln -s ../elsewhere/file shared/link
    run -l -o shared/link in
    refuses "another's link in a shared directory" 1 'shared/link: Permission denied'
    as_another ln -s ../elsewhere/none shared/to-nothing
    run -l -o shared/to-nothing in
    refuses "another's link to nothing" 1 'shared/to-nothing: Permission denied'
    check "another's link to nothing: nothing there" [ ! -e elsewhere/none ]
    check "the file elsewhere" [ "$(cat elsewhere/file)" = secret ]
    ln -s ../elsewhere/own shared/own-link
    run -l -o shared/own-link in
    same "one's own link in a shared directory" table elsewhere/own
    rm -f shared/*
    echo root >shared/root
    run_as as_another "$GPUHISTO" $ENGINE -l -o shared/root missing
    refuses "what may not be replaced is said before reading" 1 'shared/root: Operation not permitted'

    # A link that is exchanged for a file, and back, while the name is looked up. (When root has
    # replaced one of them, no one else may exchange it.)
    try=0
    written=0
    while [ $try -lt 100 ]; do
        try=$((try + 1))
        rm -f shared/*
        : >begun
        as_another sh -c 'ln -s ../elsewhere/file shared/a && echo theirs >shared/b'
        setpriv --reuid=65534 --regid=65534 --clear-groups \
            "$HELPERS/exchange" shared/a shared/b >begun 2>exchange.err &
        exchanger=$!
        eventually [ -s begun ] || broken "nothing is exchanged"
        run -l -o shared/a in
        [ "$(cat status)" -ne 0 ] || written=$((written + 1))
        check "exchanged links: the file elsewhere" [ "$(cat elsewhere/file)" = secret ]
        kill $exchanger 2>shell.err
        wait $exchanger 2>shell.err
    done
    echo "output.sh: exchanged links: $written of $try written"
}
if [ "$(id -u)" -eq 0 ] && as_another "$GPUHISTO" --version >/dev/null 2>&1; then
    others
else
    skip_part "files of others: not root, or no setpriv"
fi

# --- a file on which another is mounted ---

# The program, in a mount namespace where elsewhere is mounted on dir/new.
mounted()
{
    unshare -m sh -c '
        mount --bind bound dir/new && shift && "$@"
    ' sh _ "$@"
}

rm -f dir/new
echo old >dir/new
data same 100000 >bound
if mounted true 2>mount.err; then
    run_as mounted "$GPUHISTO" $ENGINE -l -o dir/new in
    check "a mounted file: status" [ "$(cat status)" -eq 0 ]
    check "a mounted file: silent" [ ! -s err ]
    same "a mounted file: written itself" table bound
    same "a mounted file: the one below it" old dir/new
    check "a mounted file: no other file" [ "$(ls -A dir)" = new ]
    run_as mounted "$GPUHISTO" $ENGINE -l -o dir/new missing
    refuses "a mounted file, failure" 1 missing
    same "a mounted file: kept on failure" table bound
else
    skip_part "a mounted file: $(head -n 1 mount.err)"
fi

summary
