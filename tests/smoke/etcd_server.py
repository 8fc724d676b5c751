"""A real etcd on ports of its own, with its data in a folder that goes with it."""
import base64
import json
import shutil
import socket
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

from daemon_box import wait_until


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class EtcdServer:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="sluice-etcd-")
        self.port, self.peer_port = free_port(), free_port()
        self.process = None

    def start(self):
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.port, self.peer_port))
        with open(f"{self.folder}/log", "ab") as log:
            self.process = subprocess.Popen(
                ["etcd", "--name", "one", "--data-dir", f"{self.folder}/data", "--listen-client-urls", client,
                 "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                 "--initial-cluster", f"one={peer}", "--log-level", "warn"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until("etcd", self.answers)

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)
            self.process = None

    def wipe(self):
        self.kill()
        shutil.rmtree(f"{self.folder}/data")

    def close(self):
        self.kill()
        shutil.rmtree(self.folder)

    def ask(self, path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v3{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())

    def answers(self):
        try:
            self.get("/")
        except urllib.error.HTTPError:
            return True  # it wants a user
        except OSError:
            return False
        return True

    def get(self, key):
        """The value; None: there is no such key."""
        found = self.ask("/kv/range", {"key": base64.b64encode(key.encode()).decode()}).get("kvs", [])
        return base64.b64decode(found[0]["value"]).decode() if found else None

    def end_lease_of(self, key):
        """As its time would: the key goes."""
        found = self.ask("/kv/range", {"key": base64.b64encode(key.encode()).decode()})["kvs"]
        self.ask("/lease/revoke", {"ID": found[0]["lease"]})

    def put(self, key, value):
        self.ask("/kv/put", {"key": base64.b64encode(key.encode()).decode(),
                             "value": base64.b64encode(value.encode()).decode()})


class Line:
    """A port that leads to another, until it is cut."""

    def __init__(self, to):
        self.to, self.is_cut, self.ends = to, False, []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                if self.is_cut:
                    client.close()
                    continue
                server = socket.create_connection(("127.0.0.1", self.to))
                self.ends += [client, server]
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        try:
            while data := one.recv(65536):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def cut(self):
        with self.lock:
            self.is_cut = True
            for end in self.ends:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.ends.clear()

    def join(self):
        with self.lock:
            self.is_cut = False

    def close(self):
        self.cut()
        self.listener.close()
