"""What one test program said: how many cases passed, failed, were skipped, and which."""
import dataclasses
import re
import xml.etree.ElementTree as xml

LONGEST_REASON = 600  # letters of why a case failed
SKIPPED_EXIT = 77  # what meson, automake and others agree on
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.M)
UNITTEST_END = re.compile(r"^(?:OK|FAILED)(?: \(([^)]*)\))?$", re.M)


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    notes: list = dataclasses.field(default_factory=list)  # which failed or were skipped, and why

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.notes += other.notes


def first_line(text):
    return next((line.strip() for line in (text or "").splitlines() if line.strip()), "")


def reason_of(text):
    """Why a case failed, in one line."""
    reason = " | ".join(line.strip() for line in text.splitlines() if line.strip())
    return reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON] + "…"


def failures_in(output):
    """Of what Python's unittest printed at its end: the head of each section (`FAIL: case`), and why."""
    sections = re.split(r"^={70}$", output, flags=re.M)[1:]
    for section in sections:
        head, _, rest = section.strip().partition("\n")
        if head.startswith(("FAIL:", "ERROR:")):
            said = re.split(r"^-{70}$", rest, flags=re.M)[1]
            yield head, reason_of("\n".join(line for line in said.splitlines() if not line.startswith(("  ", "Traceback "))))


def read_gtest(name, report, code):
    """From gtest's XML report. A program that died wrote none, or one without the culprit."""
    outcome = Outcome()
    try:
        cases = list(xml.parse(report).getroot().iter("testcase"))
    except (OSError, xml.ParseError):
        return Outcome(failed=1, notes=[f"{name}: no report; exit code {code}"])
    for case in cases:
        full = f"{name}: {case.get('classname')}.{case.get('name')}"
        skip = case.find("skipped")
        failure = case.find("failure")
        if failure is not None:
            outcome.failed += 1
            outcome.notes.append(f"{full}: failed: {reason_of(failure.get('message') or '')}")
        elif skip is not None or case.get("status") == "notrun":
            why = first_line(skip.get("message") or skip.text) if skip is not None else "disabled"
            outcome.skipped += 1
            outcome.notes.append(f"{full}: skipped: {why}")
        else:
            outcome.passed += 1
    if code != 0 and outcome.failed == 0:
        outcome.failed += 1
        outcome.notes.append(f"{name}: exit code {code} although no case failed")
    return outcome


def read_unittest(name, output, code):
    """From what Python's unittest prints at its end; None if it printed nothing of the kind."""
    ran, end = UNITTEST_RAN.search(output), UNITTEST_END.search(output)
    if not ran or not end:
        return None
    counts = {key: int(value) for key, value in re.findall(r"([a-z ]+)=(\d+)", end[1] or "")}
    counts = {key.strip(): value for key, value in counts.items()}
    failed = sum(counts.get(key, 0) for key in ("failures", "errors", "unexpected successes"))
    skipped = counts.get("skipped", 0)
    notes = [f"{name}: {head}: {reason}" for head, reason in failures_in(output)]
    notes += [f"{name}: {line}" for line in output.splitlines() if "... skipped" in line]
    if code != 0 and failed == 0:
        failed, notes = 1, notes + [f"{name}: exit code {code} although no case failed"]
    return Outcome(max(0, int(ran[1]) - failed - skipped), failed, skipped, notes)


def read_exit(name, code):
    if code == 0:
        return Outcome(passed=1)
    if code == SKIPPED_EXIT:
        return Outcome(skipped=1, notes=[f"{name}: skipped"])
    return Outcome(failed=1, notes=[f"{name}: exit code {code}"])
