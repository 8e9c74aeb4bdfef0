#!/usr/bin/env bash
# on_debian.sh SUITE COMMAND...: runs a command of this repository (a path in it, with arguments) in a bare Debian of
# that suite (trixie, sid, ...), with a copy of all files in git: tests/on_debian.sh trixie ./examples/quickstart.sh
# Runs as root, with Debian's package debootstrap, which is installed if missing.  The suite is kept in
# build/debian/SUITE for the next time; SMDEBUG_FRESH=1 recreates it.
# Exit status: the command's; 77 if it cannot run here: no root, no Debian, or no right to mount.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=cmake/setup.sh
source cmake/setup.sh
if (($# < 2)); then
    sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
suite=$1
shift
folder=$root/build/debian/$suite

cannot() {
    say "skipped: a bare Debian $suite is not available here: $*"
    exit 77
}
(($(id -u) == 0)) || cannot "this is not root"
command -v apt-get >/dev/null || cannot "there is no apt-get"
if ! command -v debootstrap >/dev/null; then
    apt-get update -q </dev/null >/dev/null || true
    apt_install debootstrap || cannot "debootstrap is not there"
fi

unshare --mount true 2>/dev/null || cannot "no right to mount"

if [[ ${SMDEBUG_FRESH:-} == 1 ]]; then rm -rf "$folder"; fi
if [[ ! -e $folder/made ]]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    mirror=$(grep -hoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1 | tr -d ' ' || true)
    say "a bare Debian $suite"  # not a stage, whose failure would end the script: this is not an error of ours
    debootstrap --variant=minbase "$suite" "$folder" ${mirror:+"$mirror"} >"$folder.log" 2>&1 ||
        cannot "debootstrap failed, see $folder.log"
    : >"$folder/made"
fi
cp /etc/resolv.conf "$folder/etc/resolv.conf"
mkdir -p "$folder/smdebug"
find "$folder/smdebug" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files -z | tar --null -T - -c | tar -x -C "$folder/smdebug"

# Its mounts end with it; only the scripts' own variables are passed on.
# shellcheck disable=SC2016
unshare --mount bash -c '
    set -e
    mount --bind /dev "$1/dev" && mount -t proc proc "$1/proc"
    if [ -d /dev/pts ]; then mount --bind /dev/pts "$1/dev/pts" 2>/dev/null || true; fi
    cd "$1"
    folder=$1
    shift
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 ${CI:+CI=$CI} ${SMDEBUG_JOBS:+SMDEBUG_JOBS=$SMDEBUG_JOBS} \
        chroot "$folder" sh -c "cd /smdebug && exec \"\$@\"" sh "$@"
' bash "$folder" "$@"
