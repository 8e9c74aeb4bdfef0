#!/usr/bin/env bash
# installed_debs.sh FOLDER: acts as a user of the Debian packages in FOLDER: installs them by apt, with their dependencies and a
# compiler, and nothing else; builds packaging/consumer by CMake, in both forms, and by pkg-config; runs the program and looks for its
# pages; removes the packages, which leave nothing behind.
# It changes the system that it runs on: use a bare one.  With packages below build/debian/bookworm/smdebug/build/debs:
#   tests/on_debian.sh bookworm ./packaging/installed_debs.sh build/debs
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
(($# == 1)) || { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
debs=$(cd "$1" && pwd)
golden=$root/tests/data/golden/torch_mlp
wanted=$'steps 0 2 3 5\nCrossEntropyLoss_output_0 at step 5: mean 1.284531'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

apt_get() {
    DEBIAN_FRONTEND=noninteractive apt-get "$1" -y -q --no-install-recommends "${@:2}" </dev/null >apt.log 2>&1 ||
        { tail -n 20 apt.log >&2 && exit 1; }
}
prints() {
    local printed
    printed=$("$1" "$golden")
    [[ $printed == "$wanted" ]] || { printf '%s printed:\n%s\nnot:\n%s\n' "$1" "$printed" "$wanted" >&2 && exit 1; }
    echo "$2: prints what it should"
}
files_of_smdebug() { find /usr /etc /var/lib -xdev -path "*smdebug*" -not -path "/var/lib/dpkg/info/*" -not -path '/var/lib/apt/*' | sort; }

apt_get update
apt_get install g++ cmake ninja-build pkg-config
apt_get install "$debs"/libsmdebug0.1_*.deb "$debs"/smdebug_*.deb
smdebug --version
[[ $(smdebug ls "$golden" --format csv | wc -l) -gt 1 ]]
echo "smdebug, with what it depends on and no headers: runs"

apt_get install "$debs"/libsmdebug-dev_*.deb
for form in smdebug::smdebug smdebug::compiled; do
    cmake -S "$root/packaging/consumer" -B "${form#*::}" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 "-DFORM=$form" >cmake.log
    cmake --build "${form#*::}" >build.log || { tail -n 30 build.log >&2 && exit 1; }
    prints "${form#*::}/consumer" "find_package, $form"
done
read -ra flags <<<"$(pkg-config --cflags --libs smdebug-compiled)"
g++ -std=c++20 "$root/packaging/consumer/main.cpp" -o by_pkgconfig "${flags[@]}"
prints ./by_pkgconfig "pkg-config, smdebug-compiled"
for page in man/man1/smdebug.1 man/man1/smdebug-ls.1 bash-completion/completions/smdebug zsh/vendor-completions/_smdebug \
    fish/vendor_completions.d/smdebug.fish; do
    compgen -G "/usr/share/$page*" >/dev/null || { echo "there is no /usr/share/$page" >&2 && exit 1; }
done
echo "manual pages and completions: there"

apt_get purge smdebug libsmdebug0.1 libsmdebug-dev
left=$(files_of_smdebug)
[[ -z $left ]] || { printf 'left behind:\n%s\n' "$left" >&2 && exit 1; }
echo "removed: nothing is left"
