"""The verdict on each packet, and what it spends: rules.md section 1, sentence by sentence.

A bucket is full when first asked for and never forgotten (meters.py). Nothing here is fast, rounded
or bounded.
"""
import hashlib
import ipaddress
import re

from colors import COLORS, RED, Meter, color_of
from expression import value_of
from meters import METERS, NEVER

STRICTNESS = {"pass": 1, "tag": 2, "drop": 3}
COUNTED_AS = {"pass": "passed", "tag": "tagged", "shape": "shaped", "drop": "dropped",
              "reply": "replied", "reset": "reset", "decoy": "decoyed"}
SYN, ACK = 0x02, 0x10
TEXT = re.compile(r"payload|lower\(\s*payload\s*\)")
ADDRESS = re.compile(r"ip\.src|ip\.dst|client\.ip")


class Charge:
    """One limit that judges the packet at hand, which has this key in its tier."""

    def __init__(self, bucket, tier, key, cost, came):
        self.bucket, self.tier, self.key, self.cost = bucket, tier, key, cost
        self.color = bucket.color(cost, came) if isinstance(bucket, Meter) else None
        self.wait = bucket.wait(cost) if self.color is None else bucket.wait(cost, came)
        self.refused = self.wait > 0

    def spend(self):
        if self.color is None:
            self.bucket.spend(self.cost)
        else:
            self.bucket.spend(self.cost, self.color)

    def spend_what_fits(self):
        if self.color is None:  # colour meters commit only on forwarding
            self.bucket.spend_what_fits(self.cost)


class Judged:
    """One rule that matched the packet at hand and has a key of it; `key` is its first tier's.
    `votes` are the actions it asks for: its limits' excess, and what its colours mean."""

    def __init__(self, rule, key, charges):
        self.rule, self.key, self.charges = rule, key, charges
        self.wait = 0
        refused = [charge for charge in charges if charge.refused]
        if refused:  # who must wait longest says why; max() keeps the first
            longest = max(refused, key=lambda charge: charge.wait)
            self.wait, self.key = longest.wait, longest.key
        colors = [charge.color for charge in charges if charge.color]
        color = max(colors, key=COLORS.index) if colors else None
        exceeded = any(charge.refused for charge in charges if charge.color is None)
        self.refusing_tiers = {charge.tier for charge in charges if charge.refused or
                               charge.color and rule.on_color[charge.color] == "drop"
                               and charge.color != "green"}
        self.refused = exceeded or color == RED or rule.on_color.get(color) == "drop"
        reason = "over_limit" if self.refused else "within_limits"
        self.votes = [Vote(self, rule.action, "over_limit")] * exceeded
        if color and (self.refused or rule.on_color[color] != "pass"):
            self.votes.append(Vote(self, rule.on_color[color], reason))


class Banned:
    """One rule that matched the packet at hand, a key of which is in the penalty box."""

    def __init__(self, rule, key, left):
        self.rule, self.key, self.charges = rule, key, []
        self.wait, self.refused = left, True
        self.votes = [Vote(self, rule.ban.action, "banned")]


class PenaltyBox:
    """All refusals of a key since its last ban, and until when that lasts."""

    def __init__(self):
        self.refusals, self.until = [], 0

    def note(self, now, ban):
        """True: that was the one that bans."""
        self.refusals.append(now)
        if len([one for one in self.refusals if now < one + ban.within]) < ban.after:
            return False
        self.refusals, self.until = [], now + ban.lasts
        return True


class Vote:
    def __init__(self, judged, action, reason):
        self.judged, self.action, self.reason = judged, action, reason


class Verdict:
    def __init__(self, action, reason, rule="", key="", wait="0"):
        self.action, self.reason, self.rule, self.key, self.wait = action, reason, rule, key, wait

    def columns(self):
        return [self.action, self.reason, self.rule, self.key, self.wait]


