"""A server that does what the path says, right or wrong.  Prints its port; ends when its standard input does.

What it knows stands in `answers` below.  Everything is written byte by byte here: a library would not do it wrong.
"""
import collections
import datetime
import hashlib
import json
import os
import re
import socket
import sys
import threading
import time

counts = collections.Counter()  # of requests, by path; of connections under ""
changed = threading.Condition()
released = set()


def pattern(size):
    return (bytes(range(251)) * (size // 251 + 1))[:size]


class Connection:
    def __init__(self, channel):
        self.channel = channel
        self.file = channel.makefile("rb", 1 << 16)
        self.served = 0

    def send(self, data):
        self.channel.sendall(data)

    def head(self, status=200, *lines, body=None):
        """The head of an answer, and its body if it has one."""
        lines = list(lines) + ([] if body is None else ["Content-Length: %d" % len(body)])
        text = "HTTP/1.1 %d Scripted\r\n" % status + "".join(line + "\r\n" for line in lines) + "\r\n"
        self.send(text.encode("latin-1") + (b"" if body is None or self.method == "HEAD" else body))

    def read_body(self):
        left, digest, whole = int(self.headers.get("content-length", 0)), hashlib.sha256(), []
        self.size = left
        while left > 0:
            piece = self.file.read(min(left, 1 << 20))
            if not piece:
                return False
            left -= len(piece)
            digest.update(piece)
            if self.size <= 1 << 16:
                whole.append(piece)
        self.digest, self.body = digest.hexdigest(), b"".join(whole)
        return True

    def serve(self):
        while True:
            line = self.file.readline(1 << 16).decode("latin-1")
            if not line:
                return
            if not (match := re.fullmatch(r"(\S+) (\S+) HTTP/1\.1\r\n", line)):
                return
            self.method, self.path = match.groups()
            self.lines, self.headers = [], {}
            while (line := self.file.readline(1 << 20).decode("latin-1").rstrip("\r\n")):
                self.lines.append(line)
                name, _, value = line.partition(":")
                self.headers[name.lower()] = value.strip()
            with changed:
                counts[self.path] += 1
                changed.notify_all()
            if not self.path.startswith(("/early/", "/unread")) and not self.read_body():
                return
            for form, answer in answers:
                if match := re.fullmatch(form, self.path):
                    if answer(self, *(int(part) if part.isdigit() else part for part in match.groups())) == "close":
                        return
                    break
            else:
                self.head(404, body=b"no such path")
            self.served += 1


def wait(condition):
    with changed:
        changed.wait_for(condition)


def echo(to):
    to.head(200, body="\n".join([to.method + " " + to.path, *to.lines, "", ""]).encode("latin-1") + to.body)


def chunked(to, size, piece):
    to.head(200, "Transfer-Encoding: chunked")
    data = pattern(size)
    for at in range(0, size, piece):
        part = data[at : at + piece]
        to.send(b"%x\r\n" % len(part) + part + b"\r\n")
    to.send(b"0\r\nX-Trailer: late\r\n\r\n")


def short(to, size):
    to.head(200, "Content-Length: %d" % size)
    to.send(pattern(size // 2))
    return "close"


def short_chunks(to):
    to.head(200, "Transfer-Encoding: chunked")
    to.send(b"5\r\nhello\r\n5\r\nwo")
    return "close"


def cut(to, text):
    to.send(text.replace("+", " ").replace("~", "\r\n").encode())
    return "close"


def stall(to, size):
    to.head(200, "Content-Length: %d" % size)
    to.send(pattern(size // 2))
    to.file.read(1)
    return "close"


def silent(to):
    to.file.read(1)
    return "close"


def trickle(to, size, pause_ms):
    to.head(200, "Content-Length: %d" % size)
    for at in range(size):
        to.send(pattern(size)[at : at + 1])
        time.sleep(pause_ms / 1000)


def to_the_end(to, size):
    to.head(200, "Connection: close")
    to.send(pattern(size))
    return "close"


def once(to):
    """A connection is good for this only where it is new."""
    if to.served > 0:
        return "close"
    to.head(200, body=b"once")


def early(to, status):
    to.head(status, "Connection: close", body=b"not wanted")
    to.channel.shutdown(socket.SHUT_WR)
    while to.channel.recv(1 << 16):  # or the answer is lost in a reset
        pass
    return "close"


def unread(to):
    wait(lambda: "for ever" in released)


def upload(to):
    same = to.digest == hashlib.sha256(pattern(to.size)).hexdigest()
    to.head(200, body=b"%d %s" % (to.size, b"right" if same else b"wrong"))


def hold(to, name):
    wait(lambda: name in released)
    to.head(200, body=b"released")


def release(to, name):
    with changed:
        released.add(name)
        changed.notify_all()
    to.head(200, body=b"")


def await_count(to, count, path):
    wait(lambda: counts["/" + path] >= count)
    to.head(200, body=b"")


def list_without_end(to, what):
    with changed:
        counts["/listed/" + what] += 1
        page = counts["/listed/" + what]
    key = "<Contents><Key>run/index/1</Key><Size>1</Size><ETag>e</ETag></Contents>" if what == "key" else ""
    text = ("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t%d</NextContinuationToken>%s"
            "</ListBucketResult>" % (page, key))
    to.head(200, body=text.encode())


# The metadata services of an instance and of a container.  As many requests as /fail/STATUS/COUNT says get that status; 0: no answer.
BEARER, ROLES = "fakebearer-for-tests-only", "/latest/meta-data/iam/security-credentials/"
tokens, failing = [], {"status": 0, "count": 0}


def fail_next(to, status, count):
    failing.update(status=status, count=count)
    to.head(200, body=b"")


def keys(to):
    """Each issue has another number, and lives six hours longer than the one before."""
    with changed:
        counts["issued"] += 1
        issue = counts["issued"]
    expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=6 * issue)
    to.head(200, body=json.dumps({
        "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": "issue %d" % issue,
        "SecretAccessKey": "fakesecretkey/for+tests+only=0000000001", "Token": "fakesessiontoken/for+tests+only==",
        "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}).encode())


def metadata(to):
    with changed:
        fails, failing["count"] = failing["count"] > 0, max(0, failing["count"] - 1)
    if fails:
        return to.head(failing["status"], body=BEARER.encode()) if failing["status"] else silent(to)
    if to.path == "/container/keys":
        return keys(to) if to.headers.get("authorization") == BEARER else to.head(401, body=BEARER.encode())
    if to.path == "/latest/api/token":
        lifetime = to.headers.get("x-aws-ec2-metadata-token-ttl-seconds", "0")
        if to.method != "PUT" or not lifetime.isdigit() or not 1 <= int(lifetime) <= 21600:
            return to.head(400, body=b"")
        with changed:
            tokens.append("metadata-token-%d==" % len(tokens))
            return to.head(200, body=tokens[-1].encode())
    if to.method != "GET" or to.headers.get("x-aws-ec2-metadata-token") not in tokens:
        return to.head(401, body=b"")
    if to.path == ROLES + "trainer":
        return keys(to)
    return to.head(200, body=b"trainer") if to.path == ROLES else to.head(404, body=b"")


answers = [
    (r"/echo.*", echo),
    (r"/fail/(\d+)/(\d+)", fail_next),
    (r"(?:/container/|/latest/).*", metadata),
    (r"/bytes/(\d+)(?:\?.*)?", lambda to, size: to.head(200, body=pattern(size))),
    (r"/chunked/(\d+)/(\d+)", chunked),
    (r"/short/(\d+)", short),
    (r"/short-chunks", short_chunks),
    (r"/cut/(.*)", cut),
    (r"/stall/(\d+)", stall),
    (r"/silent", silent),
    (r"/trickle/(\d+)/(\d+)", trickle),
    (r"/close/(\d+)", lambda to, size: (to.head(200, "Connection: close", body=pattern(size)), "close")[1]),
    (r"/to-the-end/(\d+)", to_the_end),
    (r"/once", once),
    (r"/continue", lambda to: (to.send(b"HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\n"), to.head(200, "X-Late: 2", body=b"go"))[0]),
    (r"/redirect", lambda to: to.head(301, "Location: /bytes/1", body=b"moved")),
    (r"/long-header/(\d+)", lambda to, size: to.head(200, "X-Long: " + "x" * size, body=b"ok")),
    (r"/headers", lambda to: to.head(200, "X-Mixed-CASE:  blanks around\t ", "ETag: \"a:b\"", "X-Empty:", body=b"")),
    (r"/status/(\d+)", lambda to, status: to.head(status, body=None if status in (204, 304) else b"said")),
    (r"/length/(\d+)", lambda to, size: to.head(200, "Content-Length: %d" % size)),
    (r"/upload.*", upload),
    (r"/unread", unread),
    (r"/early/(\d+)", early),
    (r"/hold/(\w+)", hold),
    (r"/release/(\w+)", release),
    (r"/gather/(\d+)", lambda to, count: (wait(lambda: counts[to.path] >= count), to.head(200, body=b"all"))[1]),
    (r"/await/(\d+)/(.*)", await_count),
    (r"/count/(.*)", lambda to, path: to.head(200, body=str(counts["/" + str(path)]).encode())),
    # A server of S3 that sends the requests for its bucket "sent-on" to another one.
    (r"/sent-on/(\d+)/(\w+)/(\d+)/.*", lambda to, status, host, port: to.head(
        status, "Location: http://%s:%d%s" % (host, port, to.path), body=b"<Error><Code>Redirect</Code></Error>")),
    # One whose buckets "endless-key" and "endless-nothing" list the same, under a new token each time.
    (r"/endless-(key|nothing)/\?.*list-type=2.*", list_without_end),
    (r"/connections", lambda to: to.head(200, body=str(counts[""]).encode())),
]


def serve(channel):
    try:
        Connection(channel).serve()
    except OSError:
        pass  # the other side has gone
    finally:
        try:
            channel.shutdown(socket.SHUT_RDWR)  # close() alone waits for the file
        except OSError:
            pass
        channel.close()


def accept(listener):
    while True:
        channel, _ = listener.accept()
        channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with changed:
            counts[""] += 1
        threading.Thread(target=serve, args=(channel,), daemon=True).start()


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(listening.getsockname()[1], flush=True)
    threading.Thread(target=accept, args=(listening,), daemon=True).start()
    sys.stdin.read()
    os._exit(0)
