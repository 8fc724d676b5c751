"""A whole box between two hosts, under a flood that goes on: what is attacked, and what must hold meanwhile."""
import dataclasses
import pathlib
import sys

SMOKE = pathlib.Path(__file__).resolve().parent.parent / "smoke"
SERVED = SMOKE.with_name("served")
sys.path.insert(0, str(SMOKE))
from host_flood import Flow, HostFlood  # noqa: E402
from programs import Box, Hosts, ip, wait_until  # noqa: E402, F401

BURST = 50
SOURCES = 8
RATE = 3000  # frames a second, of all sources to all hosts
CLOSED, LIMITED, FREE = range(3)  # hosts: nothing reaches the first, BURST frames of each source the second

RULES = f"""version: 1
rules:
  - id: closed
    mode: enforce
    when: ip.dst eq 10.79.0.{CLOSED}
    on_match: drop
  - id: limited
    mode: enforce
    when: ip.dst eq 10.79.0.{LIMITED}
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: 1/d, burst: {BURST}}}]
"""


@dataclasses.dataclass
class Outcome:
    attempts: int = 0
    survived: int = 0
    broken: list = dataclasses.field(default_factory=list)  # what did not hold, in words

    def expect(self, holds, words):
        if not holds:
            self.broken.append(words)
        return holds


class Target:
    """Begins with `with`; `config`: more of its sluice.yaml."""

    def __init__(self, programs, rules=RULES, config=None, hosts=3, rate=RATE):
        self.box = Box(*programs)
        self.hosts = Hosts()
        self.flow = Flow(SOURCES, hosts, rate)
        self.flood = HostFlood(self.hosts, self.flow)
        self.rules, self.config = rules, config

    def begin_flood(self):
        """Another one, in the place of one that has ended."""
        self.flood = HostFlood(self.hosts, self.flow)
        self.flood.__enter__()

    def __enter__(self):
        try:
            self.hosts.open()
            self.start_dataplane()
            self.box.start_sluiced()
            self.apply(self.rules)
            self.flood.__enter__()
            self.wait_until_it_carries()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.flood.__exit__()
        self.box.close()
        self.hosts.close()

    def start_dataplane(self):
        self.box.start_dataplane("net_af_packet0,iface=o", "net_af_packet1,iface=i", self.config,
                                 netns=self.hosts.box)

    def apply(self, rules):
        self.box.wait_for_link(True)
        done = self.box.apply(rules, "--force")
        assert done.returncode == 0, done.stderr
        return done

    def came_to(self, wanted):
        """Frames that reached a host."""
        return sum(count for (_, host), count in self.flood.came().items() if host == wanted)

    def wait_until_it_carries(self):
        """Until frames that no rule limits come through."""
        before = self.came_to(FREE)
        wait_until("frames that no rule limits", lambda: self.came_to(FREE) > before + SOURCES)

    def carries(self):
        try:
            self.wait_until_it_carries()
        except AssertionError:
            return False
        return True

    def most_of_a_source(self, wanted=LIMITED):
        """The most frames of one source that reached a host."""
        return max((count for (_, host), count in self.flood.came().items() if host == wanted), default=0)

    def spend_all(self):
        """Until no source may send the limited host anything more."""
        def spent():
            came = self.flood.came()
            return all(came.get((source, LIMITED), 0) >= BURST for source in range(SOURCES))
        wait_until("every source to have spent its burst", spent)

    def expect_the_bound(self, outcome, burst=BURST):
        past = self.came_to(CLOSED)
        outcome.expect(past == 0, f"{past} frames past an always-drop rule")
        most = self.most_of_a_source()
        outcome.expect(most <= burst, f"{most} of {burst} frames of one source")
        return not outcome.broken
