#!/bin/bash
# A Slurm of two nodes on this one machine, for trying and for tests: starts munge, slurmctld and two slurmd
# in a folder of their own, runs a command with them, and ends them. Nothing of it outlives the command.
set -u

usage() {
    cat <<'EOF'
usage: scripts/slurm-here.sh [--folder DIR] COMMAND...

  --folder DIR   keep configuration and logs there (else a temporary folder, removed at the end)

Wants root, and slurmctld, slurmd, slurm-client and munge (Debian's packages of these names).
The command finds SLURM_CONF in its environment: sbatch, squeue and sinfo are about these two nodes.
EOF
}

folder=
while [ $# -gt 0 ]; do
    case $1 in
        --folder) folder=${2:-}; shift 2 || { usage >&2; exit 2; } ;;
        -h | --help) usage; exit 0 ;;
        -*) echo "slurm-here: unknown option '$1'; allowed: --folder DIR" >&2; exit 2 ;;
        *) break ;;
    esac
done
if [ $# = 0 ]; then usage >&2; exit 2; fi
for program in munged slurmctld slurmd sinfo; do
    PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || { echo "slurm-here: $program is missing" >&2; exit 77; }
done
PATH=$PATH:/usr/sbin
[ "$(id -u)" = 0 ] || { echo "slurm-here: it has to be root, as slurmd starts jobs for others" >&2; exit 77; }

made=
if [ -z "$folder" ]; then folder=$(mktemp -d) && made=$folder; fi
mkdir -p "$folder/state" "$folder/n1" "$folder/n2" && folder=$(cd "$folder" && pwd) || exit 1
port=$((20000 + $$ % 20000))
host=$(hostname)
export SLURM_CONF=$folder/slurm.conf
cat >"$SLURM_CONF" <<EOF
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=$folder/munge.socket,cred_expire=5
SlurmctldPort=$port
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n/slurmd.pid
SlurmdSpoolDir=$folder/%n/spool
StateSaveLocation=$folder/state
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1
ReturnToService=2
SlurmdTimeout=10
KillWait=5
JobRequeue=1
MaxArraySize=10001
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES State=UP
EOF
(umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")

pids=()
# Processes of jobs of this Slurm and no other: they were given its configuration.
of_jobs() {
    local process
    for process in /proc/[0-9]*; do
        grep -qzxF "SLURM_CONF=$SLURM_CONF" "$process/environ" 2>/dev/null || continue
        if grep -qz '^SLURM_JOB_ID=' "$process/environ" 2>/dev/null || grep -q '^slurmstepd' "$process/cmdline" 2>/dev/null; then
            basename "$process"
        fi
    done
}
# Jobs are cancelled while the daemons still are there to do it; what does not hear that is killed.
end_jobs() {
    [ "$(squeue -h -o %A 2>/dev/null | wc -l)" = 0 ] || {
        scancel --user=root 2>/dev/null
        for _ in $(seq 60); do [ -n "$(squeue -h -t all -o %T 2>/dev/null | grep -E 'PENDING|RUNNING|COMPLETING|SUSPENDED')" ] || break; sleep 0.2; done
    }
}
kill_jobs() {
    local job
    for job in $(of_jobs); do [ "$job" = $$ ] || kill -KILL "$job" 2>/dev/null; done
}
finish() {
    trap - EXIT INT TERM HUP
    end_jobs
    kill_jobs
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null; done
    kill_jobs # what a daemon still started
    if [ -n "$made" ]; then rm -rf "$made"; fi
}
trap finish EXIT
trap 'exit 130' INT TERM HUP
start() { "$@" >>"$folder/$(basename "$1").out" 2>&1 </dev/null & pids+=($!); }

start munged -F -f --key-file="$folder/munge.key" --socket="$folder/munge.socket" --log-file="$folder/munge.log" \
    --pid-file="$folder/munge.pid" --seed-file="$folder/munge.seed"
for _ in $(seq 100); do [ -S "$folder/munge.socket" ] && break; sleep 0.1; done
start slurmctld -D -c
start slurmd -D -N n1
start slurmd -D -N n2
ready() { [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]; }
for _ in $(seq 300); do ready && break; sleep 0.2; done
ready || { echo "slurm-here: the two nodes did not come up:" >&2; tail -n 5 "$folder"/*.out "$folder"/*/*.log >&2; exit 1; }
"$@"
