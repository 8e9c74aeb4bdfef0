#!/usr/bin/env python3
"""What fault_proxy.py does to the answers of a small server that is in this file."""

import email.utils
import http.client
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import unittest

OBJECT = bytes(range(256)) * 4
LISTING = b"<?xml version='1.0'?><ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>"
PATIENCE = 60  # seconds; nothing here waits so long unless it is broken


class Server(http.server.BaseHTTPRequestHandler):
    """An object with ranges, a listing, and whatever is put."""

    protocol_version = "HTTP/1.1"
    puts = []

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        host = [("X-Host-Seen", self.headers["Host"])]
        said = re.match(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if "list-type" in self.path:
            return self.answer(200, LISTING, host)
        if said:
            first, last = int(said.group(1)), int(said.group(2))
            host.append(("Content-Range", f"bytes {first}-{last}/{len(OBJECT)}"))
            return self.answer(206, OBJECT[first:last + 1], host)
        return self.answer(200, OBJECT, host)

    do_HEAD = do_GET

    def do_PUT(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers["Content-Length"]))
        Server.puts.append((self.path, body))
        self.answer(200, b"", [("ETag", '"x"')])


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):  # the proxy leaves as it likes
        pass


class FaultProxy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = QuietServer(("127.0.0.1", 0), Server)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.server_port = cls.server.server_address[1]
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fault_proxy.py")
        cls.proxy = subprocess.Popen([sys.executable, program, f"127.0.0.1:{cls.server_port}"], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
        cls.port = int(cls.proxy.stdout.readline())

    @classmethod
    def tearDownClass(cls):
        cls.proxy.stdin.close()
        assert cls.proxy.wait(PATIENCE) == 0
        cls.proxy.stdout.close()
        cls.server.shutdown()
        cls.server.server_close()

    def setUp(self):
        self.control("PUT", "/__reset__")
        Server.puts.clear()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        self.addCleanup(self.connection.close)

    def control(self, method, path, spec=None, status=200):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path, json.dumps(spec) if spec is not None else None)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        connection.close()
        self.assertEqual(answer.status, status, body)
        return body

    def arm(self, kind, **options):
        self.control("PUT", "/__fault__", {"kind": kind, **options})

    def count(self):
        return self.control("GET", "/__count__")

    def ask(self, method="GET", path="/bucket/key", headers=None, body=None):
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        answer.body = answer.read()
        return answer

    def assert_good(self, answer):
        self.assertEqual((answer.status, answer.body), (200, OBJECT))

    # --- nothing done -------------------------------------------------------------------------------------------------
    def test_forwards_what_it_is_given(self):
        answer = self.ask(headers={"Host": "somewhere:1"})
        self.assert_good(answer)
        self.assertEqual(answer.headers["X-Host-Seen"], "somewhere:1")
        part = self.ask(headers={"Range": "bytes=10-19"})
        self.assertEqual((part.status, part.body), (206, OBJECT[10:20]))
        head = self.ask("HEAD")
        self.assertEqual((head.status, head.body, head.headers["Content-Length"]), (200, b"", str(len(OBJECT))))
        body = b"z" * 300_000
        self.assertEqual(self.ask("PUT", body=body).status, 200)
        self.assertEqual(self.ask("PUT", body=iter([b"one", b"two"])).status, 200)  # in chunks
        self.assertEqual(self.ask("PUT", headers={"Expect": "100-continue"}, body=b"three").status, 200)
        self.assertEqual([held for _, held in Server.puts], [body, b"onetwo", b"three"])
        seen = self.count()
        self.assertEqual((seen["connections"], seen["fired"], len(seen["requests"])), (1, 0, 6))
        self.assertEqual(seen["requests"][1], {"method": "GET", "target": "/bucket/key", "range": "bytes=10-19",
                                               "connection": seen["requests"][0]["connection"], "fault": ""})

    def test_hits_the_requests_that_it_was_told_to(self):
        self.arm("slow_down", at=2, every=3, times=2, method="GET", target="key")
        statuses = []
        for _ in range(9):
            self.assertEqual(self.ask("HEAD").status, 200)
            self.assertEqual(self.ask(path="/bucket/other").status, 200)
            statuses.append(self.ask().status)
        self.assertEqual(statuses, [200, 503, 200, 200, 503, 200, 200, 200, 200])
        self.assertEqual(self.count()["fired"], 2)
        self.control("PUT", "/__reset__")
        self.assertEqual(self.count()["requests"], [])
        self.connection.close()
        self.arm("access_denied", times=0, header="Range")
        self.assertEqual([self.ask(headers={"Range": "bytes=0-1"}).status for _ in range(3)], [403] * 3)
        self.assert_good(self.ask())

    def test_a_request_of_before_a_reset_is_not_hit_and_not_counted(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as late:
            late.sendall(b"PUT /bucket/late HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\nab")
            self.assert_good(self.ask())  # the proxy has accepted all earlier connections
            self.control("PUT", "/__reset__")
            self.connection.close()
            self.arm("access_denied")
            late.sendall(b"cd")
            self.assertTrue(late.recv(100).startswith(b"HTTP/1.1 200"))
            self.assertEqual(self.count()["requests"], [])
            self.assertEqual(self.ask().status, 403)
            self.assertEqual((self.count()["fired"], len(self.count()["requests"])), (1, 1))

    def test_faults_add_up(self):
        self.control("PUT", "/__fault__", [{"kind": "slow_down"}, {"kind": "no_such_key"}, {"kind": "access_denied", "at": 2}])
        self.assertEqual([self.ask().status for _ in range(3)], [503, 404, 403])  # each in its turn

    def test_refuses_what_it_does_not_know(self):
        self.assertIn("no kind of fault", self.control("PUT", "/__fault__", {"kind": "sunshine"}, 400)["error"])
        self.assertIn("keep", self.control("PUT", "/__fault__", {"kind": "slow_down", "keep": 1}, 400)["error"])
        self.assertIn("there is no", self.control("GET", "/__other__", None, 400)["error"])

    # --- made up answers ----------------------------------------------------------------------------------------------
    def test_errors_have_their_status_and_code(self):
        for kind, status, code in [("internal_error", 500, "InternalError"), ("slow_down", 503, "SlowDown"),
                                   ("too_many_requests", 429, "TooManyRequests"), ("request_timeout", 400, "RequestTimeout"),
                                   ("expired_token", 400, "ExpiredToken"), ("access_denied", 403, "AccessDenied"),
                                   ("no_such_key", 404, "NoSuchKey"), ("no_such_bucket", 404, "NoSuchBucket"),
                                   ("clock_skew", 403, "RequestTimeTooSkewed")]:
            self.arm(kind)
            answer = self.ask()
            self.assertEqual(answer.status, status)
            self.assertIn(f"<Code>{code}</Code>".encode(), answer.body)
            self.arm(kind)
            head = self.ask("HEAD")
            self.assertEqual((head.status, head.body), (status, b""))
            self.assert_good(self.ask())  # the connection goes on
        self.assertEqual(self.count()["connections"], 1)

    def test_errors_can_be_shaped(self):
        self.arm("slow_down", retry_after=7, close=True)
        answer = self.ask()
        self.assertEqual((answer.headers["Retry-After"], answer.headers["Connection"]), ("7", "close"))
        self.arm("expired_token", status=403, elements={"StringToSign": "a<b"}, headers={"x-more": "1"})
        answer = self.ask()
        self.assertEqual((answer.status, answer.headers["x-more"]), (403, "1"))
        self.assertIn(b"<StringToSign>a&lt;b</StringToSign>", answer.body)
        self.arm("status", status=502, body="<html>bad</html>", type="text/html")
        answer = self.ask()
        self.assertEqual((answer.status, answer.body, answer.headers["Content-Type"]), (502, b"<html>bad</html>", "text/html"))

    def test_the_server_may_have_done_it(self):
        self.arm("internal_error", forward=True)
        self.assertEqual(self.ask("PUT", body=b"1").status, 500)
        self.arm("internal_error")
        self.assertEqual(self.ask("PUT", body=b"2").status, 500)
        self.arm("cut_before_answer", forward=True)
        with self.assertRaises(http.client.RemoteDisconnected):
            self.ask("PUT", body=b"3")
        self.assertEqual([body for _, body in Server.puts], [b"1", b"3"])

    def test_other_regions_and_places(self):
        self.arm("permanent_redirect", region="eu-north-1")
        answer = self.ask()
        self.assertEqual((answer.status, answer.headers["x-amz-bucket-region"]), (301, "eu-north-1"))
        self.assertIn(b"<Bucket>bucket</Bucket>", answer.body)
        self.arm("wrong_region", region="eu-north-1")
        answer = self.ask()
        self.assertEqual(answer.status, 400)
        self.assertIn(b"<Region>eu-north-1</Region>", answer.body)
        self.arm("temporary_redirect")
        answer = self.ask(path="/bucket/key?x=1")
        self.assertEqual((answer.status, answer.headers["Location"]),
                         (307, f"http://127.0.0.1:{self.port}/bucket/key?x=1"))
        self.arm("temporary_redirect", location="http://elsewhere.test")
        self.assertEqual(self.ask(path="/bucket/key").headers["Location"], "http://elsewhere.test/bucket/key")

    def seconds_off(self, answer):
        return email.utils.parsedate_to_datetime(answer.headers["Date"]).timestamp() - time.time()

    def test_clocks(self):
        self.arm("clock_skew", seconds=7200)
        self.assertAlmostEqual(self.seconds_off(self.ask()), 7200, delta=PATIENCE)
        self.arm("shifted_date", seconds=-7200)
        answer = self.ask()
        self.assert_good(answer)
        self.assertAlmostEqual(self.seconds_off(answer), -7200, delta=PATIENCE)
        self.arm("skewed_clock", seconds=7200, times=0)

        def stamp(off):
            return {"x-amz-date": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + off))}
        answer = self.ask(headers=stamp(0))
        self.assertEqual(answer.status, 403)
        self.assertAlmostEqual(self.seconds_off(answer), 7200, delta=PATIENCE)
        self.assert_good(self.ask(headers=stamp(7200)))

    # --- connections --------------------------------------------------------------------------------------------------
    def test_cuts(self):
        self.arm("cut_before_answer")
        with self.assertRaises(http.client.RemoteDisconnected):
            self.ask()
        self.arm("cut_before_answer", reset=True)
        with self.assertRaises(ConnectionResetError):
            self.ask()
        self.connection.close()
        for reset in (False, True):
            self.arm("cut_in_headers", reset=reset)
            raw = self.raw()
            got = self.to_end(raw)
            self.assertTrue(got.startswith(b"HTTP/1.1 200") or (reset and not got), got)
            self.assertNotIn(b"\r\n\r\n", got)
        self.arm("short_body", after=100)
        with self.assertRaises(http.client.IncompleteRead) as cut:
            self.ask()
        self.assertEqual(cut.exception.partial, OBJECT[:100])
        self.connection.close()
        self.arm("cut_in_body")
        with self.assertRaises((http.client.IncompleteRead, ConnectionResetError)):
            self.ask()
        self.connection.close()
        self.assert_good(self.ask())

    def raw(self):
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        self.addCleanup(raw.close)
        raw.sendall(b"GET /bucket/key HTTP/1.1\r\nHost: a\r\n\r\n")
        return raw

    def to_end(self, raw):
        got = b""
        try:
            while piece := raw.recv(65536):
                got += piece
        except ConnectionResetError:
            pass
        return got

    def test_slow_and_stalled(self):
        self.arm("slow_body", bytes=64, every_ms=1)
        self.assert_good(self.ask())
        for kind, least in [("stalled_before_answer", 0), ("stalled_body", 500)]:
            self.arm(kind, **({"after": 500} if least else {}))
            raw = self.raw()
            got = b""
            while len(got.partition(b"\r\n\r\n")[2]) < least:
                got += raw.recv(65536)
            raw.settimeout(0.2)
            with self.assertRaises(socket.timeout):
                raw.recv(1)
            self.control("PUT", "/__reset__")  # lets go
            raw.settimeout(PATIENCE)
            self.assertEqual(self.to_end(raw), b"")
        self.assert_good(self.ask())

    def test_desync(self):
        self.arm("desync")
        raw = self.raw()
        got = b""
        while got.count(OBJECT) < 2:
            got += raw.recv(65536)
        self.assertEqual(got.count(b"HTTP/1.1 200"), 2)

    # --- answers changed ----------------------------------------------------------------------------------------------
    def ask_part(self):
        return self.ask(headers={"Range": "bytes=100-199"})

    def test_ranges(self):
        self.arm("shorter_range", keep=30)
        answer = self.ask_part()
        self.assertEqual((answer.body, answer.headers["Content-Range"]), (OBJECT[100:130], "bytes 100-129/1024"))
        self.arm("shorter_body", keep=30)
        answer = self.ask_part()
        self.assertEqual((answer.body, answer.headers["Content-Range"]), (OBJECT[100:130], "bytes 100-199/1024"))
        self.arm("wrong_content_range", by=5)
        answer = self.ask_part()
        self.assertEqual((answer.body, answer.headers["Content-Range"]), (OBJECT[100:200], "bytes 105-204/1024"))
        self.arm("whole_object")
        self.assert_good(self.ask_part())

    def test_bodies(self):
        listing = "/bucket?list-type=2"
        self.arm("garbage_body")
        answer = self.ask(path=listing)
        self.assertEqual((answer.status, len(answer.body)), (200, len(LISTING)))
        self.assertNotEqual(answer.body, LISTING)
        self.arm("cut_body", keep=60)
        self.assertEqual(self.ask(path=listing).body, LISTING[:60])
        self.arm("cut_body")
        self.assertEqual(self.ask(path=listing).body, LISTING[:len(LISTING) // 2])
        self.arm("empty_body")
        answer = self.ask_part()
        self.assertEqual((answer.status, answer.body), (200, b""))
        self.arm("chunked_body")
        answer = self.ask()
        self.assert_good(answer)
        self.assertIsNone(answer.headers["Content-Length"])
        self.assertEqual(self.count()["connections"], 1)

    def test_no_kind_is_untested(self):
        with open(os.path.abspath(__file__), encoding="utf-8") as file:
            text = file.read()
        error = self.control("PUT", "/__fault__", {"kind": "?"}, 400)["error"]
        for kind in error.partition("there are ")[2].split(", "):
            self.assertIn(f'"{kind}"', text)


if __name__ == "__main__":
    unittest.main()
