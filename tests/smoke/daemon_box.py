"""A sluiced with a dataplane that counts no packets, in a folder of their own."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

START_SECONDS = 30


def wait_until(what, condition, seconds=START_SECONDS):
    begin = time.monotonic()
    while not condition():
        if (waited := time.monotonic() - begin) > seconds:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(min(0.02 + waited / 20, 0.1))


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)  # waits while the backlog is full, so before the timeout
        self.sock.settimeout(self.timeout)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.type = response.headers.get("Content-Type")
        self.text = response.read().decode()

    def json(self):
        return json.loads(self.text)


class DaemonBox:
    def __init__(self, sluiced, fake_dataplane, sluicectl):
        self.programs = {"sluiced": sluiced, "dataplane": fake_dataplane, "sluicectl": sluicectl}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-daemon-"))
        self.folder.chmod(0o755)
        self.socket = str(self.folder / "sluiced.sock")
        self.read_socket = str(self.folder / "sluiced-read.sock")
        self.state = self.folder / "state"
        self.processes = []

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait(START_SECONDS)
        shutil.rmtree(self.folder)

    def run(self, name, *words, env=None):
        log = open(self.folder / f"{name}{len(self.processes)}.log", "w+b")
        process = subprocess.Popen([self.programs[name], *map(str, words)], stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, env={**os.environ, **(env or {})})
        process.log = pathlib.Path(log.name)
        log.close()
        self.processes.append(process)
        return process

    def start_dataplane(self, *words):
        path = self.folder / "dataplane.sock"
        process = self.run("dataplane", path, *words)
        wait_until("the dataplane's socket", lambda: can_connect(str(path)))
        return process

    def start_sluiced(self, *words, env=None):
        process = self.run("sluiced", "--socket", self.socket, "--dataplane-socket",
                           self.folder / "dataplane.sock", "--state-dir", self.state, *words,
                           env=env)
        wait_until("sluiced's socket", lambda: can_connect(self.socket) or process.poll() is not None)
        assert process.poll() is None, process.log.read_text()
        return process

    def stop(self, process, how=signal.SIGTERM):
        process.send_signal(how)
        return process.wait(START_SECONDS)

    def ask(self, method, target, body=None, headers=None):
        connection = UnixConnection(self.socket)
        try:
            connection.request(method, target, body, headers or {})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, target):
        return self.ask("GET", target)

    def put_rules(self, text, query="?file=test.yaml"):
        return self.ask("PUT", "/v1/rules" + query, text)

    def put_mode(self, rule, mode):
        return self.ask("PUT", f"/v1/rules/{rule}/mode", json.dumps({"mode": mode}))

    def generation(self):
        return self.get("/v1/rules").json()["generation"]

    def connected(self):
        return self.get("/v1/health").json()["dataplane"]["connected"]

    def audit(self):
        return [json.loads(line) for line in (self.state / "audit.log").read_text().splitlines()]

    def raw(self):
        """A connection that speaks no HTTP by itself."""
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.socket)
        client.settimeout(60)
        return client


def can_connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
        except OSError:
            return False
        return True


def requests_of(dataplane):
    """What the dataplane was asked, without the questions that repeat."""
    return [word for word in dataplane.log.read_text().split() if word not in ("stats", "ping")]


def read_all(client):
    """What comes until the other end closes."""
    data = b""
    try:
        while part := client.recv(65536):
            data += part
    except ConnectionResetError:
        pass
    return data
