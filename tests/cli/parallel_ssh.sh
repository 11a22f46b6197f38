#!/bin/sh
# SPDX-License-Identifier: MIT
# Shares counted by GNU parallel over ssh on three nodes, which are network namespaces of this machine with
# an sshd in each: the merged table is that of one process, also if a node is killed in the middle, or cut
# off and back later; a share that is left out is refused; and the examples ```console ssh of
# doc/distributed.md print what it says.
. "${srcdir:-.}/tests/helpers/lib.sh"
. "$srcdir/tests/helpers/isolated.sh"
. "$srcdir/tests/helpers/examples.sh"

can_share || skip "$why_not"
can_interpose || skip "$why_not"
isolate 120 parallel ssh ssh-keygen sshd
parallel --version 2>/dev/null | grep -q '^GNU' || skip "parallel is not GNU parallel"
sshd=$(command -v sshd) # which wants to be started by its absolute name
HOME=$work
export HOME
mkdir bin copies.1 copies.2 copies.3 examples examples/copies keys /run/netns /run/sshd
# The one who logs in has a home without settings, and a plain shell.
awk -F : -v OFS=: -v home="$work" '$1 == "root" { $6 = home; $7 = "/bin/sh" } { print }' /etc/passwd >passwd
mount --bind passwd /etc/passwd 2>err || skip "cannot mount: $(cat err)"

# --- three nodes, on a bridge with this machine ---

ip link add bridge0 type bridge 2>err || skip "no bridge: $(cat err)"
ip address add 10.99.0.1/24 dev bridge0
ip link set bridge0 up
ssh-keygen -q -t ed25519 -N '' -f keys/user || broken "no key"

# start_node N: its link, names, keys and sshd.
start_node()
{
    node=node$1
    address=10.99.0.1$1
    ip netns add $node 2>err || skip "no network namespace: $(cat err)"
    ip link add veth$1 type veth peer name eth0 netns $node 2>err || skip "no veth: $(cat err)"
    ip link set veth$1 master bridge0 up
    ip -n $node address add $address/24 dev eth0
    ip -n $node link set eth0 up
    ip -n $node link set lo up
    ssh-keygen -q -t ed25519 -N '' -f keys/$node
    echo "$node $(cat keys/$node.pub)" >>keys/known
    cat >keys/sshd.$node <<EOF
ListenAddress $address
HostKey $work/keys/$node
AuthorizedKeysFile $work/keys/user.pub
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
PidFile none
SetEnv NODE=$node PATH=$work/bin:/usr/local/bin:/usr/bin:/bin
EOF
    cat >>keys/ssh_config <<EOF
Host $node
    HostName $address
    HostKeyAlias $node
EOF
    start_sshd "$1"
}

# start_sshd N: returns when it answers.
start_sshd()
{
    # Where others see examples/copies, a node sees copies of its own.
    # shellcheck disable=SC2016 # for the shell in the namespace
    ip netns exec node$1 sh -c 'mount --bind "copies.$2" examples/copies && exec "$1" -D -e -f "$PWD/keys/sshd.node$2"' \
        sh "$sshd" "$1" 2>>keys/log.node$1 &
    if ! eventually ip netns exec node$1 sh -c 'ss -Hltn 2>/dev/null | grep -q :22'; then
        skip "sshd does not start: $(tail -n 1 keys/log.node$1)"
    fi
}

# kill_node N: its sshd and all other processes.
kill_node()
{
    ip netns pids node$1 | xargs kill -KILL 2>/dev/null # some end with others
}

for n in 1 2 3; do
    start_node $n
done
# ServerAlive: that a connection is dead is noticed after two seconds.
cat >>keys/ssh_config <<EOF
Host *
    User root
    IdentityFile $work/keys/user
    IdentitiesOnly yes
    UserKnownHostsFile $work/keys/known
    GlobalKnownHostsFile /dev/null
    BatchMode yes
    ConnectTimeout 1
    ServerAliveInterval 1
    ServerAliveCountMax 2
EOF
printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$work/keys/ssh_config" >bin/ssh
chmod +x bin/ssh
PATH=$work/bin:$PATH
for n in 1 2 3; do
    # shellcheck disable=SC2016 # for the node
    ssh node$n 'echo $NODE' >out 2>err </dev/null || skip "ssh to a namespace fails: $(tail -n 1 err)"
    check "node$n answers, not $(cat out)" [ "$(cat out)" = node$n ]
done

# The program on the nodes. A node that is named in the file `hold` stops it in the middle of a share, once:
# it has read some of it, and says so in the file `stopped`.
cat >bin/gpuhisto <<EOF
#!/bin/sh
if [ "\${NODE-none}" = "\$(cat $work/hold 2>/dev/null)" ] && mkdir $work/held 2>/dev/null; then
    exec env LD_PRELOAD=$HELPERS/interpose.so FAULT_CALL=pread FAULT_AT=7 \\
        FAULT_SIGNAL=$(env kill -l STOP) FAULT_MARK=$work/stopped $GPUHISTO "\$@"
