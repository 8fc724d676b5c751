"""The captures that the manual speaks of, by their names: made by hand, the same each time."""
import struct

from capture_files import SECOND, client_hello, ethernet, ipv4, pcap, tcp, udp, udp_header
from dialogue_frames import ACK, PSH, REQUEST, RST, Dialogue
from mmdb_writer import Database, country

MS = SECOND // 1000
MIDNIGHT = 1_800_057_600 * SECOND  # 2027-01-16, 00:00 UTC


def evenly(count, frame, seconds=1.0, start=0):
    """`count` frames over so many seconds; `frame` makes the one of a number."""
    return [(start + int(number * seconds * SECOND / count), frame(number)) for number in range(count)]


def capture(*parts):
    return pcap(sorted((one for part in parts for one in part), key=lambda one: one[0]))


def said_by(*parts):
    """Frames of what clients say: each in a connection of its own, from the SYN on."""
    said = sorted((one for part in parts for one in part), key=lambda one: one[0])
    return [(at, frame) for at, (payload, client, ports) in said
            for frame in Dialogue(client, ports=ports).handshake().client(ACK | PSH, payload).sent]


def connections(*parts):
    return pcap(said_by(*parts))


def request(line, *headers, src="192.0.2.1", sport=40000, host="www.example"):
    text = f"{line} HTTP/1.1\r\nHost: {host}\r\n" + "".join(f"{header}\r\n" for header in headers) + "\r\n"
    return text.encode(), src, (sport, 80)


def hello(name, src="192.0.2.1", sport=40000):
    return client_hello(name), src, (sport, 443)


def question(name, kind=1):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!6H", 7, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)


def query(name, src="192.0.2.1"):
    return ethernet(ipv4(src, "198.51.100.7", 17, udp_header(40000, 53, question(name))), 0x0800)


