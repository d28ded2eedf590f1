#!/usr/bin/env bash
# Shards under the engines that start them: cluster.sh PROGRAM SCENE. A real Slurm (munged, slurmctld and
# slurmd, all on this machine and in a folder of their own) runs a job array over a directory, and a
# real mpirun its ranks; of both a task is killed on the way and started again. Then every output is
# there, whole, and was written once. What is not installed is left out; exit status 77 where that
# is both.
set -euo pipefail

program=$(realpath "$1") scene=$(realpath "$2")
pictures=48 tasks=4
filter=(--kernel log:sigma=8) # slow enough for a task to be killed on the way
PATH=$PATH:/usr/sbin:/sbin

have() { command -v "$1" >/dev/null; }
say() { printf 'cluster: %s\n' "$*"; }
die() {
    say "$*"
    [ -z "${work-}" ] || tail -n 20 "$work"/slurm/*.log "$work"/*/log.* "$work"/*/messages.* 2>/dev/null || true
    exit 1
}

parts=()
if have slurmctld && have slurmd && have munged && have sbatch; then parts+=(slurm); else say 'no Slurm here'; fi
if have mpirun; then parts+=(mpi); else say 'no mpirun here'; fi
[ ${#parts[@]} -gt 0 ] || exit 77

work=$(mktemp -d "${TMPDIR:-/tmp}/gpufilter-cluster-XXXXXX")
daemons=()
stop_all() {
    local i
    for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do # those last that the others need
        kill "${daemons[i]}" 2>/dev/null || true
        wait "${daemons[i]}" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap stop_all EXIT
trap 'exit 1' INT TERM

# until_true SECONDS COMMAND...
until_true() {
    local limit=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$limit" ] || return 1
        sleep 0.1
    done
}

# task.sh FOLDER: what every engine runs; in FOLDER it leaves its log, messages and process number by
# the number of its shard and of its start.
make_task() {
    cat >"$work/task.sh" <<END
#!/bin/bash
set -eu
cd "\$1"
number=\${OMPI_COMM_WORLD_RANK-\${SLURM_ARRAY_TASK_ID-0}.\${SLURM_PROCID-0}}
start=0
while ! (set -C; echo \$\$ >"process.\$number.\$start") 2>/dev/null; do start=\$((start + 1)); done
exec '$program' ../in --recursive ${filter[*]} --device cpu --threads 1 -j 1 -o out --shard auto --skip-existing \
    --json -v >"log.\$number.\$start" 2>"messages.\$number.\$start"
END
    chmod +x "$work/task.sh"
}

make_inputs() {
    local i folders=(a b c)
    mkdir -p "$work"/in/{a,b,c}
    "$scene" --size 500x400 --kind rgb8 "$work/scene.png"
    for ((i = 0; i < pictures; i++)); do # each another picture, so that outputs cannot be confused
        "$program" "$work/scene.png" --kernel "1x1: 0.$((100 + i))" --device cpu -o "$work/in/${folders[i % 3]}/$i.png"
    done
    "$program" "$work/in" --recursive "${filter[@]}" --device cpu -q -o "$work/expected"
}

has_line() { grep -q '"status":"ok"' "$1" 2>/dev/null; }

# kill_task FOLDER NUMBER: with SIGKILL, after its first picture. What is written then is noted.
kill_task() {
    local log=$1/log.$2.0
    until_true 120 has_line "$log" || die "task $2 of $1 wrote nothing"
    kill -9 "$(<"$1/process.$2.0")" || die "task $2 of $1 was done before it could be killed"
    say "killed task $2 after $(grep -c . "$log") of its pictures"
}

# note_outputs FOLDER: which files there are; one that were written again would have another inode or time.
note_outputs() { find "$1/out" -type f -printf '%p %i %T@ %s\n' | LC_ALL=C sort >"$1/noted"; }

# check FOLDER: everything is there, right, once.
check() {
    local twice
    diff -r "$work/expected" "$1/out" || die "the outputs in $1 are not those of one run"
    [ -z "$(find "$1/out" -name '.*')" ] || die "temporaries are left in $1"
    find "$1/out" -type f -printf '%p %i %T@ %s\n' | LC_ALL=C sort >"$1/now"
    [ -z "$(LC_ALL=C comm -23 "$1/noted" "$1/now")" ] || die "outputs in $1 were written twice"
    twice=$(cat "$1"/log.* | grep '"status":"ok"' | sed 's/,"outputs".*//' | sort | uniq -d)
    [ -z "$twice" ] || die "in $1 two tasks wrote: $twice"
    ! grep -h '"status":"failed"' "$1"/log.* || die "pictures failed in $1"
    say "$(basename "$1"): $(find "$1/out" -type f | wc -l) outputs, of which $(wc -l <"$1/noted") were there when the" \
        "task was started again; all right, each written once"
}

