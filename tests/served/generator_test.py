"""What `scripts/served` sends and judges by, without a network: frames are read by the parsers of tests/model, and the law
fails where it has to.

    generator_test.py
"""
import contextlib
import io
import pathlib
import random
import struct
import sys
import tempfile
import time
import unittest
from collections import Counter
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "smoke"), str(HERE.parent / "model")]
import at_once  # noqa: E402
import bad_path  # noqa: E402
import beyond  # noqa: E402
import dialogues  # noqa: E402
import engine  # noqa: E402
import evasions  # noqa: E402
import frame as model  # noqa: E402
import generate  # noqa: E402
import law  # noqa: E402
import multipath  # noqa: E402
import plan as plans  # noqa: E402
import hellos  # noqa: E402
import other_evasions  # noqa: E402
import other_generate  # noqa: E402
import others  # noqa: E402
import reasons  # noqa: E402
import replayed  # noqa: E402
import rule_files  # noqa: E402
import served  # noqa: E402
import servers  # noqa: E402
import six  # noqa: E402
import stacks  # noqa: E402
import wire  # noqa: E402
from capture_files import client_hello, ethernet  # noqa: E402
from court import Seen  # noqa: E402
from heads import LOGIN, get, h2_get  # noqa: E402
from hello import Hello  # noqa: E402
from plan import Datagram, Deliver, Do, Flow, Open, Plan, Send, Until, Wait  # noqa: E402

CLIENT, SERVER = wire.packed("10.128.0.1"), wire.packed("10.78.0.11")
COUNT = 2000


def frames_of(plan):
    return [packet for _, packet in plans.frames(plan, CLIENT, SERVER)]


def read_by_model(packet):
    frame = ethernet(packet, 0x0800)
    return model.dissect(frame, len(frame))


def stream_of(plan, packets):
    """What a server has that takes the first bytes of each place, in the window, with right checksums: the last connection."""
    out, base = {}, 0
    for step, packet in packets:
        if isinstance(step, Open):
            out = {}
            base = plan.flows[step.flow].iss + 1
        segment = wire.read(packet)
        if segment and wire.is_sound(packet) and segment.flags & wire.ACK and not segment.flags & (wire.RST | wire.SYN):
            at = segment.seq - base & wire.MASK
            if at < 0xFFFF:
                for place, byte in enumerate(segment.payload, at):
                    out.setdefault(place, byte)
    return bytes(out[place] for place in sorted(out))


