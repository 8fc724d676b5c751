"""Both daemons are killed at random moments under load."""
import time

from target import Outcome, Target


def run(programs, deadline, dice):
    outcome = Outcome()
    with Target(programs) as target:
        box = target.box
        while time.monotonic() < deadline:
            time.sleep(dice.uniform(0, 0.5))
            victims = dice.choice((["dataplane"], ["sluiced"], ["dataplane", "sluiced"]))
            for victim in victims:
                box.kill(getattr(box, victim))
            if "dataplane" in victims:
                target.start_dataplane()
            if "sluiced" in victims:
                box.start_sluiced()
            outcome.attempts += 1
            outcome.survived += target.carries()
        target.expect_the_bound(outcome)
    return outcome
