"""The same over IPv6, before nginx: evasions, and what extension headers are good for."""
import dataclasses
import subprocess

import at_once
from at_once import Ending
from court import FIRST_SERVER, LEAST_TTL, Court, mac_text
from evasions import DOUBTFUL, EVASIONS, TCP_FRAGMENT, Evasion, decoyed_by, one
from heads import LOGIN
from http_hosts import run_within
from law import Cell, broken, table
from plan import Send
from programs import ip
from wire import ACK, RST
import reasons
import rule_files

NAMES = ("nginx",)
SECONDS, WAIT = 6, 8
HOP_BY_HOP, ROUTING, DESTINATION = 0, 43, 60
PADDING = b"\1\4" + bytes(4)
DISCARDED = b"\x9e\4" + bytes(4)  # an option that nobody knows, whose first bits say that the packet is to be dropped
SKIPPED = b"\x1e\4" + bytes(4)  # one that is to be stepped over
ROUTED = b"\0\1" + bytes(4) + bytes(16)  # type 0, by way of one more
HOPS = """table ip6 hops {{
    chain arrived {{ type filter hook prerouting priority -300; ip6 hoplimit < {least} drop; }}
}}
"""


def behind(*extensions, **how):
    return one(Send(LOGIN, extensions=extensions, **how))


OF_IPV6 = (
    Evasion("behind padding hop by hop", behind((HOP_BY_HOP, PADDING))),
    Evasion("behind padding for the destination", behind((DESTINATION, PADDING))),
    Evasion("behind an option that is stepped over", behind((DESTINATION, SKIPPED)), refused=DOUBTFUL),
    Evasion("behind three headers", behind((HOP_BY_HOP, PADDING), (DESTINATION, PADDING), (DESTINATION, SKIPPED)), refused=DOUBTFUL),
    Evasion("behind ten headers", behind(*[(DESTINATION, PADDING)] * 10)),
    Evasion("behind 200 bytes of header", behind((DESTINATION, b"\1\xc4" + bytes(0xC4))), refused=DOUBTFUL),
    Evasion("behind a routing header", behind((ROUTING, ROUTED)), refused=DOUBTFUL),
    Evasion("in a fragment that is all of it", behind(cuts=(0,))),
    Evasion("in a fragment behind padding", behind((DESTINATION, PADDING), cuts=(0,))),
    Evasion("in two fragments", behind(cuts=(24,)), refused=TCP_FRAGMENT),
    Evasion("a decoy that is dropped for an option", decoyed_by(extensions=((DESTINATION, DISCARDED),))),
    Evasion("a decoy that is dropped hop by hop", decoyed_by(extensions=((HOP_BY_HOP, DISCARDED),))),
    Evasion("a decoy that is dropped for its route", decoyed_by(extensions=((ROUTING, ROUTED),))),
)


RESET = {"flags": RST | ACK}
ENDINGS = (
    Ending("nothing, over IPv6", lambda flow: ()),
    Ending("a RST behind an option for which it is dropped", at_once.each(extensions=((DESTINATION, DISCARDED),), **RESET)),
    Ending("a RST that is dropped hop by hop", at_once.each(extensions=((HOP_BY_HOP, DISCARDED),), **RESET)),
    Ending("a RST behind a route", at_once.each(extensions=((ROUTING, ROUTED),), **RESET)),
    Ending("a RST behind padding", at_once.each(extensions=((DESTINATION, PADDING),), **RESET)),
    Ending("a RST in a fragment that is all of it", at_once.each(cuts=(0,), **RESET)),
    Ending("a RST of wrong checksum, over IPv6", at_once.each(wrong_tcp=True, **RESET)),
)


class SixCourt(Court):
    CLIENTS, SLOTS = rule_files.SIX_CLIENTS, rule_files.SOME

    @staticmethod
    def address(number):
        return f"fd78::{FIRST_SERVER + number:x}"

    def lay_out(self):
        inside, outside = self.hosts.inside, self.hosts.outside
        ip("-n", inside, "link", "set", "lo", "up")
        for name, value in (("eth0.disable_ipv6", 0), ("eth0.accept_dad", 0), ("eth0.accept_ra", 0)):
            subprocess.run(run_within(inside, "sysctl", "-qw", f"net.ipv6.conf.{name}={value}"), check=True, capture_output=True)
        for number in range(len(self.names)):
            ip("-n", inside, "address", "add", f"{self.address(number)}/64", "dev", "eth0", "nodad")
        ip("-n", inside, "neighbour", "add", "fd78::1", "lladdr", mac_text(outside), "dev", "eth0")
        ip("-n", inside, "route", "add", str(rule_files.SIX_CLIENTS), "via", "fd78::1")
        subprocess.run(run_within(inside, "nft", "-f", "-"), input=HOPS.format(least=LEAST_TTL), text=True, check=True,
                       capture_output=True)


def is_of_any_version(evasion):
    return all(not (getattr(step, "wrong_ip", False) or getattr(step, "ip_options", b"")) for step in evasion.steps)


def rules(services, limit):
    return rule_files.rules(services, limit, rule_files.SOME, rule_files.SIX_SERVERS, rule_files.SIX_CLIENTS)


def check(given):
    """What did not hold, in words."""
    chosen = [dataclasses.replace(evasion, name="IPv6: " + evasion.name) for evasion in (*OF_IPV6, *EVASIONS)
              if evasion.seconds <= SECONDS and evasion.port == 80 and is_of_any_version(evasion)]
    with SixCourt(given.programs, NAMES, given.workers) as court:
        seen = []
        for text in (rule_files.WITHOUT, rules(given.services, rule_files.UNLIMITED), rules(given.services, rule_files.ONE_REQUEST)):
            court.apply(text)
            seen.append(court.try_all([(evasion.plan(given.seed), NAMES[0]) for evasion in chosen], SECONDS + WAIT))
        court.apply(rules(given.services, rule_files.UNLIMITED))
        cells = court.once_more([Cell(evasion, *three, given.services not in ("monitor", "none"))
                                 for evasion, *three in zip(chosen, *seen)], SECONDS + WAIT)
        print("\n".join(table(cells, NAMES)), flush=True)
        untold = reasons.check(court, cells, given.seed)
        hurt = at_once.try_endings(court, NAMES, given.seed, given.services, ENDINGS, rule_files.SIX_SERVERS)
        print("reasons:", court.reasons(), flush=True)
        return untold + hurt + broken(cells, (), given.services == "monitor") + court.strange
