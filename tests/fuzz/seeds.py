#!/usr/bin/env python3
"""seeds.py OUT: inputs for fuzz targets, made from the golden runs and the checkpoints, a folder OUT/<target> for each.
The head of a target's file says what its first bytes mean."""
import gzip
import io
import json
import pathlib
import struct
import sys
import tarfile
import zipfile

MOST_BYTES = 4000
MOST_ARCHIVE_BYTES = 12000
data = pathlib.Path(__file__).resolve().parent.parent / "data"
out = pathlib.Path(sys.argv[1])
counts = {}


def put(target, content, most=60):
    """Keeps an input, unless it is long or there are many already."""
    number = counts.get(target, 0)
    longest = MOST_ARCHIVE_BYTES if target in ("archive", "tar") else MOST_BYTES
    if len(content) > longest or number >= most:
        return
    counts[target] = number + 1
    folder = out / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed_{number:03}").write_bytes(content)


def files(pattern):
    """Files of the golden runs and the checkpoints: those of other runs first, then more of each."""
    by_run = {}
    for path in sorted(data.rglob(pattern)):
        by_run.setdefault(path.relative_to(data).parts[:2], []).append(path)
    while by_run:
        for run in list(by_run):
            yield by_run[run].pop(0)
            if not by_run[run]:
                del by_run[run]


def payloads(events):
    """The payloads of a file's records."""
    place = 0
    while place + 16 <= len(events):
        (length,) = struct.unpack_from("<Q", events, place)
        if length > len(events) - place - 16:
            return
        yield events[place + 12:place + 12 + length]
        place += 16 + length


JSON_KINDS = {"index": 0, "collections": 1, "hook": 2, "rules": 3, "setting": 4, "keys": 5, "shards": 6, "learned": 7}


def put_json(kind, text, most=400):
    put("json", bytes([JSON_KINDS[kind]]) + text, most)


def tar_of(members, form=tarfile.PAX_FORMAT):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("run/link")
        link.type, link.linkname = tarfile.SYMTYPE, "index/a.json"
        archive.addfile(link)
    return buffer.getvalue().rstrip(b"\0") + bytes(1024)


for path in files("*.tfevents"):
    content = path.read_bytes()
    put("record", b"\0\x80" + content)
    records = b"".join(bytes([i % 3]) + struct.pack("<H", len(payload)) + payload
                       for i, payload in enumerate(payloads(content)) if len(payload) < 2048)
    put("log", b"\0" + records)
    put("log", b"\1" + records)
    for payload in payloads(content):
        put("event", b"\0" + payload, 120)
        put("wire", b"\0" + payload)
# A log of scalars and a histogram, of made messages: fields, lengths and values as message_maker.hpp takes them.
scalar = b"\x0b" + b"\x0a\4loss" + b"\x15\0\0\x80\x3f" + b"\0"
histogram = b"\x0b" + b"\x0a\1h" + b"\x2b" + b"\x09" + struct.pack("<d", -1) + b"\x11" + struct.pack("<d", 3) + \
    b"\x19" + struct.pack("<d", 2) + b"\x32\x10" + struct.pack("<2d", 0, 4) + b"\x3a\x10" + struct.pack("<2d", 1, 1) + b"\0\0"
for where in (0, 1, 0xC3):
    put("log", b"\2" + b"".join(bytes([where]) + b"\x09" + bytes(8) + b"\x10" + bytes([step]) + b"\x2b" + values + b"\0\0"
                               for step, values in enumerate((scalar, histogram, scalar + histogram))), 100)
for path in files("*.json"):
    content = path.read_bytes()
    name = path.as_posix()
    if "/index/" in name:
        put_json("learned", b'{"format": "smdebug learned", "version": 1, "reductions": ["l2"], "runs": ["a", "b"], "suspects": [], '
         b'"modes": {"TRAIN": {"runs": 2, "last": 40}}, "tensors": {"w": {"TRAIN": {"runs": 2, "every": {"saves": 1, "steps": 40}, '
         b'"dtype": ["float32"], "shape": [64, null], "finite": 2, "numbers": {"l2": {"runs": 2, "down": 0.8, "up": 0.8, "windows": '
         b'[{"from": 0, "runs": 2, "low": [[7.2, 1], [7.9, 0]], "high": [[7.9, 0], [7.2, 1]]}]}}}}}, '
         b'"tied": [{"tensors": ["a", "b"], "saves": 2}]}')
