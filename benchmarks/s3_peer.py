"""Objects of S3 read by boto3 on 8 threads: for s3_read_bench, which starts it.

    s3_peer.py BUCKET FILE...     Each file holds keys, one a line.  Prints how long all of them took, starting not counted.
Without boto3 (python3-boto3) its client alone (python3-botocore) does; without that: a note.
"""

import concurrent.futures
import os
import statistics
import sys
import time

THREADS = 8
ROUNDS = 3

try:
    import botocore.session
    from botocore.config import Config
except ImportError:
    print("boto3: skipped, it is not installed for " + sys.executable)
    sys.exit(0)

# boto3.client() is this client.
client = botocore.session.get_session().create_client(
    "s3", endpoint_url=os.environ["AWS_ENDPOINT_URL_S3"], region_name=os.environ["AWS_REGION"],
    config=Config(max_pool_connections=THREADS, s3={"addressing_style": "path"}))


def read(key):
    return len(client.get_object(Bucket=sys.argv[1], Key=key)["Body"].read())


with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            keys = file.read().split("\n")[:-1]
        list(threads.map(read, keys[:THREADS]))
        times = []
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            size = sum(threads.map(read, keys))
            times.append(time.perf_counter() - begin)
        taken = statistics.median(times)
        print(f"  boto3, {THREADS} threads: {len(keys)} objects {taken:8.3f} s {len(keys) / taken:8.0f} requests/s "
              f"{size / 2**20 / taken:8.1f} MiB/s")
