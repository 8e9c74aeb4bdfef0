#!/usr/bin/env bash
# check_bundle.sh ROOT PACKAGES: the page's script and style in include/smdebug/report/page/impl/bundle.ipp match
# report/src.  The hash of the sources in the bundle is always compared; with node, whose packages are in the folder
# PACKAGES (tests/report_packages.sh), the bundle is also rebuilt and compared.
set -euo pipefail
root=$1
packages=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bundle=$root/include/smdebug/report/page/impl/bundle.ipp
sources=$(cd "$root/report" && export LC_ALL=C && cat build.mjs package.json package-lock.json src/* | sha256sum | cut -d ' ' -f 1)
if ! grep -q "\"$sources\"" "$bundle"; then
    echo "FAILED: the bundle was not made of these sources, whose hash is $sources: cd report && npm ci && npm run build"
    exit 1
fi
echo "the bundle names the hash of its sources"
if grep -q '"resolved"' "$root/report/package-lock.json"; then
    echo "FAILED: report/package-lock.json names the addresses of a registry"
    exit 1
fi
status=0
bash "$here/report_packages.sh" "$root" "$packages" || status=$?
if ((status == 77)); then
    echo "not built anew: the packages are missing"
    exit 0
fi
((status == 0))
cd "$packages" && node build.mjs --check --target "$bundle"