# ---- Slurm ----

daemon() { # NAME COMMAND...
    local name=$1
    shift
    "$@" >"$work/slurm/$name.out" 2>&1 </dev/null &
    daemons+=($!)
}

start_slurm() {
    local folder=$work/slurm node port=$((20000 + $$ % 20000)) user
    node=$(hostname -s) user=$(id -un)
    mkdir -p "$folder/state" "$folder/spool"
    chmod 755 "$work" "$folder"
    (umask 277 && head -c 1024 /dev/urandom >"$folder/key")
    daemon munged munged -F --force --socket="$folder/socket" --key-file="$folder/key" --seed-file="$folder/seed" \
        --pid-file="$folder/munged.pid" --log-file="$folder/munged.log"
    cat >"$folder/slurm.conf" <<END
ClusterName=gpufilter
SlurmctldHost=$node(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
# No control groups, accounts or MPI plugins: containers may have none.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
KillWait=2
# As many processors as tasks, whatever the machine has.
SlurmdParameters=config_overrides
NodeName=$node NodeAddr=127.0.0.1 CPUs=$((2 * tasks)) State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$folder/slurm.conf
    until_true 20 test -S "$folder/socket" || { say 'munged does not start here' && return 1; }
    daemon slurmctld slurmctld -D
    daemon slurmd slurmd -D -N "$node"
    until_true 40 node_is_idle || { say 'slurmctld and slurmd do not start here' && return 1; }
    say "$(slurmd -V) is up"
}

node_is_idle() { [ "$(sinfo -h -o %t 2>/dev/null)" = idle ]; }
no_jobs() { [ -z "$(squeue -h -o %t)" ]; }

# A job array whose third task is killed and requeued.
test_array() {
    local folder=$work/array job
    mkdir "$folder"
    job=$(sbatch --parsable --array=1-$tasks --output=/dev/null --open-mode=append "$work/task.sh" "$folder")
    kill_task "$folder" 3.0
    until_true 120 no_jobs || die 'the array does not end'
    note_outputs "$folder"
    [ "$(wc -l <"$folder/noted")" -lt $pictures ] || die 'the task was killed too late'
    scontrol requeue "${job}_3"
    until_true 120 test -e "$folder/process.3.0.1" || die 'the task is not started again'
    until_true 120 no_jobs || die 'the requeued task does not end'
    check "$folder"
    grep -q "shard 3 of $tasks (SLURM_ARRAY_TASK_ID=3)" "$folder/messages.3.0.1" || die 'not the same shard'
}

# Two jobs of an array with three tasks each: six shards.
test_steps() {
    local folder=$work/steps
    mkdir "$folder"
    sbatch --parsable --array=0-1 --ntasks=3 --output=/dev/null --wait \
        --wrap "srun '$work/task.sh' '$folder'" >/dev/null || die 'the steps failed'
    : >"$folder/noted"
    check "$folder"
    grep -q 'shard 5 of 6 (SLURM_ARRAY_TASK_ID=1, SLURM_PROCID=1 of 3)' "$folder/messages.1.1.0" ||
        die 'not the shard of the array and the step'
}

# ---- MPI ----

run_ranks() { # FOLDER
    local root=()
    [ "$(id -u)" -ne 0 ] || root=(--allow-run-as-root)
    mpirun "${root[@]}" --oversubscribe -np $tasks "$work/task.sh" "$1" </dev/null >"$1/mpirun.out" 2>&1
}

# mpirun ends all ranks when one is killed; the second start does what is left.
test_ranks() {
    local folder=$work/ranks first
    mkdir "$folder"
    run_ranks "$folder" &
    first=$!
    kill_task "$folder" 2
    ! wait "$first" || die 'mpirun does not report the killed rank'
    note_outputs "$folder"
    [ "$(wc -l <"$folder/noted")" -lt $pictures ] || die 'the rank was killed too late'
    run_ranks "$folder" || die "mpirun: $(<"$folder/mpirun.out")"
    check "$folder"
    grep -q "shard 3 of $tasks (OMPI_COMM_WORLD_RANK=2 of $tasks)" "$folder/messages.2.1" || die 'not the same shard'
}

make_inputs
make_task
tested=0
for part in "${parts[@]}"; do
    case $part in
    slurm)
        if start_slurm; then # which a container may not allow
            test_array
            test_steps
            tested=1
        fi
        ;;
    mpi)
        test_ranks
        tested=1
        ;;
    esac
done
[ "$tested" -eq 1 ] || exit 77
