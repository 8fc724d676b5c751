"""What the model says of services, against tables worked out by hand."""
import ipaddress
import os
import random
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "smoke"))

from dialogue_frames import ACK, FIN, RST, SYN, URG, Dialogue  # noqa: E402
from connections import back, datagram  # noqa: E402
from hello_maker import part  # noqa: E402
from proxy_headers import MORE, NONE, OWN, Headers, read  # noqa: E402
from quic import VERSION1, Keys  # noqa: E402
from quic_maker import ServedQuicMaker, variable  # noqa: E402
from quic_services import Streams  # noqa: E402
from replay_model import Box  # noqa: E402
from services import GRACE, Seen, Service, Services, rewritten  # noqa: E402

RULES = """version: 1
services:
  - {{id: web, protocol: http, when: l4.dport eq 80, mode: {mode}, checksums: {checksums}}}
rules: []
"""
WINDOW = 65535


def verdicts(dialogue, mode="enforce", checksums="verify", times=None):
    """Of each frame: why it is refused or would be, None where it passes, "none" where it is of no service."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rules.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(RULES.format(mode=mode, checksums=checksums))
        services = Services(path)
    box, told = Box(inside=["198.51.100.0/24"]), []
    for number, frame in enumerate(dialogue.sent):
        packet = box.see(frame, len(frame))
        seen = services.see(times[number] if times else number, packet, frame)
        told.append((seen.refusal if seen else "none", rewritten(frame, packet, seen)))
    return told


def last(dialogue, **more):
    return verdicts(dialogue, **more)[-1][0]


def begun():
    return Dialogue().handshake()


class ProxyHeaders(unittest.TestCase):
    BINARY = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + bytes([192, 0, 2, 9, 192, 0, 2, 8, 0, 1, 0, 2])

    def test_both_versions(self):
        line = b"PROXY TCP4 192.0.2.9 192.0.2.8 1 2\r\n"
        for whole in (line, self.BINARY):
            self.assertEqual(str(read(whole + b"more")), "192.0.2.9")
            for size in range(1, len(whole)):
                self.assertEqual(read(whole[:size]), MORE, whole[:size])
        mapped = ipaddress.ip_address("::ffff:192.0.2.9").packed
        for whole in (b"PROXY TCP6 ::ffff:192.0.2.9 ::ffff:192.0.2.8 1 2\r\n",
                      self.BINARY[:13] + b"\x21\0\x24" + mapped * 2 + bytes(4)):
            self.assertEqual(str(read(whole)), "192.0.2.9")
        self.assertEqual(read(b"PROXY UNKNOWN\r\n"), OWN)
        self.assertEqual(read(self.BINARY[:12] + b"\x20\0\0\0"), OWN)
        for wrong in (b"GET / HTTP/1.1\r\n", b"PROXY TCP6 192.0.2.9 192.0.2.8 1 2\r\n", b"PROXY " + b"a" * 101,
                      self.BINARY[:12] + b"\x22" + self.BINARY[13:], self.BINARY[:14] + b"\0\x0b" + self.BINARY[16:]):
            self.assertEqual(read(wrong), NONE, wrong)

    def test_the_first_bytes_stand(self):
        headers = Headers()
        headers.take("a", 9, self.BINARY[9:], "own")
        self.assertIsNone(headers.client("a"))
        headers.take("a", 0, self.BINARY[:16] + bytes(12), "own")
        self.assertEqual(str(headers.client("a")), "192.0.2.9")
        headers.take("b", 0, b"x", "own")
        headers.take("b", 0, self.BINARY, "own")
        self.assertIsNone(headers.client("b"))


class Rows(unittest.TestCase):
    def check(self, rows):
        for frames, wanted in rows:
            dialogue = begun()
            for end, flags, more in frames:
                dialogue.send(end, flags, **more)
            self.assertEqual(last(dialogue), wanted, frames)

    def test_handshakes(self):
        self.assertEqual([refusal for refusal, _ in verdicts(begun())], [None] * 3)
        self.assertEqual(last(Dialogue().client(SYN, b"early", at=-1)), "bad_handshake")
        self.assertEqual(last(Dialogue().client(SYN | FIN, at=-1)), "bad_handshake")
        self.assertEqual(last(Dialogue().server(SYN | ACK, at=-1)), "none")
        self.assertEqual(last(Dialogue().client(SYN, at=-1).server(ACK)), "bad_handshake")

    def test_a_syn_on_a_living_connection_changes_nothing(self):
        self.check([([(0, SYN, dict(at=777)), (0, ACK, dict(data=b"on it goes"))], None),
                    ([(0, SYN, dict(at=777)), (1, SYN | ACK, dict(at=999, acks=779))], "bad_handshake"),
                    ([(0, SYN, dict(at=777)), (1, SYN | ACK, dict(at=999, acks=778)),
                      (0, ACK, dict(data=b"on it goes"))], None),
                    ([(0, SYN, dict(at=777)), (1, SYN | ACK, dict(at=999, acks=778)),
                      (0, ACK, dict(at=778, acks=1000)), (0, ACK, dict(data=b"of the old one"))], "bad_ack")])

    def test_resets(self):
        self.check([([(0, RST, {})], None),
                    ([(0, RST, {}), (0, ACK, dict(data=b"x"))], "behind_end"),
                    ([(0, RST, dict(at=1)), (0, ACK, dict(data=b"x"))], None),
                    ([(0, RST, dict(at=WINDOW + 2))], None),
                    ([(0, RST, dict(at=WINDOW + 3))], "rst_out_of_window"),
                    ([(0, RST, dict(at=-1))], "rst_out_of_window"),
                    ([(1, ACK, dict(data=b"abc")), (1, RST, dict(at=3)), (0, ACK, dict(acks=3))], "behind_end")])

    def test_windows(self):
        self.check([([(0, ACK, dict(at=WINDOW - 9, data=b"x" * 9))], None),
                    ([(0, ACK, dict(at=WINDOW - 8, data=b"x" * 9))], "out_of_window"),
                    ([(0, ACK, dict(at=-2, data=b"x"))], "out_of_window"),
                    ([(0, ACK, dict(data=b"x" * 9)), (0, ACK, dict(at=3, data=b"x" * 6))], None)])

    def test_acknowledgements(self):
        self.check([([(0, FIN, {})], "bad_ack"),
                    ([(0, 0, dict(data=b"x"))], "bad_ack"),
                    ([(0, ACK, dict(acks=1))], "bad_ack"),
                    ([(1, ACK, dict(data=b"abc")), (0, ACK, dict(acks=3))], None),
                    ([(1, ACK, dict(acks=1))], "bad_ack")])

    def test_fins(self):
        self.check([([(0, FIN | ACK, dict(data=b"abc")), (0, ACK, dict(at=4))], None),
                    ([(0, FIN | ACK, dict(data=b"abc")), (0, ACK, dict(at=4, data=b"x"))], "behind_end"),
                    ([(0, FIN | ACK, dict(data=b"abc")), (0, FIN | ACK, dict(data=b"abcd"))], "behind_end"),
                    ([(0, FIN | ACK, dict(data=b"abc")), (0, FIN | ACK, dict(at=3))], None)])

    def test_half_of_all_numbers_away(self):
        half, fin = 1 << 31, (0, FIN | ACK, dict(data=b"abc"))  # the FIN's number is 3
        self.check([([fin, (0, ACK, dict(at=half + 3))], "behind_end"),
                    ([fin, (0, ACK, dict(at=half + 4))], "out_of_window"),
                    ([fin, (0, ACK, dict(at=half + 1, data=b"x"))], "behind_end"),
                    ([fin, (0, ACK, dict(at=half - 7, data=b"x" * 40))], "out_of_window"),
                    ([(0, FIN | ACK, dict(at=half))], "out_of_window"),
                    ([(0, FIN | ACK, dict(at=half + 1))], "behind_end")])

    def test_checksums(self):
        wrong = begun().client(ACK, b"x", wrong=True)
        self.assertEqual(last(wrong), "wrong_checksum")
        self.assertIsNone(last(wrong, checksums="trust"))
        self.assertIsNone(last(wrong, checksums="auto"))
        self.assertIsNone(last(begun().server(ACK, b"x", wrong=True)))
        many = begun()
        for at in range(70):
            many.client(ACK, b"x", at=at)
        self.assertEqual(last(many.client(ACK, b"x", at=70, wrong=True), checksums="auto"), "wrong_checksum")

    def test_monitored_ones_say_the_same_and_believe_the_server(self):
        self.assertEqual(last(begun().client(ACK, b"x", at=WINDOW), mode="monitor"), "out_of_window")
        self.assertIsNone(last(begun().server(ACK, acks=500), mode="monitor"))

    def test_strangers_pass_in_the_grace(self):
        late = Dialogue().client(ACK, b"x").client(ACK, b"x", at=1).client(ACK, b"x", at=2).client(ACK, at=3)
        times = [0, GRACE - 1, GRACE, GRACE + 1]
        self.assertEqual([refusal for refusal, _ in verdicts(late, times=times)], [None, None, "midstream", None])

    def test_strangers_are_read_where_their_server_is(self):
        talk = Dialogue().client(ACK, b"xyz", at=5)
        refusal, frame = verdicts(talk)[-1]
        self.assertIsNone(refusal)
        self.assertNotEqual(frame, talk.sent[-1])
        self.assertEqual(verdicts(talk, mode="monitor")[-1], (None, talk.sent[-1]))
        talk.server(ACK, acks=5)
        for at, expected in ((6, "midstream"), (2, None), (5, None), (9, None)):
            talk.client(ACK, b"xyz", at=at)
            self.assertEqual(verdicts(talk)[-1], (expected, talk.sent[-1]))

    def test_what_is_rewritten(self):
        urgent = begun().client(ACK | URG, b"x", urgent=1, ttl=9)
        clean = begun().client(ACK, b"x", ttl=32)
        self.assertEqual(verdicts(urgent)[-1], (None, clean.sent[-1]))
        self.assertEqual(verdicts(urgent, mode="monitor")[-1], (None, urgent.sent[-1]))
        moved = begun().client(ACK, b"x", options=b"\x1e\x05\x20\x01\x07\x45\x02\x01")
        self.assertEqual(verdicts(moved)[-1], (None, begun().client(ACK, b"x", options=b"\1" * 8).sent[-1]))
        self.assertEqual(verdicts(moved, mode="monitor")[-1], (None, moved.sent[-1]))
        answer = begun().server(ACK | URG, b"x", urgent=1, ttl=9)
        self.assertEqual(verdicts(answer)[-1], (None, answer.sent[-1]))


class Quic(unittest.TestCase):
    """Of one client, whose datagrams are told by letters: what is counted, or why it is refused."""

    def setUp(self):
        self.maker = ServedQuicMaker(random.Random(1))
        self.maker.connection()  # of any ids and keys
        self.maker.version, self.maker.dcid, self.maker.token = VERSION1, b"12345678", b""
        self.maker.keys = Keys(VERSION1, self.maker.dcid)

    def hello(self, name):
        return b"\1" + part(3, b"\3\3" + bytes(32) + part(1, b"") + part(2, b"\x13\1") + part(1, b"\0") +
                            part(2, b"\0\0" + part(2, part(2, b"\0" + part(2, name)))))

    def crypto(self, at, octets):
        return self.maker.initial(b"\6" + variable(at) + variable(len(octets)) + octets, 1200)

    def made(self, letter):
        hello = self.hello(b"a.example")
        damaged = self.crypto(0, hello)
        return {"a": self.crypto(0, hello), "b": self.crypto(0, self.hello(b"b.example")), "1": self.crypto(0, hello[:30]),
                "2": self.crypto(30, hello[30:]), "x": self.crypto(20, b"other"), "d": damaged[:-1] + bytes([damaged[-1] ^ 1]),
                "e": self.maker.initial(b"\1", 1200),
                "u": b"\xc0\xff\0\0\x1d" + bytes(1200), "g": b"\xc0\x1a\x2a\x3a\x4a" + bytes(1200), "s": b"\x40" + bytes(60),
                "c": b"\xc0\0\0\0\1\x15" + bytes(1200), "A": self.maker.server_head("handshake") + bytes(50), "R": self.maker.server_head("retry") + bytes(50)}[letter]

    def told(self, letters, drops=(), others=()):
        """`others`: which of them come by another port."""
        streams, result = Streams(), []
        service = Service({"id": "h3", "protocol": "quic", "when": "l4.dport eq 443", "mode": "enforce"}, {}, False)
        for number, letter in enumerate(letters):
            ends = "10.0.0.1", "192.0.2.1", 5001 if number in others else 5000, 443
            frame = datagram(back(ends) if letter in "AR" else ends, self.made(letter))
            packet = Box(inside=["192.0.2.1/32"]).see(frame, len(frame))
            packet.came, packet.service = number * 10 ** 9, None if letter in "AR" else Seen(service, 0)
            streams.see(packet)
            if packet.settle:
                packet.settle.fate = number in drops
            refusal = packet.service and packet.service.refusal or packet.doubt and packet.doubt[0]
            result += [] if letter in "AR" else [refusal or packet.handshakes]
        return result

    def test_each(self):
        for letters, wanted in (("aaaaaaa", [1, 0, 0, 0, 0, 0, 0]), ("aAaa", [1, 1, 0]), ("aRa", [1, 0]), ("ab", [1, 1]), ("ad", [1, "lost_head"]),
                                ("12", [0, 1]), ("21", [0, 1]), ("12121", [0, 1, 0, 0, 0]), ("12A12", [0, 1, 0, 1]), ("12x", [0, 1, "overlap"]),
                                ("1x2", [0, "overlap", 1]), ("12Ax", [0, 1, "overlap"]), ("ugsc", ["unreadable", 0, 0, "unreadable"]), ("d", [0])):
            self.assertEqual(self.told(letters), wanted, letters)

    def test_an_id_is_one_by_every_port(self):
        lost = "lost_head"
        for letters, wanted in (("12", [0, lost]), ("1x", [0, lost]), ("aaaa", [1, 1, 1, 1]), ("1212", [0, lost, 0, lost]), ("12xx", [0, lost, "overlap", lost])):
            self.assertEqual(self.told(letters, others=[1, 3]), wanted, letters)
        self.assertEqual(self.told("122", others=[1]), [0, lost, 1])
        self.assertEqual(self.told("1222", others=[1, 3]), [0, lost, 1, lost])
        # By whose port something comes behind an answer, it begins there.
        self.assertEqual(self.told("aAed", others=[0]), [1, 0, "lost_head"])

    def test_strangers_ids_pass_for_ten_seconds(self):
        self.assertEqual(self.told("d" * 11), [0] * 10 + ["lost_head"])

    def test_what_is_refused_stays_so(self):
        self.assertEqual(self.told("aabAa", drops=[0]), [1] + ["retransmission"] * 3)
        self.assertEqual(self.told("aba", drops=[1]), [1, 1, "retransmission"])


if __name__ == "__main__":
    unittest.main()