class Limiter:
    def __init__(self, rules, malformed="pass", enforce=False):
        self.rules = [rule for rule in rules if rule.mode != "off"]
        self.malformed = malformed
        self.acting = {rule.id for rule in self.rules if enforce or rule.mode == "enforce"}
        self.first, self.now = None, 0  # nanoseconds since the first frame
        self.buckets = {}
        self.boxes = {}
        self.counts = {rule.id: dict(matched=0, admitted=0, exceeded=0, skipped=0)
                       for rule in rules}
        self.verdicts = {member: 0 for member in COUNTED_AS.values()}

    def judge(self, time, packet):
        self.first = time if self.first is None else self.first
        self.now = max(self.now, time - self.first)
        verdict = self._judge(packet)
        self.verdicts[COUNTED_AS[verdict.action]] += 1
        return verdict

    def summary(self):
        return {"packets": sum(self.verdicts.values()), **self.verdicts,
                "rules": [{"id": name, **counts} for name, counts in self.counts.items()]}

    def _judge(self, packet):
        if packet.malformed:
            return Verdict(self.malformed, packet.malformed,
                           wait="0" if self.malformed == "pass" else "")
        if self.rules and "ip.src" in packet.fields:
            packet.fields["client.ip"] = self.rules[0].client.of(packet.fields["ip.src"])
        return self._decide_on_sight(packet) or self._decide_by_limits(packet)

    def _count(self, rule, how):
        self.counts[rule.id]["matched"] += 1
        self.counts[rule.id][how] += 1

    def _decide_on_sight(self, packet):
        for rule in self.rules:
            if not rule.on_match or not rule.condition(packet.fields):
                continue
            self._count(rule, "admitted" if rule.on_match == "allow" else "exceeded")
            if rule.id in self.acting:
                if rule.on_match == "allow":
                    return Verdict("pass", "allow_rule", rule.id)
                return Verdict("drop", "deny_rule", rule.id, wait="")
        return None

    def _decide_by_limits(self, packet):
        judged = self._look(packet)
        acting = [one for one in judged if one.rule.id in self.acting]
        verdict = Verdict("pass", "within_limits" if any(one.charges for one in acting)
                          else "no_rule")
        votes = [vote for one in acting for vote in one.votes]
        if votes:
            verdict = _strictest(votes, max(one.wait for one in acting))
        for one in judged:
            if verdict.action != "drop" and (one.rule.id in self.acting or not one.refused):
                _spend(one)
            elif one.rule.rejected_spend:
                for charge in one.charges:
                    charge.spend_what_fits()
        return verdict

    def _look(self, packet):
        """What each rule that matches says; nothing is spent."""
        judged = []
        for rule in self.rules:
            if rule.on_match or not rule.condition(packet.fields):
                continue
            keys = [self._key(tier, packet) for tier in rule.tiers]
            if rule.missing_key == "skip" and not any(key is not None for key in keys):
                self._count(rule, "skipped")
                continue
            banned = self._banned(rule, keys)
            if banned:
                self._count(rule, "exceeded")
                self._count_ban(rule, "banned")
                judged.append(banned)
                continue
            charges = [charge for number, key in enumerate(keys)
                       if key is not None or rule.missing_key == "share"
                       for charge in self._charges(rule, number, key, packet)]
            one = Judged(rule, keys[0], charges)
            self._count(rule, "exceeded" if one.refused else "admitted")
            judged.append(one)
            for tier in one.refusing_tiers if rule.ban else ():
                if self._box(rule, tier, keys[tier]).note(self.now, rule.ban):
                    self._count_ban(rule, "bans")
        return judged

    def _count_ban(self, rule, what):
        self.counts[rule.id] = {"banned": 0, "bans": 0, **self.counts[rule.id]}
        self.counts[rule.id][what] += 1

    def _box(self, rule, tier, key):
        place = (rule.id, tier, None if key is None else tuple(key))
        return self.boxes.setdefault(place, PenaltyBox())

    def _banned(self, rule, keys):
        """Whose ban lasts longest says so; max() keeps the first. None: nobody is banned."""
        left = [(self._box(rule, tier, key).until - self.now, key) for tier, key in enumerate(keys)
                if rule.ban and (key is not None or rule.missing_key == "share")]
        longest = max(left, key=lambda one: one[0], default=(0, None))
        return Banned(rule, longest[1], longest[0]) if longest[0] > 0 else None

    @staticmethod
    def _key(tier, packet):
        """None: a part is missing."""
        key = [part_text(part, packet.fields, tier.key) for part in tier.key]
        return None if None in key else key

    def _charges(self, rule, number, key, packet):
        charges = []
        for limit in rule.tiers[number].limits:
            cost = units_of(limit.per, packet) * rule.cost
            if cost == 0:
                continue
            place = (rule.id, number, limit.name, None if key is None else tuple(key))
            if place not in self.buckets:
                meter = METERS.get(limit.algorithm, Meter)
                self.buckets[place] = meter(limit, self.now, self.first)
            self.buckets[place].at(self.now)
            came = color_of(packet.fields.get("ip.dscp"))
            charges.append(Charge(self.buckets[place], number, key, cost, came))
        return charges


