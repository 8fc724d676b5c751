"""The two programs that forward between a pair of ports: sluice-dataplane, and what it is measured
against, dpdk-testpmd in mac mode. Each with one worker on the last core."""
import contextlib
import os
import pathlib
import re
import secrets
import select
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "lab"))
from box import START_SECONDS, Box, lcores  # noqa: E402
from commands import LabError, die_with_us  # noqa: E402

RECEIVED = re.compile(r"^\s*RX-packets:\s*(\d+)", re.M)
SENT = re.compile(r"^\s*TX-packets:\s*(\d+)", re.M)
PROMPT = "testpmd> "
LAST_OF_PORT = "Tx-bps:"
MBUFS = 32768
WARM_UP = 0.5  # seconds
ANSWER_SECONDS = 20


def cores(workers=1):
    return lcores(workers)


class Testpmd:
    """dpdk-testpmd, spoken to as a person would."""

    def __init__(self, folder, devices, lcores, eal=(), options=()):
        # Line by line: what testpmd prints would otherwise stay in its buffer.
        command = ["stdbuf", "-oL", "dpdk-testpmd", "--lcores", lcores, "--no-pci", "--no-telemetry",
                   *eal, *(f"--vdev={device}" for device in devices), "--", "--interactive",
                   f"--total-num-mbufs={MBUFS}", "--auto-start", *options]
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=folder, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=die_with_us, env={**os.environ, "RUNTIME_DIRECTORY": str(folder)})
        self.read_until(PROMPT, 1, START_SECONDS)

    def read_until(self, mark, times, seconds=ANSWER_SECONDS):
        """The prompt is no such mark later on: it is drawn again with each character read."""
        text, output = "", self.process.stdout.fileno()
        deadline = time.monotonic() + seconds
        while text.count(mark) < times:
            ready, _, _ = select.select([output], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(output, 65536).decode(errors="replace") if ready else ""
            if not piece:
                what = "has ended" if ready else f"gave no answer within {seconds} s"
                raise LabError(f"dpdk-testpmd {what}: {text[-2000:]}")
            text += piece
        return text

    def received(self):
        """Packets received on both ports so far, and when that was."""
        return self.counted(RECEIVED)

    def counted(self, what):
        self.process.stdin.write(b"show port stats all\n")
        self.process.stdin.flush()
        answer = self.read_until(LAST_OF_PORT, 2)
        return sum(int(count) for count in what.findall(answer)), time.monotonic()

    def sent(self):
        """Packets that left by both ports so far, and when that was."""
        return self.counted(SENT)

    def stop(self):
        with contextlib.suppress(OSError):
            self.process.stdin.write(b"quit\n")
            self.process.stdin.flush()
        try:
            self.process.communicate(timeout=ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def huge_pages():
    """What testpmd needs to be told when the machine has no huge page to give."""
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("HugePages_Free:") and int(line.split()[1]) >= 128:
            return ("--in-memory", "-m", "256")
    return ("--no-huge", "-m", "512", "--file-prefix", f"bench{secrets.token_hex(3)}")


class Bare:
    """In a benchmark the box runs where the script runs: no namespace around it."""
    box = port_type = None

    def __init__(self, devices):
        self.devices = devices

    def prefix(self, _):
        return ()

    def device(self, index):
        return self.devices[index]


class Sluice:
    """The box of scripts/run over the given devices, polling without pause if nothing else is said."""

    def __init__(self, programs, folder, devices, rules, **box):
        """`box`: idle_sleep, table_keys, workers_count, where they are others than the box's own."""
        self.box = Box(programs, folder, idle_sleep=box.pop("idle_sleep", None), mbufs=MBUFS)
        vars(self.box).update(box)
        self.box.ctl("check", rules)
        try:
            self.box.start(Bare(devices))
            self.box.apply(rules)
        except BaseException:  # nobody has it yet who could stop it
            self.box.stop()
            raise

    def received(self):
        stats = self.box.stats()
        return stats["packets"], stats["uptime_s"]

    def sent(self):
        """What it admitted and a port took."""
        stats = self.box.stats()
        return stats["reasons"]["within_limits"], stats["uptime_s"]

    def stop(self):
        self.box.stop()


def rate(counter, seconds):
    """Million packets a second that it receives."""
    return rate_of(counter.received, seconds)


def rate_of(count, seconds):
    """Million a second of whatever is counted: `count()` -> (how many so far, when)."""
    time.sleep(WARM_UP)
    before, begin = count()
    time.sleep(seconds)
    after, end = count()
    return (after - before) / (end - begin) / 1e6
