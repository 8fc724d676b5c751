"""`overrides` of a rule: numbers of their own, or none, for keys, networks and ranges, until an instant."""
import csv
import datetime
import ipaddress
import math
import re

from texts import ADDRESS, TEXT, Written, long_text, room_in, text_of, unescape

EXEMPT, BANNED = "exempt", "banned"
NUMBERS = ("rate", "burst", "queue", "count")
FOREVER = math.inf


class Said:
    """What is said of one key: of one limit's numbers, or that it is exempt or banned."""

    def __init__(self, limit, numbers, until):
        self.limit, self.until = limit, parse_until(until) if until else FOREVER
        self.numbers = {name: value for name, value in numbers.items()
                        if name in NUMBERS and value}


class Overrides:
    """By tier and key, as `Limiter` writes keys; a key of None lacks a part."""

    def __init__(self, rule, entry, folder):
        self.rule, self.said, self.networks, self.ranges = rule, {}, [], {}
        if "file" in entry:
            with open(f"{folder}/{entry['file']}", encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    said = BANNED if row.get("ban") else row["limit"]
                    self.add(row["key"].split("|"), said, row, row["expires"])
        for item in entry.get("inline", []):
            key = item["key"]
            if isinstance(key, list):  # its parts stand alone: nothing in them ends one
                key = [part.replace("\\", r"\x5c").replace("|", r"\x7c") for part in key]
            else:
                key = key.split("|")
            for limit, numbers in item.get("limits", {EXEMPT: {}}).items():
                self.add(key, limit, numbers, item.get("until"))

    def add(self, key, limit, numbers, until):
        tier = self.tier_of(key, limit)
        parts = self.rule.tiers[tier].key
        if limit == BANNED and is_wider(key, parts):
            self.networks.append((tier, ipaddress.ip_network(key[0]), Said(limit, numbers, until)))
            return
        if limit != BANNED and (is_wider(key, parts) or is_range(key, parts)):
            self.ranges.setdefault((tier, *ends_of(key[0])), []).append(Said(limit, numbers, until))
            return
        if key in ([], [""]) and (not parts or self.rule.missing_key == "share"):
            key = () if not parts else None
        else:
            key = tuple(spelled(part, text, parts) for part, text in zip(parts, key, strict=True))
        self.said.setdefault((tier, key), []).append(Said(limit, numbers, until))

    def tier_of(self, key, limit):
        """The one with that limit; where several have it, or none is named, the one that fits."""
        tiers = list(enumerate(self.rule.tiers))
        named = [number for number, tier in tiers if any(one.name == limit for one in tier.limits)]
        if len(named) == 1 or len(tiers) == 1:
            return (named or [0])[0]
        return next(number for number, tier in tiers if len(tier.key) == len(key) and
                    (limit in (EXEMPT, BANNED) or number in named))

    def of(self, tier, key):
        return self.said.get((tier, None if key is None else tuple(key)), [])

    def all_of(self, tier, key):
        """What is said of it, and of each network and range that it lies in, the smallest first: (size, [Said])."""
        yield 0, [one for one in self.of(tier, key) if one.limit != BANNED]
        if not self.ranges or not key or len(key) != 1:
            return
        around = [(last - first, said) for (at, version, first, last), said in self.ranges.items()
                  if at == tier and lies_between(key[0], version, first, last)]
        yield from sorted(around, key=lambda one: one[0])

    def exempted_by(self, tier, key, utc):
        """The size of what exempts it; None: it is not exempt. What has ended is not there."""
        for size, said in self.all_of(tier, key):
            left = [one for one in said if utc < one.until]
            if left:
                return size if any(one.limit == EXEMPT for one in left) else None
        return None

    def exempts(self, tier, key, utc):
        return self.exempted_by(tier, key, utc) is not None

    def ban_left(self, tier, key, utc):
        """For how long it is banned yet; 0: it is not."""
        own = [one.until - utc for one in self.of(tier, key) if one.limit == BANNED]
        if not self.networks or not key:
            return max(own, default=0)
        exempt = self.exempted_by(tier, key, utc)
        networks = [one.until - utc for at, network, one in self.networks
                    if at == tier and lies_in(key[0], network)
                    and (exempt is None or exempt >= network.num_addresses - 1)]
        return max(own + networks, default=0)

    def numbers(self, tier, key, limit, utc):
        """What a limit has of its own for that key; None: nothing."""
        for _, said in self.all_of(tier, key):
            left = [one for one in said if utc < one.until]
            for one in left:
                if one.limit == limit.name:
                    return one
            if any(one.limit == EXEMPT for one in left):
                return None
        return None


def is_wider(key, parts):
    """Whether it is a network of keys of one address, shorter than they are."""
    if len(parts) != 1 or not ADDRESS.search(parts[0]) or "/" not in key[0]:
        return False
    network = ipaddress.ip_network(key[0])
    whole = re.search(r"(\d+)\|(\d+)", parts[0])
    lengths = whole.groups() if whole else ("32", "128")
    return network.prefixlen < int(lengths[network.version == 6])


def is_range(key, parts):
    """Whether it is two addresses, of keys of one."""
    return (len(parts) == 1 and len(key) == 1 and ADDRESS.search(parts[0]) is not None
            and re.fullmatch(r"[0-9A-Fa-f:.]+ *- *[0-9A-Fa-f:.]+", key[0]) is not None)


def ends_of(text):
    """Version, and first and last address, of a network or range."""
    if "-" in text:
        first, last = (ipaddress.ip_address(one.strip()) for one in text.split("-"))
    else:
        first, last = ipaddress.ip_network(text)[0], ipaddress.ip_network(text)[-1]
    return first.version, int(first), int(last)


def lies_between(part, version, first, last):
    key = ipaddress.ip_network(part)
    return key.version == version and first <= int(key[0]) <= last


def lies_in(part, network):
    address = ipaddress.ip_network(part)
    return address.version == network.version and address.subnet_of(network)


def spelled(part, text, parts):
    """A part of a key as an operator may write it, in the one form in which packets have it."""
    if TEXT.fullmatch(part):
        return Written(text) if "\\h" in text else long_text(unescape(text), room_in(parts))
    text = unescape(text).decode()
    if ADDRESS.search(part):
        return text_of(part, ipaddress.ip_network(text))
    if part in ("eth.src", "eth.dst"):
        return text.lower()
    return text_of(part, int(text, 0)) if re.fullmatch(r"\d+|0x[0-9A-Fa-f]+", text) else text


def parse_until(text):
    """Nanoseconds of UTC: the end of a day, or an instant."""
    if "T" not in text:
        day = datetime.date.fromisoformat(text) + datetime.timedelta(days=1)
        return (day - datetime.date(1970, 1, 1)).days * 86_400 * 1_000_000_000
    instant = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    return int((instant - datetime.datetime(1970, 1, 1)).total_seconds()) * 1_000_000_000
