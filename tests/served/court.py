"""The box between raw clients and real servers, and the one law: served <= counted."""
import collections
import contextlib
import dataclasses
import itertools
import os
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "smoke"))
from http_hosts import run_within  # noqa: E402
from heads import OTHER, get  # noqa: E402
from law import REFUSED, is_refused, is_uncounted  # noqa: E402
from plan import Open, Plan, Send, Wait, flows  # noqa: E402
from programs import Box, Hosts, ip, wait_until, wait_until_still  # noqa: E402
import beyond  # noqa: E402
import engine  # noqa: E402
import evasions  # noqa: E402
import rule_files  # noqa: E402
import wire  # noqa: E402

FIRST_SERVER = 11  # last octet
HONEST = "10.78.0."  # of the clients of other parts, which have kernels
RESET = "undefined"  # Node's word for the address of a connection that was reset before it was accepted
LOGIN = "/login"
BATCH_SECONDS = 8
ATTEMPTS = 3  # of what was refused: a frame may be lost on the way
SETTLE = 0.05  # seconds for what still comes when all plans are done
STILL = 0.2  # seconds without another line of a log
TURNS = 2  # of a worker, the second of which began behind what was before the first
LAST_SLOT = rule_files.SLOTS - 1  # of clients who let pass what came before them; no rule of FEW slots is over it
LEAST_TTL = 5  # of what comes to a server: as many routers seem to lie before it
KEYS = 1 << 19
CONFIG = {"memory": {"tables": {"keys": KEYS}}, "workers": {"idle_sleep": "100us"}}
HOPS = """table ip hops {{
    chain arrived {{ type filter hook prerouting priority -300; ip ttl < {least} drop; }}
}}
"""


LAST = Plan("the last", flows("the last"), (Open(), Send(get(OTHER)), Wait()))
LAST_SECONDS = 4


@dataclasses.dataclass
class Seen:
    """Of one plan before one server: what was served, what was counted, and what the client knows."""
    plan: object
    server: str
    logins: int = 0
    requests: int = 0
    counted: int = 0
    answered: bool = False
    failed: str = ""
    client: str = ""


