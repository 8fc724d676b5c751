"""The state directories are full, or read-only, while rules change and daemons are killed."""
import os
import subprocess
import time

from target import RULES, Outcome, Target


def fill(folder):
    filler = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        while os.write(filler, b"x" * 4096):
            pass
    except OSError:
        pass
    os.close(filler)


def mount(*words):
    subprocess.run(["mount", *words], check=True, capture_output=True)


def attempt(target, dice, folders):
    """Rules change and both daemons are killed, on a disk without room."""
    box = target.box
    box.kill(box.dataplane)  # what is open for writing cannot become read-only
    read_only = dice.random() < 0.5
    for folder in folders:
        if read_only:
            mount("-o", "remount,ro", str(folder))
        else:
            fill(folder)
    refused = box.apply(RULES + "  - {id: more, when: ip.proto eq 1, on_match: allow}\n", "--force")
    words = refused.stderr.strip()
    target.start_dataplane()
    alive = target.carries()
    for folder in folders:
        if read_only:
            mount("-o", "remount,rw", str(folder))
        else:
            (folder / "filler").unlink()
    box.kill(box.dataplane)  # its view of the mounts is as old as it is
    target.start_dataplane()
    return alive and (refused.returncode == 0 or words != "")


def run(programs, deadline, dice):
    outcome = Outcome()
    target = Target(programs)
    folders = [target.box.folder / name for name in ("state", "policy")]
    for folder in folders:
        folder.mkdir()
        mount("-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", str(folder))
    try:
        with target:
            # What a dataplane admits that can keep nothing ends with it: only debts of before count.
            target.spend_all()
            while time.monotonic() < deadline:
                outcome.attempts += 1
                outcome.survived += attempt(target, dice, folders)
                target.apply(RULES)
            target.expect_the_bound(outcome)
    finally:
        for folder in folders:
            subprocess.run(["umount", "-l", str(folder)], capture_output=True)
    return outcome
