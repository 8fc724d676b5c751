"""What is said about single keys, with the real programs.

    key_test.py DATAPLANE SLUICED SLUICECTL
"""
import json

from box_case import NULL, QUIET, BoxCase, main
from capture_files import arp, pcap, udp
from programs import wait_until

# The frames of net_null are no IP: the rule without a key meets all of them, the other none.
RULES = """version: 1
rules:
  - {id: all, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/d, burst: 500}]}
  - id: hosts
    mode: enforce
    tiers:
      - {key: [ip.src, l4.dport], limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]}
      - {key: ["prefix(ip.src, 24|64)"], limits: [{algorithm: sliding_log, count: 9, window: 1m}]}
      - {key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1/s, burst: 6}]}
"""


class KeyCase(BoxCase):
    PORTS = NULL

    def setUp(self):
        super().setUp()
        self.box.start_dataplane(*self.PORTS)
        self.box.start_sluiced()
        self.apply(RULES)

    def key(self, *words, exit=0):
        done = self.box.ctl("key", *words)
        self.assertEqual(done.returncode, exit, done.stdout + done.stderr)
        return done.stdout if exit == 0 else done.stderr

    def answered(self, *words):
        """The whole answer, once every worker is in it: beside other work one may not be in time."""
        document = {}

        def answered():
            done = self.box.ctl("key", "show", *words, "--json")
            document.update(json.loads(done.stdout or '{"unanswered": [1]}'))
            return not document["unanswered"]
        wait_until("all workers to answer", answered)
        return document

    def shown(self, *words):
        return [worker for limit in self.answered(*words)["limits"] for worker in limit["workers"]]

    def left(self, *words):
        return [worker["remaining"] for worker in self.shown(*words)]

    def most(self, *words):
        return [worker["most"] for worker in self.shown(*words)]

    def explained(self, *words, exit=0):
        said = []

        def answered():
            said.append(self.box.ctl("explain", "--json", *words))
            return "has not answered" not in said[-1].stderr
        wait_until("the worker to answer", answered)
        self.assertEqual(said[-1].returncode, exit, said[-1].stderr)
        return json.loads(said[-1].stdout) if exit == 0 else said[-1].stderr

    def passed(self):
        return self.box.stats()["verdicts"]["pass"]

    def listed(self, command, *words):
        done = self.box.ctl(command, *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)[command]