class Frames(unittest.TestCase):
    def test_a_segment_is_read_back_by_the_model(self):
        headers = wire.Headers(seq=7, ack=9, flags=wire.ACK | wire.PSH, ttl=33, window=1234, urgent=3)
        (packet,) = wire.packets(CLIENT, SERVER, 40000, 80, headers, b"abc")
        seen = read_by_model(packet)
        self.assertTrue(wire.is_sound(packet))
        fields = seen.fields if hasattr(seen, "fields") else seen[0].fields
        self.assertEqual((fields["l4.sport"], fields["l4.dport"], fields["tcp.flags"], fields["ip.ttl"]), (40000, 80, 0x18, 33))
        back = wire.read(packet)
        self.assertEqual((back.seq, back.ack, back.payload, back.window, back.urgent), (7, 9, b"abc", 1234, 3))

    def test_wrong_checksums_are_wrong(self):
        for how in ({"wrong_tcp": True}, {"wrong_ip": True}):
            (packet,) = wire.packets(CLIENT, SERVER, 1, 80, wire.Headers(1, **how), b"abc")
            self.assertFalse(wire.is_sound(packet), how)

    def test_fragments_are_the_segment(self):
        whole = wire.packets(CLIENT, SERVER, 1, 80, wire.Headers(1), LOGIN)[0]
        pieces = wire.packets(CLIENT, SERVER, 1, 80, wire.Headers(1, cuts=(24, 40)), LOGIN)
        self.assertEqual(len(pieces), 3)
        self.assertEqual(b"".join(piece[20:] for piece in pieces), whole[20:])
        self.assertEqual([struct.unpack_from("!H", piece, 6)[0] for piece in pieces], [0x2000, 0x2003, 5])
        self.assertEqual([wire.read(piece) for piece in pieces], [None] * 3)

    def test_segments_of_ipv6_are_read_by_the_model_behind_their_extension_headers(self):
        client, server = wire.packed("fd80::1"), wire.packed("fd78::b")
        headers = wire.Headers(seq=7, ack=9, ttl=33, extensions=((six.HOP_BY_HOP, six.PADDING), (six.DESTINATION, six.SKIPPED)))
        (packet,) = wire.packets(client, server, 40000, 80, headers, LOGIN)
        frame = ethernet(packet, 0x86DD)
        seen = model.dissect(frame, len(frame))
        fields = seen.fields if hasattr(seen, "fields") else seen[0].fields
        self.assertEqual((fields["l4.sport"], fields["l4.dport"], fields["ip.ttl"]), (40000, 80, 33))
        (plain,) = wire.packets(client, server, 40000, 80, wire.Headers(seq=7, ack=9), LOGIN)
        self.assertEqual(wire.read(plain).payload, LOGIN)
        self.assertEqual(wire.checksum(wire.pseudo(client, server, 6, len(plain) - 40) + plain[40:]), 0)

    def test_fragments_of_ipv6_are_the_segment(self):
        client, server = wire.packed("fd80::1"), wire.packed("fd78::b")
        (whole,) = wire.packets(client, server, 1, 80, wire.Headers(1), LOGIN)
        pieces = wire.packets(client, server, 1, 80, wire.Headers(1, cuts=(24, 40)), LOGIN)
        self.assertEqual(b"".join(piece[48:] for piece in pieces), whole[40:])
        self.assertEqual([struct.unpack_from("!H", piece, 42)[0] for piece in pieces], [1, 24 | 1, 40])
        (atomic,) = wire.packets(client, server, 1, 80, wire.Headers(1, cuts=(0,)), LOGIN)
        self.assertEqual((atomic[6], atomic[42:44], atomic[48:]), (wire.FRAGMENT, b"\0\0", whole[40:]))

    def test_datagrams_are_read_back(self):
        (packet,) = wire.datagrams(CLIENT, SERVER, 4000, 53, wire.Headers(0), b"abc")
        self.assertTrue(wire.is_sound(packet))
        self.assertEqual(wire.read_udp(packet), (CLIENT, SERVER, 53, b"abc"))
        (wrong,) = wire.datagrams(CLIENT, SERVER, 4000, 53, wire.Headers(0, wrong_tcp=True), b"abc")
        self.assertFalse(wire.is_sound(wrong))

    def test_a_header_of_http2_is_as_long_as_it_says(self):
        frame = h2_get(1)
        self.assertEqual(int.from_bytes(frame[:3], "big"), len(frame) - 9)
        self.assertEqual(frame[3:9], b"\1\5\0\0\0\1")


