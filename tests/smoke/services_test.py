"""Services as sluicectl shows them: replay and explain, on dialogues made by hand."""
import json

from capture_files import SECOND, Case, main, pcap
from dialogue_frames import ACK, FIN, PSH, REQUEST, RST, SYN, URG, Dialogue

RULES = """version: 1
services:
  - {{id: web, protocol: http, when: l4.dport eq 80, mode: {mode}, checksums: verify}}
  - {{id: idle, protocol: tls, when: l4.dport eq 443, mode: "off"}}
rules:
  - {{id: requests, mode: enforce, when: l4.dport eq 80, per: request, key: [ip.src],
     limits: [{{algorithm: token_bucket, rate: 10/s, burst: 5}}]}}
  - {{id: anywhere, mode: enforce, when: http.host eq "other.example", key: [ip.src],
     limits: [{{algorithm: token_bucket, rate: 10/s, burst: 5}}]}}
  - {{id: packets, mode: enforce, when: payload.len gt 0, key: [],
     limits: [{{algorithm: token_bucket, rate: 10/s, burst: 50}}]}}
"""
INSIDE = ("--inside", "198.51.100.0/24")
SIZE = len(REQUEST)


def talk():
    """Frames 1 to 3 are the handshake; 5 and 8 to 10 no server would take, 11 is read by nobody."""
    return (Dialogue().handshake()
            .client(ACK | PSH, REQUEST)                                    # 4
            .client(ACK, b"x" * 20, at=SIZE + 200_000)                     # 5: beyond the window
            .server(ACK | PSH, b"HTTP/1.1 204 None\r\n\r\n", acks=SIZE)    # 6
            .client(ACK | URG, REQUEST, at=SIZE, urgent=3, ttl=5)          # 7: rewritten
            .client(PSH, b"x", at=2 * SIZE)                                # 8: no ACK
            .client(RST, at=-100_000)                                      # 9: outside the window
            .client(ACK, b"y" * 9, at=2 * SIZE, wrong=True)                # 10
            .client(ACK, b"\x01\x02 none of it\r\n\r\n", at=2 * SIZE))     # 11


class Services(Case):
    def arguments(self, mode, dialogue):
        return (self.write("rules.yaml", RULES.format(mode=mode)), "--pcap",
                self.write("in.pcap", pcap([(SECOND + number * 1_000_000, frame)
                                            for number, frame in enumerate(dialogue.sent)])))

    def replay(self, mode, dialogue, *options):
        out, _ = self.ctl("replay", *self.arguments(mode, dialogue), "--json", *options)
        return json.loads(out)

    def explain(self, mode, frame, dialogue=None):
        words = (*self.arguments(mode, dialogue or talk()), "--frame", str(frame), *INSIDE)
        return json.loads(self.ctl("explain", *words, "--json")[0]), self.ctl("explain", *words)[0]


REASONS = {"unreadable": 1, "wrong_checksum": 1, "bad_ack": 1, "out_of_window": 1, "rst_out_of_window": 1}


