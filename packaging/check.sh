#!/usr/bin/env bash
# check.sh [--folder FOLDER] [NAME...]: checks each way to get smdebug into a project: builds packaging/consumer using only what
# that way provides, runs it on a recorded run, and compares its output.  NAMEs (default: all):
#   add_subdirectory fetchcontent find_package pkgconfig     header-only, from the sources
#   cpack deb                                                the compiled form, by archive and Debian packages: minutes
#   vcpkg conan                                              with stand-ins for these tools
# Prints a line for each: name, seconds, size of what was installed.  A way takes at most SMDEBUG_LIMIT seconds (default: 3600).
# Exit status: 77 where a tool is missing, for all that it was called for.  CXX: the compiler (default: g++);
# SMDEBUG_BUILD: a folder in which the compiled form, shared, is built already, for `cpack` to pack;
# SMDEBUG_DEBS: a folder with the Debian packages, so that `deb` builds none.
# shellcheck disable=SC2317  # the ways are called by their names
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=
if [[ ${1-} == --folder ]]; then
    folder=$2
    shift 2
fi
names=("$@")
if ((${#names[@]} == 0)); then names=(add_subdirectory fetchcontent find_package pkgconfig cpack deb vcpkg conan); fi
limit=${SMDEBUG_LIMIT:-3600}
export CXX=${CXX:-g++} CMAKE_BUILD_PARALLEL_LEVEL=${SMDEBUG_JOBS:-$(nproc)}
unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH smdebug_DIR

if [[ -z $folder ]]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
golden=$root/tests/data/golden/torch_mlp
wanted=$'steps 0 2 3 5\nCrossEntropyLoss_output_0 at step 5: mean 1.284531'

need() {  # TOOL...: else the way is skipped
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "there is no $tool" && exit 77; }
    done
}

# The current sources, without what only tests need, as others would get them.
sources() {
    local to=$1
    mkdir -p "$to"
    tar c -C "$root" --exclude-vcs --exclude='./build*' --exclude=./tests --exclude=./benchmarks --exclude=./report . | tar x -C "$to"
    mkdir -p "$to/tests"
}

prints() {  # PROGRAM: what it should
    local printed
    printed=$("$@" "$golden")
    [[ $printed == "$wanted" ]] || { printf '%s printed:\n%s\nnot:\n%s\n' "$1" "$printed" "$wanted" && exit 1; }
}

configure() {  # SOURCE BUILD OPTION...
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON "${@:3}"
}

consumer_by_cmake() {  # OPTION...
    configure "$root/packaging/consumer" consumer -DCMAKE_CXX_FLAGS_RELEASE=-O0 "$@"
    cmake --build consumer
    prints consumer/consumer
}

by_add_subdirectory() {
    need ninja
    sources sources
    consumer_by_cmake -DSMDEBUG_FOLDER="$PWD/sources"
    du -sk sources >size
}

by_fetchcontent() {
    need ninja git
    sources sources
    git -C sources init -q -b main
    git -C sources add -A
    git -C sources -c user.name=check -c user.email=check@localhost.invalid -c commit.gpgsign=false commit -q -m sources
    consumer_by_cmake -DSMDEBUG_GIT="file://$PWD/sources" -DSMDEBUG_GIT_TAG="$(git -C sources rev-parse HEAD)"
    du -sk consumer/_deps/smdebug-src >size
}

install_headers() {
    configure "$root" build -DCMAKE_INSTALL_PREFIX=/nowhere -DSMDEBUG_BUILD_PROGRAM=OFF -DSMDEBUG_BUILD_KERNELS=OFF "$@"
    cmake --build build
    cmake --install build --prefix "$PWD/prefix"
    mv build not_here  # nothing may lean on it
    du -sk prefix >size
}

by_find_package() {
    need ninja
    install_headers -DSMDEBUG_BUILD_KERNELS=ON
    consumer_by_cmake -DCMAKE_PREFIX_PATH="$PWD/prefix" -DFORM=smdebug::kernels
}

by_pkgconfig() {
    need ninja pkg-config
    install_headers
    local pc flags
    mv prefix moved  # .pc files may be moved with their tree
    export PKG_CONFIG_PATH=$PWD/moved/lib/pkgconfig:$PWD/moved/share/pkgconfig
    for pc in moved/share/pkgconfig/*.pc; do
        pkg-config --validate "$(basename "$pc" .pc)"
        pkg-config --print-errors --exists "$(basename "$pc" .pc)"
    done
    read -ra flags <<<"$(pkg-config --cflags --libs smdebug)"
    "$CXX" -std=c++20 "$root/packaging/consumer/main.cpp" -o consumer "${flags[@]}"
    prints ./consumer
}

by_pkgconfig_of_compiled() {  # PREFIX FLAG...: the compiled form by its .pc file
    local flags sysroot=$1
    shift
    read -ra flags <<<"$(pkg-config "$@" --cflags --libs smdebug-compiled)"
    "$CXX" -std=c++20 "$root/packaging/consumer/main.cpp" -o consumer_compiled "${flags[@]}"
    LD_LIBRARY_PATH=$sysroot prints ./consumer_compiled
}

by_cpack() {
    need ninja cpack pkg-config
    local build=${SMDEBUG_BUILD:-$PWD/build}
    if [[ -z ${SMDEBUG_BUILD-} ]]; then
        configure "$root" build -DBUILD_SHARED_LIBS=ON -DSMDEBUG_USE_COMPILED=ON -DSMDEBUG_BUILD_MPI=OFF -DCMAKE_INSTALL_LIBDIR=lib
        cmake --build build
    fi
    (cd "$build" && cpack -B "$OLDPWD/archives")
    (cd archives && sha256sum --check ./*.sha256)
    rm -rf build
    mkdir prefix
    tar x -C prefix --strip-components=1 -f archives/*.tar.gz
    du -sk prefix >size
    consumer_by_cmake -DCMAKE_PREFIX_PATH="$PWD/prefix" -DFORM=smdebug::compiled
    PKG_CONFIG_PATH=$PWD/prefix/lib/pkgconfig:$PWD/prefix/share/pkgconfig by_pkgconfig_of_compiled "$PWD/prefix/lib"
    program prefix/bin/smdebug
}

# The program runs, and its pages are where man and shells search.
program() {
    local of=$1
    "$of" --version
    [[ $("$of" ls "$golden" --format csv | wc -l) -gt 1 ]]
    test -s "$(dirname "$of")/../share/bash-completion/completions/smdebug"
    compgen -G "$(dirname "$of")/../share/man/man1/smdebug-ls.1*" >/dev/null
}

by_deb() {
    need dpkg-buildpackage dh dpkg-deb pkg-config
    local part version='' debs=${SMDEBUG_DEBS:-$PWD/source}
    for part in MAJOR MINOR PATCH; do
        version+=.$(sed -n "s/^#define SMDEBUG_VERSION_$part //p" "$root/include/smdebug/core/version.hpp")
    done
    [[ $(dpkg-parsechangelog -l "$root/debian/changelog" -S Version) == "${version#.}" ]] || { echo "debian/changelog has not ${version#.}" && exit 1; }
    if [[ -z ${SMDEBUG_DEBS-} ]]; then
        sources source/smdebug
        (cd source/smdebug && DEB_BUILD_OPTIONS="nocheck parallel=$CMAKE_BUILD_PARALLEL_LEVEL" dpkg-buildpackage -us -uc -b)
        rm -rf source/smdebug
    fi
    if command -v lintian >/dev/null; then lintian --allow-root --fail-on error "$debs"/*.changes; fi
    check_debs "$debs"
}

check_debs() {  # FOLDER of the packages: unpacked, not installed
    local deb libs
    for deb in "$1"/libsmdebug-dev_*.deb "$1"/libsmdebug0.1_*.deb "$1"/smdebug_*.deb; do dpkg-deb -x "$deb" prefix; done
    du -sk prefix >size
    libs=$(dirname "$(find "$PWD/prefix/usr/lib" -name libsmdebug_compiled.so.0.1)")
    export LD_LIBRARY_PATH=$libs
    consumer_by_cmake -DCMAKE_PREFIX_PATH="$PWD/prefix/usr" -DFORM=smdebug::compiled -DCMAKE_LIBRARY_ARCHITECTURE="$(basename "$libs")"
    PKG_CONFIG_PATH=$libs/pkgconfig:$PWD/prefix/usr/share/pkgconfig by_pkgconfig_of_compiled "$libs"
    program prefix/usr/bin/smdebug
}

by_vcpkg() {
    need ninja
    sources sources
    cmake -DPORT_FOLDER="$PWD/sources/packaging/vcpkg" -DFOLDER="$PWD" "-DFEATURES=kernels;s3;archive" \
        -P "$root/packaging/stand_ins/vcpkg.cmake"
    rm -rf build sources
    du -sk package >size
    consumer_by_cmake -DCMAKE_PREFIX_PATH="$PWD/package" -DFORM=smdebug::kernels
}

by_conan() {
    need ninja python3 pkg-config
    local flags
    read -ra flags <<<"$(python3 -B "$root/packaging/stand_ins/conan.py" --component kernels "$root/packaging/conan/conanfile.py" "$PWD")"
    rm -rf build sources
    du -sk package >size
    "$CXX" -std=c++20 "$root/packaging/consumer/main.cpp" -o consumer "${flags[@]}"
    prints ./consumer
}

if [[ -n ${SMDEBUG_CHECK_ONE-} ]]; then  # by the loop below, in a folder of its own
    "by_$SMDEBUG_CHECK_ONE"
    exit
fi
{  # read as a whole: this file may change while it runs
    status=0
    for name in "${names[@]}"; do
        declare -F "by_$name" >/dev/null || { echo "check.sh: there is no way $name" >&2 && exit 2; }
        rm -rf "${folder:?}/$name"
        mkdir -p "$folder/$name"
        start=$SECONDS ended=0
        (cd "$folder/$name" && SMDEBUG_CHECK_ONE=$name timeout --kill-after=10 "$limit" bash "$root/packaging/check.sh" --folder "$folder/$name") \
            >"$folder/$name.log" 2>&1 || ended=$?
        if ((ended == 0)); then
            printf '%-18s %5d s  %8.1f MB\n' "$name" $((SECONDS - start)) \
                "$(awk '{print $1 / 1024}' "$folder/$name/size")"
        elif ((ended == 77)); then
            printf '%-18s skipped: %s\n' "$name" "$(tail -n 1 "$folder/$name.log")"
            if ((status == 0)); then status=77; fi
        else
            tail -n 40 "$folder/$name.log" >&2
            printf '%-18s FAILED after %d s\n' "$name" $((SECONDS - start))
            status=1
        fi
    done
    exit "$status"
}