class Generated(unittest.TestCase):
    def setUp(self):
        self.plans = [generate.make(1, number) for number in range(COUNT)]

    def test_a_seed_repeats_and_another_differs(self):
        self.assertEqual(self.plans[:200], [generate.make(1, number) for number in range(200)])
        self.assertNotEqual(self.plans[:20], [generate.make(2, number) for number in range(20)])

    def test_a_minute_of_silence_is_drawn_into_them_where_it_is_asked_for(self):
        silent = [generate.with_silence(plan, 1, True) for plan in self.plans[:200]]
        self.assertEqual(silent, [generate.with_silence(plan, 1, True) for plan in self.plans[:200]])
        places = set()
        for plan, one in zip(self.plans, silent):
            (at,) = (at for at, step in enumerate(one.steps) if isinstance(step, Wait) and step.seconds > 60)
            self.assertTrue(at and 62 <= one.steps[at].seconds <= 70 and one.steps[at].until == "time", plan.name)
            self.assertEqual((one.steps[:at] + one.steps[at + 1:], one.flows), (plan.steps, plan.flows))
            self.assertEqual(generate.with_silence(plan, 1).serves, 0)
            places.add(type(one.steps[at - 1]))
        self.assertGreater(len(places), 3)
        kept = [one.serves == plan.serves for plan, one in zip(self.plans, silent) if plan.serves]
        self.assertTrue(len(kept) // 4 < sum(kept) < len(kept), f"{sum(kept)} of {len(kept)}")

    def test_a_silence_within_a_head_may_end_it_and_one_between_requests_may_not(self):
        opened, half, rest = Open(), Send(get()[:9]), Send(get()[9:], 9)
        wrong, reset = Send(b"x", len(get()), wrong_tcp=True), Send(b"", 900_000, flags=wire.RST)
        for steps, whole in (((opened,), True), ((opened, half), False), ((opened, rest), False), ((opened, rest, half), True),
                             ((opened, rest, wrong, half, reset), True), ((opened, half, rest, half, opened), True),
                             ((opened, half, rest, opened, half), False)):
            self.assertEqual(generate.are_whole(steps), whole, steps)
        self.assertFalse(any(isinstance(step, Wait) and step.seconds > 10 for plan in self.plans for step in plan.steps))

    def test_the_long_course_has_silences_and_the_short_one_none(self):
        for words, silences in ((("--connections", "100000"), served.SILENCES), (("--connections", "99"), 0),
                                (("--connections", "100000", "--short"), 0), (("--silences", "5"), 5)):
            self.assertEqual(served.arguments([*words, "--programs", "a", "b", "c"]).silences, silences)
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            served.arguments(["--silences", str(rule_files.SLOTS), "--programs", "a", "b", "c"])

    def test_frames_of_all_are_read_by_the_model(self):
        for plan in self.plans:
            for _, packet in plans.frames(plan, CLIENT, SERVER):
                read_by_model(packet)
                self.assertEqual(struct.unpack_from("!H", packet, 2)[0], len(packet))

    def test_what_any_server_serves_is_all_there(self):
        clean = [plan for plan in self.plans if plan.serves]
        self.assertGreater(len(clean), COUNT // 5)
        for plan in clean:
            stream = stream_of(plan, plans.frames(plan, CLIENT, SERVER))
            self.assertEqual(stream, stream[:len(get())] * (len(stream) // len(get())), plan.name)
            self.assertTrue(stream.startswith(get()), plan.name)

    def test_every_kind_is_drawn(self):
        sends = [step for plan in self.plans for step in plan.steps if isinstance(step, Send)]
        for kind in (lambda one: one.wrong_tcp, lambda one: one.wrong_ip, lambda one: one.cuts, lambda one: one.urgent,
                     lambda one: one.ack is None, lambda one: one.flags & wire.RST, lambda one: one.flags & wire.SYN,
                     lambda one: one.ttl < 64, lambda one: one.at > 60_000, lambda one: b"\r\r\n" in one.data,
                     lambda one: b"%2F" in one.data, lambda one: b"chunked" in one.data):
            self.assertGreater(sum(map(bool, map(kind, sends))), 10)
        self.assertTrue(any(sum(isinstance(step, Open) for step in plan.steps) > 1 for plan in self.plans))

    def test_each_is_printed_as_a_case(self):
        for plan in [*self.plans, *(one.plan(1) for one in evasions.EVASIONS)]:
            text = plans.case(plan)
            self.assertEqual((text.count("{"), text[-3:]), (text.count("}"), "}},"), text) if "{" not in plan.name else None
        self.assertEqual(plans.literal(b"a\r\n\"\\\0001"), '"a\\r\\n\\"\\\\\\0001"')


class OtherProtocols(unittest.TestCase):
    def plans(self, name, count=200):
        return [other_generate.make(1, number, name) for number in range(count)]

    def test_a_seed_repeats_and_clean_ones_are_served(self):
        for name in others.NAMES:
            plans = self.plans(name)
            self.assertEqual(plans[:20], self.plans(name, 20), name)
            self.assertGreater(sum(bool(plan.serves) for plan in plans), len(plans) // 5, name)
            for plan in plans:
                plans_frames = frames_of(plan)
                self.assertTrue(plans_frames and max(map(len, plans_frames)) <= 1500, plan.name)

    def test_initials_are_read_by_the_model_and_their_name_is_asked_for(self):
        for plan in self.plans("quic"):
            if plan.serves:
                for step in plan.steps:
                    if isinstance(step, Datagram):
                        self.assertEqual(hellos.packets_of(step.data)[0][0], "initial")
                        self.assertGreaterEqual(len(step.data), 1200)
        dice = random.Random("hellos")
        client = hellos.Client(dice)
        hello = hellos.quic_hello(dice, b"login.example", client.scid)
        self.assertEqual(Hello(hello[4:]).name, b"login.example")
        self.assertEqual(Hello(hellos.hello(dice, b"login.example")[4:]).name, b"login.example")

    def test_handshakes_are_told_by_the_servers_id(self):
        handshake, initial = b"\xe0\0\0\0\1\0\2ab\1x", b"\xc0\0\0\0\1\0\2ab\0\1x"
        self.assertEqual(hellos.handshakes([initial, initial]), 0)
        self.assertEqual(hellos.handshakes([initial + handshake, handshake, handshake.replace(b"ab", b"cd")]), 2)


class Stacks(unittest.TestCase):
    SHOWN = (">>> TLS 1.0, RecordHeader [length 0005]\n    16 03 01 02 00\n>>> TLS 1.0, RecordHeader [length 0005]\n"
             ">>> TLS 1.3, Handshake [length 0400], ClientHello\n    01 00\n<<< TLS 1.2, RecordHeader [length 0005]\n"
             ">>> TLS 1.2, RecordHeader [length 0005]\n")

    def test_bytes_and_records_of_a_hello_are_read_out_of_what_the_client_prints(self):
        self.assertEqual(stacks.read(self.SHOWN, True), stacks.Shown(1024, 2, True))
        self.assertEqual(stacks.read("", False), stacks.Shown(0, 0, False))

    def test_a_hello_is_served_and_counted_once_or_refused_for_its_reason(self):
        fine, long = stacks.Case("fine", (), 1000, 2), stacks.Case("long", (), 1000, 2, "head_too_long")
        served_, refused = stacks.Shown(1024, 2, True), stacks.Shown(1024, 2, False)
        for case, shown, counts, holds in (
                (fine, served_, (1, 0), True), (fine, served_, (0, 0), False), (fine, served_, (2, 0), False),
                (fine, refused, (1, 0), False), (fine, stacks.Shown(999, 2, True), (1, 0), False),
                (fine, stacks.Shown(1024, 1, True), (1, 0), False), (long, refused, (0, 1), True),
                (long, refused, (0, 0), False), (long, served_, (1, 0), False)):
            self.assertEqual(stacks.broken(case, shown, *counts) == "", holds, (case, shown, counts))

    def test_protocols_are_as_many_bytes_as_is_said(self):
        _, text = stacks.offering(14_800)
        names = text.split(",")
        self.assertTrue(14_600 <= sum(1 + len(name) for name in names) <= 14_900)
        self.assertTrue(names[-1] == "http/1.1" and max(map(len, names)) < 256)


class Evasions(unittest.TestCase):
    def test_names_are_single(self):
        names = [one.name for one in evasions.EVASIONS]
        self.assertEqual(len(names), len(set(names)))

    def test_halves_and_bytes_are_whole_requests(self):
        for name in ("forgotten by a RST", "a FIN ahead of a gap", "byte by byte in no order", "a request"):
            (one,) = (one for one in evasions.EVASIONS if one.name == name)
            plan = one.plan(1)
            self.assertEqual(stream_of(plan, plans.frames(plan, CLIENT, SERVER)), LOGIN, name)

    def test_mappings_swap_what_its_segments_have_in_order(self):
        (row,) = (one for one in evasions.EVASIONS if "mapping of Multipath" in one.name)
        plan = row.plan(1)
        sent = stream_of(plan, plans.frames(plan, CLIENT, SERVER))
        self.assertTrue(sent.startswith(b"GET /index ") and sent.endswith(b": /login\r\n\r\n"), sent)
        of_server, key = bytes.fromhex("020405b41e0c0101") + b"a server", multipath.first_number(multipath.KEY)
        self.assertEqual(multipath.capable(of_server)[-16:], multipath.KEY + b"a server")
        moved = {}
        for step in plan.steps:
            if isinstance(step, Send):
                options = step.options(of_server)
                self.assertEqual(len(options), options[1])
                _, number, place, size = struct.unpack_from("!IIIH", options, 4)
                self.assertEqual((place, size), (step.at + 1, len(step.data)))
                moved[number - key & wire.MASK] = step.data
        self.assertTrue(b"".join(moved[place] for place in sorted(moved)).startswith(b"GET /login HTTP/1.1\r\n"))

    def test_slots_have_addresses_of_their_own(self):
        for slot in range(rule_files.SLOTS):
            for number in (0, (1 << rule_files.SLOT_BITS) - 3):
                self.assertEqual(rule_files.slot_of(".".join(map(str, rule_files.client(slot, number)))), slot)


class Beyond(unittest.TestCase):
    def arguments(self, *words):
        return served.arguments([*words, "--programs", "a", "b", "c"])

    def test_what_is_not_installed_is_left_out_of_all_and_refused_by_name(self):
        with mock.patch.object(beyond, "is_there", lambda name: name != beyond.JAVA):
            given = self.arguments("--servers", "all")
            self.assertEqual((given.names, list(given.left_out)), ([*servers.SIX, "simple", "aiohttp", "caddy"], [beyond.JAVA]))
            self.assertEqual(self.arguments("--servers", "six").names, list(servers.SIX))
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as words:
                self.arguments("--servers", "nginx,java")
            self.assertIn("java lacks openjdk-17-jdk-headless (java)", words.getvalue())

    def test_their_packages_are_in_the_list(self):
        listed = dict(line.split(" ", 1) for line in (HERE.parent.parent / "scripts/packages.txt").read_text().splitlines()
                      if not line.startswith("#"))
        for package, group in (words.rstrip(")").split(" (") for words in beyond.PACKAGES.values() if words):
            self.assertIn(group, listed[package].split())

    def test_the_short_course_tries_before_them_what_they_have_served(self):
        short, whole = self.arguments("--short"), self.arguments()
        for name in ("simple", "aiohttp", "java"):
            tried = [one for one in evasions.EVASIONS if served.is_tried(one, name, short)]
            self.assertGreater(len(tried), 1, name)
            self.assertEqual(tried, [one for one in evasions.EVASIONS if one is evasions.EVASIONS[0] or name in one.served_by])
            self.assertTrue(all(served.is_tried(one, name, whole) for one in evasions.EVASIONS))
        self.assertTrue(all(served.is_tried(one, "nginx", short) for one in evasions.EVASIONS))
        self.assertLessEqual({name for one in evasions.EVASIONS for name in one.served_by}, set(beyond.PACKAGES))

    def test_a_body_that_is_left_unread_is_as_long_as_its_head_says(self):
        rows = [one for one in evasions.EVASIONS if one.served_by == (beyond.SIMPLE,)]
        self.assertEqual(len(rows), 3)
        for row in rows:
            head, body = generate.stream_of(row.steps).split(b"\r\n\r\n", 1)
            self.assertEqual(body, body.count(LOGIN) * LOGIN, row.name)
            size = int(head.rpartition(b" ")[2])
            self.assertTrue(size == len(body) or size == 10**9, row.name)

    def test_a_line_of_caddys_log_says_what_it_takes_for_a_login(self):
        line = {"request": {"remote_ip": "10.128.0.1", "uri": "/x/../login"}, "status": 200, "resp_headers": {"X-Served": ["/login"]}}
        self.assertEqual(beyond.served_by_caddy(line), ("10.128.0.1", "200", "/login"))
        self.assertEqual(beyond.served_by_caddy({**line, "resp_headers": {}}), ("10.128.0.1", "200", "/x/../login"))

    def test_hellos_are_tried_before_each_server_of_tls(self):
        names = [name for _, name in others.pairs(("tls", "caddy_tls", "named"))]
        self.assertEqual(names.count("tls"), names.count("caddy_tls"))
        self.assertEqual(names.count("tls"), len(other_evasions.OF_TLS))


class Law(unittest.TestCase):
    PLAN = Plan("p", (Flow(1, 1),), (Open(), Send(LOGIN), Deliver(LOGIN)), serves=1)

    def seen(self, logins, counted, requests=None):
        return Seen(self.PLAN, "nginx", logins, logins if requests is None else requests, counted)

    def cell(self, alone, counted, limited, refused="", is_enforced=True):
        return law.Cell(evasions.Evasion("e", (), refused=refused), alone, counted, limited, is_enforced)

    def test_served_and_counted_is_the_law(self):
        fine = self.seen(1, 1)
        self.assertEqual(law.broken([self.cell(fine, fine, fine)], [fine]), [])
        self.assertEqual(law.broken([], [self.seen(1, 2)]), [])

    def test_uncounted_is_broken_in_each_phase(self):
        fine = self.seen(1, 1)
        self.assertEqual(len(law.broken([self.cell(fine, self.seen(2, 1), fine)])), 1)
        self.assertEqual(len(law.broken([self.cell(fine, fine, self.seen(0, 1, requests=2))])), 1)
        self.assertEqual(len(law.broken([], [self.seen(2, 1)])), 1)

    def test_refused_is_broken_unless_it_is_listed(self):
        fine, none = self.seen(1, 1), self.seen(0, 0)
        self.assertEqual(len(law.broken([self.cell(fine, none, fine), self.cell(fine, fine, fine)])), 1)
        self.assertEqual(law.broken([self.cell(fine, none, fine, refused=evasions.OTHER_BYTES), self.cell(fine, fine, fine)]), [])
        self.assertEqual(len(law.broken([], [fine, none])), 1)

    def test_what_is_monitored_refuses_nothing_and_may_be_walked_around(self):
        fine, none, more = self.seen(1, 1), self.seen(0, 0), self.seen(2, 1)
        cells = [self.cell(fine, none, fine, refused=evasions.OTHER_BYTES, is_enforced=False), self.cell(more, more, fine, is_enforced=False)]
        self.assertEqual(len(law.broken(cells, [more], may_be_uncounted=True)), 1)
        self.assertEqual(len(law.broken(cells, [more])), 3)

    def test_a_run_in_which_nothing_was_served_fails(self):
        none = self.seen(0, 0)
        self.assertIn("nginx served nothing at all", law.broken([self.cell(none, none, none)]))
        self.assertEqual(law.broken([], []), ["nothing was tried"])


class Dialogues(unittest.TestCase):
    def test_segments_are_sound_and_in_their_place(self):
        for dialogue in dialogues.all_dialogues(1, client_hello("a.example"), 2):
            ends = {}
            for one in dialogues.frames(dialogue, 20000):
                self.assertTrue(wire.is_sound(one[14:]), dialogue.name)
                segment = wire.read(one[14:])
                end = segment.seq + len(segment.payload) + bool(segment.flags & 3) & wire.MASK
                awaited = ends.get(segment.sport, segment.seq)
                self.assertIn(segment.seq, (awaited, awaited - len(segment.payload) & wire.MASK), dialogue.name)
                ends[segment.sport] = end

    def check(self, check, *refused):
        """Words about replays of which each refuses what is said."""
        made = iter(refused)
        with (mock.patch.object(replayed.Replay, "refused", lambda *_: (Counter(next(made)), 9, 1)),
              mock.patch.object(replayed, "servers_in", lambda path: []), contextlib.redirect_stdout(io.StringIO()),
              tempfile.TemporaryDirectory() as folder):
            return check("sluicectl", folder)

    def test_nothing_of_dialogues_is_to_be_refused(self):
        def dialogues_of(sluicectl, folder):
            return replayed.check_dialogues(sluicectl, folder, 1)
        self.assertEqual(self.check(dialogues_of, {}, {}), [])
        self.assertEqual(self.check(dialogues_of, {}, {"unreadable": 1}), ["dialogues, services: {'unreadable': 1}"])

    def test_a_refusal_of_captures_beyond_the_number_that_is_listed_is_new(self):
        def two(sluicectl, folder):
            return replayed.check_captures(sluicectl, folder, [pathlib.Path("a"), pathlib.Path("b")])
        most = replayed.LISTED["unreadable"]
        self.assertEqual(self.check(two, {}, {"unreadable": most - 1}, {}, {"unreadable": 1}), [])
        self.assertEqual(self.check(two, {}, {"unreadable": most}, {}, {"unreadable": 1}),
                         [f"captures, services: unreadable: {most + 1} of {most}"])
        self.assertEqual(self.check(two, {}, {"lost_head": 2}, {"unreadable": 1}, {}),
                         ["b, anywhere: {'unreadable': 1}", "captures, services: lost_head: 2 of 0"])


class BadPaths(unittest.TestCase):
    def test_an_enforced_service_fails_no_more_than_a_monitored_one_nor_than_no_rules(self):
        one, none = ["late"], []
        for failed, broken in (((one, one, one), 0), ((none, none, one), 2), ((one, none, one), 1), ((none, one, none), 1),
                               ((one, none, none), 0)):
            words = bad_path.more_than(dict(zip(("without rules", "monitored", "enforce"), failed)))
            self.assertEqual(len(words), broken, failed)
        self.assertIn("1 failed enforce, 0 monitored: ['late']", bad_path.more_than({"monitored": none, "enforce": one})[0])


class FakeCourt:
    """A box that counts so much of each kind with every run."""

    def __init__(self, **counts):
        self.counts, self.runs = counts, 0

    def send_until(self, trials, seconds, is_enough):
        self.runs += 1

    def reasons(self):
        return {name: self.runs * count for name, count in self.counts.items()}

    def events(self):
        return {}


class FakeLink:
    """Keeps what is sent; nothing ever comes."""

    def __init__(self):
        self.sent = []

    def send(self, packet):
        self.sent.append(wire.read(packet))

    def receive(self, seconds):
        time.sleep(seconds)
        return ()


class Runs(unittest.TestCase):
    def run_of(self, *steps):
        link = FakeLink()
        return engine.Run(Plan("p", (Flow(1, 1),), steps), CLIENT, engine.Target(SERVER, 80), link), link

    def advance(self, run, seconds):
        """Its own time alone."""
        for tick in range(int(seconds * 100)):
            run.advance(tick / 100)

    def test_ports_that_are_used_again_are_given_up_sooner(self):
        run, link = self.run_of(Open())
        self.advance(run, 10)
        self.assertEqual((len(link.sent), run.failed), (engine.SYNS, "no SYN-ACK"))
        again, link = self.run_of(Open(), Open())
        again.advance(0)
        again.take(wire.Received(SERVER, CLIENT, 80, 1, 7, 2, wire.SYN | wire.ACK, b""))
        self.advance(again, 10)
        syns = [one for one in link.sent if one.flags & wire.SYN]
        self.assertEqual((len(syns), again.failed), (1 + engine.SYNS_AGAIN, "no SYN-ACK"))

    def test_who_waits_for_all_goes_on_once_they_are_there_or_after_its_time(self):
        for count, at in ((2, 0.01), (3, 5.01)):
            gathering = plans.Gathering(count)
            run, link = self.run_of(Do(gathering.come), Do(gathering.come), Until(gathering.all_here, 5), Send(b"x"))
            run.advance(0)
            run.advance(at)
            self.assertEqual(len(link.sent), 1, count)
        self.assertFalse(gathering.all_here.is_set())

    def test_it_ends_when_it_is_enough(self):
        run, link = self.run_of(Wait(60, "time"))
        looks = iter((False, True))
        engine.Engine(link).run([run], 60, lambda: next(looks))
        self.assertEqual((next(looks, None), run.failed), (None, "took too long"))


class Reasons(unittest.TestCase):
    def check(self, court, *names):
        fine, none = (Seen(Law.PLAN, name, 1, 1, 1) for name in names), (Seen(Law.PLAN, name) for name in names)
        row = evasions.Evasion("e", (), refused=evasions.OTHER_BYTES)
        return reasons.check(court, [law.Cell(row, one, other, one) for one, other in zip(fine, none)], 1)

    def test_what_is_refused_is_counted_by_its_reason_before_each_server(self):
        self.assertEqual(self.check(FakeCourt(overlap=2), "nginx", "python"), [])
        self.assertEqual(len(self.check(FakeCourt(overlap=1), "nginx", "python")), 1)
        (words,) = self.check(FakeCourt(unreadable=2), "nginx", "python")
        self.assertIn("not as overlap: {'unreadable': 2}", words)

    def test_what_is_not_refused_is_not_tried_again(self):
        court = FakeCourt()
        self.assertEqual((reasons.check(court, [], 1), court.runs), ([], 0))


class Listed(unittest.TestCase):
    def test_what_evasions_are_refused_for_stands_in_the_manuals_table_of_services(self):
        manual = (HERE.parent.parent / "control/man/sluice-rules.5.scd").read_text(encoding="utf-8")
        table = manual.split("[[ *What an enforced service meets*", 1)[1].split("\n\n", 1)[0]
        named = {one.refused for one in evasions.EVASIONS if one.refused}
        self.assertGreater(len(named), 4)
        for reason in sorted(named):
            self.assertIn(f"*{reason}*", table)

    def test_what_others_are_refused_for_stands_among_the_manuals_reasons_and_events(self):
        manual = (HERE.parent.parent / "control/man/sluice.7.scd").read_text(encoding="utf-8")
        rows = [*(one for _, one in other_evasions.EVASIONS), *six.OF_IPV6, *at_once.ENDINGS]
        named = {one.refused for one in rows if one.refused}
        self.assertGreater(len(named), 8)
        for reason in sorted(named):
            self.assertIn(f"*{reason}*", manual)

    def test_what_captures_may_be_refused_for_stands_in_the_manual_and_among_the_failures(self):
        control = HERE.parent.parent / "control"
        failures = (control / "FAILURES.md").read_text(encoding="utf-8")
        reasons = (control / "man/sluice.7.scd").read_text(encoding="utf-8")
        self.assertGreater(len(replayed.LISTED), 3)
        for reason in sorted(replayed.LISTED):
            self.assertRegex(failures, rf'`{reason}`|"{reason}"')
            self.assertIn(f"*{reason}*", reasons)


if __name__ == "__main__":
    unittest.main(verbosity=2)
