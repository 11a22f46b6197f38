#!/bin/sh
# SPDX-License-Identifier: MIT
# Shares counted by a Slurm of one machine, which has its three daemons in namespaces of their own: as an
# array with a dependent merge, and as the tasks of srun. The merged table is that of one process, a task
# that fails leaves a share out, which is refused, and can be run again alone; and the examples
# ```console slurm of doc/distributed.md print what it says.
. "${srcdir:-.}/tests/helpers/lib.sh"
. "$srcdir/tests/helpers/isolated.sh"
. "$srcdir/tests/helpers/examples.sh"

can_share || skip "$why_not"
isolate 120 munged sbatch sinfo slurmctld slurmd srun

# --- a machine with a name, an address that is not loopback, and three daemons ---

hostname slurm1 2>err || skip "no name of its own: $(cat err)"
printf '127.0.0.1 localhost\n10.99.0.1 slurm1\n' >hosts
mount --bind hosts /etc/hosts 2>err || skip "cannot mount: $(cat err)"
ip link add eth0 type veth peer name eth1 2>err || skip "no veth: $(cat err)"
ip address add 10.99.0.1/24 dev eth0
ip link set eth0 up
ip link set eth1 up

# In /run, which is this script's own, for munged wants its socket in folders that all may enter.
conf=/run/slurm
mkdir bin /run/munge $conf $conf/state $conf/spool
(
    umask 077
    head -c 1024 /dev/urandom >/run/munge/key
)
# Nothing here needs cgroups, an init system or a database. The machine may have fewer processors than it says.
cat >$conf/slurm.conf <<EOF
ClusterName=test
SlurmctldHost=slurm1(10.99.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=/run/munge/socket
StateSaveLocation=$conf/state
SlurmdSpoolDir=$conf/spool
SlurmctldPidFile=$conf/slurmctld.pid
SlurmdPidFile=$conf/slurmd.pid
SlurmctldLogFile=$conf/slurmctld.log
SlurmdLogFile=$conf/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
NodeName=slurm1 NodeAddr=10.99.0.1 CPUs=4
PartitionName=all Nodes=slurm1 Default=YES MaxTime=INFINITE State=UP
EOF
SLURM_CONF=$conf/slurm.conf
export SLURM_CONF

munged --socket=/run/munge/socket --key-file=/run/munge/key --pid-file=/run/munge/pid \
    --log-file=/run/munge/log --seed-file=/run/munge/seed --num-threads=2 >err 2>&1 || skip "munged: $(tail -n 1 err)"
slurmctld -D >$conf/slurmctld.err 2>&1 &
slurmd -D -N slurm1 >$conf/slurmd.err 2>&1 &
if ! eventually sh -c 'sinfo -h -o %T 2>sinfo.err | grep -q idle'; then
    skip "Slurm does not start: $(cat $conf/slurmctld.err $conf/slurmd.err sinfo.err | grep -E 'error|fatal' | tail -n 2)"
fi

# The program; its first run of the share that the file `failing` names fails.
cat >bin/gpuhisto <<EOF
#!/bin/sh
case " \$* " in
*" --part=\$(cat $work/failing 2>/dev/null)/"*) rm $work/failing; exit 1 ;;
esac
exec $GPUHISTO "\$@"
EOF
chmod +x bin/gpuhisto
PATH=$work/bin:$PATH

# --- an array, a task for each share, and a job that merges ---

shares=6
seq 1 7 2000000 >numbers.txt
gpuhisto $ENGINE -n numbers.txt >whole || broken "cannot count"
cat >count.sh <<EOF
#!/bin/sh
#SBATCH --output=task.%a.log
exec gpuhisto $ENGINE -n --part=\$SLURM_ARRAY_TASK_ID/$shares -F json -o share.\$SLURM_ARRAY_TASK_ID.json numbers.txt
EOF
cat >merge.sh <<EOF
#!/bin/sh
#SBATCH --output=merge.log
gpuhisto --merge share.*.json -o merged
echo \$? >merge.status
EOF

job=$(sbatch --parsable --array=1-$shares count.sh)
sbatch --parsable --dependency=afterok:"$job" merge.sh >/dev/null
check "array: the merge ends" eventually [ -s merge.status ]
check "array: status of the merge" [ "$(cat merge.status)" = 0 ]
check "array: $(cat task.*.log merge.log)" [ -z "$(cat task.*.log merge.log)" ]
same "array" whole merged

# A task that fails leaves a share out. A merge after any end refuses what there is; that task, run again,
# completes it.
rm share.*.json merged merge.status
echo 4 >failing
job=$(sbatch --parsable --array=1-$shares count.sh)
sbatch --parsable --dependency=afterany:"$job" merge.sh >/dev/null
check "a task fails: the merge ends" eventually [ -s merge.status ]
check "a task fails: status of the merge" [ "$(cat merge.status)" = 1 ]
check "a task fails: no table" [ ! -e merged ]
check "a task fails: message: $(cat merge.log)" grep -qx "gpuhisto: share 4 of $shares is missing" merge.log
rm merge.status
job=$(sbatch --parsable --array=4 count.sh)
sbatch --parsable --dependency=afterok:"$job" merge.sh >/dev/null
check "the task again: the merge ends" eventually [ -s merge.status ]
same "the task again" whole merged

# --- srun, as an MPI launcher ---

# launched CASE VARIABLE ARGUMENT...: one share a task, by the rank that VARIABLE says.
launched()
{
    case_=$1
    variable_=$2
    shift 2
    rm -f share.*.json
    srun --quiet --ntasks=4 "$@" sh -c "gpuhisto $ENGINE -n --part=\$(($variable_ + 1))/4 -F json \
        -o share.\$$variable_.json numbers.txt" >srun.out 2>&1
    check "$case_: status $?: $(cat srun.out)" [ $? -eq 0 ]
    run_as "$GPUHISTO" --merge share.*.json
    counts "$case_" whole
}
launched "SLURM_PROCID" SLURM_PROCID --mpi=none
if srun --mpi=list 2>&1 | grep -q pmi2; then
    launched "PMI_RANK" PMI_RANK --mpi=pmi2
else
    skip_part "PMI_RANK: this Slurm has no pmi2"
fi

# --- doc/distributed.md ---

mkdir examples
cd examples || exit 99
markdown_examples doc/distributed.md
transcript_of example.1 >/dev/null # makes the file that all examples count
rm example.*
markdown_examples doc/distributed.md slurm
run_examples doc/distributed.md 2
cd .. || exit 99

summary
