"""The verdict on each packet, and what it spends: rules.md section 1, sentence by sentence.

A bucket is full when first asked for and never forgotten (meters.py). Nothing here is fast, rounded
or bounded.
"""
import copy

import http1
from answers import FORWARDS, carry_out
from colors import COLORS, RED, Meter, color_of
from expression import value_of
from fragments import Fragments
from meters import METERS, NEVER, Distinct, TokenBucket
from open_connections import OpenConnections
from places import NoPlace, Places
from rules import parse_duration
from texts import TEXT, escape, long_text, room_in, text_of

ALL_METERS = {**METERS, "concurrency": OpenConnections}
STRICTNESS = {"pass": 1, "tag": 2, "shape": 3, "reset": 4, "drop": 5}
COUNTED_AS = {"pass": "passed", "tag": "tagged", "shape": "shaped", "drop": "dropped",
              "reply": "replied", "reset": "reset", "decoy": "decoyed"}
SYN, ACK = 0x02, 0x10


class Charge:
    """One limit that judges the unit at hand, which has this key in its tier. `earlier`: what it has judged of the
    units before in the same packet: those that it admitted would spend, and all of them wait together."""

    def __init__(self, bucket, tier, key, cost, came, earlier=(), value=None):
        self.bucket, self.tier, self.key, self.cost, self.value = bucket, tier, key, cost, value
        self.color, self.wait, self.has_place = None, 0, not isinstance(bucket, NoPlace)
        self.delay, self.more = 0, cost  # more: what it adds to those that count
        if not self.has_place:
            self.refused = not bucket.admits
            self.delay = NEVER if self.refused else 0
            return
        left = copy.deepcopy(bucket) if earlier else bucket
        for charge in earlier:
            charge.spend_from(left)
        left.value = value
        if isinstance(bucket, Distinct) and value in left.counting(left.now):
            self.more = 0
        self.color = left.color(cost, came) if isinstance(bucket, Meter) else None
        self.wait = left.wait(cost) if self.color is None else left.wait(cost, came)
        self.refused = self.wait > 0
        if self.refused and self.color is None:
            bucket.value = value
            self.wait = bucket.wait(cost + sum(charge.more for charge in earlier))
        self.delay = self.wait if self.color is None and not self.refused else NEVER
        if isinstance(bucket, TokenBucket):
            self.delay = bucket.delay(cost)

    def spend(self):
        if self.has_place:
            self.spend_from(self.bucket, True)

    def spend_at(self, leaves, is_held):
        if self.has_place:
            self.bucket.spend_at(self.cost, leaves, is_held)

    def spend_from(self, bucket, also_refused=False):
        bucket.value = self.value
        if self.color is not None:
            bucket.spend(self.cost, self.color)
        elif also_refused or not self.refused:
            bucket.spend(self.cost)

    def spend_what_fits(self):
        if self.color is None and self.has_place:  # colour meters commit only on forwarding
            self.bucket.spend_what_fits(self.cost)


class Voice:
    """What one rule says of a packet."""
    exempt = False  # its limits are not asked

    def blocks(self):
        """Whether the packet does not go on if the rule has its way."""
        return any(vote.action["action"] not in FORWARDS for vote in self.votes)


