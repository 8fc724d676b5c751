"""The three real programs, started for a test and gone with it."""
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from box_file import merged, pair, write_box_file

PATIENCE = 60.0  # seconds for something that takes well under one on an idle machine


def wait_until(what, condition, seconds=PATIENCE):
    """Polls, the less often the longer it takes: nothing here is measured, so a slow machine only waits longer."""
    begin = time.monotonic()
    while (waited := time.monotonic() - begin) < seconds:
        value = condition()
        if value:
            return value
        time.sleep(min(0.02 + waited / 20, 0.1))
    raise AssertionError(f"waited in vain for {what}")


def wait_until_still(what, read, still=0.5, seconds=60):
    """Until `read()` has given the same for so many seconds; what it gave."""
    deadline = time.monotonic() + seconds
    value, since = read(), time.monotonic()
    while time.monotonic() - since < still:
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what} to stand still")
        time.sleep(0.05)
        if (now := read()) != value:
            value, since = now, time.monotonic()
    return value


# What is drawn at random in a test is drawn from here: SLUICE_TEST_SEED=N repeats a run.
SEED = int(os.environ.get("SLUICE_TEST_SEED", "1"))


def dice(what):
    """A source of its own for each use, its seed printed."""
    print(f"{what}: SLUICE_TEST_SEED={SEED}", flush=True)
    return random.Random(f"{SEED} {what}")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Box:
    """A folder with sockets and state, and the programs that use it."""

    def __init__(self, dataplane, sluiced, sluicectl):
        self.dataplane_program, self.sluiced_program = dataplane, sluiced
        self.sluicectl = sluicectl
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-test-"))
        self.dataplane_socket = str(self.folder / "dataplane.sock")
        self.api_socket = str(self.folder / "sluiced.sock")
        self.box_file = self.folder / "sluice.yaml"
        self.running = []
        self.dataplane = self.sluiced = None
        self.dataplane_state = "state"
        self.wrapper = []  # words before the commands of both daemons
        self.seeded_rss = True  # the same spread over workers each time; False: the dataplane draws its key

    def start_dataplane(self, outside, inside, config=None, wait=True, netns=None, uptime=None):
        """`config`: what is to stand in its sluice.yaml besides, or otherwise. `uptime`: for how many
        days the machine seems to be up."""
        # Ports of net_null have no rings to be filled.
        few = {"mbufs": 4096} if outside.startswith("net_null") and inside.startswith("net_null") else {}
        write_box_file(self.box_file, merged({
            "version": 1,
            "ports": [pair(outside, inside)],
            "workers": {"idle_sleep": "1ms"},
            "memory": {"hugepages": "none", **few, "tables": {
                "keys": 4096, "state_dir": self.folder / self.dataplane_state}},
            "database_key": self.folder / "database-key",
            "sockets": {"dataplane": {"path": self.dataplane_socket}}}, config or {}))
        command = ["ip", "netns", "exec", netns] if netns else []
        if uptime:
            command += ["unshare", "--time", "--boottime", str(uptime * 86_400), "--kill-child"]
        self.write_rss_key()
        self.dataplane = self.start([*command, *self.wrapper, self.dataplane_program, "--config",
                                     self.box_file], "dataplane.log")
        if wait:
            wait_until("the dataplane's socket", self.dataplane_answers)
        return self.dataplane

    def dataplane_answers(self):
        if self.dataplane.poll() is not None:
            raise AssertionError("the dataplane has ended: " + self.log("dataplane.log")[-1000:])
        return self.answers(self.dataplane_socket)

    def write_rss_key(self):
        """Where there is none yet, in the form of dataplane/port/rss_keys.cpp."""
        path = self.folder / self.dataplane_state / "rss-key"
        if self.seeded_rss and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"sluice rss key 1\n" + dice("RSS key").randbytes(66))
            path.chmod(0o600)

    def start_sluiced(self, *more, state="policy", connected=True, key="database-key"):
        self.sluiced = self.start(
            [*self.wrapper, self.sluiced_program, "--socket", self.api_socket, "--dataplane-socket",
             self.dataplane_socket, "--database-key", str(self.folder / key), "--state-dir", str(self.folder / state), *more],
            "sluiced.log")
        wait_until("the API's socket", lambda: self.answers(self.api_socket))
        if connected:
            self.wait_for_link(True)
        return self.sluiced

    def start(self, command, log):
        with open(self.folder / log, "ab") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        self.running.append(process)
        return process

    @staticmethod
    def answers(path):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return probe.connect_ex(path) == 0

    def log(self, name):
        return (self.folder / name).read_text(errors="replace")

    def kill(self, process, number=signal.SIGKILL):
        process.send_signal(number)
        return process.wait(PATIENCE)

    def api(self, method, path, body=None):
        connection = UnixConnection(self.api_socket)
        connection.request(method, path, body)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def stats(self):
        status, text = self.api("GET", "/v1/stats")
        return json.loads(text) if status == 200 else None

    def ports(self):
        return {port["side"]: port for port in json.loads(self.api("GET", "/v1/ports")[1])["ports"]}

    def workers(self):
        return json.loads(self.api("GET", "/v1/workers")[1])["workers"]

    def wait_for_link(self, up):
        wait_until("sluiced and the dataplane to meet", lambda: json.loads(
            self.api("GET", "/v1/health")[1])["dataplane"]["connected"] == up)

    def ctl(self, *arguments, **options):
        return subprocess.run([self.sluicectl, "--socket", self.api_socket, *arguments],
                              capture_output=True, text=True, timeout=PATIENCE, **options)

    def follow(self, *arguments):
        """A command that goes on, with its lines to be read."""
        return subprocess.Popen([self.sluicectl, "--socket", self.api_socket, *arguments],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def apply(self, rules, *more):
        path = self.folder / "rules.yaml"
        path.write_text(rules)
        return self.ctl("apply", str(path), *more)

    def forget(self):
        """What a dataplane keeps lies outside the folder too: in memory that outlives it."""
        return subprocess.run([self.dataplane_program, "--forget", "--state-dir",
                               str(self.folder / self.dataplane_state)], capture_output=True,
                              text=True, timeout=PATIENCE)

    @staticmethod
    def terminate(process):
        """`unshare` passes no signal on to what it has forked, and would be waited for in vain."""
        if process.args[0] == "unshare":
            for pid in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGTERM)
        process.send_signal(signal.SIGTERM)

    def close(self):
        for process in self.running:
            if process.poll() is None:
                self.terminate(process)
        for process in self.running:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if (self.folder / self.dataplane_state).exists():
            self.forget()
        shutil.rmtree(self.folder, ignore_errors=True)


class Hosts:
    """Two hosts and a box between them, each in a network namespace."""

    def __init__(self):
        tag = f"{os.getpid() % 100000}"
        self.box, self.outside, self.inside = (f"slt{tag}-{name}" for name in ("box", "out", "in"))
        self.made = []

    def open(self):
        for name in (self.box, self.outside, self.inside):
            self.made.append(name)
            ip("netns", "add", name)
        self.connect_outside()
        self.connect(self.inside, "i", "10.78.0.2/24")

    def connect_outside(self):
        self.connect(self.outside, "o", "10.78.0.1/24")

    def connect(self, host, end, address):
        """A new link from the host to the box."""
        ip("-n", self.box, "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", host)
        ip("netns", "exec", self.box, "sysctl", "-qw", f"net.ipv6.conf.{end}.disable_ipv6=1")
        ip("netns", "exec", host, "sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=1")
        ip("netns", "exec", host, "ethtool", "-K", "eth0", "tx", "off", "gso", "off", "gro", "off")
        ip("-n", host, "address", "add", address, "dev", "eth0")
        ip("-n", host, "link", "set", "eth0", "up")
        ip("-n", self.box, "link", "set", end, "up")

    def close(self):
        for name in self.made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=PATIENCE)
