"""The metadata services of an instance and of a container, on 127.0.0.1.

Prints its port; ends when its standard input does.  Each issue of keys has another number, and lives six hours longer
than the one before.  /control/STATUS/COUNT makes the next COUNT questions fail: with that status, or without any answer
when it is 0.  /count/PATH returns the number of requests for a path.
"""
import collections
import datetime
import http.server
import json
import os
import re
import socketserver
import sys
import threading
import time

BEARER = "fakebearer-for-tests-only"
ROLES = "/latest/meta-data/iam/security-credentials/"

guard = threading.Lock()
counts = collections.Counter()
failing = {"status": 0, "count": 0}
tokens = set()
issued = 0


def issue():
    global issued
    issued += 1
    expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=6 * issued)
    return json.dumps(
        {
            "Code": "Success",
            "Type": "AWS-HMAC",
            "AccessKeyId": "issue %d" % issued,
            "SecretAccessKey": "fakesecretkey/for+tests+only=0000000001",
            "Token": "fakesessiontoken/for+tests+only==",
            "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
    )


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, text=""):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def decide(self):
        """The status and body of the answer to a request."""
        if self.path == "/container/keys":
            return (200, issue()) if self.headers.get("authorization") == BEARER else (401, BEARER)
        if self.path == "/latest/api/token":
            lifetime = self.headers.get("x-aws-ec2-metadata-token-ttl-seconds", "0")
            if self.command != "PUT" or not lifetime.isdigit() or not 1 <= int(lifetime) <= 21600:
                return 400, ""
            tokens.add("metadata-token-%d==" % len(tokens))
            return 200, "metadata-token-%d==" % (len(tokens) - 1)
        if self.command != "GET" or self.headers.get("x-aws-ec2-metadata-token") not in tokens:
            return 401, ""
        if self.path == ROLES:
            return 200, "trainer"
        return (200, issue()) if self.path == ROLES + "trainer" else (404, "")

    def do_GET(self):
        with guard:
            if match := re.fullmatch(r"/control/(\d+)/(\d+)", self.path):
                failing.update(status=int(match[1]), count=int(match[2]))
                return self.answer(200)
            if self.path.startswith("/count/"):
                return self.answer(200, str(counts[self.path[len("/count") :]]))
            counts[self.path] += 1
            if failing["count"] > 0:
                failing["count"] -= 1
                status, text = failing["status"], BEARER
            else:
                status, text = self.decide()
        if status == 0:
            time.sleep(30)  # its thread ends with the process
            self.close_connection = True
            return None
        return self.answer(status, text)

    do_PUT = do_GET


class Server(socketserver.ThreadingTCPServer):
    """Replaces that of http.server, which looks up its own name first."""

    daemon_threads = True
    request_queue_size = 64


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)