fi
exec $GPUHISTO "\$@"
EOF
chmod +x bin/gpuhisto
# hold N: it will be node N.
hold()
{
    rm -rf held stopped
    echo node$1 >hold
}

# --- the same table as that of one process ---

shares=6
seq 1 3 8000000 >numbers.txt
gpuhisto $ENGINE -n numbers.txt >whole || broken "cannot count"

# over_nodes OPTION...: counts shares, one at a time on each node; leaves log.
over_nodes()
{
    rm -f log
    parallel --sshlogin 1/node1,1/node2,1/node3 --workdir "$work" --joblog log "$@" \
        "gpuhisto $ENGINE -n --part={}/$shares -F json -o share.{}.json numbers.txt" \
        ::: $(seq $shares) >parallel.out 2>parallel.err
}
# merged CASE: the shares are all there, and the merged table is that of one process.
merged()
{
    run_as "$GPUHISTO" --merge share.*.json
    counts "$1" whole
}
# ran_on CASE NODES: these nodes, and no others, counted the shares in the end.
ran_on()
{
    awk 'NR > 1 && $7 == 0 { sub(/.*\//, "", $2); print $2 }' log | sort -u >nodes
    check "$1: counted on $2, not $(tr '\n' ' ' <nodes)" [ "$(tr '\n' ' ' <nodes)" = "$2 " ]
}

over_nodes
check "three nodes: status" [ $? -eq 0 ]
ran_on "three nodes" "node1 node2 node3"
merged "three nodes"

mkdir away
mv share.4.json away
run_as "$GPUHISTO" --merge share.*.json
refuses "a share left out" 1 "share 4 of $shares is missing"
cp share.3.json again.json
run_as "$GPUHISTO" --merge share.*.json again.json away/share.4.json
refuses "a share twice" 1 "again.json: share 3/$shares is also in share.3.json"
mv away/share.4.json .

# --- a node is killed in the middle of a share ---

rm share.*.json
hold 2
over_nodes --retries 3 &
job=$!
check "node2 is in the middle of a share" eventually [ -s stopped ]
kill_node 2
wait $job
check "node2 killed: status" [ $? -eq 0 ]
ran_on "node2 killed" "node1 node3"
merged "node2 killed"
cp parallel.err first.err

# Without retries the shares that the dead node was given are missing, and --resume-failed counts just these.
rm share.*.json
over_nodes
check "node2 dead, no retries: status" [ $? -gt 0 ]
lost=$(awk -v n=$shares 'NR > 1 && $7 == 0 { done[$0 ~ /--part=/ ? substr($0, index($0, "--part=") + 7) + 0 : 0] }
    END { for (i = 1; i <= n; i++) if (!(i in done)) print i }' log | head -n 1)
run_as "$GPUHISTO" --merge share.*.json
refuses "node2 dead, no retries" 1 "share" " ${lost:-none}" " of $shares " " missing"
ls -i share.*.json >before
parallel --sshlogin 1/node1,1/node3 --workdir "$work" --joblog log --resume-failed \
    "gpuhisto $ENGINE -n --part={}/$shares -F json -o share.{}.json numbers.txt" \
    ::: $(seq $shares) >parallel.out 2>parallel.err
check "--resume-failed: status" [ $? -eq 0 ]
merged "--resume-failed"
ls -i share.*.json >after
check "--resume-failed: counts only what was missing" [ -z "$(grep -vxFf after before)" ]

# --- a node is cut off in the middle of a share, which it ends later ---

start_sshd 2
rm share.*.json
hold 3
over_nodes --retries 3 &
job=$!
check "node3 is in the middle of a share" eventually [ -s stopped ]
ip link set veth3 down
wait $job
check "node3 cut off: status" [ $? -eq 0 ]
ran_on "node3 cut off" "node1 node2"
merged "node3 cut off"
share=$(tr '\0' '\n' <"/proc/$(ip netns pids node3 | while read -r pid; do
    grep -qs 'gpuhisto$' "/proc/$pid/exe" || readlink "/proc/$pid/exe" | grep -q 'gpuhisto$' && echo "$pid"
done | head -n 1)/cmdline" | sed -n 's,^--part=\([0-9]*\)/.*,\1,p')
check "node3 cut off: it still counts a share" [ -n "$share" ]
before=$(ls -i "share.$share.json")
ip netns pids node3 | xargs kill -CONT
check "node3 cut off: it ends share $share" eventually sh -c "[ \"\$(ls -i share.$share.json)\" != '$before' ]"
merged "node3 cut off, and its share written twice"
ip link set veth3 up

# --- doc/distributed.md ---

rm hold
cd examples || exit 99
markdown_examples doc/distributed.md
transcript_of example.1 >/dev/null # makes the file that all examples count
rm example.*
for n in 1 2 3; do
    cp access.log ../copies.$n
done
markdown_examples doc/distributed.md ssh
run_examples doc/distributed.md 3
cd .. || exit 99

summary
