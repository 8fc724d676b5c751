"""Rule sets come without pause: rules beside the limited one come and go, its keys move and move back."""
import time

from target import FREE, RULES, Outcome, Target


def variant(dice):
    more = "".join(
        f"  - {{id: other-{i}, mode: {dice.choice(('enforce', 'monitor'))}, when: ip.dst eq 10.80.0.{i}, "
        f"key: [{dice.choice(('ip.src', 'ip.dst', 'l4.dport'))}], "
        f"limits: [{{algorithm: {dice.choice(('token_bucket', 'leaky_bucket'))}, rate: {i + 1}/s, "
        f"{{}}: {dice.randrange(1, 99)}}}]}}\n" for i in range(dice.randrange(12)))
    lines = [line.replace("{}", "queue" if "leaky" in line else "burst") for line in more.splitlines()]
    return RULES + "".join(line + "\n" for line in lines)


def run(programs, deadline, dice):
    outcome = Outcome()
    with Target(programs, config={"workers": {"lcores": "0@0,1@1,2@0"}}) as target:
        while time.monotonic() < deadline:
            outcome.attempts += 1
            outcome.survived += target.box.apply(variant(dice), "--force").returncode == 0
        outcome.expect(target.carries(), f"nothing reaches host {FREE}")
        target.expect_the_bound(outcome)
    return outcome