class Judged(Voice):
    """One rule that matched the packet at hand and has a key of it; `key` is its first tier's.
    `votes` are the actions it asks for: its limits' excess, and what its colours mean."""

    def __init__(self, rule, key, charges):
        self.rule, self.key, self.charges = rule, key, charges
        self.wait, self.refused_any = 0, False
        self.delay, self.overflowed, longest_held = 0, False, None
        shape = rule.action if rule.action["action"] == "shape" else None
        if shape and any(charge.delay > 0 for charge in charges):
            longest_held = max(charges, key=lambda charge: charge.delay)
            most = parse_duration(shape["max_delay"])
            self.overflowed = longest_held.delay > most
            for charge in charges:
                charge.kept_out = charge.wait > 0 or charge.delay > most
                charge.refused = charge.delay > 0
            self.delay = 0 if self.overflowed else longest_held.delay
        refused = [charge for charge in charges if charge.refused]
        if refused:  # who must wait longest says why; max() keeps the first
            longest = max(refused, key=lambda charge: charge.wait)
            self.wait, self.key = longest.wait, longest.key
        if self.delay:  # whose departure it waits for says why it is held
            self.key = longest_held.key
        colors = [charge.color for charge in charges if charge.color]
        color = max(colors, key=COLORS.index) if colors else None
        drops = {one for one, action in rule.on_color.items() if action["action"] not in FORWARDS}
        exceeded = any(charge.refused for charge in charges if charge.color is None)
        self.refusing_tiers = {charge.tier for charge in charges
                               if charge.refused and charge.has_place and
                               not (shape and (self.delay or not charge.kept_out)) or
                               charge.color != "green" and charge.color in drops}
        self.refused = exceeded or color == RED or color in drops
        over_limit = color in drops or any(charge.has_place for charge in refused)
        reason = "over_limit" if over_limit else "table_full" if self.refused else "within_limits"
        action = {"action": shape.get("overflow", "drop")} if self.overflowed else rule.action
        self.votes = [Vote(self, action, reason)] * exceeded
        if color and (self.refused or rule.on_color[color]["action"] != "pass"):
            self.votes.append(Vote(self, rule.on_color[color], reason))


class Banned(Voice):
    """One rule that matched the packet at hand, a key of which is in the penalty box, or banned by name."""

    def __init__(self, rule, key, left):
        self.rule, self.key, self.charges, self.refused_any = rule, key, [], True
        self.wait, self.refused, self.delay, self.overflowed = left, True, 0, True
        action = rule.ban.action if rule.ban else rule.action
        if action["action"] == "shape":  # nothing that could be held
            action = {"action": action.get("overflow", "drop")}
        self.votes = [Vote(self, action, "banned")]


def is_neighbour_discovery(fields):
    """RFC 4861: types 133 to 137 of ICMPv6, that no router has forwarded. None is sent in a tunnel."""
    return ("outer.ip.src" not in fields and fields.get("ip.proto") == 58 and fields.get("ip.version") == 6 and fields.get("ip.ttl") == 255
            and 133 <= fields.get("icmp.type", 0) <= 137)


class PenaltyBox:
    """All refusals of a key since its last ban, and until when that lasts."""

    def __init__(self):
        self.refusals, self.until = [], 0

    def note(self, now, ban):
        """True: that was the one that bans."""
        self.refusals = [one for one in self.refusals if now < one + ban.within] + [now]
        if len(self.refusals) < ban.after:
            return False
        self.refusals, self.until = [], now + ban.lasts
        return True


class Vote:
    def __init__(self, judged, action, reason):
        self.judged, self.action, self.reason = judged, action, reason


class OneUnit:
    """The readings of one unit. `met`: rules that have judged or skipped one; `costs`: of each key the dearest of them;
    `once`: limits that count the packet, and have."""

    def __init__(self):
        self.met, self.costs, self.once = set(), {}, set()

    def cost_before(self, limit, key, cost):
        """How much of it other readings have cost the same key."""
        place = limit, None if key is None else tuple(key)
        before = self.costs.get(place, 0)
        self.costs[place] = max(before, cost)
        return min(before, cost)


class Verdict:
    """`tag`: the action that decided, where that is one that tags; `longest`: what acting rules ask to wait."""

    def __init__(self, action, reason, rule="", key="", wait="0", tag=None, longest=0):
        self.action, self.reason, self.rule, self.key, self.wait = action, reason, rule, key, wait
        self.tag, self.delay, self.made, self.longest = tag, 0, [], longest

    def say_wait(self):
        """Of what is refused; empty where no limit refused, but a colour or a rule on sight."""
        self.wait = "0" if self.action in FORWARDS else \
            "never" if self.longest == NEVER else str(self.longest or "")

    def hold(self, delay):
        self.delay, self.wait = delay, str(delay)

    def columns(self):
        return [self.action, self.reason, self.rule, self.key, self.wait]


