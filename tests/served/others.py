"""Servers of TLS, QUIC and DNS behind the box: what they take of hellos and queries is counted."""
import itertools
import time

from beyond import CADDY, CADDY_TLS
from court import Court
from law import Cell, broken, progress, table
from servers import OF_LOGIN
import generate
import hellos
import other_evasions
import other_generate
import reasons
import rule_files
import stacks
import unproven

NAMES = ("tls", "quic", "named")
UNLIMITED, ONE = ("1M/s", "1M"), ("1/d", "1")
WAIT = 8
SHORT_CONNECTIONS = rule_files.SOME


class OtherCourt(Court):
    SLOTS = rule_files.SOME

    def first_plans(self):
        found = {}
        for one, name in pairs(self.names):
            found.setdefault(name, one.plan(name))
        return {name: found[name] for name in self.names}

    def last_plan(self, name):
        """A hello or query that no rule counts among logins."""
        return other_evasions.last_plan(protocol_of(name))

    def counted(self):
        rules = {rule["id"]: rule["admitted"] for rule in self.box.stats()["rules"]}
        return [rules.get(f"h{slot}", 0) + rules.get(f"q{slot}", 0) for slot in range(rule_files.SLOTS)]

    def judge(self, one, run):
        """What was served of TLS and QUIC is known from what the client has got; BIND has a log."""
        if protocol_of(one.server) == other_evasions.TLS:
            for peer in run.peers.values():
                one.requests += len(hellos.SERVER_HELLO.findall(bytes(peer.received)))
                # In a certificate that has signed itself, the name stands twice.
                one.logins += peer.received.count(OF_LOGIN.encode()) // 2
                one.logins += hellos.hidden_certificates(bytes(peer.received), self.servers[one.server].certificate_size("login"))
        if one.server == "quic":
            one.requests = one.logins = hellos.handshakes(run.datagrams)


def protocol_of(name):
    """As rows of other_evasions and the generator call it: most by the first server of theirs."""
    return other_evasions.TLS if name == CADDY_TLS else name


def pairs(names):
    """Each evasion before each server of its protocol."""
    return [(one, name) for protocol, one in other_evasions.EVASIONS for name in names
            if protocol == protocol_of(name)]


def chosen(given, names):
    return [(one, name) for one, name in pairs(names) if not given.short or one.seconds <= 5]


def names_of(given):
    return (*NAMES, CADDY_TLS) if CADDY in given.names else NAMES


def check(given):
    """What did not hold of the evasions, in words."""
    names = names_of(given)
    tried = chosen(given, names)
    seconds = max(one.seconds for one, _ in tried) + WAIT
    with OtherCourt(given.programs, names, given.workers) as court:
        seen = []
        for rules in (rule_files.WITHOUT, rule_files.other_rules(given.services, rule_files.LOGINS, *UNLIMITED),
                      rule_files.other_rules(given.services, rule_files.ALL, *ONE)):
            court.apply(rules)
            seen.append(court.try_all([(one.plan(given.seed), name) for one, name in tried], seconds))
        court.apply(rule_files.other_rules(given.services, rule_files.LOGINS, *UNLIMITED))
        cells = court.once_more([Cell(one, *three, given.services not in ("monitor", "none")) for (one, _), *three in zip(tried, *seen)], seconds)
        print("\n".join(table(cells, names)), flush=True)
        untold = reasons.check(court, cells, given.seed)
        print("reasons:", court.reasons(), flush=True)
        return untold + broken(cells, (), given.services == "monitor") + court.strange


def check_more(given):
    """What did not hold of generated connections, of clients without a handshake and of a real stack, in words."""
    names = names_of(given)
    with OtherCourt(given.programs, names, given.workers) as court:
        generated = try_generated(court, given, names)
        hurt = unproven.check_others(court, given.seed, given.services)
        hurt += stacks.check(court, given.services) if given.services not in ("monitor", "none") else []
        print("reasons:", court.reasons(), flush=True)
        return hurt + (broken((), generated, given.services == "monitor") if generated else []) + court.strange


def try_generated(court, given, names):
    """What was seen of each generated connection, as many of them before each server."""
    court.apply(rule_files.other_rules(given.services, rule_files.LOGINS, *UNLIMITED))
    out, begin = [], time.monotonic()
    last = given.first + (min(given.connections, SHORT_CONNECTIONS) if given.short else given.connections)
    for first in range(given.first, last, rule_files.SOME):
        numbers = range(first, min(first + rule_files.SOME, last))
        trials = [(other_generate.make(given.seed, number, protocol_of(name)), name)
                  for number, name in ((number, names[number % len(names)]) for number in numbers)]
        seen = court.try_some(trials, WAIT)
        attempts = itertools.count(1)
        out += court.without_the_lost(
            seen, lambda one: other_generate.make(given.seed, number_of(one.plan), protocol_of(one.server), next(attempts)))
        print(progress(out, time.monotonic() - begin), flush=True)
    return out + with_silences(court, given, names)


def with_silences(court, given, names):
    """What was seen of the first of them with a minute of silence in each, side by side. Not all of these servers wait as long."""
    numbers = range(given.first, given.first + min(given.silences, rule_files.SOME))
    named = [(number, names[number % len(names)]) for number in numbers]
    trials = [(generate.with_silence(other_generate.make(given.seed, number, protocol_of(name)), given.seed), name)
              for number, name in named]
    if not trials:
        return []
    begin = time.monotonic()
    seen = court.try_some(trials, generate.SILENCE[1] + WAIT)
    print("with a silence: " + progress(seen, time.monotonic() - begin), flush=True)
    return seen


def number_of(plan):
    return int(plan.name.split()[-1])
