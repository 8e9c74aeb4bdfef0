"""The model of check_power_loss.py: the calls of a process that change files, and the states that a power loss may leave."""
import hashlib
import os
import shutil
import sys

# --all, also by the environment: everything is tried.
ALL = "--all" in sys.argv or os.environ.get("SMDEBUG_TEST_ALL_FAULTS") == "1"
MOST_ALONE = 24 if ALL else 4  # changes of one cut that are lost or kept individually


class Node:
    """A file or folder: its original content, and its changes as (number of the call, change)."""

    def __init__(self, base):
        self.base = base  # a file's bytes, a folder's {name: Node}
        self.changes = []


class Journal:
    """The calls of a process under a folder, and the nodes that they change."""

    def __init__(self, root):
        self.root = root
        self.by_inode = {}
        self.top = self.node_of(root)
        self.now = {}  # path: Node, the process's current view
        self.fill(root, self.top)
        self.calls = 0
        self.changes = []  # (number of the call, nodes that it changes, its kind)
        self.synced = {}  # number of a change: number of the call that synced it
        self.printed = []  # (number of the call, text)

    def node_of(self, path):
        if os.path.isdir(path):
            node = Node({})
        else:
            with open(path, "rb") as file:
                node = Node(file.read())
        self.by_inode[os.stat(path).st_ino] = node
        return node

    def fill(self, path, node):
        self.now[path] = node
        if isinstance(node.base, dict):
            for name in os.listdir(path):
                below = os.path.join(path, name)
                node.base[name] = self.node_of(below)
                self.fill(below, node.base[name])

    def change(self, what, *nodes_and_changes):
        for node, change in nodes_and_changes:
            node.changes.append((self.calls, change))
        self.changes.append((self.calls, [node for node, _ in nodes_and_changes], what))

    def put(self, path, node):
        folder, name = os.path.split(path)
        self.now[path] = node
        return self.now[folder], ("name", name, node)

    def take(self, path):
        folder, name = os.path.split(path)
        self.now.pop(path)
        return self.now[folder], ("name", name, None)

    def sync(self, node):
        for number, nodes, _ in self.changes:
            if number not in self.synced and (node is None or node in nodes):
                self.synced[number] = self.calls

    def read(self, path):
        with open(path, "rb") as file:
            text = file.read()
        at = 0
        while at < len(text):
            end = text.index(b"\n", at)
            call, inode, number, size = text[at:end].decode().split(" ")
            data = text[end + 1:end + 1 + int(size)]
            at = end + 2 + int(size)
            self.calls += 1
            self.replay(call, int(inode), int(number), data)

    def replay(self, call, inode, number, data):
        if call == "print":
            self.printed.append((self.calls, data.decode(errors="replace")))
        elif call == "sync_all":
            self.sync(None)
        elif call == "sync":
            self.sync(self.by_inode[inode])
        elif call in ("write", "truncate"):
            change = ("write", number, data) if call == "write" else ("truncate", number)
            self.change(call, (self.by_inode[inode], change))
        else:
            paths = [os.path.normpath(path) for path in data.decode().split("\0")]
            self.rename(call, inode, paths)

    def rename(self, call, inode, paths):
        if call in ("create", "mkdir"):
            self.by_inode[inode] = Node(b"" if call == "create" else {})
            self.change("name", self.put(paths[0], self.by_inode[inode]))
        elif call == "unlink":
            self.change("name", self.take(paths[0]))
        elif call == "link":
            self.change("name", self.put(paths[1], self.now[paths[0]]))
        elif call in ("rename", "exchange"):
            first, second = self.now[paths[0]], self.now.get(paths[1])
            below = {path: node for path, node in self.now.items() if path.startswith((paths[0] + "/", paths[1] + "/"))}
            for path in below:
                del self.now[path]
            done = [self.take(paths[0]), self.put(paths[1], first)]
            if call == "exchange":
                done[0] = self.put(paths[0], second)
            for path, node in below.items():
                older, newer = paths if path.startswith(paths[0] + "/") else reversed(paths)
                if older == paths[0] or call == "exchange":
                    self.now[newer + path[len(older):]] = node
            self.change("name", *done)
        else:
            raise RuntimeError(f"unknown call {call}")

    def unsynced(self, cut):
        """The changes up to a cut that may not be on disk."""
        return [(number, what) for number, _, what in self.changes if number <= cut and self.synced.get(number, cut + 1) > cut]

    def state(self, cut, lost=(), zeroed=(), halved=()):
        """The files after a cut: {path under the folder: bytes, None for a folder}."""
        found = {}

        def bytes_of(node):
            content = bytearray(node.base)
            for number, change in node.changes:
                if number > cut or number in lost:
                    continue
                if change[0] == "truncate":
                    content[change[1]:] = bytes(max(0, change[1] - len(content)))
                    continue
                _, at, data = change
                if number in zeroed:
                    data = bytes(len(data))
                elif number in halved:
                    data = data[:len(data) // 2]
                content.extend(bytes(max(0, at - len(content))))
                content[at:at + len(data)] = data
            return bytes(content)

        def walk(node, path):
            if not isinstance(node.base, dict):
                found[path] = bytes_of(node)
                return
            if path:
                found[path] = None
            names = dict(node.base)
            for number, (_, name, what) in node.changes:
                if number <= cut and number not in lost:
                    names[name] = what
            for name, below in names.items():
                if below is not None:
                    walk(below, os.path.join(path, name))

        walk(self.top, "")
        return found

    def states(self, cut):
        """The possible states after a cut."""
        open_ones = self.unsynced(cut)
        numbers = [number for number, _ in open_ones]
        writes = [number for number, what in open_ones if what != "name"]
        names = [number for number, what in open_ones if what == "name"]
        yield self.state(cut)
        if not numbers:
            return
        yield self.state(cut, lost=set(numbers))
        if writes and names:
            yield self.state(cut, lost=set(writes))
            yield self.state(cut, lost=set(names))
        if writes:
            yield self.state(cut, zeroed=set(writes))
            yield self.state(cut, halved={writes[-1]})
        # The newest changes belong to the current operation.
        for number in numbers[-MOST_ALONE:]:
            yield self.state(cut, lost={number})
            yield self.state(cut, lost=set(numbers) - {number})
        for number in writes[-MOST_ALONE:]:
            yield self.state(cut, zeroed={number})


def key_of(state):
    digest = hashlib.sha256()
    for path in sorted(state):
        digest.update(path.encode() + b"\0")
        digest.update(b"folder" if state[path] is None else hashlib.sha256(state[path]).digest())
    return digest.digest()


def make(state, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for path in sorted(state):
        whole = os.path.join(folder, path)
        if state[path] is None:
            os.makedirs(whole, exist_ok=True)
            continue
        with open(whole, "wb") as file:
            file.write(state[path])