class Limiter:
    def __init__(self, rules, malformed="pass", enforce=False):
        self.rules = [rule for rule in rules if rule.mode != "off"]
        self.malformed, self.refuses_deep = malformed, False
        self.acting = {rule.id for rule in self.rules if not rule.never_acts and
                       (enforce or rule.mode == "enforce")}
        self.first, self.now = None, 0  # nanoseconds since the first frame
        self.places, self.connections = Places(self._bucket), []  # those of them that follow connections
        self.boxes = {}
        self.fragments = Fragments()
        self.judged, self.met, self.once, self.passed, self.several = [], set(), set(), {}, False
        self.request = OneUnit()
        self.denied, self.says = False, []  # says: of the packet at hand, rules and what they count it as
        self.order = {rule.id: number for number, rule in enumerate(self.rules)}
        self.refuses = any(rule.id in self.acting and rule.on_match != "bypass"
                           for rule in self.rules)
        self.counts = {rule.id: dict(matched=0, admitted=0, exceeded=0, skipped=0)
                       for rule in rules}
        self.verdicts = {member: 0 for member in COUNTED_AS.values()}

    def judge(self, time, packet, data=None):
        """`data`: the frame, for what is answered."""
        self.first = time if self.first is None else self.first
        self.now = max(self.now, time - self.first)
        self.active = [rule for rule in self.rules if not rule.active or rule.active.holds(self.first + self.now)]
        verdict = self._judge(packet)
        if data is not None:
            verdict.action, verdict.made = carry_out(verdict.action, packet, data)
        self.verdicts[COUNTED_AS[verdict.action]] += 1
        if verdict.action in FORWARDS:
            self._follow(packet)
        return verdict

    def _follow(self, packet):
        """What every bucket of open connections learns of a packet that goes on."""
        for bucket in self.connections:
            bucket.follow(self.now, packet)

    def summary(self):
        return {"packets": sum(self.verdicts.values()), **self.verdicts,
                "rules": [{"id": name, **counts} for name, counts in self.counts.items()]}

    def _judge(self, packet):
        if packet.malformed:
            # It may end at a service that enforces.
            is_deep = self.refuses_deep and packet.malformed == "too_deep"
            passes = self.malformed == "pass" and not is_deep
            return Verdict("pass" if passes else "drop", packet.malformed, wait="0" if passes else "")
        if packet.service and packet.service.refuses():
            return Verdict("drop", packet.service.refusal, wait="")
        units = [packet, *packet.further]
        for unit in units if self.rules and "ip.src" in packet.fields else ():
            client = self.rules[0].client.of_packet(unit)
            unit.fields.update({"client.ip": client} if client else {})
            unit.fields.update(self.rules[0].origins.fields(unit.fields))
        piece = packet.fields.get("ip.frag", "none") if self.refuses else "none"
        refusal = self.fragments.refusal(self.now, packet.fields) if piece == "later" else None
        if refusal:
            self._remember_around(packet, True)
            return Verdict("drop", refusal, wait="")
        doubtful = self._drops_doubtful(packet)
        if doubtful:
            return Verdict("drop", doubtful, wait="")
        verdict = self._judge_units(units)
        if piece == "first":
            self.fragments.remember(self.now, packet.fields, verdict.action not in FORWARDS)
        self._remember_around(packet, verdict.action not in FORWARDS)
        return verdict

    def _remember_around(self, packet, dropped):
        """The first fragment that a tunnel's packet came in."""
        if self.refuses and packet.around:
            came = {name: packet.fields[name] for name in ("dir", "port") if name in packet.fields}
            self.fragments.remember(self.now, packet.around | came, dropped)

    def _drops_doubtful(self, packet):
        """-> why, or None: where a rule that acts is concerned, and of an enforced service."""
        reason, asks = packet.doubt or (None, "")
        if reason is None or packet.service and packet.service.service.mode == "enforce":
            return reason
        return reason if any(rule.id in self.acting and rule.asks(asks) for rule in self.active) else None

    def _judge_units(self, units):
        """In their order; the strictest verdict is the packet's, of equals that of the first rule in the file."""
        self.judged, self.met, self.once, self.passed, self.several = [], set(), set(), {}, len(units) > 1
        self.denied, self.request, self.says = False, OneUnit(), []  # denied: on sight
        verdicts = [self._judge_unit(unit) for unit in units]
        verdict = min(verdicts, key=self._place_of)
        if len(verdicts) > 1:
            verdict.longest = max(one.longest for one in verdicts)
            verdict.say_wait()
        if verdict.reason == "banned_source":
            self._count_also(next(rule for rule in self.rules if rule.id == verdict.rule), "banned_sources")
        if verdict.action == "shape":
            verdict.hold(max(one.delay for one in self.judged if one.rule.id in self.acting))
        self._settle(verdict.action in FORWARDS, verdict.delay)
        return verdict

    def _judge_unit(self, unit):
        if not unit.is_reading:
            self.once |= self.request.once
            self.request = OneUnit()
        return (self._pass_by(unit) or self._drop_source(unit) or self._decide_on_sight(unit)
                or self._decide_by_limits(unit))

    def _place_of(self, verdict):
        return (-STRICTNESS[verdict.action], self.order.get(verdict.rule, len(self.order)),
                {"exempt": 1, "unmatched": 2}.get(verdict.reason, 0))

    def _settle(self, forwarded, delay):
        """All that was admitted is charged, or nothing; limits of rules that shape as of the departure."""
        self._count_all(forwarded)
        for one in self.judged:
            candidate = one.rule.never_acts
            self._settle_rule(one, *(self._in_place(one.rule) if candidate else (forwarded, delay)))

    def _settle_rule(self, one, forwarded, delay):
        acts = one.rule.place in self.acting
        overflowed = one.overflowed or one.delay and not acts
        refuses = any(other.refused_any for other in self.judged if other.rule is one.rule)
        if forwarded and not overflowed and (acts or one.rule.on_match == "bypass" or not refuses):
            holds = delay and acts and one.rule.action["action"] == "shape"
            _spend(one, self.now + delay if holds else None)
        elif one.rule.rejected_spend and not (forwarded and overflowed):
            for charge in one.charges:
                charge.spend_what_fits()

    def _in_place(self, candidate):
        """Whether the packet would go on, and how long it would be held, if that were the rule that it is a candidate
        of; all other rules stay."""
        others = [one for one in self.judged if one.rule.id in self.acting and one.rule.id != candidate.place]
        own = [one for one in self.judged if one.rule is candidate]
        voices = others + own * (candidate.place in self.acting)
        if self.denied or any(one.blocks() for one in voices):
            return False, 0
        return True, max(one.delay for one in others + own)

    def _applies(self, rule, keys, charges, unit):
        """Of several units a rule looks at the first, and at those that its limits count; of the readings of one at
        those with keys of their own, or that cost more."""
        is_first = rule.id not in self.met
        kind = "request" if unit.requests else "query" if unit.queries else "handshake"
        lacks = keys is None and any(limit.per == kind for tier in rule.tiers for limit in tier.limits)
        applies = not self.several or is_first or bool(charges) or lacks and rule.id not in self.request.met
        self.met.update([rule.id] if applies else [])
        self.request.met.update([rule.id] if applies else [])
        return applies

    def _count(self, rule, how):
        """Once the packet has been decided: what had room is `admitted` if the packet goes on."""
        self.says.append((rule, how))

    def _count_all(self, forwarded):
        for rule, how in self.says:
            exempt = how == "exempted"
            if how == "admitted" or exempt:
                how = self._becomes(rule, forwarded)
            self.counts[rule.id]["matched"] += 1
            self.counts[rule.id][how] += 1
            if exempt and how == "admitted":
                self._count_also(rule, "exempted")

    def _becomes(self, rule, forwarded):
        """What a rule had room for, in a packet that goes on or does not."""
        acts = rule.place in self.acting
        if rule.on_match == "allow" and not acts:
            return "admitted"  # it would come before whatever has refused the packet
        goes_on = self._in_place(rule)[0] if rule.never_acts else forwarded
        refuses = any(one.blocks() for one in self.judged if one.rule is rule and rule.on_match != "bypass")
        if goes_on and not (refuses and not acts):
            return "admitted"
        return "exceeded" if refuses else "skipped"

    def _count_also(self, rule, what):
        """What the summary names only where it has happened."""
        also = [what] if what in ("exempted", "banned_sources") else ["banned", "bans"]
        self.counts[rule.id] = {**dict.fromkeys(also, 0), **self.counts[rule.id]}
        self.counts[rule.id][what] += 1

    def _pass_by(self, packet):
        """The first budget that counts the packet and has room lets it through untouched."""
        for rule in self.active:
            if rule.on_match != "bypass" or not rule.condition(packet.fields):
                continue
            keys = self._keys(rule, packet)
            charges = self._charges(rule, keys, packet) if keys else []
            if not self._applies(rule, keys, charges, packet):
                if self.passed.get(rule.id):
                    return Verdict("pass", "bypass", rule.id)
                continue
            if not charges:
                self._count(rule, "skipped")
                continue
            budget = Judged(rule, keys[0], charges)
            self._count(rule, "exceeded" if budget.refused else "admitted")
            self.passed[rule.id] = not budget.refused
            if not budget.refused:
                self.judged.append(budget)
                return Verdict("pass", "bypass", rule.id, key_text(budget.key))
        return None

    def _decide_on_sight(self, packet):
        for rule in self.active:
            if rule.on_match not in ("drop", "allow") or not rule.condition(packet.fields):
                continue
            if rule.id not in self.request.met:
                self._count(rule, "admitted" if rule.on_match == "allow" else "exceeded")
            self.request.met.add(rule.id)
            if rule.id in self.acting:
                what = rule.match_action["action"]
                if rule.on_match == "allow":
                    return Verdict(what, "allow_rule", rule.id, tag=rule.match_action if what == "tag" else None)
                self.denied = True
                return Verdict(what, "deny_rule", rule.id, wait="")
        return None

    def _decide_by_limits(self, packet):
        judged = self._look(packet)
        acting = [one for one in judged if one.rule.id in self.acting]
        verdict = Verdict("pass", "within_limits" if any(one.charges for one in acting)
                          else "exempt" if any(one.exempt for one in acting) else "unmatched")
        votes = [vote for one in acting for vote in one.votes]
        longest = max((one.wait for one in acting), default=0)
        if votes:
            verdict = _strictest(votes, longest)
        verdict.longest = longest
        self.judged += judged
        return verdict

    def _look(self, packet):
        """What each rule that matches says; nothing is spent."""
        judged = []
        for rule in self.active:
            if rule.on_match or not rule.condition(packet.fields):
                continue
            keys = self._keys(rule, packet)
            charges = self._charges(rule, keys, packet) if keys and self.several else []
            if not self._applies(rule, keys, charges, packet):
                continue
            if keys is None:
                self._count(rule, "skipped")
                continue
            out_of_ban = self._is_out_of_ban(rule, keys, packet)
            fated = None if out_of_ban else self._fated(rule, keys)
            if not fated and not self.several:
                charges = self._charges(rule, keys, packet)
            one = fated or Judged(rule, keys[0], charges)
            one.refused_any = one.refused
            if not fated and not out_of_ban:
                self._note_refusals(one, keys)
            says = fated or one.charges
            self._count(rule, "exceeded" if one.refused else "exempted" if one.exempt
                        else "admitted" if says else "skipped")
            judged.append(one)
        return judged

    def _is_out_of_ban(self, rule, keys, packet):
        """A ban of sources leaves neighbour discovery out, which the rule's limits go on holding."""
        return bool(rule.ban and rule.ban.of_source and is_neighbour_discovery(packet.fields)
                    and self._ban_left(rule, keys)[0] > 0)

    def _fated(self, rule, keys):
        """Where no limit is asked: a key is banned by name, else exempt, else in the penalty box."""
        utc = self.now + self.first
        left = [(rule.overrides.ban_left(tier, key, utc), key)
                for tier, key in self._tiers(rule, keys)] if rule.overrides else []
        longest = max(left, key=lambda one: one[0], default=(0, None))
        if longest[0] > 0:
            self._count_also(rule, "banned")
            return Banned(rule, longest[1], min(longest[0], NEVER))
        if rule.overrides and any(rule.overrides.exempts(tier, key, utc)
                                  for tier, key in self._tiers(rule, keys)):
            return self._exempt(rule, keys)
        banned = self._banned(rule, keys) if rule.ban else None
        if banned:
            self._count_also(rule, "banned")
        return banned

    @staticmethod
    def _exempt(rule, keys):
        exempt = Judged(rule, keys[0], [])
        exempt.exempt = True
        return exempt

    def _drop_source(self, packet):
        """The first rule that has banned the source for all traffic."""
        if "ip.src" not in packet.fields or is_neighbour_discovery(packet.fields):
            return None
        for rule in self.active:
            if not (rule.ban and rule.ban.of_source and rule.id in self.acting):
                continue
            left, key = self._ban_left(rule, self._keys(rule, packet))
            if left > 0:
                wait = "never" if left >= NEVER else str(left)
                return Verdict("drop", "banned_source", rule.id, key_text(key), wait, longest=min(left, NEVER))
        return None

    def _ban_left(self, rule, keys):
        """(how long it is banned yet, its key): by name, unless that says exempt, in the penalty box."""
        tiers, utc = self._tiers(rule, keys), self.now + self.first
        left = [(rule.overrides.ban_left(tier, key, utc), key) for tier, key in tiers] if rule.overrides else []
        longest = max(left, key=lambda one: one[0], default=(0, None))
        if longest[0] > 0:
            return longest
        if rule.overrides and any(rule.overrides.exempts(tier, key, utc) for tier, key in tiers):
            return 0, None
        left = [(self._box(rule, tier, key).until - self.now, key) for tier, key in tiers]
        return max(left, key=lambda one: one[0], default=(0, None))

    def _note_refusals(self, one, keys):
        ban = one.rule.ban
        # Nothing here says that a handshake was completed: of a ban of sources all may be forged.
        if ban and ban.of_source and not ban.spoofable:
            return
        for tier in one.refusing_tiers if ban else ():
            if self._box(one.rule, tier, keys[tier]).note(self.now, one.rule.ban):
                self._count_also(one.rule, "bans")

    def _box(self, rule, tier, key):
        place = (rule.id, tier, None if key is None else tuple(key))
        return self.boxes.setdefault(place, PenaltyBox())

    def _banned(self, rule, keys):
        """Whose ban lasts longest says so; max() keeps the first. None: nobody is banned."""
        left = [(self._box(rule, tier, key).until - self.now, key)
                for tier, key in self._tiers(rule, keys)]
        longest = max(left, key=lambda one: one[0], default=(0, None))
        return Banned(rule, longest[1], longest[0]) if longest[0] > 0 else None

    @staticmethod
    def _keys(rule, packet):
        """One for each tier, None where a part is missing; None: the rule is skipped."""
        keys = []
        for tier in rule.tiers:
            key = [part_text(part, packet.fields, tier.key) for part in tier.key]
            keys.append(None if None in key else key)
        skips = rule.missing_key == "skip" and not any(key is not None for key in keys)
        return None if skips else keys

    @staticmethod
    def _tiers(rule, keys):
        """(number, key) of the tiers that apply."""
        return [(number, key) for number, key in enumerate(keys)
                if key is not None or rule.missing_key == "share"]

    def _charges(self, rule, keys, packet):
        charges = []
        came = color_of(packet.fields.get("ip.dscp"))
        for number, key in self._tiers(rule, keys):
            for limit in rule.tiers[number].limits:
                cost = units_of(limit.per, packet) * rule.cost.of(packet.fields)
                if cost == 0 and self._completes(rule, number, limit, key, packet):
                    cost = 1
                once = (rule.id, number, limit.name)
                value = part_text(limit.of, packet.fields, [limit.of]) if limit.of else None
                if limit.of and value is None:
                    continue  # nothing is shown
                counted = (*once, value) if limit.of else once  # another reading may show another value
                cost -= self.request.cost_before(counted, key, cost)
                if cost == 0 or once in self.once:
                    continue
                if limit.per in ("packet", "byte", "connection"):
                    self.request.once.add(once)
                said = rule.overrides and rule.overrides.numbers(number, key, limit, self.now + self.first)
                bucket = self.places.bucket(rule, number, limit, key, packet,
                                            lambda: self._bucket(limit, said))
                if not isinstance(bucket, NoPlace):
                    bucket.at(self.now)
                if isinstance(bucket, OpenConnections):
                    bucket.come(packet)
                earlier = [charge for one in self.judged for charge in one.charges if charge.bucket is bucket]
                charges.append(Charge(bucket, number, key, cost, came, earlier, value))
        return charges

    def _completes(self, rule, number, limit, key, packet):
        """Whether a bucket that is there waits for this packet to complete a handshake."""
        bucket = getattr(limit, "from_established", False) and self.places.known(rule, number, limit, key)
        if not bucket:
            return False
        bucket.at(self.now)
        return bucket.completes(packet)

    def _bucket(self, limit, said=None):
        """A full one, under numbers of its own for as long as they hold."""
        meter = ALL_METERS.get(limit.algorithm, Meter)
        if not said or self.now + self.first >= said.until:
            bucket = meter(limit, self.now, self.first)
        else:
            own = meter(limit.with_numbers(said.numbers), self.now, self.first)
            bucket = own.end(said.until - self.first, limit)
        if meter is OpenConnections:
            self.connections.append(bucket)
        return bucket


def units_of(per, packet):
    """What a packet carries of that which a limit counts."""
    if per == "connection":
        flags = packet.fields.get("tcp.flags", 0)
        return 1 if flags & SYN and not flags & ACK else 0
    return {"byte": packet.units, "query": packet.queries, "request": packet.requests,
            "handshake": packet.handshakes}.get(per, 1)


def _strictest(votes, longest):
    first = max(votes, key=lambda vote: STRICTNESS[vote.action["action"]])  # max() keeps the first
    action = first.action["action"]
    verdict = Verdict(action, first.reason, first.judged.rule.id, key_text(first.judged.key),
                      tag=first.action if action == "tag" else None, longest=longest)
    verdict.say_wait()
    return verdict


def _spend(one, leaves):
    for charge in one.charges:
        if leaves is not None:
            charge.spend_at(leaves, not one.rule.never_acts)
        elif not charge.refused or one.delay:
            charge.spend()


def key_text(key):
    return "|".join(escape(part) for part in key or [])


def part_text(part, fields, key=()):
    """A key part as people read it, or None where the packet does not have it."""
    value = value_of(part, fields)
    if TEXT.fullmatch(part):
        return None if value is None else long_text(value, room_in(key))
    return None if value is None else text_of(part, value)
