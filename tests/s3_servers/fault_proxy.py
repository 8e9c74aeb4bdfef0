#!/usr/bin/env python3
"""A proxy in front of an S3 server on this machine that injects the faults of networks and servers into its answers.

    fault_proxy.py HOST:PORT            Prints the port that it listens on, on 127.0.0.1; ends when its stdin is closed.

Requests are forwarded unchanged, "host" included, so that their signatures stay valid.  These paths control it:

    PUT /__fault__     a fault, or a list of them, as JSON: {"kind": "slow_down", "at": 3, ...}.  They add up.
    GET /__count__     {"connections": 2, "fired": 1, "requests": [{"method", "target", "range", "connection", "fault"}...]}
    PUT /__reset__     clears faults and requests, and releases stalled ones.  Earlier connections are neither counted
                       nor hit any more: abandoned requests may still arrive, and the next fault is not for them.

Which requests a fault hits: since it was armed it counts the requests that match ("method": "GET"; "target": a text in
path and query; "header": the name of one of its headers), and hits number "at" (from 1; default 1), then every
"every"-th (default 1) after it, "times" times in all (default 1; 0: without end).  If several faults match, the first
one hits, and the others later.

Every kind accepts "forward": true: the server still gets the request, whatever the client receives.

    made-up answers with the XML of an error.  Each accepts: "status", "code", "message", "headers", "elements" (of the
    XML), "body" instead of the XML (with "type"), "retry_after" in seconds, "close": true.
        status                  from "status"
        internal_error 500, slow_down 503, too_many_requests 429, request_timeout 400, expired_token 400,
        access_denied 403, no_such_key 404, no_such_bucket 404
        clock_skew 403          "seconds": how far Date is from the clock
        permanent_redirect 301  "region", also in the header x-amz-bucket-region
        wrong_region 400        "region"
        temporary_redirect 307  "location": scheme, host and port; default: those of the request

    connections
        cut_before_answer       "reset": true: by RST
        cut_in_headers          "reset"
        cut_in_body             after "after" bytes (default: half of it), by RST
        short_body              the same by FIN
        slow_body               "bytes" (default 1) each "every_ms" (default 20)
        stalled_body            after "after" bytes, until the client closes
        stalled_before_answer
        desync                  the answer twice

    modified answers of the server
        shorter_range           "keep" bytes (default: half); Content-Length and Content-Range say so
        shorter_body            the same; Content-Range is unchanged
        wrong_content_range     moved by "by" bytes (default 1)
        whole_object            the server does not get the Range header
        garbage_body            other bytes, the same number
        cut_body                "keep" bytes (default: half), Content-Length says so: truncated XML
        empty_body              200 with an empty body
        chunked_body            in chunks, without Content-Length
        shifted_date            Date moved by "seconds"
        skewed_clock            a server whose clock is "seconds" off: a request more than 15 minutes off that clock gets
                                clock_skew, others an answer with that clock's Date
"""

import calendar
import email.utils
import json
import os
import re
import select
import socket
import sys
import threading
import time
from xml.sax.saxutils import escape

from fault_proxy_wire import Gone, Message, Upstream, Wire

