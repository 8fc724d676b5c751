"""Rule files at random: what the language has today, in any combination that `apply` takes."""
import csv
import datetime
import io
import ipaddress
import random

from conditions import COUNTRIES, SYSTEMS, ConditionMaker
from limit_maker import WINDOW_LENGTHS, LimitMaker
from limiter import part_text
from rules import Client
from texts import ADDRESS, Written, escape

DELAYS = ["1us", "3ms", "50ms", "700ms", "2s", "10s", "60s", "1m"]
OVERFLOWS = ["", ", overflow: drop", ", overflow: pass"]
ACTIONS = ["drop", "drop", "reset", "tag, dscp: ef", "tag, dscp: 12, pcp: 3", "tag, pcp: 5", "pass"]
ON_MATCH = ["drop", "drop", "allow", "allow", "{action: drop}", "{action: reset}", "{action: reset}",
            "{action: tag, dscp: cs1}", "{action: tag, dscp: af31, pcp: 6}"]
ON_FULL = ["open", "closed", "{coarsen: {factor: 2}}", "{coarsen: {factor: 16}}"]
DATA = """data:
  country_db: country.mmdb
  asn_db: asn.mmdb
  lists:
    nets: {type: cidr, file: nets.txt}
    ports: {type: number, file: ports.txt}
    words: {type: string, file: words.txt}
    lands: {type: string, file: lands.txt}
"""
LISTS = {
    "nets.txt": "# networks\n192.0.2.0/25\n10.1.2.3\n198.18.0.0/27  # the flood\n2001:db8:1::/48\n",
    "ports.txt": "53\n\n1024-1027\n0x50\n",
    "words.txt": "GET /\nabc\n# none\naaaa # four\nxyz#abc\n",
    "lands.txt": "NL\nUS\n",
}


