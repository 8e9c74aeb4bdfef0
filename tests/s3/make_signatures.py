#!/usr/bin/env python3
"""Writes data/signatures.json: requests with botocore's signatures, for signature_test.cpp.

    python3 tests/s3/make_signatures.py > tests/s3/data/signatures.json

Needs botocore (Debian: python3-botocore).  The same seed gives the same file.  All keys are made up.
"""
import datetime
import json
import random
from urllib.parse import quote

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

CASES = 300
PIECES = ["a", "Z", "09", " ", "  ", "+", ":", "=", "%", "%2F", "%zz", "/", "//", ".", "..", "-", "_", "~", "&", "?", "#",
          "'", '"', "(", ")", "*", "!", "$", ",", ";", "@", "[", "]", "{", "}", "|", "\\", "^", "`", "<", ">", "\t", "\n",
          "\x01", "\x7f", "ä", "ß", "日本", "😀", "e\u0301", "runs", "worker_0", ".tfevents"]
HOSTS = ["127.0.0.1", "localhost", "bucket.s3.eu-west-1.amazonaws.com", "storage.example", "[::1]", "[2001:db8::7]"]
PORTS = ["", ":80", ":443", ":8080", ":9000", ":21000"]
EXTRA = ["x-amz-meta-a", "x-amz-meta-a-b", "x-amz-copy-source", "x-amz-copy-source-if-match", "x-amz-storage-class",
         "x-amz-acl", "x-amz-expected-bucket-owner"]
NAMES = ["list-type", "prefix", "start-after", "continuation-token", "encoding-type", "max-keys", "uploads", "uploadId",
         "partNumber", "delete", "a", "a-", "a.", "A", "ä", "sp ace"]


class fixed_payload(botocore.auth.S3SigV4Auth):
    """Uses the payload hash of the case."""

    def payload(self, request):
        return request.context["payload_hash"]


class stopped_clock:
    """Replaces the module `datetime`."""

    def __init__(self, when):
        self.datetime = self
        self.when = when

    def utcnow(self):
        return self.when


def some_text(rng, most):
    return "".join(rng.choice(PIECES) for _ in range(rng.randint(0, most)))


def case(rng, number):
    scheme = rng.choice(["http", "https"])
    base = scheme + "://" + rng.choice(HOSTS) + rng.choice(PORTS)
    key = some_text(rng, 12)
    parameters = [[rng.choice(NAMES), some_text(rng, 5)] for _ in range(rng.choice([0, 0, 1, 2, 3, 6]))]
    headers = [[name, rng.choice(["x", " two  words ", "a\tb", "k=v; w", "  ", "ä b"])]
               for name in rng.sample(EXTRA, rng.choice([0, 0, 1, 2, 5]))]
    body = rng.randbytes(rng.choice([0, 0, 1, 100]))
    seconds = rng.randint(0, 4102444799)
    keys = Credentials(f"FAKEKEYID{number:08d}", f"fake/secret+not=real{number:08d}",
                       "FAKETOKEN/" + "+/=x" * rng.randint(1, 80) if rng.random() < 0.4 else None)
    region = rng.choice(["us-east-1", "eu-central-1", "auto", "default"])

    request = AWSRequest(method=rng.choice(["GET", "HEAD", "PUT", "POST", "DELETE"]),
                         url=base + "/" + quote(key, safe="/~"), headers=dict(headers), params=parameters)
    plain = botocore.auth.sha256(body).hexdigest()
    request.context["payload_hash"] = rng.choice([plain, plain, "UNSIGNED-PAYLOAD"])
    when = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    botocore.auth.datetime = stopped_clock(when)  # of versions up to 1.40
    botocore.auth.get_current_datetime = lambda: when
    signer = fixed_payload(keys, "s3", region)
    signer.add_auth(request)
    query = signer.canonical_query_string(request)
    return {
        "method": request.method, "base": base, "key": key, "parameters": parameters, "headers": headers,
        "payload_hash": request.context["payload_hash"], "seconds": seconds, "id": keys.access_key,
        "secret": keys.secret_key, "token": keys.token or "", "region": region,
        "url": request.url + ("?" + query if query else ""), "date": request.headers["X-Amz-Date"],
        "authorization": request.headers["Authorization"],
    }


def main():
    rng = random.Random(20130524)
    cases = []
    for number in range(CASES):
        cases.append(json.dumps(case(rng, number), separators=(",", ":")))
    print("[\n" + ",\n".join(cases) + "\n]")


if __name__ == "__main__":
    main()
