#!/usr/bin/env python3
"""Times whole processes of the program `smdebug` over a run in S3, in turns with `curl --parallel` of the run's index and event files.

    with_server.sh FOLDER s3_program_bench.py PROGRAM s3://BUCKET/PREFIX [ROUNDS = 5]

Server and keys are those of the environment (tests/s3_servers/with_server.sh); any hook writes the run (examples/train_mlp
s3://BUCKET/PREFIX).  Best and median times, and the speed beside curl's: the better of 16 and of 50 requests at once.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import xml.etree.ElementTree


def quoted(text):
    return urllib.parse.quote(text, safe="")


def main():
    program, run = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    bucket, prefix = run.removeprefix("s3://").split("/", 1)
    host = os.environ["AWS_ENDPOINT_URL_S3"].removeprefix("http://")
    place = f"http://{quoted(os.environ['AWS_ACCESS_KEY_ID'])}:{quoted(os.environ['AWS_SECRET_ACCESS_KEY'])}@{host}/{bucket}"
    common = ('no-progress-meter\nfail\nnoproxy = "*"\nheader = "x-amz-content-sha256: UNSIGNED-PAYLOAD"\n'
              f'aws-sigv4 = "aws:amz:{os.environ["AWS_REGION"]}:s3"\n')
    keys, token = [], None
    while True:
        # Sorted, as it is signed: not every curl sees to that.
        asked = ([f"continuation-token={quoted(token)}"] if token else []) + ["list-type=2", f"prefix={quoted(prefix + '/')}"]
        url = f"{place}?{'&'.join(asked)}"
        page = subprocess.run(["curl", "-K", "-"], input=f'{common}url = "{url}"\n', capture_output=True, text=True, check=True)
        listing = xml.etree.ElementTree.fromstring(re.sub(r' xmlns="[^"]+"', "", page.stdout))
        keys += [key.text for key in listing.iter("Key") if re.search(r"/(events|index)/", key.text)]
        token = listing.findtext("NextContinuationToken")
        if not token:
            break
    with tempfile.NamedTemporaryFile("w", suffix=".curl") as config:
        config.write(common)
        for key in keys:
            config.write(f'url = "{place}/{urllib.parse.quote(key)}"\noutput = "/dev/null"\n')
        config.flush()
        subjects = {f"curl, {most} at once": ["curl", "--parallel", "--parallel-max", most, "-K", config.name] for most in ("16", "50")}
        subjects["stats"] = [program, "stats", run, "--format", "csv"]
        subjects["scan"] = [program, "scan", run]
        subjects["check dead_relu"] = [program, "check", run, "--rule", "dead_relu"]
        times = {name: [] for name in subjects}
        for _ in range(rounds):
            for name, words in subjects.items():
                begin = time.monotonic()
                status = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
                times[name].append(time.monotonic() - begin)
                if status not in (0, 3):
                    sys.exit(f"{name} failed with status {status}")
    print(f"{run}: {len(keys)} index and event files, {rounds} rounds")
    limits = {of: min(of(spent) for name, spent in times.items() if name.startswith("curl")) for of in (min, statistics.median)}
    for name, spent in times.items():
        ratios = [f"{of(spent):.2f} s ({limit / of(spent):.2f} x curl's speed)" for of, limit in limits.items()]
        print(f"  {name:<18} best {ratios[0]}  median {ratios[1]}")


if __name__ == "__main__":
    main()
