#!/usr/bin/env bash
# check_mpi_batch.sh CASE PROGRAM FOLDER: a batch over four processes of mpirun (PROGRAM is tests/mpi_batch), to which what
# CASE says happens.  It must end as docs/how-to/batch.md says, within a minute, and no process may be left.
# Exit status 77 where there is no mpirun.
set -euo pipefail
export LC_ALL=C
case=$1 program=$2 folder=$3/$1
for name in "${!SLURM_@}"; do unset "$name"; done  # or Open MPI asks Slurm to start them
export OMPI_MCA_btl_vader_single_copy_mechanism=none  # of containers without ptrace it prints warnings
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0  # those of MPI

# mpirun of whatever MPI lies beside the library that the program was linked with.
if ! command -v mpirun >/dev/null; then
    echo "skipped: there is no mpirun (Debian: openmpi-bin)"
    exit 77
fi
launch=(mpirun -n 4)
if mpirun --version 2>&1 | grep -q 'Open MPI'; then
    launch=(mpirun --oversubscribe -n 4)
    if (($(id -u) == 0)); then launch+=(--allow-run-as-root); fi
elif [[ $case == recovered ]]; then
    echo "skipped: --enable-recovery is Open MPI's"
    exit 77
fi

rm -rf "$folder"
mkdir -p "$folder"
touch "$folder/results"
batch=
fail() {
    printf 'FAILED: %s\n--- what it printed:\n' "$*" >&2
    cat "$folder/printed" >&2 || true
    exit 1
}
# Whatever happens: only processes that this script started, by their ids.
clean() {
    local file
    if [[ -n $batch ]]; then kill -KILL "$batch" 2>/dev/null || true; fi
    for file in "$folder"/pid-*; do
        if [[ -e $file ]]; then kill -KILL "$(<"$file")" 2>/dev/null || true; fi
    done
}
trap clean EXIT

start() {
    "${launch[@]}" "$@" >"$folder/printed" 2>&1 </dev/null &
    batch=$!
}
lines() { wc -l <"$folder/results"; }
pid() { cat "$folder/pid-$1"; }
# until_true SECONDS COMMAND...: until it succeeds.
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        if ((SECONDS >= end)); then fail "not within the time: $*"; fi
        sleep 0.05
    done
}
has_lines() { (($(lines) >= $1)); }
printed() { grep -q -- "$1" "$folder/printed"; }
has_ended() { ! kill -0 "$1" 2>/dev/null; }
# Waits for the end of mpirun, at most a minute, and sets `status`.
finish() {
    until_true 60 has_ended "$batch"
    status=0
    wait "$batch" || status=$?
    batch=
    local rank
    for rank in 0 1 2 3; do until_true 10 has_ended "$(pid "$rank")"; done
}
says() { printed "$1" || fail "it does not say: $1"; }
each_once() { # [COUNT]
    local places
    places=$(cut -d' ' -f1 "$folder/results" | sort -n)
    [[ $places == "$(sort -nu <<<"$places")" ]] || fail "runs with two results"
    if (($# > 0)); then [[ $places == "$(seq 0 $(($1 - 1)))" ]] || fail "not all of $1 runs have a result: $(lines)"; fi
}

busy=("$program" "$folder" --runs 800 --milliseconds 10 --lost-after 1500)
case $case in
    messages)
        start "$program" "$folder" --messages
        finish
        ((status == 0)) || fail "status $status"
        ;;
    whole)
        start "${busy[@]}" --threads 2 --status 3
        finish
        each_once 800
        says '800 results, 0 undone, 0 lost'
        (($(cut -d' ' -f3 "$folder/results" | sort -u | wc -l) == 4)) || fail "not all ranks did something"
        ((status == 3)) || fail "status $status"
        ;;
    killed)  # MPI ends the batch: all that was done is written
        start "${busy[@]}"
        until_true 30 has_lines 20
        kill -KILL "$(pid 2)"
        finish
        each_once
        ((status != 0)) || fail "status 0"
        ;;
    recovered)  # the others go on
        launch+=(--enable-recovery)
        start "${busy[@]}"
        until_true 30 has_lines 20
        kill -KILL "$(pid 2)"
        finish
        each_once 800
        says 'rank 2 on .* is lost: nothing has been heard of it for'
        says '800 results, 0 undone, 1 lost'
        ;;
    stopped)
        start "${busy[@]}" --status 3
        until_true 30 has_lines 20
        kill -STOP "$(pid 2)"
        finish
        each_once 800
        says 'rank 2 on .* is lost: nothing has been heard of it for'
        says '800 results, 0 undone, 1 lost'
        says 'rank 2 does not answer: ending all processes by MPI_Abort with status 3'
        ((status == 3)) || fail "status $status"
        ;;
    continued)
        start "$program" "$folder" --runs 2500 --milliseconds 10 --lost-after 1000
        until_true 30 has_lines 20
        kill -STOP "$(pid 2)"
        until_true 30 printed 'rank 2 on .* is lost'
        kill -CONT "$(pid 2)"
        finish
        each_once 2500
        says 'rank 2 on .* is back'
        says '2500 results, 0 undone, 0 lost'
        ((status == 0)) || fail "status $status"
        ;;
    full)
        start "${busy[@]}" --full-after 1000
        finish
        says 'error: cannot write'
        ((status == 1)) || fail "status $status"
        (($(lines) < 200)) || fail "it went on"
        ;;
    interrupted)  # mpirun ends all: what was handed out is undone
        start "${busy[@]}"
        until_true 30 has_lines 20
        kill -TERM "$batch"
        finish
        each_once
        ((status != 0)) || fail "status 0"
        ;;
    rank_0_interrupted)
        start "${busy[@]}"
        until_true 30 has_lines 20
        kill -INT "$(pid 0)"
        finish
        each_once
        grep -q ' undone ' "$folder/results" || fail "nothing is undone"
        says 'stopped: 1'
        ((status == 130)) || fail "status $status"
        ;;
    rank_0_stopped)
        start "${busy[@]}"
        until_true 30 has_lines 20
        kill -STOP "$(pid 0)"
        finish
        each_once
        says 'nothing has been heard of rank 0 for'
        ((status != 0)) || fail "status 0"
        ;;
    shared)  # one large run among small ones
        start "${busy[@]}" --threads 2 --parts 200
        finish
        each_once 800
        grep -Eq '^5 ended [0-3] 200 [2-4]$' "$folder/results" || fail "run 5 was not shared: $(grep '^5 ' "$folder/results")"
        says '800 results, 0 undone, 0 lost'
        ((status == 0)) || fail "status $status"
        ;;
    shared_stopped)  # a rank that has some of it
        start "${busy[@]}" --parts 300 --status 3
        until_true 30 has_lines 5
        kill -STOP "$(pid 2)"
        finish
        each_once 800
        grep -Eq '^5 ended [0-3] 300 [2-4]$' "$folder/results" || fail "run 5 was not shared: $(grep '^5 ' "$folder/results")"
        says 'rank 2 on .* is lost: nothing has been heard of it for'
        says '800 results, 0 undone, 1 lost'
        ((status == 3)) || fail "status $status"
        ;;
    *) fail "no case $case" ;;
esac
echo "$case: $(lines) results, status $status"
