"""A rule file as plain Python objects: what is due of the language, read with no checks but sense.

Everything in the file stays text (YAML's own guesses would read `off` as false) until a unit is
known.
"""
import ipaddress
import re
from fractions import Fraction

import yaml

from expression import compile_condition

SECOND = 1_000_000_000
PERIODS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
DSCP = re.compile(r"ef|af\d\d|cs\d|\d+")


class Limit:
    """Its numbers as attributes: `rate` in units per nanosecond, exact; `window` and `utc_offset` in
    nanoseconds."""

    def __init__(self, name, per, what):
        self.name, self.per, self.algorithm = name, per, what["algorithm"]
        if "cir" in what:
            self.variant = what.get("variant", "rfc2697")
            self.aware = what.get("color") == "aware"
            self.cir, self.cbs = parse_rate(what["cir"]), parse_size(what["cbs"])
            other = {"rfc2697": ("cir", "ebs"), "rfc2698": ("pir", "pbs"), "rfc4115": ("eir", "ebs")}
            rate, size = other[self.variant]
            self.rate, self.size = parse_rate(what[rate]), parse_size(what[size])
        elif "rate" in what:
            self.rate = parse_rate(what["rate"])
            self.burst = parse_size(what["burst"] if "burst" in what else what["queue"])
        else:
            self.count, self.window = parse_size(what["count"]), parse_duration(what["window"])
            self.phase = what.get("phase", "clock")
            self.utc_offset = parse_utc_offset(what.get("utc_offset", "+00:00"))
            self.buckets, self.edge = int(what.get("buckets", 60)), what.get("edge", "strict")


class Client:
    """`client_ip`: what client.ip is."""

    INSIDE = {"nat64": ipaddress.ip_network("64:ff9b::/96"),
              "v4mapped": ipaddress.ip_network("::ffff:0:0/96")}

    def __init__(self, entry):
        self.lengths = {4: int(entry.get("ipv4_prefix", 32)), 6: int(entry.get("ipv6_prefix", 128))}
        self.undone = [self.INSIDE[word] for word in entry.get("unwrap", [])]

    def of(self, source):
        """An address, or the network that is left of one."""
        if source.version == 6 and any(source in network for network in self.undone):
            source = ipaddress.IPv4Address(int(source) & 0xFFFFFFFF)
        bits = self.lengths[source.version]
        return source if bits == source.max_prefixlen else ipaddress.ip_network((source, bits),
                                                                                 strict=False)


class Rule:
    def __init__(self, entry, defaults, named, client):
        self.id, self.client = entry["id"], client
        self.mode = entry.get("mode", defaults.get("mode", "monitor"))
        self.condition = compile_condition(entry["when"]) if "when" in entry else lambda _: True
        self.on_match = entry.get("on_match")
        self.action = entry.get("on_exceed", {}).get("action", "drop")
        self.on_color = {"green": "pass", "yellow": "pass", "red": "drop",
                         **{color: action["action"]
                            for color, action in entry.get("on_color", {}).items()}}
        self.rejected_spend = entry.get("rejected_spend") == "true"
        self.cost = int(entry.get("cost", 1))
        self.missing_key = entry.get("missing_key", defaults.get("missing_key", "skip"))
        self.ban = Ban(entry["ban"]) if "ban" in entry else None
        per = entry.get("per", "packet")
        if "tiers" in entry:
            self.tiers = [Tier(tier, per, named, f"t{number}.")
                          for number, tier in enumerate(entry["tiers"], 1)]
        else:
            self.tiers = [] if self.on_match else [Tier(entry, per, named)]


class Ban:
    def __init__(self, what):
        self.after, self.action = int(what["after"]), what.get("action", "drop")
        self.within, self.lasts = parse_duration(what["within"]), parse_duration(what["for"])


class Tier:
    """A key and the limits that count by it; a rule without `tiers` is one."""

    def __init__(self, entry, per, named, before=""):
        self.key = entry.get("key") or []
        self.limits = [_limit(limit, before + str(position), per, named)
                       for position, limit in enumerate(entry["limits"], 1)]


def read_rules(path):
    with open(path, encoding="utf-8") as file:
        tree = yaml.load(file, Loader=yaml.BaseLoader)
    defaults, named = tree.get("defaults") or {}, tree.get("limits") or {}
    client = Client(tree.get("client_ip") or {})
    return [Rule(entry, defaults, named, client) for entry in tree["rules"]]


def _limit(what, position, per, named):
    name = position
    if isinstance(what, str):
        name, what = what, named[what]
    name = what.get("name", name)
    per = what.get("per", per)
    return Limit(name, per, what)


def parse_rate(text):
    number, prefix, unit, period = re.fullmatch(
        r"([\d.]+)\s*(Ki|Mi|Gi|K|M|G|)(bit|B|)/([smhd])", text).groups()
    units = Fraction(number) * {**DECIMAL, **BINARY}[prefix]
    return units / (8 if unit == "bit" else 1) / (PERIODS[period] * SECOND)


def parse_size(text):
    number, prefix, _ = re.fullmatch(r"([\d.]+)\s*(Ki|Mi|Gi|K|M|G|)(B|)", text).groups()
    return Fraction(number) * {**DECIMAL, **BINARY}[prefix]


def parse_duration(text):
    number, unit = re.fullmatch(r"(\d+)(us|ms|s|m|h|d)", text).groups()
    return int(number) * {"us": 1_000, "ms": 1_000_000}.get(unit, PERIODS.get(unit, 0) * SECOND)


def parse_utc_offset(text):
    sign, hours, minutes = re.fullmatch(r"([+-])(\d\d):(\d\d)", text).groups()
    offset = (int(hours) * 60 + int(minutes)) * 60 * SECOND
    return -offset if sign == "-" else offset
