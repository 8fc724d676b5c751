"""The rules that a run is held to: one for each slot of clients, so that what is counted is known connection by
connection."""
import ipaddress

SLOTS = 1024  # at most
FEW = 256  # slots, where not so many are wanted: a rule for each is to be applied
CLIENTS = ipaddress.ip_network("10.128.0.0/9")
SIX_CLIENTS = ipaddress.ip_network("fd80::/64")
SLOT_BITS = 13  # addresses of a slot: one for each connection that runs there
SERVERS, SIX_SERVERS = "10.78.0.0/24", "fd78::/64"
SERVICES = """services:
  - id: web
    protocol: http
    when: ip.dst in {{{servers}}} and l4.dport in {{80 8080}}
    mode: {mode}
    checksums: {checksums}
{more}"""
# Services that are enforced, in other ways than the usual one.
# `auto` leaves the trust in checksums to what the box learns.
WAYS = {"auto": "", "upgrades": "    upgrades: [websocket, connect]\n    h2c: strip\n", "count": "    on_unreadable: count\n"}
RULE = """  - id: slot{slot}
    mode: enforce
    when: ip.dst in {{{servers}}} and l4.dport in {{80 8080}} and ip.src in {{{clients}}} and {what}
    key: [ip.src]
    per: request
    limits: [{{algorithm: token_bucket, rate: {rate}, burst: {burst}}}]
"""
OTHER_SERVICES = """services:
  - {{id: tls, protocol: tls, when: 'ip.dst in {{{servers}}} and l4.dport eq 443', mode: {mode}, checksums: verify}}
  - {{id: quic, protocol: quic, when: 'ip.dst in {{{servers}}} and l4.dport eq 443', mode: {mode}, checksums: verify}}
  - {{id: dns, protocol: dns, when: 'ip.dst in {{{servers}}} and l4.dport eq 53', mode: {mode}, checksums: verify}}
"""
TLS_SERVICE = OTHER_SERVICES.splitlines(keepends=True)[1].format(servers=SERVERS, mode="enforce")
OTHER_RULE = """  - {{id: {kind}{slot}, mode: enforce, when: 'ip.dst in {{{servers}}} and l4.dport in {{53 443}} and ip.src in {{{clients}}}
     and ({what})', key: [ip.src], per: {per}, limits: [{{algorithm: token_bucket, rate: {rate}, burst: {burst}}}]}}
"""
# Of rules for hellos and for queries, which slots have both.
LOGINS = {"h": 'tls.sni eq "login.example" or quic.sni eq "login.example"', "q": 'dns.qname eq "login.example"'}
ALL = {"h": 'proto.l7 in {"tls" "quic"}', "q": 'proto.l7 eq "dns"'}
PER = {"h": "handshake", "q": "query"}
SOME = 128  # slots of other protocols
# Each: the condition, and how much of it there may be.
# Requests that a server takes for a login: by its path, by its host (Node) or by the last of a header's lines (HAProxy).
LOGIN = '(http.request.uri.path eq "/login" or http.host eq "login.example" or http.request.headers["x-login"] eq "yes")'
UNLIMITED = (LOGIN, "1M/s", "1M")
ONE_REQUEST = ('proto.l7 eq "http"', "1/d", "1")


def slot_network(slot, clients=CLIENTS):
    first = int(clients.network_address) + (slot << SLOT_BITS)
    return ipaddress.ip_network((first, clients.max_prefixlen - SLOT_BITS))


def client(slot, number, clients=CLIENTS):
    """Packed; the first address of a slot is no client's."""
    return (slot_network(slot, clients).network_address + 1 + number).packed


def slot_of(address):
    return (int(ipaddress.ip_address(address)) - int(CLIENTS.network_address)) >> SLOT_BITS


def head(services, servers=SERVERS):
    mode = "enforce" if services in WAYS else services
    return "version: 1\n" + (
        "" if services == "none" else SERVICES.format(
            servers=servers, mode=mode, checksums="auto" if services == "auto" else "verify", more=WAYS.get(services, "")))


def rules(services, limit, slots=FEW, servers=SERVERS, clients=CLIENTS):
    what, rate, burst = limit
    return head(services, servers) + "rules:\n" + "".join(
        RULE.format(slot=slot, servers=servers, clients=slot_network(slot, clients), what=what, rate=rate, burst=burst)
        for slot in range(slots))


def other_head(services):
    return "version: 1\n" + ("" if services == "none" else OTHER_SERVICES.format(
        servers=SERVERS, mode="enforce" if services in WAYS else services))


