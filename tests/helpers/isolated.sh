# SPDX-License-Identifier: MIT
# What a script needs to have a machine to itself: parallel_ssh.sh and slurm.sh begin with
#     . "${srcdir:-.}/tests/helpers/lib.sh"
#     . "$srcdir/tests/helpers/isolated.sh"
#     isolate SECONDS TOOL...
# and go on in mount, network, process and host name namespaces of their own, as process 1. Nothing that
# they start, mount or configure is seen outside, or outlives them: when process 1 ends, the kernel ends all
# of its processes, and undoes mounts, links and names. The script is run again for that, in a folder
# inside that of the first run, which watches over it, and kills it when it is ended itself.

# Daemons are in folders that are not in everyone's PATH.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

isolated=
isolated_end()
{
    if [ -n "$isolated" ]; then
        # Its child is process 1, which is gone when all others there are. Where /proc does not name it,
        # it is killed by the end of its parent.
        child_=
        read -r child_ 2>/dev/null <"/proc/$isolated/task/$isolated/children"
        kill -KILL ${child_:-"$isolated"} 2>/dev/null
        wait "$isolated" 2>/dev/null
    fi
    end
}

# isolate SECONDS TOOL...: returns in the namespaces. Skips the script where these cannot be had, or a TOOL
# is missing.
isolate()
{
    if [ -n "${ISOLATED-}" ]; then
        mount -t tmpfs -o mode=755 tmpfs /run 2>err || skip "cannot mount: $(cat err)"
        ip link set lo up 2>err || skip "no loopback: $(cat err)"
        return
    fi
    seconds_=$1
    shift
    [ "$SANITIZED" = no ] || skip "it takes too long with sanitizers and emulators"
    [ "$(id -u)" = 0 ] || skip "namespaces and daemons need root"
    for tool_ in ip mount setpriv unshare "$@"; do
        command -v "$tool_" >/dev/null || skip "$tool_ is not installed"
    done
    unshare --mount --net --pid --uts --fork --mount-proc --kill-child true 2>err ||
        skip "no namespaces of its own: $(cat err)"
    trap isolated_end EXIT
    watch_over "$seconds_"
    # SIGKILL of this shell, which it cannot handle, takes the other run along, too. What unshare says of
    # how its child ended is left out.
    ISOLATED=yes TMPDIR=$work srcdir=$srcdir GPUHISTO=$GPUHISTO HELPERS=$HELPERS EMULATED=$EMULATED SCALE=$SCALE \
        setpriv --pdeathsig KILL \
        unshare --mount --net --pid --uts --fork --mount-proc --kill-child \
        sh -c 'exec sh "$0" 2>&3 3>&-' "$script" 3>&2 2>/dev/null &
    isolated=$!
    wait "$isolated"
    status_=$?
    isolated=
    exit $status_
}
