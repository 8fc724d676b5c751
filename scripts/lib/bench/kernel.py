"""K1: a banned flood that the program in the kernel drops, beside the box that drops it by itself on the
same ports. K2: from `kill -9` to the first frame that the kernel forwards, and back to the box."""
import contextlib
import json
import pathlib
import secrets
import signal
import statistics
import subprocess
import sys
import time

from box import Box
from commands import LabError
from network import Network, may_make_namespaces
import numbered
import rows

HERE = pathlib.Path(__file__).parent
BENCHES = {}
TARGETS = dict.fromkeys(("K1", "K2"), ("dataplane/sluice-dataplane", "control/daemon/sluiced",
                                       "control/cli/sluicectl"))
DENY = "version: 1\nrules:\n  - {{id: deny, mode: enforce, on_match: drop, when: '{when}'}}\n"
SOURCE = "ip.src in {10.77.1.0/24}"
# The same packets, and nothing that a proof could be made of.
SOURCE_AND_MORE = SOURCE + " and l4.dport eq 9"
OPEN = ("version: 1\nrules:\n  - {id: all, mode: monitor, key: [ip.dst], "
        "limits: [{algorithm: token_bucket, rate: 1000000/s, burst: 1000000}]}\n")
REPEAT = 1_000_000
RATE = 5000  # frames a second of K2
HEARTBEATS = (100, 10)  # ms
SETTLE = 1.0
PATIENCE = 30.0


@contextlib.contextmanager
def lab(bench, kernel, rules):
    """The box between two hosts over af_xdp."""
    refusal = may_make_namespaces("k" + secrets.token_hex(2))
    if refusal:
        raise rows.BenchError(f"no privilege for network namespaces: {refusal}")
    with bench.folder() as folder, contextlib.ExitStack() as cleaning:
        network = Network(secrets.token_hex(3), "af_xdp")
        cleaning.callback(network.close)
        network.open()
        for host in (network.outside, network.inside):
            # What the kernel forwards into a veth is taken at its other end by NAPI, which GRO brings along.
            network.run_in(host, "ethtool", "-K", "eth0", "gro", "on")
        box = Box(bench.programs, folder, kernel=kernel)
        cleaning.callback(box.stop)
        box.start(network)
        apply(box, rules)
        yield network, box


def apply(box, rules):
    path = box.folder / "rules.yaml"
    path.write_text(rules)
    box.apply(path)