class Keys(KeyCase):
    def test_one_rule_that_changes_leaves_the_buckets_of_others(self):
        wait_until("the bucket to be empty", lambda: self.left("all", "") == [0])
        path = self.box.folder / "one.yaml"
        path.write_text("id: one\nwhen: ip.ttl eq 1\non_match: drop\n")
        for words in (("add", path, "--before", "all"), ("replace", path), ("delete", "one"), ("delete", "hosts")):
            done = self.box.ctl("rule", *map(str, words))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.left("all", ""), [0], words)
        for way in ((), ("1",)):
            self.assertEqual(self.box.ctl("rollback", *way).returncode, 0)
            self.assertEqual(self.left("all", ""), [0])
        self.apply(RULES.replace("burst: 500", "burst: 600"))
        self.assertNotEqual(self.most("all", ""), [500])

    def test_live_keys_and_bans_are_listed(self):
        wait_until("the key to be live", lambda: self.listed("keys", "--rule", "all"))
        key, = self.listed("keys", "--rule", "all")
        self.assertEqual((key["key"], key["limit"], key["most"], key["level"]), ("", "1", 500, 0))
        wait_until("all of it to be spent", lambda: self.listed("keys", "--rule", "all")[0]["remaining"] == 0)
        self.assertTrue(0 < key["left_s"] <= 500 * 86400, key)
        self.assertEqual(self.listed("keys", "--rule", "hosts"), [])
        self.assertIn("(all)", self.box.ctl("keys", "--rule", "all").stdout)
        self.assertEqual(self.listed("bans"), [])
        boxed = RULES.replace("burst: 500}]", "burst: 500}], ban: {after: 10, within: 1m, for: 1h}")
        self.assertEqual(self.box.apply(boxed).returncode, 0)
        wait_until("the ban", lambda: self.listed("bans"))
        ban, = self.listed("bans", "--rule", "all")
        self.assertEqual((ban["key"], ban["source"]), ("", "penalty_box"))
        self.assertTrue(3400 < ban["left_s"] <= 3600, ban)
        self.assertEqual([key["banned"] for key in self.listed("keys", "--rule", "all")], ["penalty_box"])
        self.assertRegex(self.box.ctl("keys", "--rule", "all").stdout, r"BANNED\n\(all\) .* penalty box\n")
        self.key("ban", "all", "", "--for", "1h")
        self.assertEqual([key["banned"] for key in self.listed("keys", "--rule", "all")], ["operator"])
        self.key("unban", "all", "")  # which lets it out of the box too, until it is refused again
        wait_until("the box to have it", lambda: [key["banned"] for key in self.listed("keys", "--rule", "all")]
                   == ["penalty_box"])
        self.key("ban", "hosts", "192.0.2.1|53", "--for", "1h", "--reason", "abuse")
        self.assertEqual([(one["rule"], one["source"]) for one in self.listed("bans")],
                         [("hosts", "operator"), ("all", "penalty_box")])
        stats = json.loads(self.box.ctl("stats", "--json").stdout)
        rule = next(one for one in stats["rules"] if one["id"] == "all")
        self.assertGreater(rule["exceeded_bytes"], 0)
        self.assertEqual(rule["keys"], 1)
        self.assertGreater(stats["verdict_bytes"]["drop"], 0)
        # Whom the kernel's packets are from is nobody's business here: all of net_null's are alike.
        top = json.loads(self.box.ctl("top", "--by", "bits", "--json").stdout)["keys"]
        self.assertTrue(top and top[0]["rule"] == "all" and top[0]["bits_per_s"] > 0, top)

    def test_what_a_key_has_left_and_gets_back(self):
        wait_until("the bucket to be empty", lambda: self.left("all", "") == [0])
        self.assertIn("token_bucket 1/d burst 500", self.key("show", "all", ""))
        before = self.passed()
        document = json.loads(self.key("grant", "all", "", "40", "--json"))
        worker = document["limits"][0]["workers"][0]
        self.assertEqual((worker["before"], worker["remaining"]), (0, 40))
        wait_until("the grant to be spent", lambda: self.left("all", "") == [0])
        wait_until("what was granted to have passed", lambda: self.passed() == before + 40)
        document = json.loads(self.key("reset", "all", "", "--json"))
        worker = document["limits"][0]["workers"][0]
        self.assertEqual((worker["before"], worker["remaining"]), (0, 500))
        wait_until("a whole burst to have passed", lambda: self.passed() == before + 540)
        audit = [json.loads(line) for line in self.box.log("policy/audit.log").splitlines()]
        self.assertEqual([(line["call"], line["before"], line["after"], line["outcome"])
                          for line in audit[1:]],
                         [("key grant all  40", "1 on lcore 1: 0 of 500", "1 on lcore 1: 40 of 500",
                           "done"),
                          ("key reset all ", "1 on lcore 1: 0 of 500", "1 on lcore 1: 500 of 500",
                           "done")])

    def test_numbers_of_a_key_are_set_and_unset(self):
        wait_until("the bucket to be empty", lambda: self.left("all", "") == [0])
        before = self.passed()
        out = self.key("set", "all", "", "--burst", "540", "--reason", "contract 17", "--for", "1h")
        self.assertIn("1: burst 540 until ", out)
        self.assertIn("because: contract 17", out)
        wait_until("40 more to have passed", lambda: self.passed() == before + 40)
        shown = json.loads(self.key("show", "all", "", "--json"))
        worker = shown["limits"][0]["workers"][0]
        self.assertEqual((worker["most"], worker["overridden"]), (540, True))
        self.assertEqual(shown["limits"][0]["text"], "token_bucket 1/d burst 540 per packet")
        self.assertEqual(shown["set"][0]["reason"], "contract 17")
        self.assertIn("(1 set)", self.box.ctl("rules").stdout)
        # Over a restart of sluiced, of the dataplane, and another file.
        self.box.kill(self.box.sluiced)
        self.box.start_sluiced()
        self.assertEqual(json.loads(self.key("show", "all", "", "--json"))["set"], shown["set"])
        self.assertEqual(self.box.apply(RULES.replace("9,", "8,")).returncode, 0)
        self.assertEqual(json.loads(self.key("show", "all", "", "--json"))["set"], shown["set"])
        self.assertEqual(self.box.ctl("rollback").returncode, 0)
        self.assertEqual(json.loads(self.key("show", "all", "", "--json"))["set"], shown["set"])
        # What is said while a set is on trial stays when it goes.
        self.assertEqual(self.box.apply(RULES.replace("9,", "8,"), "--confirm", "60s").returncode, 0)
        self.key("ban", "all", "")
        self.assertEqual(self.box.ctl("rollback").returncode, 0)
        document = json.loads(self.key("show", "all", "", "--json"))
        self.assertEqual((len(document["set"]), document["banned"]), (2, True))
        self.key("unban", "all", "")
        # A dataplane that starts anew has it from its own disk.
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*NULL)
        self.box.wait_for_link(True)
        wait_until("its numbers", lambda: self.most("all", "") == [540])
        self.key("unset", "all", "")
        self.assertEqual(json.loads(self.key("show", "all", "", "--json"))["set"], [])
        self.assertIn("nothing was set", self.key("unset", "all", "", exit=1))
        audit = [json.loads(line) for line in self.box.log("policy/audit.log").splitlines()]
        self.assertIn("key set all : 1: burst 540 (contract 17)", [line["call"] for line in audit])

    def test_an_exempt_key_passes_and_a_banned_one_does_not(self):
        wait_until("the bucket to be empty", lambda: self.left("all", "") == [0])
        self.key("set", "all", "", "--exempt")
        before = self.passed()
        wait_until("packets to pass", lambda: self.passed() > before + 1000)
        self.assertIn("key : exempt", self.key("show", "all", ""))
        self.key("ban", "all", "", "--for", "1h", "--reason", "abuse")
        self.assertIn("key : banned", self.key("show", "all", ""))
        wait_until("packets to be dropped for it",
                   lambda: self.box.stats()["reasons"].get("banned", 0) > 1000)
        self.key("unban", "all", "")
        before = self.passed()
        wait_until("packets to pass", lambda: self.passed() > before + 1000)
        self.key("unset", "all", "")
        self.assertIn("not banned", self.key("unban", "all", "", exit=1))

    def test_the_penalty_box(self):
        rules = RULES.replace("burst: 500}]", "burst: 500}], "
                              "ban: {after: 1000, within: 1m, for: 1h}")
        path = self.box.folder / "next.yaml"
        path.write_text(rules)
        self.assertIn("after 1000 refusals within 1m", self.box.ctl("diff", str(path)).stdout)
        self.assertEqual(self.box.apply(rules).returncode, 0)
        self.assertIn("ban after 1000 refusals within 1m, for 1h: drop",
                      self.box.ctl("rules").stdout)

        def counted(rule="all"):
            document = json.loads(self.box.ctl("stats", "--json").stdout)
            return next(one for one in document["rules"] if one["id"] == rule)

        wait_until("packets to meet the ban", lambda: counted()["banned"] > 1000)
        self.assertEqual(counted()["bans"], 1)
        self.assertGreater(self.box.stats()["reasons"]["banned"], 1000)
        wait_until("the ban to be shown", lambda: "banned" in self.key("show", "all", ""))
        ban = self.answered("all", "")["ban"]
        self.assertEqual((ban["after"], ban["workers"][0]["lifted"]), (1000, False))
        left = ban["workers"][0]["left_ns"]
        self.assertTrue(3500e9 < left <= 3600e9, left)
        # Another file keeps it, and so does what is refused meanwhile.
        self.assertEqual(self.box.apply(rules.replace("for: 1h", "for: 1s")).returncode, 0)
        again = self.answered("all", "")["ban"]["workers"][0]["left_ns"]
        self.assertTrue(left - 300e9 < again < left, (left, again))
        self.assertEqual(counted()["bans"], 1)
        # Exempt goes before it; what an operator bans goes before that.
        self.key("set", "all", "", "--exempt")
        before = self.passed()
        wait_until("packets to pass", lambda: self.passed() > before + 1000)
        self.key("ban", "all", "", "--for", "1h")
        self.key("unset", "all", "")
        # Both are ended at once. It is refused again, and so banned again.
        out = json.loads(self.key("unban", "all", "", "--json"))
        # A worker that has not answered in time lifts it all the same, and is not counted.
        self.assertEqual((out["lifted"] + out["unanswered_workers"], out["set"]), (1, []))
        wait_until("a second ban", lambda: counted()["bans"] >= 2)
        self.key("reset", "all", "")
        metrics = self.box.api("GET", "/v1/metrics")[1]
        metrics = metrics.decode() if isinstance(metrics, bytes) else metrics
        self.assertIn('sluice_rule_bans_total{rule="all"} ', metrics)
        self.assertIn('sluice_rule_banned_packets_total{rule="all"} ', metrics)
        self.assertEqual(self.box.apply(RULES).returncode, 0)
        self.assertIn("not banned", self.key("unban", "all", "", exit=1))
        calls = [json.loads(line)["call"] for line in self.box.log("policy/audit.log").splitlines()]
        self.assertIn("key unban all " + (": lifted on 1" if out["lifted"] else ""), calls)

    def test_keys_of_a_file_are_let_out_together(self):
        self.apply(RULES.replace("burst: 500}]", "burst: 500}], ban: {after: 1000, within: 1m, for: 1h}"))
        keys = self.box.folder / "keys"
        # The key of a rule without one is no line of a file.
        wait_until("the penalty box to have it", lambda: "banned" in self.key("show", "all", ""))
        status, told = self.box.api("POST", "/v1/rules/all/unbans", json.dumps({"keys": [""]}))
        # A worker that has not answered in time lifts it all the same, and is told of.
        self.assertIn(status, (200, 404), told)
        if status == 200:
            self.assertEqual((json.loads(told)["unbanned"], json.loads(told)["not_banned"]), (1, 0))
        else:
            self.assertIn("not all workers have answered", json.loads(told)["problems"][0]["message"])
        keys.write_text("192.0.2.1|53\n192.0.2.2|53\n192.0.2.3|53\n")
        self.assertIn("3 keys banned", self.key("ban", "hosts", "--file", str(keys), "--tier", "1"))
        keys.write_text("192.0.2.1|53\n# not this one\n\n192.0.2.9|53\n192.0.2.2|53\n")
        self.assertIn(f"{keys}:4: warning: the key 192.0.2.9|53 is not banned",
                      self.key("unban", "hosts", "--file", str(keys), "--tier", "1", exit=1))
        self.assertEqual([ban["key"] for ban in self.listed("bans", "--rule", "hosts")], ["192.0.2.3|53"])

    def test_a_packet_is_explained_by_what_the_box_has(self):
        def account():
            return self.explained("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "53")

        wait_until("the bucket to be empty", lambda: self.left("all", "") == [0])
        told = account()
        self.assertEqual((told["verdict"], told["reason"], told["rule"], told["lcore"]),
                         ("drop", "over_limit", "all", 1))
        one_a_day = 86_400_000_000_000
        self.assertTrue(0 < told["wait_ns"] <= one_a_day, told["wait_ns"])
        everyone, hosts = told["rules"]
        self.assertEqual((everyone["limits"][0]["before"]["remaining"],
                          everyone["limits"][0]["before"]["wait_ns"]), (0, told["wait_ns"]))
        self.assertEqual([limit["before"]["remaining"] for limit in hosts["limits"]], [5, 9, 6])
        # Numbers that were set for the key, and what the file says where it is exempt.
        self.key("set", "hosts", "10.0.0.1|53", "--limit", "t1.1", "--burst", "2")
        limit = account()["rules"][1]["limits"][0]
        self.assertEqual((limit["before"]["remaining"], limit["overridden"]), (2, True))
        self.key("set", "all", "", "--exempt")
        told = account()
        self.assertEqual((told["verdict"], told["rules"][0]["limits"][0]["fate"]),
                         ("pass", "exempt"))

    def test_a_ban_of_a_source_is_told_with_what_it_holds_for(self):
        senders = '''  - {id: senders, mode: enforce, when: l4.dport eq 53, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}],
     ban: {after: 3, within: 1m, for: 1h, applies_to: source, spoofable: yes}}
'''
        self.assertEqual(self.box.apply(RULES + senders).returncode, 0)
        web = ("--src", "192.0.2.66", "--dst", "192.0.2.1", "--dport", "80")
        self.assertNotEqual(self.explained(*web)["reason"], "banned_source")
        self.key("ban", "senders", "192.0.2.66", "--for", "1h")
        ban, = self.listed("bans", "--rule", "senders")
        self.assertEqual((ban["key"], ban["applies_to"]), ("192.0.2.66", "source"))
        self.assertIn("\nbans of senders hold for all that their keys send\n", self.box.ctl("bans").stdout)
        self.assertIn("key 192.0.2.66: banned, with all that it sends\n", self.key("show", "senders", "192.0.2.66"))
        told = self.explained(*web)
        self.assertEqual([told[name] for name in ("verdict", "reason", "rule", "banned_source")],
                         ["drop", "banned_source", "senders", "192.0.2.66"])
        self.assertIn("by senders, key 192.0.2.66, banned for another", self.box.ctl("explain", *web).stdout)
        self.key("unban", "senders", "192.0.2.66")
        self.assertNotEqual(self.explained(*web)["reason"], "banned_source")

    def test_a_ban_is_explained_by_the_box_s_own(self):
        boxed = RULES.replace("rate: 1/d, burst: 500}]", "rate: 1/d, burst: 500}], ban: {after: 10, within: 1m, for: 1h}")
        self.assertEqual(self.box.apply(boxed).returncode, 0)
        wait_until("the ban", lambda: self.listed("bans"))
        told = self.explained("--src", "10.0.0.1", "--dst", "192.0.2.1", "--dport", "53")
        self.assertEqual((told["verdict"], told["reason"], told["rule"]), ("drop", "banned", "all"))
        rule, key = told["rules"][0], told["rules"][0]["ban"]["keys"][0]
        self.assertEqual(rule["limits"][0]["fate"], "banned")
        self.assertEqual((key["before"], key["before"]["refusals_left"]), (key["after"], 0))
        self.assertTrue(0 < key["before"]["banned_ns"] <= 3_600_000_000_000)
        self.assertEqual(told["wait_ns"], key["before"]["banned_ns"])

    def test_a_worker_says_what_it_would_make_of_a_packet(self):
        def told(**words):
            status, text = self.box.api("POST", "/v1/explain", json.dumps({"packet": {"frame": udp(src="10.0.0.7").hex()}} | words))
            return status, json.loads(text)

        def answered():
            """Beside other work a worker may not be in time."""
            answers = []
            wait_until("the worker to answer", lambda: answers.append(told()) or answers[-1][0] != 503)
            self.assertEqual(answers[-1][0], 200, answers[-1])
            return answers[-1][1]

        wait_until("the bucket to be empty", lambda: self.left("all", "") == [0])
        for _ in range(2):  # nothing is spent
            packet = answered()
            self.assertEqual((packet["verdict"], packet["reason"], packet["rule"], packet["limit"], packet["lcore"], packet["sure"]),
                             ("drop", "over_limit", "all", "1", 1, True))
            self.assertTrue(0 < packet["wait_ns"] <= 86_400_000_000_000)
            self.assertEqual([(limit["rule"], limit["bucket"], limit["admitted"], limit["charged"]) for limit in packet["limits"]],
                             [("all", True, False, False)] + [("hosts", False, True, False)] * 3)
        self.key("set", "all", "", "--exempt")
        packet = answered()
        self.assertEqual((packet["verdict"], packet["reason"]), ("pass", "within_limits"))
        self.assertEqual([(limit["asked"], limit["remaining"], limit["charged"]) for limit in packet["limits"]],
                         [(False, 0, False), (True, 5, True), (True, 9, True), (True, 6, True)])
        self.assertEqual(self.box.ctl("panic", "pass").returncode, 0)
        self.assertFalse(answered()["enforces"])
        self.assertEqual(told(port="nosuch")[0], 409)

    def test_a_frame_of_a_capture_is_explained_by_what_the_box_has(self):
        capture = self.box.folder / "in.pcap"
        capture.write_bytes(pcap([(0, udp(src="10.0.0.9")), (1, udp(src="10.0.0.1")), (2, arp())]))
        wait_until("the bucket to be empty", lambda: self.left("all", "") == [0])
        self.key("set", "hosts", "10.0.0.1|53", "--limit", "t1.1", "--burst", "2")

        def account(frame, exit=0):
            return self.explained("--pcap", str(capture), "--frame", str(frame), exit=exit)

        for frame, burst in ((1, 5), (2, 2)):
            told = account(frame)
            self.assertEqual((told["frame"], told["verdict"], told["reason"], told["rule"], told["lcore"]),
                             (frame, "drop", "over_limit", "all", 1))
            self.assertEqual([limit["before"]["remaining"] for limit in told["rules"][1]["limits"]],
                             [burst, 9, 6])
        self.assertEqual(account(3)["rule"], "all")  # no IP: of the other rule it has no key
        self.assertIn("has no frame 4", account(4, exit=1))
        # Nothing was spent there.
        self.assertEqual(self.left("hosts", "10.0.0.9|53"), [5])

    def test_what_a_file_says_of_a_key_counts_again_after_a_setting(self):
        said = RULES.replace("burst: 500}]}", "burst: 500}], overrides: {inline: "
                             "[{key: [], limits: {'1': {burst: 520}}}]}}")
        self.assertEqual(self.box.apply(said).returncode, 0)
        wait_until("the file's numbers", lambda: self.most("all", "") == [520])
        self.key("set", "all", "", "--burst", "540", "--for", "3s")
        wait_until("other numbers", lambda: self.most("all", "") == [540])
        wait_until("the file's numbers", lambda: self.most("all", "") == [520])
        self.assertEqual(json.loads(self.key("show", "all", "", "--json"))["set"], [])


    def test_top_says_what_a_banned_key_has_left_and_who_is_exempt(self):
        """A banned key's bucket fills again behind the ban."""
        boxed = RULES.replace("rate: 1/d, burst: 500}]", "rate: 5000/s, burst: 500}], ban: {after: 10, within: 1m, for: 1h}")
        self.assertEqual(self.box.apply(boxed).returncode, 0)
        wait_until("the ban", lambda: self.listed("bans"))

        def top():
            done = self.box.ctl("top", "--rule", "all", "--json")
            return next(iter(json.loads(done.stdout)["keys"]), {})
        wait_until("a sample of it", lambda: top().get("banned"))
        self.assertEqual((top()["remaining"], top()["exempt"]), (0, False))
        self.assertRegex(self.box.ctl("top", "--rule", "all").stdout, r"\(all\) .* banned\n")
        self.key("set", "all", "", "--exempt")
        wait_until("a sample of it", lambda: top().get("exempt"))
        self.assertEqual((top()["remaining"], top()["banned"]), (None, False))
        self.assertRegex(self.box.ctl("top", "--rule", "all").stdout, r"\(all\) .* exempt\n")
        # Exempt goes before the box, and its packets are counted as such.
        shown = self.answered("all", "")
        self.assertEqual((shown["exempt"], shown["banned"]), (True, False))
        reasons = self.box.stats()["reasons"]
        wait_until("packets to be exempt", lambda: self.box.stats()["reasons"].get("exempt", 0) > 1000)
        self.assertEqual(self.box.stats()["reasons"].get("unmatched", 0), reasons.get("unmatched", 0))


class WithoutPackets(KeyCase):
    PORTS = QUIET

    def test_a_key_of_a_banned_network_is_told_of_it(self):
        sources = ("version: 1\nrules: [{id: sources, mode: enforce, key: [ip.src], "
                   "limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]BANS}]\n")
        self.apply(sources.replace("BANS", ""))
        self.key("ban", "sources", "192.0.2.0/24", "--reason", "abuse")
        self.key("ban", "sources", "192.0.0.0/16", "--for", "1h")
        shown = self.answered("sources", "192.0.2.7")
        self.assertEqual((shown["banned"], shown["exempt"]), (True, False))
        self.assertEqual([(one["key"], one["source"], one["reason"]) for one in shown["networks"]],
                         [("192.0.2.0/24", "operator", "abuse"), ("192.0.0.0/16", "operator", "")])
        self.assertEqual(shown["networks"][0]["until"], None)
        self.assertIsNotNone(shown["networks"][1]["until"])
        self.assertIn("within 192.0.2.0/24, banned by operator, because: abuse\n",
                      self.key("show", "sources", "192.0.2.7"))
        self.assertNotIn("networks", self.answered("sources", "198.51.100.7"))
        for rules in (sources.replace("BANS", ""), sources.replace("BANS", ", ban: {after: 3, within: 1m, for: 1h}")):
            self.apply(rules)
            said = self.key("unban", "sources", "192.0.2.7", exit=1)
            for words in ("192.0.2.0/24 (operator, because: abuse)", "key unban sources 192.0.2.0/24",
                          "key set sources 192.0.2.7 --exempt"):
                self.assertIn(words, said)
        # Its own ban is lifted, and that it is of no use is said.
        self.key("ban", "sources", "192.0.2.7")
        self.assertRegex(self.key("unban", "sources", "192.0.2.7"), "7: banned\n(.*\n)?within 192.0.2.0/24, banned by")
        self.key("set", "sources", "192.0.2.7", "--exempt")
        shown = self.answered("sources", "192.0.2.7")
        self.assertEqual((shown["banned"], shown["exempt"], len(shown["networks"])), (False, True, 2))
        self.key("unset", "sources", "192.0.2.7")
        self.key("unban", "sources", "192.0.2.0/24")
        self.assertEqual([one["key"] for one in self.answered("sources", "192.0.2.7")["networks"]], ["192.0.0.0/16"])

    def test_networks_that_a_file_bans_are_told_of_too(self):
        (self.box.folder / "bans.csv").write_text("key,limit,rate,burst,count,expires,reason,ban\n"
                                                  "192.0.2.0/24,,,,,,abuse,yes\n"
                                                  "198.51.100.7,,,,,2099-12-31,\"spam, twice\",yes\n")
        self.apply("version: 1\nrules: [{id: sources, mode: enforce, key: [ip.src], "
                   "limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}], overrides: {file: bans.csv}}]\n")
        self.assertEqual([(one["key"], one["source"], one["reason"])
                          for one in self.answered("sources", "192.0.2.7")["networks"]],
                         [("192.0.2.0/24", "policy", "abuse")])
        self.assertIn("192.0.2.0/24 (policy, because: abuse)", self.key("unban", "sources", "192.0.2.7", exit=1))
        self.assertIn("within 192.0.2.0/24, banned by policy, because: abuse", self.key("show", "sources", "192.0.2.7"))
        alone = self.answered("sources", "198.51.100.7")
        self.assertEqual((alone["banned"], alone["file_ban"]["reason"]), (True, "spam, twice"))
        self.assertIn("banned by policy until 2100-01-01T00:00:00Z, because: spam, twice",
                      self.key("show", "sources", "198.51.100.7"))
        bans = json.loads(self.box.ctl("bans", "--json").stdout)["bans"]
        self.assertEqual({ban["key"]: ban["reason"] for ban in bans},
                         {"192.0.2.0/24": "abuse", "198.51.100.7": "spam, twice"})

    BANS = ("key,limit,rate,burst,count,expires,reason,ban\n192.0.2.0/24,,,,,,abuse,yes\n"
            "198.51.100.7,,,,,,spam,yes\n192.0.2.8,exempt,,,,,a friend,\n192.0.0.0/16,,,,,,,yes\n")
    BY_FILE = ("version: 1\nrules: [{id: sources, mode: enforce, key: [ip.src], "
               "limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}], overrides: {file: bans.csv}}]\n")

    def test_what_a_file_bans_is_let_through_as_is_said(self):
        (self.box.folder / "bans.csv").write_text(self.BANS)
        self.apply(self.BY_FILE)
        # A key that the file bans itself: the line that does it, and an exemption goes before it.
        line = "line 3 taken out of the rule's override file"
        said = self.key("unban", "sources", "198.51.100.7", exit=1)
        for words in ("is banned by policy (because: spam)", line, "key set sources 198.51.100.7 --exempt"):
            self.assertIn(words, said)
        self.assertIn(f"what ends that: {line}; `key set", self.key("show", "sources", "198.51.100.7"))
        self.assertRegex(self.key("set", "sources", "198.51.100.7", "--rate", "2/s"),
                         "7: banned\nbanned by policy, because: spam\n")
        self.assertNotIn("banned", self.key("set", "sources", "198.51.100.7", "--exempt"))
        shown = self.answered("sources", "198.51.100.7")
        self.assertEqual((shown["banned"], shown["exempt"], "file_ban" in shown), (False, True, False))
        self.assertIn("the key 198.51.100.7 is not banned", self.key("unban", "sources", "198.51.100.7", exit=1))
        self.assertIn("banned by policy", self.key("unset", "sources", "198.51.100.7"))
        # A network that it bans, and a key within: no advice that would be refused.
        for key, lines in (("192.0.2.0/24", (2, 5)), ("192.0.2.7", (2, 5)), ("192.0.0.0/16", (5,))):
            said = self.key("unban", "sources", key, exit=1)
            for number in lines:
                self.assertIn(f"line {number} taken out", said)
            self.assertNotIn("key unban", said)
            self.assertEqual("--exempt" in said, "/" not in key)
        self.assertIn("what ends that: line 2 taken out of the rule's override file and line 5",
                      self.key("show", "sources", "192.0.2.7"))
        keys = self.box.folder / "keys"
        keys.write_text("198.51.100.7\n")
        self.assertIn(line, self.key("unban", "sources", "--file", str(keys), exit=1))

    def test_a_key_that_a_file_exempts_is_not_said_to_be_banned(self):
        (self.box.folder / "bans.csv").write_text(self.BANS)
        self.apply(self.BY_FILE)

        def unbanned():
            """A worker that has not answered in time says nothing of the file's exemptions."""
            self.key("ban", "sources", "192.0.2.8", "--for", "1h")
            said = self.key("unban", "sources", "192.0.2.8")
            return said if "8: exempt\n" in said else None
        said = wait_until("the worker to say so", unbanned)
        self.assertIn("nothing is set; an override exempts it", said)
        self.assertNotIn("what ends that", said)
        self.assertNotIn("lifted", said)

    def test_each_setting_tells_of_the_bans_around(self):
        self.apply(self.BY_FILE.replace(", overrides: {file: bans.csv}", ""))
        self.assertNotIn("within", self.key("ban", "sources", "192.0.0.0/16"))
        for words in (("ban", "192.0.2.0/24"), ("unban", "192.0.2.0/24"), ("set", "192.0.2.7", "--rate", "2/s"),
                      ("unset", "192.0.2.7"), ("ban", "192.0.2.7"), ("unban", "192.0.2.7")):
            said = self.key(words[0], "sources", *words[1:])
            self.assertIn(": banned\n", said)
            self.assertIn("within 192.0.0.0/16, banned by operator\nwhat ends that: key unban sources 192.0.0.0/16",
                          said)
            self.assertNotIn("the rule's numbers count", said)
        self.assertNotIn("within", self.key("set", "sources", "198.51.100.7", "--rate", "2/s"))

    def test_a_setting_of_another_kind_is_said_to_have_ended(self):
        self.key("set", "all", "", "--exempt")
        self.assertIn("set: 1: rate 2/s\nended: exempt\n", self.key("set", "all", "", "--rate", "2/s"))
        self.assertNotIn("ended", self.key("set", "all", "", "--rate", "3/s"))
        self.assertIn("set: exempt\nended: 1: rate 3/s\n", self.key("set", "all", "", "--exempt"))

    def test_what_is_set_is_of_the_keys_that_it_was_set_for(self):
        self.key("ban", "hosts", "192.0.2.1", "--tier", "3")
        done = self.box.apply(RULES.replace("{key: [ip.dst]", "{key: ['prefix(ip.dst, 24|64)']"))
        self.assertIn("it was set for a key ip.dst, and the rule's is prefix(ip.dst, 24|64)", done.stderr)
        self.assertEqual(self.listed("bans"), [])
        self.assertFalse(self.answered("hosts", "192.0.2.0/24", "--tier", "3")["banned"])
        self.apply(RULES)
        self.assertEqual([one["key"] for one in self.listed("bans")], ["192.0.2.1"])
        self.apply(RULES.replace("{key: [ip.dst]", "{key: ['prefix(ip.dst, 24|64)']"))
        self.key("unban", "hosts", "192.0.2.1", "--tier", "3")  # as it was written
        self.apply(RULES)
        self.assertEqual(self.listed("bans"), [])

    def test_a_ban_of_a_rule_in_monitor_is_said_to_drop_nothing(self):
        idle = "in monitor: nothing is dropped for its bans\n"
        self.assertNotIn(idle, self.key("ban", "all", ""))
        self.assertNotIn(idle, self.box.ctl("bans").stdout)
        self.assertEqual(self.box.ctl("mode", "all", "monitor").returncode, 0)
        self.assertIn("the rule is " + idle, self.key("ban", "all", ""))
        self.assertIn("the rule is " + idle, self.key("show", "all", ""))
        self.assertIn("\nall is " + idle, self.box.ctl("bans").stdout)
        self.assertEqual([one["mode"] for one in self.listed("bans")], ["monitor"])
        self.assertNotIn(idle, self.key("unban", "all", ""))

    def test_a_key_is_read_as_the_pipeline_reads_it(self):
        self.assertEqual(self.left("hosts", "192.0.2.1|53"), [5])
        self.assertEqual(self.left("hosts", "192.0.2.0/24"), [9])
        self.assertEqual(self.left("hosts", "192.0.2.1", "--tier", "3"), [6])
        self.assertIn("--tier", self.key("show", "hosts", "192.0.2.1", exit=1))
        self.assertIn("l4.dport: ", self.key("show", "hosts", "192.0.2.1|x", "--tier", "1", exit=1))
        self.assertIn("no rule none", self.key("show", "none", "192.0.2.1", exit=1))
        self.assertIn("no limit x", self.key("show", "all", "", "--limit", "x", exit=1))

    def test_a_setting_ends_by_itself(self):
        self.key("set", "all", "", "--exempt", "--for", "2s")
        wait_until("its end", lambda: "exempt" not in self.key("show", "all", ""))

    def test_what_does_not_fit_is_not_set(self):
        for words, says in ((["--count", "5"], "has `rate` and `burst`"), (["--rate", "5"], "5"),
                            (["--exempt", "--for", "soon"], "duration")):
            self.assertIn(says, self.key("set", "all", "", *words, exit=1))
        self.assertIn("several limits", self.key("set", "hosts", "192.0.2.1", "--tier", "3",
                                                 "--rate", "5/s", exit=1))
        self.key("set", "hosts", "192.0.2.1", "--tier", "3", "--limit", "t3.1", "--rate", "5/s")
        self.key("set", "all", "", exit=2)
        self.key("set", "all", "", "--exempt", "--rate", "5/s", exit=2)
        self.key("reset", "all", "", "--rate", "5/s", exit=2)
        self.key("unban", "all", "", "--for", "5s", exit=2)

    def test_wrong_usage(self):
        self.key("grant", "all", "", exit=2)
        self.key("show", "all", "", "7", exit=2)
        self.key("forget", "all", "", exit=2)
        self.assertIn("how many", self.key("grant", "all", "", "much", exit=1))

    def test_without_a_dataplane(self):
        self.box.kill(self.box.dataplane)
        self.key("show", "all", "", exit=3)


if __name__ == "__main__":
    main()