def units_of(per, packet):
    """What a packet carries of that which a limit counts."""
    if per == "connection":
        flags = packet.fields.get("tcp.flags", 0)
        return 1 if flags & SYN and not flags & ACK else 0
    return packet.units if per == "byte" else 1


def _strictest(votes, longest):
    first = max(votes, key=lambda vote: STRICTNESS[vote.action])  # max() keeps the first
    wait = "0"
    if first.action == "drop":
        wait = "never" if longest == NEVER else str(longest or "")  # no limit refused: a colour
    key = "|".join(escape(part) for part in first.judged.key or [])
    return Verdict(first.action, first.reason, first.judged.rule.id, key, wait)


def _spend(one):
    for charge in one.charges:
        if not charge.refused:
            charge.spend()


class Written(str):
    """A part that needs no escapes any more."""


def part_text(part, fields, key=()):
    """A key part as people read it, or None where the packet does not have it."""
    text = TEXT.fullmatch(part)
    if text:
        value = fields.get("payload")
        lower = part.startswith("lower")
        return None if value is None else long_text(value.lower() if lower else value, room_in(key))
    value = value_of(part, fields)
    return None if value is None else text_of(part, value)


def room_in(key):
    """Bytes of each text in a key of these parts: they share what is left of 320."""
    texts = sum(bool(TEXT.fullmatch(part)) for part in key)
    fixed = sum(20 if ADDRESS.search(part) else 12 for part in key if not TEXT.fullmatch(part))
    return min(255, (320 - 4 * texts - fixed) // texts)


def long_text(value, room):
    """What does not fit is its beginning and a digest of the whole."""
    if len(value) <= room:
        return Written(escape_bytes(value))
    digest = hashlib.blake2b(value, digest_size=16).hexdigest()
    return Written(escape_bytes(value[:min(48, room - 16)]) + "\\h" + digest)


def text_of(name, value):
    if name == "eth.type":
        return f"0x{value:04x}"
    if isinstance(value, (ipaddress.IPv4Network, ipaddress.IPv6Network)):
        whole = value.prefixlen == value.max_prefixlen
        return text_of(name, value.network_address) + ("" if whole else f"/{value.prefixlen}")
    if isinstance(value, ipaddress.IPv6Address):
        return _ipv6_text(value)
    return str(value)


def _ipv6_text(address):
    """RFC 5952; addresses that embed an IPv4 one (mapped, compatible) keep its dots (section 5)."""
    if address.ipv4_mapped is not None:
        return f"::ffff:{address.ipv4_mapped}"
    if 0xFFFF < int(address) <= 0xFFFFFFFF:
        return f"::{ipaddress.IPv4Address(int(address))}"
    return str(address)


def escape(part):
    return part if isinstance(part, Written) else escape_bytes(part.encode())


def escape_bytes(octets):
    return "".join(chr(octet) if 0x20 <= octet < 0x7F and octet not in b"|\\"
                   else f"\\x{octet:02x}" for octet in octets)
