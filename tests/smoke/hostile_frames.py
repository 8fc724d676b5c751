"""Packets of clients that mean harm: each text of a list in each place that a packet has for one, and what the library reads
there, by `sluicectl inspect`."""
import json
import subprocess

from capture_files import client_hello, ethernet, ipv4, opened, pcap, udp_header
from http_case import request, segment

# A rule for each place: its field, and the condition without which it would count others too.
PLACES = {
    "host": ("http.host", "l4.dport eq 8001"), "path": ("http.request.uri.path", "l4.dport eq 8002"),
    "query": ("http.request.uri.query", "l4.dport eq 8003"), "agent": ("http.user_agent", "l4.dport eq 8004"),
    "header": ('http.request.headers["x-note"]', "l4.dport eq 8005"), "name": ("dns.qname", "l4.dport eq 53"),
    "sni": ("tls.sni", "l4.dport eq 443"),
}
MOST_LABEL = 63  # bytes of a label of DNS
RST_ACK = 0x14


def heads(text):
    """Requests with the text in them, by the place where it is."""
    return {"host": request(host=text), "path": request("/" + text), "query": request("/?q=" + text),
            "agent": request(headers=[f"User-Agent: {text}"]), "header": request(headers=[f"X-Note: {text}"])}


def question(text, sport):
    label = text.encode()[:MOST_LABEL]
    body = b"\0\7\1\0\0\1\0\0\0\0\0\0" + bytes([len(label)]) + label + b"\7example\0\0\1\0\1"
    return ethernet(ipv4("192.0.2.1", "198.51.100.7", 17, udp_header(sport, 53, body)), 0x0800)


def hello(text, sport):
    """A ClientHello, whose library would not send such a name: it is put in the place of another one."""
    name = text.encode()[:MOST_LABEL]
    other = b"x" * len(name)
    return segment(client_hello(other.decode()).replace(other, name, 1), sport=sport, dport=443)


def frames_of(text, first):
    """-> [(place, frame)], by source ports from `first` on."""
    found = []
    for at, (place, head) in enumerate(heads(text).items()):
        found.append((place, segment(head.encode(), sport=first + at, dport=8001 + at)))
    return [*found, ("name", question(text, first + 5)), ("sni", hello(text, first + 6))]


def reset_of(frame):
    """The end of the connection that a frame of TCP belongs to, so that none is left open."""
    data = frame[54:]
    sport, dport = int.from_bytes(frame[34:36], "big"), int.from_bytes(frame[36:38], "big")
    return segment(b"", seq=1 + len(data), sport=sport, dport=dport, flags=RST_ACK)


def round_of(texts, number):
    """Each text in each place, twice: the second one is refused by a limit of one. All in connections of their own."""
    sent = []
    for at, text in enumerate(texts):
        for again in (0, 1):
            first = 1024 + (number * len(texts) * 16 + at * 16 + again * 8) % 60_000
            for place, frame in frames_of(text, first):
                sent += opened([frame])[0] + ([] if place == "name" else [reset_of(frame)])
    return sent


def read_in(sluicectl, folder, texts):
    """-> {place: {text: what the box reads there}}, of those that it reads at all."""
    frames = [(place, text, frame) for at, text in enumerate(texts) for place, frame in frames_of(text, 1024 + 8 * at)]
    sent, numbers = opened(frame for _, _, frame in frames)
    capture = folder / "hostile.pcap"
    capture.write_bytes(pcap([(0, frame) for frame in sent]))
    fields = ",".join(field for field, _ in PLACES.values())
    done = subprocess.run([sluicectl, "inspect", "--json", "--pcap", capture, "--fields", fields],
                          capture_output=True, text=True, check=True, timeout=60)
    rows = {row["frame"]: row for row in map(json.loads, done.stdout.splitlines())}
    found = {place: {} for place in PLACES}
    for (place, text, _), number in zip(frames, numbers):
        if (said := rows[number].get(PLACES[place][0])) is not None:
            found[place][text] = said
    return found


def is_named(place, said, key):
    """Whether a key stands for what was read: with its parts' mark and, of names, the backslash as escapes; of long texts the
    beginning, and a digest of the whole."""
    text = (said.replace("\\", "\\x5c") if place == "name" else said).replace("|", "\\x7c")
    begin, mark, _ = key.rpartition("\\h")
    return key == text or (mark != "" and len(begin) > 40 and text.startswith(begin))