class Replayed(Services):
    def test_an_enforced_service_is_counted_by_reason(self):
        summary = self.replay("enforce", talk(), *INSIDE)
        web, idle = summary["services"]
        self.assertEqual((web["id"], web["protocol"], web["mode"]), ("web", "http", "enforce"))
        self.assertEqual((web["frames"], web["from_clients"], web["from_servers"]), (11, 9, 2))
        self.assertEqual((web["refused"], web["would_refuse"], web["rewritten"]), (REASONS, {}, 1))
        self.assertEqual((idle["mode"], idle["frames"], idle["refused"]), ("off", 0, {}))
        self.assertEqual(summary["dropped"], 5)
        self.assertEqual(summary["unread"], {"services": 1, "anywhere": 0})

    def test_a_service_that_monitors_refuses_nothing_and_says_what_it_would(self):
        summary = self.replay("monitor", talk(), *INSIDE)
        web = summary["services"][0]
        self.assertEqual((web["refused"], web["would_refuse"], web["rewritten"]), ({}, REASONS, 0))
        self.assertEqual(summary["dropped"], 0)

    def test_enforce_holds_for_services_too(self):
        self.assertEqual(self.replay("monitor", talk(), *INSIDE, "--enforce")["services"][0]["refused"], REASONS)

    def test_what_a_service_refuses_no_rule_admits(self):
        rules = {rule["id"]: rule for rule in self.replay("enforce", talk(), *INSIDE)["rules"]}
        # Frames with bytes that go on: 4, 6 and 7, of which 4 and 7 are requests.
        self.assertEqual((rules["packets"]["matched"], rules["packets"]["admitted"]), (3, 3))
        self.assertEqual((rules["requests"]["admitted"], rules["requests"]["exceeded"]), (2, 0))

    def test_text_lists_the_services_and_their_reasons(self):
        out, _ = self.ctl("replay", *self.arguments("enforce", talk()), *INSIDE)
        lines = [line.split() for line in out.splitlines()]
        self.assertIn(["web", "http", "enforce", "9", "2", "5", "0", "1"], lines)
        self.assertTrue(any(line[:4] == ["web", "bad_ack", "1", "0"] for line in lines), out)
        self.assertIn(["of", "services", "1"], lines)

    def test_a_file_without_services_is_shown_as_before(self):
        rules = self.write("none.yaml", "version: 1\nrules:\n  - {id: shut, when: l4.dport eq 99, on_match: drop}\n")
        out, _ = self.ctl("replay", rules, *self.arguments("monitor", talk())[1:], "--json")
        self.assertNotIn("services", json.loads(out))

    def test_servers_that_are_not_told_from_clients_are_warned_of(self):
        words = self.arguments("enforce", talk())
        self.assertIn("no frame came from the servers of `web`", self.ctl("replay", *words)[1])
        self.assertNotIn("no frame came", self.ctl("replay", *words, *INSIDE)[1])

    def test_servers_of_refused_handshakes_are_not_blamed_on_the_side(self):
        offloaded = Dialogue()
        for _ in range(3):
            offloaded.client(SYN, at=-1, wrong=True).server(SYN | ACK, at=-1)
        out, err = self.ctl("replay", *self.arguments("enforce", offloaded), *INSIDE)
        self.assertIn("3 frames came from inside, but none of a connection that `web` took up: it refuses its "
                      "clients' frames, most as wrong_checksum; where the capture was made before the sender's "
                      "adapter filled in checksums, replay with `checksums: trust`", err)
        self.assertNotIn("--inside", err)


