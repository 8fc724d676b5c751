"""ClientHellos of a real stack, OpenSSL's s_client, in as many bytes and records as it makes of one: each is read and counted."""
import dataclasses
import re
import subprocess

from http_hosts import run_within
from programs import wait_until
from servers import LOGIN_NAME
import rule_files

PATIENCE = 20
IN_VAIN = 3  # seconds for what is refused
LEAST_RECORD = ("-max_send_frag", "512")  # OpenSSL has no smaller ones
NAME = "x" * 200  # of a protocol
HELLO = re.compile(r"^>>> .*Handshake \[length ([0-9a-f]+)\], ClientHello", re.MULTILINE)
RECORD = re.compile(r"^>>> .*RecordHeader", re.MULTILINE)


def offering(size):
    """Protocols of so many bytes, and one that the server has."""
    return ("-alpn", ",".join([NAME] * (size // (len(NAME) + 1)) + ["http/1.1"]))


@dataclasses.dataclass(frozen=True)
class Case:
    """`size`, `records`: at least, of the hello. `refused`: by the reason that the manual lists."""
    name: str
    words: tuple
    size: int = 200
    records: int = 1
    refused: str = ""


CASES = (
    Case("as it comes", ()),
    Case("of TLS 1.2", ("-tls1_2",)),
    Case("of every group and signature", ("-groups", "X25519:X448:P-256:P-384:P-521:ffdhe2048:ffdhe3072:ffdhe4096", "-sigalgs",
                                          "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:ed448:RSA-PSS+SHA256:RSA-PSS+SHA384:RSA+SHA256")),
    Case("as large as one with a post-quantum share", offering(1300), 1500),
    Case("the same in its smallest records", (*offering(1300), *LEAST_RECORD), 1500, 3),
    Case("of 15,000 bytes", offering(14_800), 15_000),
    Case("of 15,000 bytes in its smallest records", (*offering(14_800), *LEAST_RECORD), 15_000, 29),
    # More than a head may have, `packets: {connections: {head_bytes}}`, and one segment that completes it.
    Case("of 20,000 bytes", offering(20_000), 20_000, 2, "head_too_long"),
)


@dataclasses.dataclass(frozen=True)
class Shown:
    """By s_client: the bytes and records of its first hello, and whether the handshake was completed."""
    size: int
    records: int
    is_served: bool


def read(text, is_served):
    """Out of what `-msg` prints."""
    first = text.split("<<<", 1)[0]
    found = HELLO.search(first)
    return Shown(int(found[1], 16) if found else 0, len(RECORD.findall(first)), is_served)


def say_hello(court, case):
    command = run_within(court.hosts.outside, "openssl", "s_client", "-connect", f"{court.servers['tls'].address}:443", "-servername",
                         LOGIN_NAME, "-msg", *case.words)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                              timeout=IN_VAIN if case.refused else PATIENCE)
    except subprocess.TimeoutExpired as error:
        return read((error.stdout or b"").decode(errors="replace"), False)
    return read(done.stdout, done.returncode == 0)


def broken(case, shown, counted, refused):
    """In words; empty if it holds. `counted`: hellos for the name; `refused`: frames, by the case's reason."""
    if shown.size < case.size or shown.records < case.records:
        return f"{shown.size} bytes in {shown.records} records, not {case.size} in {case.records}"
    if case.refused:
        return "" if refused and not shown.is_served and not counted else f"refused {refused} times, {counted} counted"
    return "" if shown.is_served and counted == 1 else f"{'' if shown.is_served else 'not '}served, {counted} counted"


def check(court, services):
    """What did not hold, in words."""
    court.apply(rule_files.hellos(services))
    out = []
    for case in CASES:
        before, reasons = counted(court), court.reasons()
        shown = say_hello(court, case)
        if not case.refused:
            wait_until("the hello's count", lambda before=before, shown=shown: counted(court) > before or not shown.is_served)
        refused = court.reasons().get(case.refused, 0) - reasons.get(case.refused, 0)
        if words := broken(case, shown, counted(court) - before, refused):
            out.append(f"a hello of OpenSSL {case.name}: {words}")
        print(f"a hello of OpenSSL {case.name}: {shown.size} bytes, {shown.records} records, "
              f"{'served' if shown.is_served else 'refused'}", flush=True)
    return out


def counted(court):
    return next(rule["admitted"] for rule in court.box.stats()["rules"] if rule["id"] == "hellos")
