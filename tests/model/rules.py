"""A rule file as plain Python objects: what is due of the language, read with no checks but sense.

Everything in the file stays text (YAML's own guesses would read `off` as false) until a unit is
known.
"""
import copy
import ipaddress
import os
import re
from fractions import Fraction

import yaml

from expression import compile_condition
from origins import Database, Origins
from overrides import Overrides
from schedules import Active, Days

SECOND = 1_000_000_000
PERIODS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
DSCP = re.compile(r"ef|af\d\d|cs\d|\d+")


class Limit:
    """Its numbers as attributes: `rate` in units per nanosecond, exact; `window` and `utc_offset` in
    nanoseconds."""

    def __init__(self, name, per, what):
        self.name, self.per, self.algorithm, self.of = name, per, what["algorithm"], what.get("of")
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
            self.count = parse_size(what["count"])
            self.window = parse_duration(what["idle" if self.algorithm == "concurrency" else "window"])
            if self.algorithm == "concurrency":
                usual = min(60 * 10 ** 9, max(self.window // 10 ** 6, 1) * 10 ** 6)
                self.half_open = parse_duration(what["half_open"]) if "half_open" in what else usual
                self.from_established = what.get("from", "syn") == "established"
            self.phase = what.get("phase", "clock")
            self.utc_offset = parse_utc_offset(what.get("utc_offset", "+00:00"))
            self.days = Days(what["zone"], self.window) if "zone" in what else None
            self.buckets, self.edge = int(what.get("buckets", 60)), what.get("edge", "strict")

    def with_numbers(self, numbers):
        """The same limit with other numbers, given as text."""
        other = copy.copy(self)
        for name, text in numbers.items():
            setattr(other, {"queue": "burst"}.get(name, name),
                    parse_rate(text) if name == "rate" else parse_size(text))
        return other

    def times(self, factor):
        """The same limit for a wider key."""
        other = copy.copy(self)
        for name in {"rate", "burst", "count"} & set(vars(self)):
            setattr(other, name, getattr(self, name) * factor)
        return other


class Client:
    """`client_ip`: what client.ip is."""

    INSIDE = {"nat64": ipaddress.ip_network("64:ff9b::/96"),
              "v4mapped": ipaddress.ip_network("::ffff:0:0/96")}
    ENTRY = re.compile(r"([^:\[]+)(?::(\d{1,5}))?|\[([^]]*:[^]]*)\](?::(\d{1,5}))?|([^\[]*:[^\[]*:.*)")

    def __init__(self, entry, lists=None):
        self.lengths = {4: int(entry.get("ipv4_prefix", 32)), 6: int(entry.get("ipv6_prefix", 128))}
        self.undone = [self.INSIDE[word] for word in entry.get("unwrap", [])]
        named = [lists[one[1:]] if one.startswith("$") else [one] for one in entry.get("trusted_proxies", [])]
        origin = entry.get("from") or {}
        self.header, self.hops = origin.get("header", "").lower(), int(origin.get("hops_from_right", 1))
        self.proxies = [ipaddress.ip_network(text) for some in named for text in some] if origin else []

    def of(self, source):
        """An address, or the network that is left of one."""
        if source.version == 6 and any(source in network for network in self.undone):
            source = ipaddress.IPv4Address(int(source) & 0xFFFFFFFF)
        bits = self.lengths[source.version]
        return source if bits == source.max_prefixlen else ipaddress.ip_network((source, bits),
                                                                                 strict=False)

    def of_packet(self, packet):
        """The same of who sent it; of a trusted proxy's whom its request names, or None."""
        source, service = packet.fields["ip.src"], getattr(packet, "service", None)
        if service and service.proxied:
            return service.named and self.of(service.named)
        if not any(source in network for network in self.proxies):
            return self.of(source)
        lines = [value for name, value in packet.headers if name == self.header]
        entries = lines[-1].decode("latin-1").split(",") if lines else []
        named = self.address(entries[-self.hops].strip(" \t")) if len(entries) >= self.hops else None
        return None if named is None else self.of(named)

    def address(self, entry):
        """As proxies write it, maybe with a port; a mapped address is the IPv4 one inside."""
        match = self.ENTRY.fullmatch(entry)
        v4, port, bracketed, other_port, v6 = match.groups() if match else [None] * 5
        text = v4 or bracketed or v6 or ""
        if "%" in text or int(port or other_port or 0) > 65_535:
            return None
        try:
            named = ipaddress.ip_address(text)
        except ValueError:
            return None
        return getattr(named, "ipv4_mapped", None) or named


class Cost:
    """Of one unit; of requests by where their path begins, in whole segments: the longest such prefix counts."""

    def __init__(self, said):
        by_path = said if isinstance(said, dict) else {"default": said}
        self.other = int(by_path.get("default", 1))
        self.paths = {path.encode(): int(cost) for path, cost in by_path.get("path", {}).items()}

    def of(self, fields):
        path = fields.get("http.request.uri.path", b"")
        where = [prefix for prefix in self.paths if path.startswith(b"/") and
                 (path + b"/").startswith(prefix.rstrip(b"/") + b"/")]
        return self.paths[max(where, key=len)] if where else self.other


class File:
    """What the rules of a file have in common."""

    def __init__(self, tree, folder):
        self.folder, self.defaults = folder, tree.get("defaults") or {}
        self.limits = tree.get("limits") or {}
        data = tree.get("data") or {}
        self.lists = {name: read_list(os.path.join(folder, one["file"]), one["type"])
                      for name, one in (data.get("lists") or {}).items()}
        self.client = Client(tree.get("client_ip") or {}, self.lists)
        self.origins = Origins(**{kind: self.database(data[kind])
                                  for kind in ("country_db", "asn_db") if kind in data})

    def database(self, path):
        with open(os.path.join(self.folder, path), "rb") as file:
            return Database(file.read())


class Rule:
    """A rule; a candidate of one, which has other limits; or a budget of `bypass`."""

    def __init__(self, entry, file, candidate=None):
        defaults = file.defaults
        self.id, self.client, self.origins = entry["id"], file.client, file.origins
        self.mode = entry.get("mode", defaults.get("mode", "monitor"))
        self.defaults_scope = defaults.get("scope", "box")
        check_scope(defaults, "box")
        self.never_acts, self.place = candidate is not None, self.id  # a candidate is judged in its rule's
        self.condition = (compile_condition(entry["when"], file.lists) if "when" in entry
                          else lambda _: True)
        self.active = Active(entry["active"]) if "active" in entry else None
        self.on_match, self.match_action = read_on_match(entry.get("on_match"))
        self.action = entry.get("on_exceed", {"action": "drop"})
        self.on_color = {"green": {"action": "pass"}, "yellow": {"action": "pass"},
                         "red": {"action": "drop"}, **entry.get("on_color", {})}
        self.rejected_spend = entry.get("rejected_spend") == "true"
        self.cost = Cost(entry.get("cost", 1))
        self.missing_key = entry.get("missing_key", defaults.get("missing_key", "skip"))
        self.ban = Ban(entry["ban"]) if "ban" in entry else None
        self.share = int(entry.get("table_share", "100%").rstrip("%"))
        self.on_full, self.factor = read_on_full(entry.get("on_full", defaults.get("on_full")))
        self.read_limits(entry, file.limits, candidate)
        self.overrides = (Overrides(self, entry["overrides"], file.folder)
                          if "overrides" in entry else None)

    def asks(self, pattern):
        """Whether something that it reads or counts is written so."""
        return re.search(pattern, self.text) is not None

    def read_limits(self, entry, named, candidate):
        changes = {}
        if candidate:
            self.id += "." + candidate["name"]
            self.mode = "off" if self.mode == "off" else "monitor"
            changes = candidate["limits"]
        per = entry.get("per", "packet")
        check_scope(entry, self.defaults_scope)
        if "tiers" in entry:
            self.tiers = [Tier(tier, per, named, changes, f"t{number}.")
                          for number, tier in enumerate(entry["tiers"], 1)]
        else:
            self.tiers = [Tier(entry, per, named, changes)] if "limits" in entry else []
        parts = [f"{tier.key} " + " ".join(f"per: {limit.per} of: {limit.of}" for limit in tier.limits) for tier in self.tiers]
        self.text = " ".join([entry.get("when", ""), *parts, *["cost: path"] * bool(self.cost.paths)])


def check_scope(what, usual):
    """`scope` and `owner_down` of a rule or a limit. One box that no other spends beside judges as by itself, whatever they say."""
    scope = what.get("scope", usual)
    assert scope in ("box", "cluster"), scope
    assert what.get("owner_down", "local_share") in ("local_share", "last_known", "open", "closed")


def read_on_match(said):
    """-> (`drop`, `allow`, `bypass` or None: whether what matches goes on; the action)"""
    action = said if isinstance(said, dict) else {"action": "drop" if said == "drop" else "pass"}
    if isinstance(said, dict):
        said = "allow" if action["action"] == "tag" else "drop"
    return said, action


def read_on_full(value):
    """-> (`open`, `closed` or `coarsen`, the factor of a step)"""
    if isinstance(value, str):
        return value, 1
    return "coarsen", int(((value or {}).get("coarsen") or {}).get("factor", 16))


class Ban:
    def __init__(self, what):
        self.after, self.action = int(what["after"]), {"action": "drop", **what}
        self.within, self.lasts = parse_duration(what["within"]), parse_duration(what["for"])
        self.of_source = what.get("applies_to") == "source"
        self.spoofable = what.get("spoofable") in ("yes", "true", True)


class Tier:
    """A key and the limits that count by it; a rule without `tiers` is one."""

    def __init__(self, entry, per, named, changes, before=""):
        self.key = entry.get("key") or []
        self.limits = [_limit(limit, before + str(position), per, named, changes)
                       for position, limit in enumerate(entry["limits"], 1)]


def read_rules(path):
    """Budgets of `bypass` first, then the rules of the file, each before its candidates."""
    with open(path, encoding="utf-8") as file:
        tree = yaml.load(file, Loader=yaml.BaseLoader)
    common = File(tree, os.path.dirname(os.path.abspath(path)))
    rules = []
    for number, budget in enumerate(tree.get("bypass") or [], 1):
        rules.append(Rule({"id": f"bypass.{number}", "mode": "enforce", "on_match": "bypass",
                           "when": budget["when"], "key": budget["key"],
                           "limits": [budget["limit"]]}, common))
    for entry in tree["rules"]:
        rules += [Rule(entry, common, one) for one in [None, *entry.get("candidates", [])]]
    return rules


def read_list(path, kind):
    """The entries of a list, each as it would stand in a set."""
    with open(path, encoding="utf-8") as file:
        lines = [re.sub(r"(^|\s)#.*" if kind == "string" else "#.*", "", line).strip()
                 for line in file]
    entries = [line for line in lines if line]
    if kind == "string":
        return ['"' + entry.replace("\\", "\\\\").replace('"', '\\"') + '"' for entry in entries]
    return [entry.replace("-", "..") for entry in entries]


def _limit(what, position, per, named, changes):
    name = position
    if isinstance(what, str):
        name, what = what, named[what]
    name = what.get("name", name)
    if name in changes:
        other = changes[name]
        what = other if "algorithm" in other else {**what, **other}
    check_scope(what, "box")
    per = "connection" if what["algorithm"] == "concurrency" else what.get("per", per)
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