class Explained(Services):
    def test_what_is_forwarded(self):
        account, text = self.explain("enforce", 4)
        self.assertEqual(account["service"], {"id": "web", "protocol": "http", "mode": "enforce", "from": "client",
                                              "fate": "passed", "established": True, "midstream": False})
        self.assertIn("web (http, enforce), from the client: passed\n", text)

    def test_what_is_rewritten(self):
        account, text = self.explain("enforce", 7)
        service = account["service"]
        self.assertEqual((service["fate"], service["clears_urgent"], service["ttl"]), ("rewritten", True, 32))
        self.assertIn("passed, its urgent pointer cleared, its TTL raised to 32", text)
        self.assertEqual(self.explain("monitor", 7)[0]["service"]["fate"], "passed")

    def test_what_is_refused_no_rule_sees(self):
        for frame, reason in ((5, "out_of_window"), (8, "bad_ack"), (9, "rst_out_of_window"), (10, "wrong_checksum"),
                              (11, "unreadable")):
            account, text = self.explain("enforce", frame)
            self.assertEqual((account["service"]["fate"], account["service"]["reason"]), ("dropped", reason), frame)
            self.assertEqual((account["verdict"], account["reason"]), ("drop", reason))
            requests = account["rules"][0]
            self.assertEqual((requests["outcome"], requests["limits"]), ("unseen", []))
            self.assertIn(f"from the client: dropped: {reason} (", text)

    def test_what_would_be_refused(self):
        account, text = self.explain("monitor", 5)
        self.assertEqual((account["service"]["fate"], account["service"]["reason"]), ("would_refuse", "out_of_window"))
        self.assertEqual((account["verdict"], account["rules"][0]["outcome"]), ("pass", "metered"))
        self.assertIn("passed; enforced, it would be dropped: out_of_window", text)

    def test_what_unread_bytes_cost_is_said(self):
        for word, said in (("count", "charged as one request, hello or query for each 1,460 bytes (on_unreadable: count)"),
                           ("pass", "passes uncharged (on_unreadable: pass)")):
            rules = self.write("unread.yaml", f"""version: 1
services: [{{id: web, protocol: http, when: l4.dport eq 80, mode: enforce, on_unreadable: {word}}}]
rules: []
""")
            packet = ("--src", "192.0.2.1", "--dst", "198.51.100.7", "--http", "GET /", "--host", "a")
            self.assertIn(said, self.ctl("explain", rules, *packet)[0])
            self.assertIn("on_unreadable count (one each 1,460 bytes)" if word == "count" else "on_unreadable pass,",
                          self.ctl("check", rules)[0])

    def test_servers_and_strangers(self):
        self.assertEqual(self.explain("enforce", 6)[0]["service"]["from"], "server")
        late = Dialogue().client(ACK, REQUEST)
        account, text = self.explain("enforce", 1, late)
        self.assertTrue(account["service"]["midstream"])
        self.assertIn("nobody saw the beginning of its connection", text)
        account, text = self.explain("enforce", 1, Dialogue(ports=(40000, 81)).client(ACK | FIN))
        self.assertNotIn("service", account)

    def test_a_described_packet_comes_after_its_handshake(self):
        path = self.write("rules.yaml", RULES.format(mode="enforce"))
        words = ("explain", path, "--src", "192.0.2.9", "--dst", "198.51.100.1", "--sport", "40000", "--dport", "80", "--json")
        told = json.loads(self.ctl(*words, "--http", "GET /", "--host", "a.example")[0])
        self.assertEqual((told["service"]["fate"], told["service"]["established"], told["service"]["midstream"]), ("passed", True, False))
        told = json.loads(self.ctl(*words, "--http", "GET /", "-H", "Upgrade: h2c")[0])
        self.assertEqual(told["verdict"], "pass")
        told = json.loads(self.ctl(*words, "--flags", "psh,ack", "--payload", r"SSH-2.0-x\x0d\x0a")[0])
        self.assertEqual((told["verdict"], told["reason"]), ("drop", "unreadable"))

    def test_the_stance_of_each_rule(self):
        account, text = self.explain("enforce", 4)
        self.assertEqual([rule.get("stance", {}).get("kind") for rule in account["rules"]], ["service", "partly", None])
        self.assertIn("reads layer 7 of service web\n", text)
        self.assertIn("reads layer 7 of service web; the rest anywhere: can be walked around", text)

    def test_a_described_request_has_what_a_server_takes(self):
        rules = self.write("rules.yaml", RULES.format(mode="enforce"))
        account = json.loads(self.ctl("explain", rules, "--src", "192.0.2.1", "--dst", "198.51.100.7", "--dport", "80",
                                      "--http", "GET /", "--host", "a", "--json")[0])
        self.assertEqual((account["service"]["fate"], account["verdict"]), ("passed", "pass"))


