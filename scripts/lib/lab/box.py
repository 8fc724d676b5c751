"""The three programs as an operator starts them: dataplane, daemon, and the CLI that talks to it."""
import json
import os
import pathlib
import subprocess
import time

from commands import LabError, Process, call
import plan

START_SECONDS = 120  # a million buffers on small pages, on a machine that has other work
CONNECT_SECONDS = 30
TABLE_KEYS = 65536
IDLE_SLEEP = "50us"  # the worker shares its core with the hosts
KERNEL = "fail: open, heartbeat: 2s, early_drop: 64k"  # at af_xdp ports; all of it shares a few cores


class Programs:
    """Where the build put them."""

    def __init__(self, build):
        build = pathlib.Path(build).resolve()
        self.dataplane = build / "dataplane/sluice-dataplane"
        self.daemon = build / "control/daemon/sluiced"
        self.cli = build / "control/cli/sluicectl"


class Box:
    # Sockets by names relative to `folder`, where all of it runs: a path may be longer than an
    # address of a socket can be.
    DATAPLANE_SOCKET = "dataplane.sock"
    DAEMON_SOCKET = "sluiced.sock"
    table_keys = TABLE_KEYS
    workers_count = 1

    def __init__(self, programs, folder, idle_sleep=IDLE_SLEEP, mbufs=None, kernel=KERNEL):
        """Without `idle_sleep` the worker polls without pause; without `mbufs` there are as many as it needs."""
        self.programs, self.folder, self.kernel = programs, folder, kernel
        self.web = ""  # that part of sluice.yaml, for the dashboard
        self.pins = None
        self.workers = f"idle_sleep: {idle_sleep}" if idle_sleep else ""
        self.memory = f"mbufs: {mbufs}" if mbufs else ""
        self.state = folder / "state"
        self.state.mkdir()
        self.processes = []
        # DPDK keeps its run-time files here instead of under /var/run.
        os.environ["RUNTIME_DIRECTORY"] = str(folder)

    def start(self, network):
        self.write_config(network)
        self.start_dataplane(network)
        self.run("sluiced", [
            self.programs.daemon, *(("--config", self.folder / "sluice.yaml") if self.web else ()),
            "--socket", self.DAEMON_SOCKET,
            "--dataplane-socket", self.DATAPLANE_SOCKET, "--state-dir", self.state])
        self.wait_for(self.DAEMON_SOCKET)

    def write_config(self, network):
        config = self.folder / "sluice.yaml"
        config.write_text(f"""version: 1
ports:
  - name: lab
    outside: {{device: "{network.device(0)}"{self.queues()}}}
    inside: {{device: "{network.device(1)}"{self.queues()}}}
workers: {{lcores: "{lcores(self.workers_count)}", {self.workers}}}
memory: {{tables: {{keys: {self.table_keys}, state_dir: "{self.state}"}}, {self.memory}}}
sockets: {{dataplane: {{path: {self.DATAPLANE_SOCKET}}}}}
{self.web}{self.kernel_part(network)}""")

    def queues(self):
        return f", queues: {self.workers_count}" if self.workers_count > 1 else ""

    def kernel_part(self, network):
        """At af_xdp ports, whose program outlives the box: in a mount of its own, which goes with it."""
        if network.port_type != "af_xdp":
            return ""
        self.pins = self.folder / "bpf"
        self.pins.mkdir()
        call("mount", "-t", "bpf", "bpf", str(self.pins))
        return f"""kernel: {{{self.kernel}, pins: "{self.pins}"}}
management: {{allow: [icmp], to: [{plan.BOX_ADDRESS}], rate: 1000/s}}
"""

    def start_dataplane(self, network):
        config = self.folder / "sluice.yaml"
        self.run("sluice-dataplane", [*network.prefix(network.box), self.programs.dataplane,
                                      "--config", config])
        self.wait_for(self.DATAPLANE_SOCKET)

    def dataplane(self):
        return next(process for process in self.processes if process.name == "sluice-dataplane")

    def restart_dataplane(self, network):
        """At other ports: the rules that it runs are kept, and judge the first frame."""
        process = self.dataplane()
        process.stop()
        self.processes.remove(process)
        (self.folder / self.DATAPLANE_SOCKET).unlink(missing_ok=True)
        self.write_config(network)
        self.start_dataplane(network)
        self.once_connected("stats")

    def run(self, name, command):
        self.processes.append(Process(command, self.folder, name))

    def wait_for(self, socket):
        """The last program started has made its socket."""
        program = self.processes[-1]
        deadline = time.monotonic() + START_SECONDS
        while not (self.folder / socket).exists():
            if not program.running():
                program.complain("ended while it started")
            if time.monotonic() > deadline:
                program.complain(f"made no socket within {START_SECONDS} s")
            time.sleep(0.05)

    def ctl(self, *words):
        done = subprocess.run([str(self.programs.cli), "--socket", self.DAEMON_SOCKET,
                               *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, start_new_session=True)
        if done.returncode:
            raise LabError(f"sluicectl {' '.join(map(str, words))}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, rules):
        return self.once_connected("apply", rules).strip()

    def once_connected(self, *words):
        """Waits for the daemon to find its dataplane, which may take it a moment."""
        deadline = time.monotonic() + CONNECT_SECONDS
        while True:
            try:
                return self.ctl(*words)
            except LabError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def stats(self):
        return json.loads(self.ctl("stats", "--json"))

    def check_alive(self):
        for process in self.processes:
            if not process.running():
                process.complain("ended in the middle of the run")

    def stop(self):
        for process in reversed(self.processes):
            process.stop()
        # The buckets lie in memory that outlives the process, outside the folder.
        subprocess.run([str(self.programs.dataplane), "--forget", "--state-dir", str(self.state)],
                       stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True)
        if self.pins is not None:
            call("umount", "-l", str(self.pins), check=False)
            self.pins = None


def usable_cpus():
    return sorted(os.sched_getaffinity(0))


def worker_cpus(workers=1):
    """The last cores, never the first; where there are fewer, workers share them."""
    others = usable_cpus()[1:] or usable_cpus()
    mine = others[-workers:]
    return [mine[worker % len(mine)] for worker in range(workers)]


def lcores(workers=1):
    """Housekeeping on the first core; the last are the workers', and the hosts take the others."""
    return ",".join([f"0@{usable_cpus()[0]}",
                     *(f"{worker}@{cpu}" for worker, cpu in enumerate(worker_cpus(workers), 1))])


def host_cpus():
    return set(usable_cpus()[:-1]) or set(usable_cpus())


def pinned(command):
    cpus = ",".join(str(cpu) for cpu in sorted(host_cpus()))
    return ["taskset", "-c", cpus, *command]