class Program:
    """One that says `ready`, works until its input ends, and then prints what it did."""

    def __init__(self, network, host, *words):
        self.process = subprocess.Popen([*network.prefix(host), sys.executable, *map(str, words)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise rows.BenchError(f"{words[0]} did not begin")

    def end(self):
        return json.loads(self.process.communicate("\n", timeout=60)[0])

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


@contextlib.contextmanager
def running(network, host, *words):
    program = Program(network, host, *words)
    try:
        yield program
    finally:
        program.kill()


def deny_counts(box):
    stats = box.stats()
    rule = next(rule for rule in stats["rules"] if rule["id"] == "deny")
    return rule.get("early_dropped", 0) + rule["exceeded"], stats["uptime_s"]


def dropped_rate(network, box, seconds):
    """Million packets a second of a flood as fast as the link takes it."""
    flood = (HERE / "live_frames.py", "eth0", numbered.frame(0).hex())
    with running(network, network.outside, *flood):
        time.sleep(SETTLE)
        before, began = deny_counts(box)
        time.sleep(seconds)
        after, ended = deny_counts(box)
    return (after - before) / (ended - began) / 1e6


def program_ns(bench):
    """Of one frame that is dropped early, by BPF_PROG_TEST_RUN."""
    with lab(bench, "early_drop: 64k, heartbeat: 1s", DENY.format(when=SOURCE)) as (_, box):
        frame = box.folder / "frame"
        frame.write_bytes(numbered.frame(0))
        port = next(port for port in json.loads(box.ctl("xdp", "status", "--json"))["ports"]
                    if port["side"] == "outside")
        run = subprocess.run(["bpftool", "-j", "prog", "run", "id", str(port["kernel"]["program"]), "data_in",
                              str(frame), "repeat", str(REPEAT)], check=True, capture_output=True, text=True)
        if deny_counts(box)[0] < REPEAT:
            raise rows.BenchError("the program did not drop the frame early")
        return json.loads(run.stdout)["duration"]


def early_drop(bench, _):
    def early():
        with lab(bench, "early_drop: 64k, heartbeat: 1s", DENY.format(when=SOURCE)) as (network, box):
            return dropped_rate(network, box, bench.seconds)

    def by_the_box():
        with lab(bench, "early_drop: 64k, heartbeat: 1s", DENY.format(when=SOURCE_AND_MORE)) as (network, box):
            return dropped_rate(network, box, bench.seconds)

    rows.note("K1 live")
    medians = rows.interleaved([("dropped early", early), ("dropped by the box", by_the_box)], bench.rounds)
    yield rows.compared("K1", "a banned flood over af_xdp on veth, live", medians, "Mpps", (5, 10))
    box_ns = 1e3 / medians["dropped by the box"]
    rows.note("K1 alone")
    taken = [program_ns(bench) for _ in range(bench.rounds)]
    program = statistics.median(taken)
    yield {"id": "K1", "case": "one such packet, by BPF_PROG_TEST_RUN", "value": round(program, 1), "unit": "ns",
           "reference": "the box, from its rate", "reference_value": round(box_ns, 1),
           "ratio": round(box_ns / program, 2), "bar": 5, "goal": 10, "better": "lower",
           "bar_is": "least", "rounds": taken, "rounds_are": rows.VALUES}


def wait_for_box(box):
    deadline, ports = time.monotonic() + PATIENCE, []
    while time.monotonic() < deadline:
        with contextlib.suppress(LabError):
            ports = json.loads(box.ctl("xdp", "status", "--json"))["ports"]
        if ports and not any(port["kernel"]["takes_over"] for port in ports):
            return
        time.sleep(0.05)
    raise rows.BenchError("the box did not come back")


def kill_once(bench, heartbeat):
    """ms from the kill to the first bridged frame; frames lost from there on, over the box's return: how many, and
    ms since the kill."""
    with lab(bench, f"heartbeat: {heartbeat}ms", OPEN) as (network, box):
        wait_for_box(box)
        with running(network, network.inside, HERE / "numbered.py", "take", "eth0") as taker, \
                running(network, network.outside, HERE / "numbered.py", "send", "eth0", RATE) as sender:
            time.sleep(SETTLE)
            dataplane = box.processes[0].process
            killed = time.time_ns()
            dataplane.send_signal(signal.SIGKILL)
            dataplane.wait()
            time.sleep(SETTLE)
            del box.processes[0]
            (box.folder / box.DATAPLANE_SOCKET).unlink(missing_ok=True)
            box.start_dataplane(network)
            time.sleep(2 * SETTLE)
            sent, came = sender.end(), taker.end()
    came.sort()
    # Each gap by its end. What the box had taken is lost with it: the first frame behind that was bridged.
    gaps = [(later[0] - earlier[0] - 1, (later[2] - killed) / 1e6) for earlier, later in zip(came, came[1:])
            if later[1] >= killed and later[0] > earlier[0] + 1]
    return gaps[0][1], [*gaps[1:], *([(sent - 1 - came[-1][0], None)] if came[-1][0] != sent - 1 else [])]


def fail_open(bench, _):
    for heartbeat in HEARTBEATS:
        rows.note(f"K2 heartbeat {heartbeat} ms")
        taken = [kill_once(bench, heartbeat) for _ in range(bench.rounds)]
        for ms, gaps in taken:
            rows.note(f"  {ms:.1f} ms to the first bridged frame; lost from there on (frames, until ms): {gaps}")
        beyond = statistics.median(ms for ms, _ in taken) - heartbeat
        yield {"id": "K2", "case": f"kill -9 to the first bridged packet, beyond a heartbeat of {heartbeat} ms",
               "value": round(beyond, 2), "unit": "ms", "reference": "", "reference_value": None, "ratio": None,
               "bar": 20, "goal": 5, "better": "lower", "rounds": [round(ms - heartbeat, 2) for ms, _ in taken],
               "rounds_are": rows.VALUES}
        yield {"id": "K2", "case": f"lost when the box is back, heartbeat {heartbeat} ms",
               "value": max(sum(lost for lost, _ in gaps) for _, gaps in taken), "unit": "packets of 5,000/s", "reference": "",
               "reference_value": None, "ratio": None, "bar": 0, "goal": 0, "better": "lower"}


BENCHES.update({"K1": early_drop, "K2": fail_open})
