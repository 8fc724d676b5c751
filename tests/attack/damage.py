"""Bits of what the box keeps are flipped while it is down: it starts, and each key has one burst at most anew."""
import os
import time

from target import BURST, CLOSED, LIMITED, Outcome, Target


def kept_files(folder):
    """Every file of both state directories, behind links too."""
    files = set()
    for top in (folder / "state", folder / "policy"):
        for path, _, names in os.walk(top, followlinks=True):
            files.update(os.path.realpath(os.path.join(path, name)) for name in names)
    return sorted(file for file in files if os.path.isfile(file) and os.path.getsize(file) > 0)


def flip(file, dice):
    """One bit: of the first bytes as often as of the rest."""
    size = os.path.getsize(file)
    at = dice.randrange(min(size, 256) if dice.random() < 0.5 else size)
    with open(file, "r+b") as bytes_:
        bytes_.seek(at)
        byte = bytes_.read(1)[0]
        bytes_.seek(at)
        bytes_.write(bytes([byte ^ 1 << dice.randrange(8)]))
    return f"{os.path.basename(file)} byte {at}"


def limited(came):
    return {source: count for (source, host), count in came.items() if host == LIMITED}


def run(programs, deadline, dice):
    outcome = Outcome()
    with Target(programs) as target:
        box = target.box
        while time.monotonic() < deadline:
            box.kill(box.dataplane)
            box.kill(box.sluiced)
            before = limited(target.flood.came())
            where = flip(dice.choice(kept_files(box.folder)), dice)
            target.start_dataplane()
            box.start_sluiced()
            outcome.attempts += 1
            outcome.survived += target.carries()
            after = target.flood.came()
            most = max((count - before.get(source, 0) for source, count in limited(after).items()), default=0)
            outcome.expect(most <= BURST, f"{where}: {most} of {BURST} frames of one source")
            if any(host == CLOSED for _, host in after):
                outcome.expect(False, f"{where}: frames past an always-drop rule")
                break
            target.apply(target.rules)
    return outcome
