"""The rules of a soak, what they promise, and the addresses that they name."""
import dataclasses

from target import BURST, LIMITED, RULES

RATED, OVERRIDDEN, STEERED = range(3, 6)  # hosts: a rate that goes on; the numbers of a file; those of an application
HOSTS = STEERED + 1
RATE = 10             # of each of the three, at most
PAGE_RATE, PAGE_BURST = 5, 20
HELLO_RATE, HELLO_BURST = 5, 20
WEB, NEW = "10.78.0.2", "10.81.0.5"  # the inside itself; whom all new clients ask
QUIC_NAME = "quic.example"
KEYS_FILE = "keys.csv"

RATE_AND_BURST = f"[{{algorithm: token_bucket, rate: {RATE}/s, burst: {BURST}}}]"
SOAK_RULES = RULES + f"""  - id: rated
    mode: enforce
    when: ip.dst eq 10.79.0.{RATED}
    key: [ip.src]
    limits: {RATE_AND_BURST}
  - id: overridden
    mode: enforce
    when: ip.dst eq 10.79.0.{OVERRIDDEN}
    key: [ip.src]
    limits: {RATE_AND_BURST}
    overrides: {{file: {KEYS_FILE}}}
  - id: steered
    mode: enforce
    when: ip.dst eq 10.79.0.{STEERED}
    key: [ip.src]
    limits: {RATE_AND_BURST}
    dynamic: {{source: api, ttl: 1m, floor: 1/s, ceiling: {RATE}/s}}
  - id: pages
    mode: enforce
    when: ip.dst eq {WEB} and l4.dport eq 80
    key: [ip.src]
    per: request
    limits: [{{algorithm: token_bucket, rate: {PAGE_RATE}/s, burst: {PAGE_BURST}}}]
    on_exceed: {{action: reply, status: 429}}
  - id: quic-names
    mode: enforce
    when: ip.dst eq {WEB}
    key: [quic.sni]
    per: handshake
    limits: [{{algorithm: token_bucket, rate: {HELLO_RATE}/s, burst: {HELLO_BURST}}}]
  - id: quic-clients
    mode: enforce
    when: ip.dst eq {NEW}
    key: [ip.src, quic.sni]
    per: handshake
    limits: [{{algorithm: token_bucket, rate: 1/s, burst: 5}}]
  - id: sites
    mode: enforce
    when: ip.dst eq {NEW}
    key: [ip.src, http.host]
    per: request
    limits: [{{algorithm: sliding_window, count: 100, window: 60s}}]
  - id: names
    mode: enforce
    key: [ip.src]
    per: query
    limits: [{{algorithm: token_bucket, rate: 1/s, burst: 5}}]
  - id: hellos
    mode: enforce
    key: [tls.sni]
    per: handshake
    limits: [{{algorithm: token_bucket, rate: 100/s, burst: 100}}]
  - id: clients
    mode: enforce
    when: ip.dst eq {NEW}
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: 10/s, burst: 20}}]
services:
  - {{id: web, protocol: http, mode: enforce, when: ip.dst eq {WEB} and l4.dport eq 80}}
  - {{id: quic, protocol: quic, mode: enforce, when: "ip.dst in {{{WEB} {NEW}}} and l4.dport eq 443"}}
"""


@dataclasses.dataclass
class Promise:
    """What one key may be admitted: `burst` at once, and `rate` a second."""
    name: str
    burst: int
    rate: int

    def most(self, seconds):
        return self.burst + self.rate * seconds + (self.rate > 0)


PROMISES = (Promise("limited", BURST, 0), Promise("rated", BURST, RATE), Promise("overridden", BURST, RATE),
            Promise("steered", BURST, RATE), Promise("pages", PAGE_BURST, PAGE_RATE),
            Promise("hellos", HELLO_BURST, HELLO_RATE))
HOST_OF = {"limited": LIMITED, "rated": RATED, "overridden": OVERRIDDEN, "steered": STEERED}