put_json("index", content, 40)
    elif name.endswith("_collections.json"):
        put_json("collections", content, 80)
    elif name.endswith(".index.json"):
        put_json("shards", content)
mode_config = {"save_interval": "100", "save_steps": "0,10", "start_step": "1", "end_step": "9"}
put_json("hook", json.dumps({
    "S3OutputPath": "s3://bucket/run", "LocalPath": "/tmp/run",
    "HookParameters": {**mode_config, "save_all": "true", "train.save_interval": "5", "include_regex": "relu,conv",
                       "reductions": "min,abs_max,l2_norm", "include_workers": "all"},
    "CollectionConfigurations": [{"CollectionName": "weights", "CollectionParameters": {
        "save_raw_tensor": "True", "include_regex": ["a,b", ".*"], "eval.save_steps": [1, 2]}}]}).encode())
put_json("rules", json.dumps({"DebugRuleConfigurations": [{
    "RuleConfigurationName": "mine", "RuleParameters": {
        "rule_to_invoke": "VanishingGradient", "threshold": "1e-7", "start_step": "3", "end_step": "9",
        "other_trial_0": "/run", "action_json": "{}"}}]}).encode())
put_json("rules", json.dumps([{"rule": "exploding_tensor", "parameters": {
    "only_nan": True, "tensor_regex": ["a", "b,c"], "n": 3.5}}]).encode())
for text in ("True", "-12", "1e-7", "None", "a,b;c", "1,2,3", "TRAIN", "inf"):
    put_json("setting", text.encode())
put_json("keys", json.dumps({"Code": "Success", "AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "abc", "Token": "t",
                             "Expiration": "2026-11-21T10:00:00Z"}).encode())

for path in files("*.safetensors"):
    content = path.read_bytes()
    put("checkpoint", b"\0" + content)
    (length,) = struct.unpack_from("<Q", content)
    put("checkpoint", b"\3" + struct.pack("<H", len(content) - 8 - length) + content[8:8 + length])
for path in files("*.npy"):
    content = path.read_bytes()
    put("checkpoint", b"\1" + content)
    header = content[10:content.index(b"\n")]
    for how in (b"\4", b"\5\0", b"\5\1"):
        put("checkpoint", how + struct.pack("<H", 48) + b"\1" + header)
for path in ("checkpoint-500/model.safetensors", "epoch=3-step=500.npz", "run/model-00001-of-00002.safetensors", "500/x.npy"):
    put("checkpoint", b"\6" + path.encode())
for path in files("*.npz"):
    put("checkpoint", b"\2" + path.read_bytes())
    with zipfile.ZipFile(path) as arrays:
        for name in arrays.namelist():
            put("checkpoint", b"\1" + arrays.read(name))

for path in files("*"):
    if path.suffix in (".pt", ".pth", ".bin", ".ckpt"):
        content = path.read_bytes()
        put("torch", b"\0" + content)
        if content.startswith(b"PK"):
            with zipfile.ZipFile(path) as records:
                pickle = next(name for name in records.namelist() if name.endswith("/data.pkl"))
                put("torch", b"\1\x60" + records.read(pickle))
for path in files(".metadata"):
    metadata = path.read_bytes()
    put("torch", b"\2" + struct.pack("<H", len(metadata)) + metadata + (path.parent / "__0_0.distcp").read_bytes())

