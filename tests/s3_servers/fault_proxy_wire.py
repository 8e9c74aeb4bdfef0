"""HTTP/1.1 as the fault proxy reads and writes it: connections, messages, and the server behind the proxy."""

import select
import socket
import struct


class Gone(Exception):
    """The other side has closed the connection."""


class Wire:
    """A connection that is read by pieces of HTTP/1.1."""

    def __init__(self, connection):
        self.socket = connection
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.held = b""

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            raise Gone from None

    def _more(self):
        try:
            got = self.socket.recv(1 << 18)
        except OSError:
            raise Gone from None
        if not got:
            raise Gone
        self.held += got

    def _until(self, mark):
        while mark not in self.held:
            self._more()
        head, self.held = self.held.split(mark, 1)
        return head

    def exactly(self, count):
        pieces, there = [], 0
        while True:
            piece, self.held = self.held[:count - there], self.held[count - there:]
            pieces.append(piece)
            there += len(piece)
            if there == count:
                return b"".join(pieces)
            self._more()

    def _chunks(self):
        body = b""
        while True:
            size = int(self._until(b"\r\n").split(b";")[0], 16)
            if size == 0:
                while self._until(b"\r\n"):
                    pass
                return body
            body += self.exactly(size)
            self.exactly(2)

    def _to_end(self):
        try:
            while True:
                self._more()
        except Gone:
            body, self.held = self.held, b""
            return body

    def message(self):
        """The head of a request or an answer."""
        lines = self._until(b"\r\n\r\n").decode("latin-1").lstrip("\r\n").split("\r\n")
        fields = [line.split(":", 1) for line in lines[1:]]
        return Message(lines[0], [(name, value.strip()) for name, value in fields])

    def body_of(self, message, to_end):
        if "chunked" in message.get("transfer-encoding", "").lower():
            return self._chunks()
        if message.get("content-length") is not None:
            return self.exactly(int(message.get("content-length")))
        return self._to_end() if to_end else b""

    def is_quiet(self):
        """Nothing has arrived without a request, not even the end."""
        return not self.held and not select.select([self.socket], [], [], 0)[0]

    def close(self, reset=False):
        try:
            if reset:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.socket.close()
        except OSError:
            pass


class Message:
    """A request or an answer."""

    def __init__(self, first, headers, body=b""):
        self.first, self.headers, self.body = first, headers, body
        self.bodiless = False  # the answer to HEAD, 204, 304: Content-Length refers to another body

    def get(self, name, otherwise=None):
        return next((value for held, value in self.headers if held.lower() == name), otherwise)

    def drop(self, name):
        self.headers = [held for held in self.headers if held[0].lower() != name]

    def put(self, name, value):
        self.drop(name.lower())
        self.headers.append((name, str(value)))

    def set_body(self, body):
        self.body = body
        if not self.bodiless:
            self.drop("transfer-encoding")
            self.put("Content-Length", len(body))

    @property
    def status(self):
        return int(self.first.split(" ")[1])

    def head(self):
        return "\r\n".join([self.first] + [f"{name}: {value}" for name, value in self.headers] + ["", ""]).encode("latin-1")

    def payload(self):
        if self.bodiless or "chunked" not in self.get("transfer-encoding", "").lower():
            return self.body
        return (b"%x\r\n%b\r\n" % (len(self.body), self.body) if self.body else b"") + b"0\r\n\r\n"


class Upstream:
    """The server, over a persistent connection."""

    def __init__(self, address):
        self.address, self.wire = address, None

    def ask(self, request):
        if self.wire is not None and not self.wire.is_quiet():
            self.close()
        kept = self.wire is not None
        try:
            return self._ask_once(request)
        except Gone:
            self.close()
            if not kept:
                raise
            return self._ask_once(request)

    def _ask_once(self, request):
        if self.wire is None:
            self.wire = Wire(socket.create_connection(self.address))
        self.wire.send(request.head() + request.payload())
        answer = self.wire.message()
        while answer.status < 200:
            answer = self.wire.message()
        answer.bodiless = request.first.startswith("HEAD ") or answer.status in (204, 304)
        if not answer.bodiless:
            answer.body = self.wire.body_of(answer, to_end=True)
        # Swift sends the end of a body after the head of an answer without body.
        stray = answer.bodiless and "chunked" in answer.get("transfer-encoding", "").lower()
        if stray or answer.get("connection", "").lower() == "close":
            self.close()
        return answer

    def close(self):
        if self.wire is not None:
            self.wire.close()
            self.wire = None
