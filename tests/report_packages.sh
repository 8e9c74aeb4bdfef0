#!/usr/bin/env bash
# report_packages.sh ROOT PACKAGES: copies report/ of ROOT to the folder PACKAGES, and installs the packages of its lock
# file there.  Exit status 77 without node, or if no registry answers.
set -euo pipefail
root=$1
packages=$2
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "skipped: node or npm is not installed (Debian packages nodejs, npm)"
    exit 77
fi
mkdir -p "$packages"
if ! cmp -s "$root/report/package-lock.json" "$packages/installed.json"; then
    cp "$root/report/package.json" "$root/report/package-lock.json" "$packages/"
    if ! (cd "$packages" && timeout 240 npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >npm.log 2>&1); then
        echo "skipped: npm ci has failed: $(tail -n 1 "$packages/npm.log")"
        exit 77
    fi
    cp "$packages/package-lock.json" "$packages/installed.json"
fi
rm -rf "$packages/src"
cp -r "$root/report/src" "$root/report/build.mjs" "$root/report/package.json" "$packages/"
