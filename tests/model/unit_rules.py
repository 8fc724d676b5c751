"""Rules at random over what packets complete: requests, handshakes. What they can name is given as `Words`."""
from limit_maker import LimitMaker

ON_MATCH = ("drop", "drop", "allow", "allow", "{action: drop}", "{action: tag, dscp: ef}")
WAYS = ("eq", "eq", "ne", "in", "contains", "starts", "ends", "matches", "word")


class Words:
    """`tests`: field -> values to compare it with, and with parts of it where `whole` has others; `words`: whole
    conditions; `beside`: tests of headers that stand behind others; `per` counts the unit; `watch` is the key of
    a rule that reads all of them."""

    def __init__(self, per, watch, tests, **more):
        self.per, self.watch, self.tests = per, watch, tests
        self.patterns, self.words, self.whole = more["patterns"], more["words"], more.get("whole", {})
        self.keys, self.beside = more["keys"], more["beside"]


class UnitRules:
    """The first rule reads everything, so that no part of a unit goes by unseen. `acts`: whether rules enforce;
    None: some do."""

    def __init__(self, dice, words, acts=None):
        self.dice, self.words, self.acts = dice, words, acts
        self.limits = LimitMaker(dice)

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    def file(self, before=()):
        """`before`: lines that stand before the rules."""
        first = "enforce" if self.acts else "monitor"
        lines = ["version: 1", *before, "rules:",
                 f"  - {{id: all, mode: {first}, key: [{self.words.watch}], per: {self.words.per},",
                 "     limits: [{algorithm: token_bucket, rate: 1/s, burst: 3}]}"]
        for number in range(self.dice.choice((1, 2, 3, 5))):
            lines += self.rule(number)
        return "\n".join(lines) + "\n"

    def rule(self, number):
        lines = [f"  - id: r{number}", f"    mode: {self.mode()}"]
        on_match = self.chance(25)
        if on_match or self.chance(60):
            lines.append(f"    when: '{self.condition()}'")
        if on_match:
            return lines + [f"    on_match: {self.dice.choice(ON_MATCH)}"]
        keys = self.dice.sample(self.keys(), self.dice.choice((0, 1, 1, 2)))
        lines.append(f"    missing_key: {self.dice.choice(('skip', 'share'))}")
        lines += ["    key:" + " []" * (not keys)] + [f"      - {key}" for key in keys]
        counts = f"per: {self.words.per}"
        limit = self.limits.limit(True).replace("per: packet", counts if self.chance(75) else "per: packet")
        return lines + self.cost(counts in limit) + ["    limits:", f"      - {limit}"]

    def mode(self):
        if self.acts is None:
            return self.dice.choice(("enforce", "enforce", "monitor"))
        return "enforce" if self.acts else "monitor"

    def keys(self):
        return self.words.keys

    def cost(self, _):
        """Lines; told whether the limit counts the unit."""
        return [f"    cost: {self.dice.choice((1, 2, 3))}"] if self.chance(10) else []

    def condition(self):
        """A test of a unit, and maybe others with it. What holds of every packet would be decided by headers, and
        nothing read."""
        text = self.test()
        while self.chance(40):
            how, other = self.dice.choice(("and", "and", "and not", "or", "or not")), self.test()
            # With its own opposite a test holds of everything, or of nothing, which is an error; so may two of clients.
            clients = "client.ip" in text and "client.ip" in other
            text += "" if clients or other in text else f" {how} {other}"
        if self.chance(15):
            text = f"not ({text})"
        text = self.dice.choice((text, text, f"({text}) and {self.dice.choice(self.words.beside)}"))
        # What no unit can be is an error: one that might be that is held by another kind of frame.
        return f"({text}) or eth.type eq 0x88b5" if " and " in text or "not " in text else text

    def test(self):
        name = self.dice.choice(list(self.words.tests))
        way = self.dice.choice(WAYS)
        values = self.words.tests[name]
        values = self.words.whole.get(name, values) if way in ("eq", "ne", "in") else values
        value, other = self.dice.choice(values), self.dice.choice(values)
        if isinstance(value, int):
            return self.number(name, value, other)
        field = f"lower({name})" if self.chance(20) else name
        if way == "word":
            return self.dice.choice(self.words.words)
        way = "eq" if way == "in" and value == other else way
        if way == "in":
            return f'{field} in {{"{spelled(value)}" "{spelled(other)}"}}'
        if value == "" and way not in ("eq", "matches"):
            return f'{field} ne ""'  # it is there, and not empty; what holds of every text is refused as a slip
        if way in ("starts", "ends"):
            return f'{way}_with({field}, "{spelled(value)}")'
        if way == "matches":
            return f'{field} matches "{self.dice.choice(self.words.patterns)}"'
        return f'{field} {way} "{spelled(value)}"'

    def number(self, name, value, other):
        if self.chance(25):
            return f"{name} in {{{value} {other}}}"
        how = self.dice.choice(('eq', 'ne', 'lt', 'le', 'gt', 'ge'))
        return f"{name} {'le' if how == 'lt' and value == 0 else how} {value}"


def spelled(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')