class RuleMaker:
    """`packets`: what the rules will meet, to take keys for overrides from."""

    def __init__(self, dice, packets, until, **about):
        self.dice, self.packets, self.until = dice, packets, until
        self.has_data = about["data"]
        self.missing_key = ("skip",) if about["local"] else ("skip", "share")
        self.conditions, self.limits = ConditionMaker(dice, **about), LimitMaker(dice)
        self.files, self.client = {}, Client({})

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    def file(self):
        lines = ["version: 1"]
        if self.chance(40):
            lines.append(f"defaults: {{mode: {self.dice.choice(('enforce', 'monitor'))}, "
                         f"missing_key: {self.dice.choice(self.missing_key)}, "
                         f"on_full: {self.dice.choice(ON_FULL)}}}")
        if self.chance(50):
            lines.append(self.client_ip())
        if self.has_data:
            lines.append(DATA.rstrip())
            self.files.update({name: text.encode() for name, text in LISTS.items()})
        self.named = {"common": self.limits.limit(True), "bytes": self.limits.limit(False)}
        lines += ["limits:"] + [f"  {name}: {limit}" for name, limit in self.named.items()]
        if self.chance(30):
            lines += ["bypass:"] + [self.budget() for _ in range(self.dice.choice((1, 1, 2)))]
        lines.append("rules:")
        for number in range(self.dice.choice((1, 1, 1, 2, 3, 4, 5, 8))):
            lines += self.rule(number)
        return "\n".join(lines) + "\n"

    def client_ip(self):
        v4, v6 = self.dice.choice((32, 32, 24, 20)), self.dice.choice((128, 128, 64, 56))
        self.conditions.client = (v4, v6)
        unwrap = self.dice.choice(([], ["nat64"], ["v4mapped"], ["nat64", "v4mapped"]))
        self.client = Client({"ipv4_prefix": v4, "ipv6_prefix": v6, "unwrap": unwrap})
        return f"client_ip: {{ipv4_prefix: {v4}, ipv6_prefix: {v6}, unwrap: [{', '.join(unwrap)}]}}"

    def budget(self):
        limit = "common" if self.chance(20) else self.limits.limit(self.chance(70))
        return (f"  - {{when: '{self.conditions.possible_condition(1)}', key: [{self.conditions.key()}], "
                f"limit: {limit}}}")

    def rule(self, number):
        lines = [f"  - id: r{number}"]
        mode = self.dice.choice(("enforce",) * 7 + ("monitor",) * 2 + ("off", None))
        if mode:
            lines.append(f"    mode: {mode}")
        on_match = number > 0 and self.chance(15)
        if on_match or self.chance(65):
            lines.append(f"    when: '{self.conditions.possible_condition(1 if on_match else 3)}'")
        if self.chance(12):
            lines.append(f"    active: {self.active()}")
        if on_match:
            return lines + [f"    on_match: {self.dice.choice(ON_MATCH)}"]
        if self.chance(40):
            lines.append(f"    missing_key: {self.dice.choice(self.missing_key)}")
        if self.chance(15):
            lines.append("    rejected_spend: true")
        if self.chance(15):
            lines.append(f"    cost: {self.dice.choice((1, 2, 3, 7, 1000))}")
        if self.chance(15):
            lines.append(f"    on_full: {self.dice.choice(ON_FULL)}")
        tiers = self.tiers()
        self.count_values(tiers, lines)
        source_ban = self.source_ban(tiers, lines)
        lines += self.keys_and_limits(tiers)
        named = [self.named.get(limit, limit) for _, limits in tiers for limit in limits]
        if any("tcm" in limit for limit in named) and self.chance(70):
            lines.append(self.on_color())
        if self.chance(25):
            ban = self.ban()
            lines += [ban] * (not source_ban)
        lines += source_ban
        if self.chance(15):  # what is told changes no verdict
            lines += ["    events: [limit_start, limit_end, refill]", "    notify: {to: ops, on: [limit, over, state]}"]
        if self.chance(15):  # nor does what is sampled
            lines.append(f"    heatmap: {self.dice.choice(('on', 'off', 'true'))}")
        shares = any("missing_key: share" in line for line in lines)
        overridden = self.chance(35) and self.overrides(number, tiers, shares, lines)
        candidates = self.candidates(tiers, overridden) if self.chance(25) else []
        lines += candidates
        action = self.dice.choice(ACTIONS)
        waits = all("token_bucket" in limit or "leaky_bucket" in limit for limit in named)
        if waits and not any("algorithm" in line for line in candidates) and self.chance(40):
            action = f"shape, max_delay: {self.dice.choice(DELAYS)}{self.dice.choice(OVERFLOWS)}"
        counted_singly = not any("byte" in text for text in lines + named)
        if waits and counted_singly and self.chance(15):  # nothing is set in a replay
            lines.append("    dynamic: {source: api, ttl: 10m, floor: 1/s, ceiling: 1M/s}")
        return lines + [f"    on_exceed: {{action: {action}}}"] * (not self.chance(15))

    def active(self):
        """Hours that begin or end around the capture's, in zones far from UTC and near."""
        day = self.dice.choice(("days: mon-fri", "days: sat-mon", "days: [tue, thu-fri]", "days: wed", ""))
        moment = self.dice.choice(self.until[::3])  # an instant of the capture
        hour = int(moment[11:13]) if "T" in moment else 12
        begin, end = (f"{(hour + self.dice.randrange(-2, 3)) % 24:02}:{self.dice.choice(('00', '30', moment[14:16] or '15'))}"
                      for _ in range(2))
        hours = f"hours: {begin}-{end}" if begin != end else "hours: 00:00-24:00"
        zone = self.dice.choice(("", "zone: UTC", "zone: Europe/Berlin", "zone: America/New_York", "zone: Australia/Lord_Howe"))
        parts = [part for part in (day, self.dice.choice((hours, hours, f"hours: [{hours[7:]}, 01:00-02:30]")), zone) if part]
        return f"{{{', '.join(parts)}}}"

    def tiers(self):
        """[(key, its limits)]; a named limit only in the first, so that each name is one tier's."""
        count = self.dice.choice((2, 2, 3, 1)) if self.chance(20) else 0
        self.is_tiered = count > 0
        return [(self.conditions.key(), self.some_limits(number)) for number in range(count or 1)]

    def some_limits(self, tier):
        some = [self.limits.limit(self.chance(60)) for _ in range(self.dice.choice((1, 1, 1, 2)))]
        if tier == 0 and self.chance(25):
            some[0] = "common"
        if tier == 0 and self.chance(15):
            some.append("bytes")
        return some

    @staticmethod
    def count_values(tiers, lines):
        """Some limits become those of different values. The dice are others, so that all else stays as it was."""
        dice = random.Random(str((lines, tiers)))
        if dice.randrange(100) < 15 and not any("cost" in line or "rejected" in line for line in lines):
            limits = dice.choice(tiers)[1]
            if "common" not in limits[0] and limits[0] != "bytes":
                limits[0] = LimitMaker.distinct(dice)

    def source_ban(self, tiers, lines):
        """Some rules get keys by source, and ban for all traffic. The dice are others here too."""
        dice = random.Random(str((tiers, lines)))
        if dice.randrange(100) >= 15:
            return []
        keys = ["ip.src"] if self.conditions.local else ["ip.src", "ip.src", '"prefix(ip.src, 24|64)"', '"prefix(ip.src, 31|127)"']
        tiers[:] = [(key, limits) for key, (_, limits) in zip(dice.sample(keys * 2, len(tiers)), tiers)]
        return [f"    ban: {{after: {dice.choice((1, 2, 3, 5))}, within: {dice.choice(WINDOW_LENGTHS)}, "
                f"for: {dice.choice(WINDOW_LENGTHS)}, applies_to: source{', spoofable: yes' * (dice.randrange(5) > 0)}}}"]

    def keys_and_limits(self, tiers):
        if self.is_tiered:
            return ["    tiers:"] + [f"      - {{key: [{key}], limits: [{', '.join(limits)}]}}"
                                     for key, limits in tiers]
        key, limits = tiers[0]
        return [f"    key: [{key}]", "    limits:"] + [f"      - {limit}" for limit in limits]

    def on_color(self):
        colors = [f"{color}: {{action: {self.dice.choice(ACTIONS)}}}"
                  for color in ("green", "yellow", "red") if self.chance(60)]
        return f"    on_color: {{{', '.join(colors)}}}"

    def ban(self):
        action = self.dice.choice(("", "", ", action: drop", ", action: tag, dscp: cs1",
                                   ", action: pass"))
        return (f"    ban: {{after: {self.dice.choice((1, 2, 3, 5, 20))}, "
                f"within: {self.dice.choice(WINDOW_LENGTHS)}, "
                f"for: {self.dice.choice(WINDOW_LENGTHS)}{action}}}")

    def names(self, tiers):
        """[(tier, name, limit)] of all limits of a rule."""
        return [(tier, limit if limit in self.named else f"t{tier + 1}." * self.is_tiered + f"{at}",
                 self.named.get(limit, limit))
                for tier, (_, limits) in enumerate(tiers) for at, limit in enumerate(limits, 1)]

    # Candidates.

    def candidates(self, tiers, overridden):
        lines = ["    candidates:"]
        for number in range(self.dice.choice((1, 1, 2, 3))):
            changes = [self.change(*one[1:], overridden) for one in self.names(tiers)
                       if self.chance(60)]
            changes = [change for change in changes if change]
            if changes:
                lines.append(f"      - {{name: c{number}, limits: {{{', '.join(changes)}}}}}")
        return lines if len(lines) > 1 else []

    def change(self, name, limit, overridden):
        if self.chance(25) and not overridden and "tcm" not in limit:
            return f'"{name}": {self.limits.limit("per: byte" not in limit)}'
        numbers = self.limits.other_numbers(limit)
        inner = ", ".join(f"{one}: {text}" for one, text in numbers.items())
        return f'"{name}": {{{inner}}}' if inner else None

    # Overrides.

    def overrides(self, number, tiers, shares, lines):
        """Of keys that packets have, each at most once; True: there are some."""
        said, rows, items = set(), [], []
        names = self.names(tiers)
        ranges = {tier: [] for tier in range(len(tiers))} if self.chance(40) else None
        for _ in range(self.dice.choice((1, 3, 8))):
            tier, name, limit = self.dice.choice(names)
            numbers = self.limits.other_numbers(limit)
            exempt = not self.is_tiered and self.chance(35)
            key = self.a_key(tiers[tier][0], shares)
            if key is None or (tier, *key) in said or not (numbers or exempt):
                continue
            said.add((tier, *key))
            # Between the end of numbers and the next packet others that are around do not hold yet.
            ends = ranges is None or (exempt and len(names) == 1)
            until = self.dice.choice(self.until) if ends and self.chance(40) else ""
            spelled = [self.spelled(part) for part in key]
            is_address = len(key) == 1 and key != [""] and ADDRESS.search(tiers[tier][0])
            is_wide = is_address and ranges is not None and self.chance(70)
            if is_wide:
                spelled = [self.around(key[0], ranges[tier])]
            if self.chance(40):
                banned = not is_wide and not self.is_tiered and self.chance(15)
                if banned and is_address and self.chance(60):
                    spelled = [self.network_of(key[0])]
                    if (tier, *spelled) in said:
                        continue
                    said.add((tier, *spelled))
                rows.append(["|".join(spelled), "" if banned else "exempt" if exempt else name,
                             *(["", "", ""] if exempt or banned else
                               [numbers.get("rate"), numbers.get("burst", numbers.get("queue")),
                                numbers.get("count")]), until, "a reason, or none"]
                            + ["yes"] * banned)
            else:
                items.append(self.item(spelled, name, {} if exempt else numbers, until))
        if rows:
            lines += ["    overrides:", f"      file: overrides-{number}.csv"]
            self.files[f"overrides-{number}.csv"] = csv_file(rows)
        elif items:
            lines.append("    overrides:")
        lines += (["      inline:"] + items) * bool(items)
        return bool(said)

    def a_key(self, parts, shares):
        """Parts as they are written; None: the packet that was picked lacks one."""
        names = [part.strip('"') for part in split_parts(parts)]
        fields = self.dice.choice(self.packets).fields if self.packets else {}
        if "ip.src" in fields:
            fields = {**fields, "client.ip": self.client.of(fields["ip.src"])}
        key = [part_text(name, fields, names) for name in names]
        if None in key:
            return [""] if shares and names else None
        return key

    def around(self, part, others):
        """A network or range that the key lies in, which the others hold, or it holds them; else the key."""
        whole = ipaddress.ip_network(part)
        length = whole.prefixlen - self.dice.choice((1, 2, 4, 8, 12))
        network = whole.supernet(new_prefix=max(length, 1))
        first, last = int(network[0]), int(network[-1])
        if self.chance(50):  # of whole keys, with the key among them
            size = whole.num_addresses
            first = int(whole[0]) - size * self.dice.randint(0, (int(whole[0]) - first) // size)
            last = int(whole[-1]) + size * self.dice.randint(0, (last - int(whole[-1])) // size)
        if (first, last) == (int(whole[0]), int(whole[-1])) or any(
                version == whole.version and (first, last) != (a, b) and not (last < a or b < first)
                and not (a <= first and last <= b) and not (first <= a and b <= last)
                for version, a, b in others) or (whole.version, first, last) in others:
            return part
        others.append((whole.version, first, last))
        if (first, last) == (int(network[0]), int(network[-1])) and self.chance(50):
            return str(network)
        kind = type(whole[0])
        return f"{kind(first)}-{kind(last)}"

    def network_of(self, part):
        """One that the key lies in, shorter than it, of few lengths."""
        address = ipaddress.ip_network(part)
        lengths = (8, 16, 22) if address.version == 4 else (32, 48)
        shorter = [length for length in lengths if length < address.prefixlen]
        return str(address.supernet(new_prefix=self.dice.choice(shorter))) if shorter else part

    def spelled(self, part):
        if isinstance(part, Written):
            return str(part)
        other = part.upper() if ":" in part and "." not in part and self.chance(30) else part
        return escape(other)

    def item(self, key, name, numbers, until):
        plain = not any("\\" in part or "'" in part for part in key)
        text = ", ".join(f"'{part}'" for part in key)
        joined = "|".join(key).replace("'", "''")
        text = f"[{text}]" if plain and key != [""] else f"'{joined}'"
        inner = ", ".join(f"{one}: {number}" for one, number in numbers.items())
        what = f'limits: {{"{name}": {{{inner}}}}}' if numbers else "exempt: true"
        return f"        - {{key: {text}, {what}" + f", until: '{until}'" * bool(until) + "}"


def split_parts(parts):
    """`ip.src, "prefix(ip.dst, 24|64)"` -> both."""
    return next(csv.reader([parts], skipinitialspace=True)) if parts else []


def csv_file(rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header = "key,limit,rate,burst,count,expires,reason,ban".split(",")
    width = max(map(len, rows))  # the last column where some row bans
    writer.writerow(header[:width])
    writer.writerows(row + [""] * (width - len(row)) for row in rows)
    return out.getvalue().encode()


def instants(times):
    """Days and seconds around those of a capture, as `until` takes them."""
    texts = []
    for time in times:
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=time // 1_000_000_000)
        texts += [moment.strftime("%Y-%m-%dT%H:%M:%SZ"), moment.strftime("%Y-%m-%d"),
                  (moment + datetime.timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")]
    return texts


def databases(writer, dice):
    """Both MMDB files, by the writer of the smoke tests."""
    countries, systems = writer.Database("Test-Country"), writer.Database("Test-ASN")
    networks = ["192.0.2.0/24", "192.0.2.64/26", "192.0.3.5/32", "10.0.0.0/8", "10.1.2.4/32",
                "198.18.0.0/26", "2001:db8::/32", "2001:db8::/64", "2001:db8:1::/48", "fe80::/10",
                "2001:db8::2/128"]
    for database, record, values in ((countries, writer.country, COUNTRIES),
                                     (systems, writer.asn, SYSTEMS)):
        for network in dice.sample(networks, dice.randint(3, len(networks))):
            database.add(network, record(dice.choice(values)))
        database.add("198.51.100.0/24", record(values[0]))
        for alias in ("::ffff:0:0/96", "2002::/16"):
            if dice.randrange(2):
                database.add_alias(alias)
    return {"country.mmdb": countries.bytes(), "asn.mmdb": systems.bytes()}