def queries_over_tcp(count, src="192.0.2.9"):
    """Each on a connection of its own, over a second."""
    def said(number):
        message = question(f"x{number}.shop.example")
        return struct.pack("!H", len(message)) + message
    return [(at, frame) for number in range(count) for at in [number * SECOND // count]
            for frame in Dialogue(src, ports=(41000 + number, 53)).handshake().client(ACK | PSH, said(number)).sent]


def amplification():
    answers = evenly(2000, lambda n: udp(f"192.0.2.{n % 200}", sport=123, dport=4000, size=1400), 0.5)
    return capture(answers, evenly(100, lambda n: udp("203.0.113.9", sport=5000, dport=4000, size=200), 0.5))


def syn_flood():
    flood = evenly(2560, lambda n: tcp(f"192.0.2.{n % 256}", sport=1024 + n))
    return capture(flood, evenly(20, lambda n: tcp("203.0.113.9", sport=5000 + n)))


def dialogue():
    """A request and its answer; a RST that somebody made up; bytes beyond the window; a request with a short TTL."""
    talk = Dialogue().handshake().client(ACK | PSH, REQUEST)
    talk.server(ACK | PSH, b"HTTP/1.1 204 No Content\r\n\r\n", acks=len(REQUEST)).client(RST, at=-100_000)
    talk.client(ACK, b"x" * 20, at=200_000).client(ACK | PSH, REQUEST, at=len(REQUEST), ttl=3)
    return pcap([(number * MS, frame) for number, frame in enumerate(talk.sent)])


def customers():
    return capture(evenly(200, lambda n: udp("192.0.2.1", "203.0.113.5", size=1500), 0.1),
                   evenly(10, lambda n: udp("192.0.2.1", "203.0.113.6", size=1500), 0.1))


def countries():
    return capture(evenly(500, lambda n: udp("192.0.2.1", sport=n + 1)),
                   evenly(500, lambda n: udp("203.0.113.9", sport=n + 1)))


def country_database():
    database = Database("GeoLite2-Country")
    database.add("192.0.2.0/24", country("NL"))
    database.add("203.0.113.0/24", country("SE"))
    return database.bytes()


def partners():
    return capture(evenly(300, lambda n: udp("192.0.2.1")), evenly(300, lambda n: udp("203.0.113.9")))


def hammering():
    return capture(evenly(1000, lambda n: udp("192.0.2.1"), 10),
                   evenly(100, lambda n: udp("192.0.2.1"), 10, 20 * SECOND),
                   evenly(100, lambda n: udp("203.0.113.9"), 30))


def port_scan():
    """One source tries 1,000 ports; another talks to three."""
    return capture(evenly(1000, lambda n: tcp("192.0.2.1", sport=40000, dport=1 + n), 10),
                   evenly(100, lambda n: tcp("203.0.113.9", sport=40000 + n, dport=(22, 80, 443)[n % 3]), 10))


def two_sources():
    return capture(evenly(600, lambda n: udp("192.0.2.1")), evenly(50, lambda n: udp("203.0.113.9")))


def three_sources():
    return capture([(0, udp(f"192.0.2.{source}")) for source in (1, 2, 3) for _ in range(3)])


def midnight():
    return capture(evenly(1200, lambda n: udp("192.0.2.1"), 600, MIDNIGHT - 900 * SECOND),
                   evenly(1200, lambda n: udp("192.0.2.1"), 600, MIDNIGHT + 60 * SECOND))


def logins():
    return connections(evenly(20, lambda n: request("POST /login", src="192.0.2.1", sport=40000 + n), 20),
                       evenly(20, lambda n: request("GET /", src="192.0.2.1", sport=41000 + n), 20),
                       evenly(3, lambda n: request("POST /login", src="203.0.113.9", sport=40000 + n), 20))


def guesses():
    """A client guesses at passwords and asks for names; another one's address is forged for as many guesses, and it
    asks for names too."""
    forged = [(at, frame) for at, (payload, client, ports) in
              evenly(40, lambda n: request("POST /login", src="203.0.113.9", sport=40000 + n), 20)
              for frame in Dialogue(client, ports=ports).client(ACK | PSH, payload).sent]
    guessed = [(at, frame) for at, (payload, client, ports) in
               evenly(40, lambda n: request("POST /login", src="192.0.2.1", sport=40000 + n), 20)
               for frame in Dialogue(client, ports=ports).handshake().client(ACK | PSH, payload).sent]
    return capture(forged, guessed, evenly(30, lambda n: udp("192.0.2.1", dport=53), 30),
                   evenly(30, lambda n: udp("203.0.113.9", dport=53), 30))


def scrapers():
    """Of three programs that say what they are, and of a browser."""
    browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    names = ("Mozilla/5.0 (compatible; AhrefsBot/7.0)", "Scrapy/2.11 (+https://scrapy.org)", "python-requests/2.31.0")
    return connections(
        *(evenly(20, lambda n, name=name, last=last: request("GET /catalogue", f"User-Agent: {name}",
                                                             src=f"192.0.2.{last}", sport=40000 + n), 2)
          for last, name in enumerate(names, 1)),
        evenly(20, lambda n: request("GET /catalogue", f"User-Agent: {browser}", src="203.0.113.9", sport=40000 + n), 2))


def api_calls():
    return connections(evenly(100, lambda n: request("GET /api/orders", "X-Api-Key: gold", sport=40000 + n)),
                       evenly(20, lambda n: request("GET /api/orders", "X-Api-Key: iron", sport=42000 + n)),
                       evenly(50, lambda n: request("GET /api/orders", src="203.0.113.9", sport=40000 + n)))


def hellos():
    return connections(evenly(100, lambda n: hello("shop.example", f"192.0.2.{n % 50}", 40000 + n)),
                       evenly(10, lambda n: hello("www.example", "192.0.2.1", 45000 + n)))


def closed_names():
    """Of a host that is closed, and of others: requests, hellos and queries."""
    said = said_by(evenly(10, lambda n: request("GET /", src="192.0.2.1", sport=40000 + n, host="old.example")),
                   evenly(20, lambda n: request("GET /", src="192.0.2.2", sport=40000 + n)),
                   evenly(5, lambda n: hello("old.example", src="192.0.2.3", sport=40000 + n)))
    return capture(said, evenly(30, lambda n: query("old.example")), evenly(20, lambda n: query("www.example")))


def random_names():
    return capture(evenly(500, lambda n: query(f"x{n}.shop.example", f"192.0.2.{n % 100}")),
                   evenly(50, lambda n: query("www.other.example", "203.0.113.9")), queries_over_tcp(30))


def downloads():
    return capture(evenly(100, lambda n: udp("198.51.100.7", "203.0.113.9", size=1000), 0.08))


CAPTURES = {
    "amplification.pcap": amplification, "syn-flood.pcap": syn_flood, "customers.pcap": customers,
    "countries.pcap": countries, "partners.pcap": partners, "port-scan.pcap": port_scan, "hammering.pcap": hammering,
    "two-sources.pcap": two_sources, "dialogue.pcap": dialogue, "spending.pcap": three_sources,
    "midnight.pcap": midnight, "logins.pcap": logins, "guesses.pcap": guesses, "scrapers.pcap": scrapers, "api-calls.pcap": api_calls,
    "hellos.pcap": hellos, "closed.pcap": closed_names, "random-names.pcap": random_names, "downloads.pcap": downloads,
    "country.mmdb": country_database}