class Court:
    """Begins with `with`."""
    CLIENTS = rule_files.CLIENTS
    SLOTS = rule_files.FEW  # that have rules in each of its parts

    def __init__(self, programs, names, workers=1):
        self.box, self.hosts, self.workers = Box(*programs), Hosts(), workers
        self.names, self.servers, self.link = names, {}, None
        self.numbers = [0] * rule_files.SLOTS
        self.seen_of = {}  # by client: a log may be late
        self.of_nobody = collections.Counter()  # logins by server
        self.lines = 0  # of logs, so far
        self.strange = []  # lines of logs that are nobody's, in words

    def __enter__(self):
        try:
            self.hosts.open()
            self.lay_out()
            self.start_dataplane()
            self.box.start_sluiced()
            for number, name in enumerate(self.names):
                self.servers[name] = beyond.start(self.box, self.hosts.inside, name, self.address(number))
            self.link = engine.Link(self.hosts.outside, mac(self.hosts.inside), mac(self.hosts.outside))
            self.engine = engine.Engine(self.link)
            self.wait_until_it_carries()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.ExitStack() as last:  # whatever fails before
            last.callback(self.hosts.close)
            last.callback(self.box.close)
            for server in self.servers.values():
                last.callback(server.close)
            if self.link:
                self.link.close()

    def config(self):
        """Of sluice.yaml, beside what every box of these tests has."""
        return {**CONFIG, "workers": {**CONFIG["workers"], "lcores": lcores(self.workers)}}

    def start_dataplane(self):
        """af_packet would have the kernel put fragments together before the box sees them."""
        self.box.start_dataplane("net_af_xdp0,iface=o", "net_af_xdp1,iface=i", self.config(), netns=self.hosts.box)

    @staticmethod
    def address(number):
        return f"10.78.0.{FIRST_SERVER + number}"

    def lay_out(self):
        """Addresses of servers; clients, of whom no kernel knows, behind the outside host, which answers ARP alone."""
        inside, outside = self.hosts.inside, self.hosts.outside
        ip("-n", inside, "link", "set", "lo", "up")
        for number in range(len(self.names)):
            ip("-n", inside, "address", "add", f"{self.address(number)}/24", "dev", "eth0")
        ip("-n", inside, "neighbour", "add", "10.78.0.1", "lladdr", mac_text(outside), "dev", "eth0")
        ip("-n", inside, "route", "add", str(rule_files.CLIENTS), "via", "10.78.0.1")
        for namespace, name, value in ((inside, "net.ipv4.tcp_max_syn_backlog", 8192), (inside, "net.core.somaxconn", 4096),
                                       (inside, "net.ipv4.tcp_syncookies", 0), (outside, "net.ipv4.ip_forward", 0)):
            subprocess.run(run_within(namespace, "sysctl", "-qw", f"{name}={value}"), check=True, capture_output=True)
        subprocess.run(run_within(inside, "nft", "-f", "-"), input=HOPS.format(least=LEAST_TTL), text=True, check=True,
                       capture_output=True)

    def apply(self, rules):
        """Returns once each worker judges by them."""
        done = self.box.apply(rules, "--force")
        if done.returncode:
            raise AssertionError(f"rules: {done.stderr}")
        before = self.turns()
        wait_until("workers to take rules", lambda: all(now >= then + TURNS for now, then in zip(self.turns(), before)))

    def turns(self):
        """Of each worker; it takes new rules between two of them."""
        return [worker["bursts"] for worker in self.box.workers()]

    def counted(self):
        """Admitted of each slot."""
        rules = {rule["id"]: rule["admitted"] for rule in self.box.stats()["rules"]}
        return [rules.get(f"slot{slot}", 0) for slot in range(rule_files.SLOTS)]

    def reasons(self):
        return {name: count for name, count in self.box.stats()["reasons"].items() if count}

    def events(self):
        """Of connections, as far as there were any."""
        stats = self.box.stats()
        return {name: count for events in ("connection_events", "tracking") for name, count in stats[events].items() if count}

    def next_client(self, slot):
        self.numbers[slot] += 1
        return rule_files.client(slot, self.numbers[slot], self.CLIENTS)

    def wait_until_it_carries(self):
        """Until each server has answered a request, so that all links and tables of neighbours are there."""
        self.apply(rule_files.WITHOUT)
        for name, plan in self.first_plans().items():
            trial = [(plan, name)]
            wait_until(f"{name} to serve", lambda trial=trial: self.try_some(trial, 2)[0].logins)

    def first_plans(self):
        """A login by the name of each server."""
        return {name: evasions.EVASIONS[0].plan(name) for name in self.names}

    def judge(self, one, run):
        """What was served of a run, where a server's log does not tell."""

    def try_all(self, trials, seconds, slots=0):
        """[(plan, name of a server)], each from an address of its own: what was seen of each, in the same order. `slots`: that
        have rules, where they are not as many as usual."""
        out, slots = [], slots or self.SLOTS
        for begin in range(0, len(trials), slots):
            out += self.try_some(trials[begin:begin + slots], seconds)
        return out

    def try_some(self, trials, seconds):
        before = self.counted()
        seen = self.run(trials, range(len(trials)), seconds)
        self.let_pass({name for _, name in trials})
        wait_until_still("logs", self.taken_lines, STILL)
        for one, new, old in zip(seen, self.counted(), before):
            one.counted = new - old
        self.weigh(seen)
        return seen

    def runs(self, trials, slots):
        return [engine.Run(plan, self.next_client(slot), engine.Target(self.servers[name].target, plan.port), self.link)
                for slot, (plan, name) in zip(slots, trials)]

    def run(self, trials, slots, seconds):
        """What was seen of each, as far as its server has told by then."""
        runs = self.runs(trials, slots)
        seen = [Seen(plan, name, client=text(run.client)) for (plan, name), run in zip(trials, runs)]
        self.seen_of |= {one.client: one for one in seen}
        by_client = self.engine.run(runs, seconds)
        self.engine.settle(by_client, SETTLE)
        self.box_is_alive()
        for server in self.servers.values():
            server.resume()
            server.flush()
        self.take_lines()
        for one, run in zip(seen, runs):
            one.failed, one.answered = run.failed, any(peer.received for peer in run.peers.values())
            self.judge(one, run)
        return seen

    def send_until(self, trials, seconds, is_enough):
        """What trials send, until it is enough, and no longer than they take, with nothing of it on its way any more; nobody
        asks what was served."""
        runs = self.runs(trials, range(len(trials)))
        self.seen_of |= {text(run.client): Seen(run.plan, name) for run, (_, name) in zip(runs, trials)}
        self.engine.settle(self.engine.run(runs, seconds, is_enough), SETTLE)
        self.let_pass({name for _, name in trials})

    def let_pass(self, names):
        """Until each of these servers has served what was sent behind all else, so that nothing of that is on its way any more:
        a box or a server that has no time for long serves late, and is heard of later."""
        left = set(names)

        def are_served():
            seen = self.run([(self.last_plan(name), name) for name in sorted(left)], itertools.repeat(LAST_SLOT), LAST_SECONDS)
            wait_until_still("logs", self.taken_lines, SETTLE)
            left.difference_update(one.server for one in seen if one.requests)
            return not left

        wait_until("what was sent last to be served", are_served)

    def last_plan(self, _):
        """A request that no rule counts among logins."""
        return LAST

    def taken_lines(self):
        """How many lines of logs have been somebody's so far."""
        self.take_lines()
        return self.lines

    def weigh(self, seen):
        """Logins of connections that were reset before Node knew whose they are, against what was counted and not served."""
        for name, logins in self.of_nobody.items():
            spare = sum(one.counted - one.logins for one in seen if one.server == name)
            if logins > spare:
                self.strange.append(f"{name}: {logins} served UNCOUNTED, of whom it does not know: {spare} counted and not served")
        self.of_nobody.clear()

    def once_more(self, cells, seconds, slots=0):
        """Cells with what seems refused tried again, under the rules that are in force."""
        cells = list(cells)
        for _ in range(ATTEMPTS - 1):
            places = [place for place, cell in enumerate(cells) if cell.verdict() == REFUSED]
            trials = [(cells[place].counted.plan, cells[place].counted.server) for place in places]
            for place, seen in zip(places, self.try_all(trials, seconds, slots)):
                cells[place] = dataclasses.replace(cells[place], counted=seen)
        return cells

    def without_the_lost(self, seen, anew=lambda one: one.plan, seconds=BATCH_SECONDS):
        """What seems refused is tried again."""
        for _ in range(ATTEMPTS - 1):
            places = [place for place, one in enumerate(seen) if is_refused(one) and not is_uncounted(one)]
            if not places:
                break
            once_more = self.try_some([(anew(seen[place]), seen[place].server) for place in places], seconds)
            for place, one in zip(places, once_more):
                seen[place] = one
        return seen

    def take_lines(self):
        for server in self.servers.values():
            for client, path in server.new_lines():
                self.lines += 1
                one = self.seen_of.get(client)
                if one is not None:
                    one.requests += 1
                    one.logins += path == LOGIN
                elif client == RESET:
                    self.of_nobody[server.name] += path == LOGIN
                elif not client.startswith(HONEST):
                    self.strange.append(f"{server.name} served {path} to {client or 'nobody'}, who is no client of this run")

    def box_is_alive(self):
        for process, log in ((self.box.dataplane, "dataplane.log"), (self.box.sluiced, "sluiced.log")):
            if process.poll() is not None:
                raise AssertionError(f"the box has ended: {self.box.log(log)[-2000:]}")


def lcores(workers):
    """Housekeeping and so many workers, over the CPUs that there are."""
    cpus = sorted(os.sched_getaffinity(0))
    return ",".join(f"{number}@{cpus[number % len(cpus)]}" for number in range(workers + 1))


def text(packed):
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)


def mac_text(namespace):
    return subprocess.run(run_within(namespace, "cat", "/sys/class/net/eth0/address"), check=True, capture_output=True,
                          text=True).stdout.strip()


def mac(namespace):
    return bytes.fromhex(mac_text(namespace).replace(":", ""))