members = [("run/index/a.json", b'{"meta": {}}'), ("run/collections/b.json", b"{}" * 40), ("run/events/" + "c" * 120, b"x" * 700)]
for form in (tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
    plain = tar_of(members[: 2 if form == tarfile.USTAR_FORMAT else 3], form)
    put("archive", b"\0" + plain)
    put("archive", b"\1" + plain)
    put("archive", b"\0" + gzip.compress(plain, mtime=0))
    put("tar", plain)
for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    put("archive", b"\0" + buffer.getvalue())

# Of an index: no spans, none passed over, two members; and one span.
put("archive", b"\2\0\0" + b"\0\0\2" + b"\0\3a/b\x80\4\x10\0" + b"\2\1c\x80\5\x20\0")
put("archive", b"\2\1\0" + b"\1\x80\x10" + bytes(8) + b"\0" + bytes(8) + b"\0\1" + b"\0\3a/b\x80\4\x10\0")

# Links in all orders: to what came before and what comes later, over others, in circles.
for kinds in ("12", "21", "012", "0212", "0121", "2210"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in members[:2]:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for i, kind in enumerate(kinds):
            info = tarfile.TarInfo(f"run/{'ab'[i // 2 % 2]}")
            info.type = kind.encode()
            info.linkname = {"1": members[i % 2][0], "2": ("index/a.json", "b", "a", "../run/collections/b.json")[i % 4], "0": ""}[kind]
            archive.addfile(info)
    put("tar", buffer.getvalue().rstrip(b"\0") + bytes(1024))

S3_TEXTS = {
    0: [b'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>'
        b'<KeyCount>1</KeyCount><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>'
        b'<NextContinuationToken>abc=</NextContinuationToken><Contents><Key>a%2Bb+c</Key><Size>12</Size>'
        b'<LastModified>2026-11-21T10:00:00.000Z</LastModified><ETag>&quot;abc&quot;</ETag></Contents></ListBucketResult>'],
    1: [b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>The key is not there.</Message><RequestId>4442587FB7D0A2F9'
        b'</RequestId><Region>eu-west-1</Region><Endpoint>b.s3.amazonaws.com</Endpoint></Error>',
        b"<html><head><title>502 Bad Gateway</title></head></html>"],
    2: [b"<InitiateMultipartUploadResult><UploadId>abc</UploadId></InitiateMultipartUploadResult>",
        b'<CompleteMultipartUploadResult><ETag>"abc-2"</ETag></CompleteMultipartUploadResult>',
        b"<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>i"
        b"</NextUploadIdMarker><Upload><Key>k</Key><UploadId>i</UploadId></Upload></ListMultipartUploadsResult>"],
    3: [b"[default]\naws_access_key_id = A\naws_secret_access_key=S ; not this\ns3 =\n  addressing_style = path\n",
        b"[profile x]\nrole_arn: r\n# no\nregion = eu\n  more\n[services y]\ns3 =\n endpoint_url = http://x\n"],
    4: [b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/100\r\nContent-Length: 10\r\n"
        b"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"a\"\r\n\r\n0123456789"],
    5: [b"bytes 0-9/100", b"bytes */100", b"Sun, 06 Nov 1994 08:49:37 GMT", b"2026-11-21T10:00:00.5+01:00", b"a%20b%2Fc",
        b"s3://bucket/prefix/run.tar.gz!/job", b"~/runs"],
}
for which, texts in S3_TEXTS.items():
    for text in texts:
        put("s3", bytes([which]) + (b"\0" if which in (1, 4) else b"") + text, 100)

for line in ("ls RUN --json", "show RUN loss --step 3 --mode TRAIN", "stats RUN --tensor-regex a.* --steps 1:10:2",
             "diff A B --rtol 1e-3", "check RUN --rule VanishingGradient,threshold=1e-7 --follow",
             "scan A B --jobs 3 --database out.db --shard 1/2", "report RUN --output x.html", "pack RUN out.tar.zst",
             "export RUN OUT --format npz", "rules --json", "index a.tar.gz", "repair RUN", "help scan", "--version",
             "merge a.db b.db --output c.db"):
    put("arguments", "\n".join(line.split(" ")).encode())

for dtype in range(12):
    put("reduce", bytes([dtype, 0]) + bytes(range(256)))
    put("reduce", bytes([dtype, 1]) + struct.pack("<8d", 1, -2, 1e300, -1e-300, 0, 5e-324, 3.5, -1) * 6)

print(", ".join(f"{target}: {number}" for target, number in sorted(counts.items())))