class Inspected(Services):
    def inspect(self, mode, *options, dialogue=None):
        rules, *capture = self.arguments(mode, dialogue or talk())
        return self.ctl("inspect", *capture, "--fields", "l4.dport,http.request.method", "--services-of", rules,
                        *INSIDE, *options)[0].splitlines()

    def test_each_frame_has_a_column_for_its_service(self):
        lines = [line.split("\t") for line in self.inspect("enforce")]
        self.assertEqual([line[3] for line in lines], [
            "web passed", "web passed", "web passed", "web passed", "web dropped out_of_window", "web passed",
            "web rewritten", "web dropped bad_ack", "web dropped rst_out_of_window", "web dropped wrong_checksum",
            "web dropped unreadable"])
        self.assertEqual(lines[3][:3], ["4", "80", "GET"])
        self.assertEqual(self.inspect("monitor")[4].split("\t")[3], "web would_refuse out_of_window")

    def test_inside_takes_an_address_and_needs_no_services(self):
        capture = self.arguments("enforce", talk())[2]
        out, _ = self.ctl("inspect", "--pcap", capture, "--fields", "dir", "--inside", "198.51.100.7")
        self.assertEqual([line.split("\t")[1] for line in out.splitlines()].count("out"), 2)

    def test_the_direction_is_that_of_inside(self):
        rules, *capture = self.arguments("enforce", talk())
        words = ("inspect", *capture, "--fields", "dir,http.request.method", *INSIDE)
        wanted = ["in", "out", "in", "in", "in", "out", "in", "in", "in", "in", "in"]
        for more in ((), ("--services-of", rules)):
            self.assertEqual([line.split("\t")[1] for line in self.ctl(*words, *more)[0].splitlines()], wanted)
        self.assertEqual(self.ctl(*words[:-2])[0].splitlines()[1].split("\t")[1], "in")

    def test_without_the_servers_it_warns(self):
        rules, *capture = self.arguments("enforce", talk())
        words = ("inspect", *capture, "--fields", "dir")
        self.assertIn("--inside PREFIX names", self.ctl(*words, "--services-of", rules)[1])
        for silent in ((), INSIDE, ("--services-of", rules, *INSIDE)):
            self.assertNotIn("--inside", self.ctl(*words, *silent)[1], silent)

    def test_its_rules_drop_nothing(self):
        many = Dialogue().handshake()
        for number in range(9):  # `requests` admits five
            many.client(ACK | PSH, REQUEST, at=number * SIZE)
        self.assertTrue(all(line.endswith("\tweb passed\tservice") for line in self.inspect("enforce", dialogue=many)))

    def test_frames_of_none_have_an_empty_one(self):
        self.assertEqual(self.inspect("enforce", dialogue=Dialogue(ports=(40000, 81)).handshake())[0], "1\t81\t\t\tanywhere")

    def test_the_stance_of_the_reading_and_what_goes_unread(self):
        wanted = ["service"] * 10 + ["service unread"]
        self.assertEqual([line.split("\t")[4] for line in self.inspect("enforce")], wanted)
        rows = [json.loads(line)["reading"] for line in self.inspect("enforce", "--json")]
        self.assertEqual(rows, [{"stance": "service", "goes_unread": number == 11} for number in range(1, 12)])
        other = Dialogue(ports=(40000, 81)).handshake().client(ACK | PSH, REQUEST)
        self.assertEqual([line.split("\t")[4] for line in self.inspect("enforce", dialogue=other)], ["anywhere"] * 4)
        self.assertEqual(json.loads(self.inspect("enforce", "--json", dialogue=other)[3])["reading"],
                         {"stance": "anywhere", "goes_unread": False})

    def test_json(self):
        rows = [json.loads(line) for line in self.inspect("enforce", "--json")]
        self.assertEqual(rows[7]["service"]["reason"], "bad_ack")
        self.assertEqual(rows[6]["service"]["fate"], "rewritten")

    def test_a_file_with_errors_is_refused(self):
        bad = self.write("bad.yaml", "version: 1\nservices: [{id: web}]\nrules: []\n")
        capture = self.write("in.pcap", pcap([]))
        self.ctl("inspect", "--pcap", capture, "--fields", "ip.src", "--services-of", bad, exit=1)


if __name__ == "__main__":
    main()
