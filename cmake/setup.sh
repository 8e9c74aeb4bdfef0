# shellcheck shell=bash disable=SC2034
# Sourced by tests/run.sh and examples/quickstart.sh: the Debian packages, in one place, and how a script reports.
# Bash, coreutils, dpkg and apt are all that has to be there.

# What each purpose needs.
packages_build=(g++ cmake ninja-build libxtensor-dev xtl-dev libxsimd-dev libsimdjson-dev libpcre2-dev libcli11-dev
    libcurl4-openssl-dev libssl-dev libpugixml-dev zlib1g-dev libzstd-dev libsqlite3-dev)
packages_test=(doctest-dev python3)
packages_bench=(libbenchmark-dev)
packages_torch_files=(python3-torch python3-numpy)  # writes what tests/torch.sh reads
packages_torch=(libtorch-dev libdlpack-dev)  # for tests/torch.sh; libtorch 1.13 in Debian 12, 2.6 in 13
# S3 servers that others wrote, a proxy for HTTP/2, and a client to compare with.
packages_test+=(pigz tabix zstd zip p7zip-full libarchive-tools)  # archives as others write them
packages_test+=(ceph-mon ceph-osd ceph-common radosgw swift swift-proxy swift-account swift-container swift-object memcached
    nghttp2-proxy curl openssl python3-botocore)
packages_test+=(python3-numpy)  # reads what is exported
packages_test+=(zsh fish groff-base)  # complete the program's command line, and show its manual pages
packages_test+=(git pkg-config)  # by which a project gets the library
packages_test+=(libprotobuf-dev libarchive-dev)  # what fuzz targets compare with
packages_test+=(libdlpack-dev libeigen3-dev)  # whose tensors hooks take; small, as libtorch-dev is not
packages_test+=(gfortran)  # calls the interface for C
packages_test+=(openmpi-bin libopenmpi-dev)  # a batch over many processes; found at configuring, and then in the program
packages_test+=(chromium fonts-dejavu-core)  # for tests/check_report.sh, and node with its packages, from wherever it comes
command -v node >/dev/null || packages_test+=(nodejs)
command -v npm >/dev/null || packages_test+=(npm)
if [[ $(uname -m) == x86_64 ]]; then packages_test+=(g++-aarch64-linux-gnu qemu-user); fi  # for tests/check_aarch64.sh
# Not the newest clang, but versions that were tried; each Debian has one of them (12: 16; 13: 19; sid: 23).
clang_versions=(16 19 23)
packages_clang=()  # by choose_clang

say() { printf '==> %s\n' "$*"; }
fail() {
    printf '==> FAILED: %s\n' "$*" >&2
    exit 1
}

jobs=${SMDEBUG_JOBS:-$(nproc)}

# stage TEXT COMMAND...: runs the command, prints TEXT and the time taken, and ends the script when it fails.
stage() {
    local text=$1 start=$SECONDS
    shift
    say "$text"
    "$@" || fail "$text, after $((SECONDS - start)) s.  The command was: $*"
    say "$text: done in $((SECONDS - start)) s"
}

as_root() {
    if (($(id -u) == 0)); then
        "$@"
    else
        sudo "$@"
    fi
}

# Sets clang to the compiler's name, and packages_clang to what it is in: one that is there, or else one that can be installed.
choose_clang() {
    local version
    for version in "${clang_versions[@]}"; do
        if command -v "clang++-$version" >/dev/null || apt-cache show "clang-$version" >/dev/null 2>&1; then
            packages_clang=("clang-$version" "libclang-rt-$version-dev" "lld-$version" "clang-format-$version")
            clang=clang++-$version
            # The oldest that docs/install.md names, where there is one: see the test oldest_clang.
            if apt-cache show clang-14 >/dev/null 2>&1; then packages_clang+=(clang-14); fi
            return
        fi
    done
    fail "there is no clang of the versions ${clang_versions[*]}"
}

units() { find /lib/systemd/system /usr/lib/systemd/system -maxdepth 1 -type f -name '*.*' -printf '%f\n' 2>/dev/null | sort -u; }

# Installs without starting a daemon, now or at the next boot: tests start what they need, and stop it.
apt_install() {
    local policy=/usr/sbin/policy-rc.d before status=0 new=()
    before=$(units)
    if [[ ! -e $policy ]]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
        as_root chmod 755 "$policy"
    else
        policy=
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null >/dev/null || status=$?
    if [[ -n $policy ]]; then as_root rm -f "$policy"; fi
    mapfile -t new < <(comm -13 <(printf '%s\n' "$before") <(units))
    if ((${#new[@]} > 0)) && command -v systemctl >/dev/null; then
        as_root systemctl disable -q "${new[@]}" >/dev/null 2>&1 || true  # some cannot be: nothing starts those by itself
    fi
    return "$status"
}

is_installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# install_packages PURPOSE...: installs what is missing of the packages of each purpose (build, test, clang).
install_packages() {
    local purpose package wanted=() missing=() refused=()
    for purpose in "$@"; do
        local -n packages=packages_$purpose
        wanted+=("${packages[@]}")
    done
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "no Debian system: taking it that you have what these packages hold: ${wanted[*]}"
        return
    fi
    for package in "${wanted[@]}"; do
        is_installed "$package" || missing+=("$package")
    done
    if ((${#missing[@]} == 0)); then
        say "all ${#wanted[@]} Debian packages are there already"
        return
    fi
    if (($(id -u) != 0)) && ! command -v sudo >/dev/null; then
        fail "packages are missing, and this is neither root nor is there sudo.  As root: apt-get install ${missing[*]}"
    fi
    say "installing Debian packages: ${missing[*]}"
    as_root apt-get update -q </dev/null >/dev/null || say "apt-get update failed; trying with the package lists that are there"
    apt_install "${missing[@]}" && return
    say "not all at once; trying one by one"
    for package in "${missing[@]}"; do
        apt_install "$package" 2>/dev/null || refused+=("$package")
    done
    if ((${#refused[@]} > 0)); then
        fail "these Debian packages cannot be installed: ${refused[*]}.  What apt says: apt-get install ${refused[*]}"
    fi
}
