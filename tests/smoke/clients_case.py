"""Real clients of a box that answers, in front of real servers; tshark reads what went over both links."""
import subprocess

from both_ends import Watched
from http_case import HttpCase
from http_hosts import run_within
from programs import wait_until
from real_servers import start_nginx

RULES = """version: 1
rules:
  - {{id: page, mode: enforce, when: '{when}', key: [ip.src], per: {per},
     limits: [{{algorithm: token_bucket, rate: {rate}, burst: 1}}], on_exceed: {{{action}}}}}
"""


class ClientsCase(Watched, HttpCase):
    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.watch()

    def rules(self, action, when="l4.dport eq 80", per="request", rate="1/d"):
        self.apply(RULES.format(action=action, when=when, per=per, rate=rate))

    def run_outside(self, *command, **options):
        return subprocess.run(run_within(self.hosts.outside, *command), capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, **options)

    def connections(self, port):
        """Of the inside host, in any state but TIME-WAIT, where both sides have closed."""
        shown = subprocess.run(run_within(self.hosts.inside, "ss", "-Htan", "sport", "=", f":{port}"),
                               capture_output=True, text=True, check=True).stdout
        return [line for line in shown.splitlines() if not line.startswith(("LISTEN", "TIME-WAIT"))]

    def nothing_is_open(self, port=80):
        try:
            wait_until("the server to hold no connection", lambda: not self.connections(port))
        except AssertionError:
            self.fail(self.connections(port))

    def answers(self, event):
        return self.box.stats()["answers"][event]


class NginxCase(ClientsCase):
    def setUp(self):
        super().setUp()
        self.served = start_nginx(self.box, self.hosts.inside, self.ADDRESS)

    def served_are(self, paths):
        """nginx logs once it has answered."""
        wait_until("nginx to log", lambda: len(self.served()) >= len(paths))
        self.assertEqual(self.served(), paths)