REASONS = {200: "OK", 301: "Moved Permanently", 307: "Temporary Redirect", 400: "Bad Request", 403: "Forbidden",
           404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable"}


# --- what can be done to an exchange: each returns whether the connection goes on ---------------------------------------
class Exchange:
    """A client's request and the server's answer."""

    def __init__(self, client, request, upstream, number, released):
        self.client, self.request, self.upstream, self.number, self.released = client, request, upstream, number, released
        self.method, self.target = request.first.split(" ")[:2]

    def ask(self):
        return self.upstream.ask(self.request)

    def give(self, answer, times=1):
        self.client.send((answer.head() + answer.payload()) * times)
        return answer.get("connection", "").lower() != "close"

    def wait(self):
        """Waits until the client closes, or stalled requests are released."""
        while not self.released.is_set():
            if select.select([self.client.socket], [], [], 0.05)[0]:
                try:
                    if not self.client.socket.recv(1 << 16):
                        break
                except OSError:
                    break
        return False


def kept_bytes(body, fault, name):
    return min(len(body), fault.get(name, len(body) // 2))


def date_of(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


MADE_UP = {
    "status": (500, "InternalError", "Told to answer so."),
    "internal_error": (500, "InternalError", "The server made a mistake."),
    "slow_down": (503, "SlowDown", "Too many requests at once."),
    "too_many_requests": (429, "TooManyRequests", "Too many requests at once."),
    "request_timeout": (400, "RequestTimeout", "The request's body took too long to come."),
    "expired_token": (400, "ExpiredToken", "The session token is no longer good."),
    "access_denied": (403, "AccessDenied", "Not allowed."),
    "no_such_key": (404, "NoSuchKey", "There is no such object."),
    "no_such_bucket": (404, "NoSuchBucket", "There is no such bucket."),
    "clock_skew": (403, "RequestTimeTooSkewed", "The request's time is too far from the server's."),
    "permanent_redirect": (301, "PermanentRedirect", "The bucket is at another endpoint."),
    "wrong_region": (400, "AuthorizationHeaderMalformed", "The region is wrong."),
    "temporary_redirect": (307, "TemporaryRedirect", "Ask there, for now."),
}
MADE_UP_OPTIONS = {"status", "code", "message", "headers", "elements", "body", "type", "retry_after", "close"}


def made_up(one, fault):
    kind = fault["kind"]
    status, code, message = MADE_UP[kind]
    status = fault.get("status", status)
    headers, elements = {}, {}
    if kind in ("permanent_redirect", "wrong_region"):
        elements["Region"] = headers["x-amz-bucket-region"] = fault.get("region", "eu-west-1")
        elements["Bucket"] = re.split("[/?]", one.target)[1]
        if kind == "permanent_redirect":
            elements["Endpoint"] = f"s3.{elements['Region']}.example.invalid"
    elif kind == "temporary_redirect":
        headers["Location"] = fault.get("location", "http://" + one.request.get("host", "")) + one.target
    if "retry_after" in fault:
        headers["Retry-After"] = fault["retry_after"]
    headers.update(fault.get("headers", {}))
    elements.update(fault.get("elements", {}))
    number = f"fault-{one.number}"
    elements = {"Code": fault.get("code", code), "Message": fault.get("message", message), "RequestId": number, **elements}
    body = fault.get("body")
    if body is None:
        inner = "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in elements.items())
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{inner}</Error>'
    answer = Message(f"HTTP/1.1 {status} {REASONS.get(status, 'Told So')}",
                     [("Date", date_of(fault.get("seconds", 0))), ("x-amz-request-id", number),
                      ("Content-Type", fault.get("type", "application/xml"))])
    for name, value in headers.items():
        answer.put(name, value)
    if fault.get("close"):
        answer.put("Connection", "close")
    answer.set_body(body.encode())
    if one.method == "HEAD":
        answer.body = b""
    return one.give(answer)


def cut_before_answer(one, fault):
    one.client.close(reset=fault.get("reset", False))
    return False


def cut_in_headers(one, fault):
    head = one.ask().head()
    one.client.send(head[:len(head) // 2])
    one.client.close(reset=fault.get("reset", False))
    return False


def cut_in_body(one, fault):
    answer = one.ask()
    payload = answer.payload()
    one.client.send(answer.head() + payload[:kept_bytes(payload, fault, "after")])
    if fault["kind"] == "cut_in_body":
        time.sleep(0.05)  # lets earlier bytes arrive: a reset overtakes them
    one.client.close(reset=fault["kind"] == "cut_in_body")
    return False


def slow_body(one, fault):
    answer = one.ask()
    payload = answer.payload()
    one.client.send(answer.head())
    step = fault.get("bytes", 1)
    for begin in range(0, len(payload), step):
        one.client.send(payload[begin:begin + step])
        if one.released.wait(fault.get("every_ms", 20) / 1000):
            return False
    return True


def stalled_body(one, fault):
    answer = one.ask()
    payload = answer.payload()
    one.client.send(answer.head() + payload[:kept_bytes(payload, fault, "after")])
    return one.wait()


def stalled_before_answer(one, _fault):
    return one.wait()


def desync(one, _fault):
    return one.give(one.ask(), times=2)


CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(.*)")


def shorter_range(one, fault):
    answer = one.ask()
    answer.set_body(answer.body[:kept_bytes(answer.body, fault, "keep")])
    said = CONTENT_RANGE.match(answer.get("content-range", ""))
    if said and fault["kind"] == "shorter_range":
        first = int(said.group(1))
        answer.put("Content-Range", f"bytes {first}-{first + max(len(answer.body), 1) - 1}/{said.group(3)}")
    return one.give(answer)


def wrong_content_range(one, fault):
    answer = one.ask()
    said = CONTENT_RANGE.match(answer.get("content-range", ""))
    if said:
        by = fault.get("by", 1)
        answer.put("Content-Range", f"bytes {int(said.group(1)) + by}-{int(said.group(2)) + by}/{said.group(3)}")
    return one.give(answer)


def whole_object(one, _fault):
    one.request.drop("range")
    return one.give(one.ask())


def garbage_body(one, _fault):
    answer = one.ask()
    answer.set_body(bytes(byte ^ 0x5A for byte in answer.body))
    return one.give(answer)


def cut_body(one, fault):
    answer = one.ask()
    answer.set_body(answer.body[:kept_bytes(answer.body, fault, "keep")])
    return one.give(answer)


def empty_body(one, _fault):
    answer = one.ask()
    answer.first = "HTTP/1.1 200 OK"
    answer.drop("content-range")
    answer.set_body(b"")
    return one.give(answer)


def chunked_body(one, _fault):
    answer = one.ask()
    answer.drop("content-length")
    answer.put("Transfer-Encoding", "chunked")
    return one.give(answer)


def shifted_date(one, fault):
    answer = one.ask()
    answer.put("Date", date_of(fault.get("seconds", 3600)))
    return one.give(answer)


def skewed_clock(one, fault):
    seconds = fault.get("seconds", 3600)
    said = one.request.get("x-amz-date")
    if said and abs(calendar.timegm(time.strptime(said, "%Y%m%dT%H%M%SZ")) - time.time() - seconds) > 900:
        return made_up(one, {"kind": "clock_skew", "seconds": seconds})
    return shifted_date(one, {"seconds": seconds})


# Each kind: its function, and its options.
KINDS = {kind: (made_up, MADE_UP_OPTIONS) for kind in MADE_UP}
KINDS["clock_skew"] = (made_up, MADE_UP_OPTIONS | {"seconds"})
KINDS["permanent_redirect"] = KINDS["wrong_region"] = (made_up, MADE_UP_OPTIONS | {"region"})
KINDS["temporary_redirect"] = (made_up, MADE_UP_OPTIONS | {"location"})
KINDS.update({
    "cut_before_answer": (cut_before_answer, {"reset"}),
    "cut_in_headers": (cut_in_headers, {"reset"}),
    "cut_in_body": (cut_in_body, {"after"}),
    "short_body": (cut_in_body, {"after"}),
    "slow_body": (slow_body, {"bytes", "every_ms"}),
    "stalled_body": (stalled_body, {"after"}),
    "stalled_before_answer": (stalled_before_answer, set()),
    "desync": (desync, set()),
    "shorter_range": (shorter_range, {"keep"}),
    "shorter_body": (shorter_range, {"keep"}),
    "wrong_content_range": (wrong_content_range, {"by"}),
    "whole_object": (whole_object, set()),
    "garbage_body": (garbage_body, set()),
    "cut_body": (cut_body, {"keep"}),
    "empty_body": (empty_body, set()),
    "chunked_body": (chunked_body, set()),
    "shifted_date": (shifted_date, {"seconds"}),
    "skewed_clock": (skewed_clock, {"seconds"}),
})
ASKS_ITSELF = {cut_in_headers, cut_in_body, slow_body, stalled_body, desync, shorter_range, wrong_content_range,
               whole_object, garbage_body, cut_body, empty_body, chunked_body, shifted_date}
COMMON_OPTIONS = {"kind", "at", "every", "times", "method", "target", "header", "forward"}


class Fault:
    """An armed fault with its counters."""

    def __init__(self, spec):
        if not isinstance(spec, dict) or spec.get("kind") not in KINDS:
            raise ValueError(f"no kind of fault: {spec!r}; there are {', '.join(sorted(KINDS))}")
        unknown = set(spec) - COMMON_OPTIONS - KINDS[spec["kind"]][1]
        if unknown:
            raise ValueError(f"{spec['kind']} has no option {', '.join(sorted(unknown))}")
        self.spec, self.seen, self.fired = spec, 0, 0

    def hits(self, one):
        spec = self.spec
        if "method" in spec and one.method != spec["method"] or spec.get("target", "") not in one.target:
            return False
        if "header" in spec and one.request.get(spec["header"].lower()) is None:
            return False
        self.seen += 1
        at, every, times = spec.get("at", 1), spec.get("every", 1), spec.get("times", 1)
        return self.seen >= at and (self.seen - at) % every == 0 and (times == 0 or self.fired < times)

    def do(self, one):
        act = KINDS[self.spec["kind"]][0]
        if self.spec.get("forward") and act not in ASKS_ITSELF:
            one.ask()
        return act(one, self.spec)


class Proxy:
    """Accepts clients, one thread each, and records their requests."""

    def __init__(self, address):
        self.address = address
        self.lock = threading.Lock()
        self.accepted = 0
        self.reset()

    def reset(self):
        with self.lock:
            if hasattr(self, "released"):
                self.released.set()
            self.released = threading.Event()
            self.before = self.accepted  # connections up to this number are from before the reset
            self.faults, self.requests, self.connections, self.fired = [], [], set(), 0

    def arm(self, spec):
        added = [Fault(one) for one in (spec if isinstance(spec, list) else [spec])]
        with self.lock:
            self.faults += added

    def count(self):
        with self.lock:
            return {"connections": len(self.connections), "fired": self.fired, "requests": list(self.requests)}

    def _fault_for(self, one, connection):
        """Records the request; returns the fault that hits it."""
        with self.lock:
            if connection <= self.before:
                return None
            hit = None
            for fault in self.faults:
                if fault.hits(one) and hit is None:
                    hit = fault
                    fault.fired += 1
                    self.fired += 1
            self.connections.add(connection)
            self.requests.append({"method": one.method, "target": one.target, "range": one.request.get("range", ""),
                                  "connection": connection, "fault": hit.spec["kind"] if hit else ""})
            one.number, one.released = len(self.requests), self.released
            return hit

    def _control(self, wire, request, path):
        status, said = 200, {}
        try:
            if path == "/__fault__":
                self.arm(json.loads(request.body))
            elif path == "/__count__":
                said = self.count()
            elif path == "/__reset__":
                self.reset()
            else:
                raise ValueError(f"there is no {path}")
        except ValueError as error:
            status, said = 400, {"error": str(error)}
        answer = Message(f"HTTP/1.1 {status} {REASONS[status]}", [("Connection", "close")])
        answer.set_body(json.dumps(said).encode())
        wire.send(answer.head() + answer.payload())

    def _request(self, wire):
        request = wire.message()
        if "100-continue" in request.get("expect", "").lower():
            request.drop("expect")
            wire.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.body = wire.body_of(request, to_end=False)
        return request

    def serve(self, connection, number):
        wire, upstream = Wire(connection), Upstream(self.address)
        try:
            goes_on = True
            while goes_on:
                request = self._request(wire)
                path = request.first.split(" ")[1]
                if path.startswith("/__"):
                    self._control(wire, request, path)
                    break
                one = Exchange(wire, request, upstream, 0, None)
                fault = self._fault_for(one, number)
                goes_on = fault.do(one) if fault else one.give(one.ask())
                goes_on = goes_on and request.get("connection", "").lower() != "close"
        except (Gone, ConnectionError):
            pass
        finally:
            wire.close()
            upstream.close()

    def listen(self):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener.getsockname()[1]

    def _accept(self, listener):
        while True:
            connection, _ = listener.accept()
            self.accepted += 1
            threading.Thread(target=self.serve, args=(connection, self.accepted), daemon=True).start()


def main():
    if len(sys.argv) != 2 or not re.fullmatch(r"(http://)?[^:/]+:\d+/?", sys.argv[1]):
        sys.exit("usage: fault_proxy.py HOST:PORT")
    host, port = sys.argv[1].removeprefix("http://").rstrip("/").split(":")
    print(Proxy((host, int(port))).listen(), flush=True)
    sys.stdin.buffer.read()
    os._exit(0)  # without waiting for stalled threads


if __name__ == "__main__":
    main()
