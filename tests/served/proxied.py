"""Clients behind proxies that begin connections with a header of the PROXY protocol: each has its own limit, whichever proxy
it comes by, and who is no proxy names nobody."""
import dataclasses

from heads import LOGIN
from plan import Deliver, Do, Open, Plan, Send, Wait, flows
import rule_files
from servers import PROXIED_PORT

ATTEMPTS = 3
SECONDS = 15
ANSWER = Wait(4.0)
SHORT_ANSWER = 1.5  # seconds, at first: who is refused waits in vain
SERVICE = """version: 1
services:
  - id: web
    protocol: http
    when: ip.dst in {{{servers}}} and l4.dport in {{80 8080}}
    mode: enforce
    checksums: verify
    proxy_protocol: {{from: [{proxies}]}}
rules:
"""
RULE = """  - {{id: slot{number}, mode: enforce, when: 'client.ip in {{203.0.{number}.0/24}} and http.request.uri.path eq "/login"',
     key: [client.ip], per: request, limits: [{{algorithm: token_bucket, rate: 1/d, burst: 1}}]}}
"""


def line(client):
    return f"PROXY TCP4 {client} 10.78.0.11 5000 80\r\n".encode()


def binary(client, vectors=b""):
    address = bytes(map(int, client.split(".")))
    size = (12 + len(vectors)).to_bytes(2, "big")
    return b"\r\n\r\n\0\r\nQUIT\n\x21\x11" + size + address + bytes([10, 78, 0, 11, 19, 136, 0, 80]) + vectors


def one(*sends):
    return (Open(), *sends, ANSWER)


def begins(header):
    return one(Send(header + LOGIN))


def in_pieces(header, *cuts):
    """Until its server has been sent all of it: nginx refuses a header that is not whole when it first reads."""
    places = list(zip((0, *cuts), (*cuts, len(header + LOGIN))))
    return Open(), *(Send((header + LOGIN)[begin:end], begin) for begin, end in places), Deliver(header + LOGIN)


def backwards(header):
    text = header + LOGIN
    return one(Send(text[20:], 20), Send(text[:20]), Deliver(text))


def again(header):
    return (*begins(header), Send(LOGIN, len(header + LOGIN)), ANSWER)


def byte_by_byte(header):
    return in_pieces(header, *range(1, len(header) + 1))


def decoyed(header, other):
    """A header that the server does not take, in front of the one that it does."""
    return one(Send(other + LOGIN, wrong_tcp=True), Send(header + LOGIN))


@dataclasses.dataclass(frozen=True)
class Case:
    """`connections`: of the steps of each, given how clients are called; each comes by a proxy of its own. `strangers`: they come
    by nobody's. `serves`: logins that are served over all of them. `paused`: their server reads once it has been sent all of them."""
    name: str
    connections: object
    serves: int = 1
    strangers: bool = False
    paused: bool = False


CASES = (
    Case("one client by three proxies", lambda client: [begins(line(client(1)))] * 3),
    Case("three clients", lambda client: [begins(line(client(number))) for number in (1, 2, 3)], 3),
    Case("version 2, and one with vectors", lambda client: [begins(binary(client(1))), begins(binary(client(1), b"\4\0\x60" + bytes(96)))]),
    Case("both versions of a header", lambda client: [begins(line(client(1))), begins(binary(client(1)))]),
    Case("a header in two segments", lambda client: [in_pieces(line(client(1)), 9), in_pieces(binary(client(1)), 14)], paused=True),
    Case("a header byte by byte", lambda client: [byte_by_byte(line(client(1)))] * 2, paused=True),
    Case("the rest before the header", lambda client: [backwards(line(client(1)))]),
    Case("two requests behind one header", lambda client: [again(line(client(1)))]),
    Case("a stranger's header", lambda client: [begins(line(client(1))), begins(binary(client(2)))], 0, True),
    Case("a proxy's connection without a header", lambda client: [one(Send(LOGIN))], 0),
    Case("a header of wrong checksum before the right one", lambda client: [
        decoyed(line(client(1)), line(client(2))), begins(line(client(1)))]),
    Case("two headers", lambda client: [begins(line(client(1)) + line(client(2)))], 0),
)


def clients_of(number, attempt):
    """What is left of a client's limit is not asked for again: each attempt has clients of its own."""
    return lambda host: f"203.0.{number}.{10 * attempt + host}"


def rules(proxies):
    return SERVICE.format(servers=rule_files.SERVERS, proxies=", ".join(map(str, proxies))) + "".join(
        RULE.format(number=number) for number in range(len(CASES)))


def awaiting(steps, attempt):
    """The steps; the first attempt has less patience."""
    return tuple(dataclasses.replace(step, seconds=SHORT_ANSWER) if step is ANSWER and not attempt else step for step in steps)


class Resuming:
    """Resumes the server when so many connections have been sent."""

    def __init__(self, server, count):
        self.server, self.left = server, count

    def one_is_sent(self):
        self.left -= 1
        if not self.left:
            self.server.resume()


def try_trials(court, trials, paused):
    """All at once; the server reads once those that it is paused for have been sent."""
    server = court.servers["nginx"]
    resuming = Resuming(server, sum(paused))
    ends = Do(resuming.one_is_sent), ANSWER
    trials = [(dataclasses.replace(plan, steps=(*plan.steps, *ends)) if waits else plan, name)
              for (plan, name), waits in zip(trials, paused)]
    server.pause()
    try:
        return court.try_some(trials, SECONDS)
    finally:
        server.resume()


def check(court, names, seed, services):
    """What did not hold, in words. Of the servers nginx alone expects such headers at a port of its own."""
    if "nginx" not in names or services != "enforce":
        return []
    out, other = [], dict.fromkeys(CASES)
    for attempt in range(ATTEMPTS):
        now = {}
        count = try_cases(court, f"{seed} {attempt}", attempt, out, now)
        other = {case: text for case, text in now.items() if case in other}
        if not other:
            break
    out += other.values()
    print(f"{count} connections by proxies: {len(out)} broken", flush=True)
    return out


def try_cases(court, seed, attempt, uncounted, other):
    """How many connections all cases have. What was served uncounted goes into one list, and by case, what was not served as it
    is to be, which a busy machine explains where it is so once."""
    trials, of, proxies = [], [], []
    for number, case in enumerate(CASES):
        for steps in case.connections(clients_of(number, attempt)):
            plan = Plan(case.name, flows(f"{seed} proxied {len(trials)}", 1), awaiting(steps, attempt), PROXIED_PORT)
            proxies += [] if case.strangers else [rule_files.slot_network(len(trials))]
            trials.append((plan, "nginx"))
            of.append(number)
    court.apply(rules(proxies))
    before, seen, after = court.counted(), try_trials(court, trials, [CASES[number].paused for number in of]), court.counted()
    for number, case in enumerate(CASES):
        served = sum(one.logins for one, where in zip(seen, of) if where == number)
        counted = after[number] - before[number]
        if served > counted:
            uncounted.append(f"proxied: {case.name}: {served} served, {counted} counted, UNCOUNTED")
        if served != case.serves:
            other[case] = f"proxied: {case.name}: {served} served of {case.serves}"
    return len(seen)
