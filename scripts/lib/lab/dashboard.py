"""The dashboard with traffic behind it: the lab stays until ^C, its page on a loopback address."""
import contextlib
import json
import pathlib
import re
import socket
import sys
import time

from box import pinned
from commands import LabError, Process, call
import screenshots

RULES = pathlib.Path(__file__).parent / "scenario_rules.yaml"
SENDER = pathlib.Path(__file__).parent / "scenarios.py"
PORT = 8480  # or another one, if it is taken
GRACE = 10


def free_port():
    with socket.socket() as tried:
        try:
            tried.bind(("127.0.0.1", PORT))
        except OSError:
            tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


def web_part():
    """Lines of sluice.yaml."""
    return f"web: {{listen: \"127.0.0.1:{free_port()}\"}}\n"


def mac_of(network, host):
    [link] = json.loads(call("ip", "-n", host, "-j", "link", "show", "eth0"))
    return link["address"]


class Scenarios:
    """The sender of all four, until stop()."""

    def __init__(self, network, folder):
        self.process = Process(pinned([*network.prefix(network.outside), sys.executable, SENDER, "eth0",
                                       mac_of(network, network.inside), 0]), folder, "scenarios")

    def sent(self):
        """-> {port: frames}; ends it if it has not ended."""
        self.process.stop()
        return {int(port): count for port, count in json.loads(self.process.output().splitlines()[-1]).items()}

    def check_alive(self):
        if not self.process.running():
            self.process.complain("ended")

    def close(self):
        self.process.stop()


def link_of(box, role="admin"):
    """A link that lets one browser in."""
    said = box.ctl("dashboard", "--role", role)
    found = re.search(r"https?://\S+", said)
    if not found:
        raise LabError(f"sluicectl dashboard names no link: {said.strip()}")
    return found[0]


def show(box, network, folder, arguments, out):
    """Until ^C, or for so many seconds; -> frames that were sent, by port. At its end, pictures are taken where they are
    asked for."""
    seconds = arguments.duration
    print(box.apply(RULES), file=out, flush=True)
    with contextlib.closing(Scenarios(network, folder)) as scenarios:
        print(f"""
The dashboard, with traffic of four kinds behind it (typical, too-tight, too-loose, bots):

    {link_of(box)}

The link lets one browser in, within five minutes. For another one, as root:
    {box.programs.cli} --socket {folder / box.DAEMON_SOCKET} dashboard --role admin
^C ends all of it.""", file=out, flush=True)
        begin = time.monotonic()
        while seconds is None or time.monotonic() - begin < seconds:
            time.sleep(0.5)
            box.check_alive()
            scenarios.check_alive()
        if arguments.screenshots:
            screenshots.take(link_of(box, "operate"), arguments.screenshots, folder)
        return scenarios.sent()