def other_rules(services, what, rate, burst):
    """Of TLS, QUIC and DNS."""
    return other_head(services) + "rules:\n" + "".join(
        OTHER_RULE.format(kind=kind, slot=slot, servers=SERVERS, clients=slot_network(slot), what=condition, per=PER[kind],
                          rate=rate, burst=burst)
        for slot in range(SOME) for kind, condition in what.items())


def others_refused(services, kind, action):
    """Of each server one hello or query of all clients together, and `action` for each that follows."""
    return other_head(services) + f"""rules:
  - {{id: one, mode: enforce, when: 'ip.dst in {{{SERVERS}}} and ({LOGINS[kind]})', key: [ip.dst], per: {PER[kind]},
     limits: [{{algorithm: token_bucket, rate: 1/d, burst: 1}}], on_exceed: {{{action}}}}}
"""


def hellos(services):
    """Those for LOGIN_NAME, without a limit that anybody reaches."""
    return other_head(services) + f"""rules:
  - {{id: hellos, mode: enforce, when: 'ip.dst in {{{SERVERS}}} and tls.sni eq "login.example"', key: [ip.src], per: handshake,
     limits: [{{algorithm: token_bucket, rate: 1M/s, burst: 1M}}]}}
"""


def innocent(services):
    """A login a day for each address, and pages without end: no honest client of these tests is over a limit."""
    return head(services) + f"""rules:
  - {{id: logins, mode: enforce, when: 'ip.dst in {{{SERVERS}}} and l4.dport in {{80 8080}} and http.request.uri.path eq
     "/login"', key: [ip.src], per: request, limits: [{{algorithm: token_bucket, rate: 1/d, burst: 1}}]}}
  - {{id: pages, mode: enforce, when: 'ip.dst in {{{SERVERS}}} and l4.dport in {{80 8080}} and proto.l7 eq "http"',
     key: [ip.src], per: request, limits: [{{algorithm: token_bucket, rate: 1M/s, burst: 1M}}]}}
"""


def innocent_beside_tls(services):
    """The same, and TLS without a limit that anybody reaches."""
    rules = innocent(services).replace("rules:\n", TLS_SERVICE + "rules:\n", 1)
    return rules + f"""  - {{id: hellos, mode: enforce, when: 'ip.dst in {{{SERVERS}}} and l4.dport eq 443 and proto.l7 eq "tls"', key: [ip.src],
     per: handshake, limits: [{{algorithm: token_bucket, rate: 1M/s, burst: 1M}}]}}
"""


def innocent_beside_proxies(services, proxy):
    """The same, and connections of a proxy at another port: of each client that it names one request for /once, and an answer
    for each that follows."""
    service = f"""  - id: proxied
    protocol: http
    when: ip.dst in {{{SERVERS}}} and l4.dport eq 8080
    mode: enforce
    checksums: verify
    proxy_protocol: {{from: [{proxy}]}}
"""
    return innocent_beside_tls(services).replace("services:\n", "services:\n" + service, 1) + f"""  - {{id: once, mode: enforce, when: 'client.ip in {{203.0.113.0/24}} and http.request.uri.path eq "/once"', key: [client.ip],
     per: request, limits: [{{algorithm: token_bucket, rate: 1/d, burst: 1}}], on_exceed: {{action: reply}}}}
"""


TO_SERVERS = f"ip.dst in {{{SERVERS}}} and l4.dport in {{80 8080}}"


def one_answered(services):
    """Of each address one request, and an answer for each that follows."""
    return head(services) + f"""rules:
  - {{id: once, mode: enforce, when: '{TO_SERVERS} and proto.l7 eq "http"', key: [ip.src], per: request,
     limits: [{{algorithm: token_bucket, rate: 1/d, burst: 1}}], on_exceed: {{action: reply}}}}
"""


def all_refused(services, action):
    """Of each server one request for /login of all clients together, and `action` for each that follows."""
    return head(services) + f"""rules:
  - {{id: one, mode: enforce, when: '{TO_SERVERS} and http.request.uri.path eq "/login"', key: [ip.dst], per: request,
     limits: [{{algorithm: token_bucket, rate: 1/d, burst: 1}}], on_exceed: {{{action}}}}}
"""


def at_once(services, count, more="", servers=SERVERS):
    """Of each address so many open connections."""
    return head(services, servers) + f"""rules:
  - {{id: open, mode: enforce, when: 'dir eq "in" and ip.dst in {{{servers}}} and l4.dport in {{80 8080}}', key: [ip.src],
     limits: [{{algorithm: concurrency, count: {count}, idle: 1h{more}}}], on_exceed: {{action: drop}}}}
"""


# Nothing of layer 7: what the servers make of it alone.
WITHOUT = """version: 1
rules:
  - {id: all, mode: monitor, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1M/s, burst: 1M}]}
"""
