"""What the kernel drops for the box before it costs anything, and what it gives to its own stack.

    early_drop_test.py DATAPLANE SLUICED SLUICECTL
"""
import dataclasses
import json
import subprocess

from box_case import main
from host_flood import Flow, HostFlood
from kernel_case import FEW_BUFFERS, KernelCase
from programs import ip, wait_until, wait_until_still

# HostFlood's only source, and a network around it.
SOURCE, NETWORK = "10.78.1.1", "10.78.0.0/16"
DENY = f"""version: 1
rules:
  - {{id: deny, mode: enforce, on_match: drop, when: 'ip.src in {{{NETWORK} 2001:db8::/32}}'}}
"""
BANNED = """version: 1
rules:
  - id: limit
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 100000/s, burst: 100000}]
"""
BOXED = """version: 1
rules:
  - id: limit
    mode: enforce
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: 20/s, burst: 20}}]
    ban: {{after: 50, within: 1m, for: {length}}}
"""
# Behind those rules, and no matter to them.
OTHER = """  - {id: other, mode: monitor, key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1000000/s, burst: 1000000}]}
"""
# Bans of the rule before it hold for all that a source sends.
FRIENDS = """  - {id: friends, mode: enforce, on_match: allow, when: 'ip.src in {192.0.2.0/24}'}
"""
ALL = """version: 1
rules:
  - {id: all, mode: monitor, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1000000/s, burst: 1000000}]}
"""
MANY = 200
FLOW = Flow(sources=1, hosts=1, rate=500)


class EarlyDrop(KernelCase):
    def start_box(self, rules=DENY, early_drop=1000, **options):
        self.start_kernel_box({"early_drop": early_drop}, rules, FEW_BUFFERS, **options)

    def ctl(self, *words):
        # A panic reaches the box also where sluiced answers too late, as on a busy machine.
        past = ("--dataplane-socket", self.box.dataplane_socket) if words[0] == "panic" else ()
        done = self.box.ctl(*words, *past)
        self.assertEqual(done.returncode, 0, done.stderr)

    def places(self):
        """Of the outside: those in use, and what found none."""
        outside = self.kernel()["outside"]
        return outside["early_networks"], outside["early_left_out"]

    def came(self, flood):
        return flood.total()

    def early(self, rule):
        return self.rule(rule).get("early_dropped", 0)

    def expect_early(self, flood, rule):
        """The kernel drops them, and the box sees none."""
        before = self.early(rule)
        wait_until("early drops", lambda: self.early(rule) > before)
        came = wait_until_still("what comes through", lambda: self.came(flood))
        counted, early = self.rule(rule), self.early(rule)
        wait_until("more of them", lambda: self.early(rule) >= early + MANY)
        after = self.rule(rule)
        self.assertEqual((self.came(flood), after["matched"]), (came, counted["matched"]))

    def expect_through(self, flood, rule):
        early, came = self.early(rule), self.came(flood)
        wait_until("frames to come through", lambda: self.came(flood) >= came + MANY)
        self.assertEqual(self.early(rule), early)

    def test_a_deny_list_is_dropped_in_the_kernel_as_long_as_it_holds(self):
        self.start_box()
        with HostFlood(self.hosts, FLOW) as flood:
            self.expect_early(flood, "deny")
            for off, on in ((("mode", "deny", "monitor"), ("mode", "deny", "enforce")),
                            (("panic", "pass"), ("panic", "resume"))):
                self.ctl(*off)
                self.expect_through(flood, "deny")
                self.ctl(*on)
                self.expect_early(flood, "deny")
            self.apply(DENY.replace(NETWORK, "192.0.2.0/24"))
            self.expect_through(flood, "deny")
            self.apply(DENY)
            self.expect_early(flood, "deny")
            # Who can be let through by an earlier rule is the box's.
            self.apply(DENY.replace("rules:\n", "rules:\n  - {id: tcp, mode: enforce, on_match: allow, "
                                    "when: 'ip.proto eq 6'}\n"))
            early, exceeded = self.early("deny"), self.rule("deny")["exceeded"]
            wait_until("the box to drop", lambda: self.rule("deny")["exceeded"] >= exceeded + MANY)
            self.assertEqual(self.early("deny"), early)

    def test_a_ban_is_dropped_in_the_kernel_until_it_ends(self):
        self.start_box(BANNED)
        with HostFlood(self.hosts, FLOW) as flood:
            wait_until("frames to come through", lambda: self.came(flood) > MANY)
            ban = self.box.ctl("key", "ban", "limit", SOURCE)
            self.assertEqual(ban.returncode, 0, ban.stderr)
            self.expect_early(flood, "limit")
            self.assertEqual(self.box.ctl("key", "unban", "limit", SOURCE).returncode, 0)
            self.expect_through(flood, "limit")
            self.assertEqual(self.box.ctl("key", "ban", "limit", SOURCE, "--for", "3s").returncode, 0)
            came = self.came(flood)
            wait_until("the ban to end", lambda: self.came(flood) >= came + MANY)

    def test_a_key_in_the_penalty_box_is_dropped_in_the_kernel_until_it_ends(self):
        self.start_box(BOXED.format(length="1h"))
        with HostFlood(self.hosts, FLOW) as flood:
            self.expect_early(flood, "limit")
            came = self.came(flood)
            self.assertEqual(self.rule("limit")["bans"], 1)
            self.assertEqual(self.box.ctl("key", "unban", "limit", SOURCE).returncode, 0)
            # What it may send by its limit comes through before it is banned again.
            wait_until("frames to come through", lambda: self.came(flood) > came)
            self.expect_early(flood, "limit")
            self.apply(BOXED.format(length="1s"))
            bans, came = self.rule("limit")["bans"], self.came(flood)
            self.assertEqual(self.box.ctl("key", "unban", "limit", SOURCE).returncode, 0)
            wait_until("bans to end by themselves", lambda: self.rule("limit")["bans"] >= bans + 3)
            self.assertGreater(self.came(flood), came)

    def test_a_banned_network_is_dropped_in_the_kernel_but_for_keys_that_are_exempt(self):
        self.start_box(BANNED)
        with HostFlood(self.hosts, FLOW) as flood:
            self.expect_through(flood, "limit")
            self.ctl("key", "ban", "limit", NETWORK)
            self.expect_early(flood, "limit")
            self.assertEqual(self.places(), (1, 0))
            self.ctl("key", "set", "limit", SOURCE, "--exempt")
            self.assertEqual(self.places(), (2, 0))
            self.expect_through(flood, "limit")
            self.ctl("key", "unset", "limit", SOURCE)
            self.expect_early(flood, "limit")
            self.ctl("key", "unban", "limit", NETWORK)
            self.assertEqual(self.places(), (0, 0))
            self.expect_through(flood, "limit")
            early = self.early("limit")
            self.ctl("key", "ban", "limit", NETWORK, "--for", "3s")
            wait_until("early drops", lambda: self.early("limit") > early)
            wait_until("the ban to end", lambda: self.places() == (0, 0))
            self.expect_through(flood, "limit")

    def test_a_network_without_room_for_a_key_that_is_exempt_is_dropped_by_the_box(self):
        self.start_box(BANNED, early_drop=1)
        self.ctl("key", "set", "limit", "10.78.9.9", "--exempt")
        self.ctl("key", "ban", "limit", NETWORK)
        self.assertEqual(self.places(), (0, 1))
        with HostFlood(self.hosts, FLOW) as flood:
            wait_until("the box to drop", lambda: self.rule("limit").get("banned", 0) >= MANY)
            self.assertEqual((self.came(flood), self.early("limit")), (0, 0))

    def test_a_key_in_the_penalty_box_is_dropped_no_longer_than_its_rule_holds(self):
        self.start_box(BOXED.format(length="1h"))
        with HostFlood(self.hosts, FLOW) as flood:
            for off, on in ((lambda: self.ctl("mode", "limit", "monitor"), lambda: self.ctl("mode", "limit", "enforce")),
                            (lambda: self.ctl("panic", "pass"), lambda: self.ctl("panic", "resume"))):
                self.expect_early(flood, "limit")
                off()
                self.expect_through(flood, "limit")
                on()  # the ban goes on, in the box and in the kernel
            self.expect_early(flood, "limit")
            self.apply(BANNED)
            self.expect_through(flood, "limit")

    def test_a_key_in_the_penalty_box_stays_in_the_kernel_over_changes_of_rules(self):
        boxed = BOXED.format(length="1h")
        self.start_box(boxed)
        with HostFlood(self.hosts, FLOW) as flood:
            self.expect_early(flood, "limit")
            for text in (boxed + OTHER, boxed.replace("after: 50", "after: 60") + OTHER, boxed):
                self.apply(text)
                self.assertEqual(self.places(), (1, 0))
                self.expect_early(flood, "limit")
            # Exempt, it passes though its ban has not ended; and that goes on behind it.
            self.ctl("key", "set", "limit", SOURCE, "--exempt")
            self.assertEqual(self.places(), (0, 0))
            self.expect_through(flood, "limit")
            self.ctl("key", "unset", "limit", SOURCE)
            self.assertEqual(self.places(), (1, 0))
            self.expect_early(flood, "limit")
            self.assertEqual(self.rule("limit")["bans"], 1)
        # Lifted, it does not come back.
        self.ctl("key", "unban", "limit", SOURCE)
        self.apply(boxed + OTHER)
        self.assertEqual(self.places(), (0, 0))

    def find(self, what):
        """It exits with 0 wherever there is an entry; else as rules and buckets have it, which end by themselves."""
        done = self.box.ctl("find", what, "--json")
        found = json.loads(done.stdout)["early_drop"]
        self.assertIn(done.returncode, (0,) if found["entries"] else (0, 4), done.stderr)
        return found

    def entries(self, what):
        return [(row["network"], row["at"], row["rule"], row["by"], row["applies_to"])
                for row in self.find(what)["entries"]]

    def test_find_shows_what_the_kernel_drops(self):
        self.start_box(BOXED.format(length="1h, applies_to: source, spoofable: yes") + FRIENDS)
        ends = ["o", "i"]
        self.assertEqual(self.entries("192.0.2.1"), [])
        with HostFlood(self.hosts, FLOW) as flood:
            self.expect_early(flood, "limit")
        boxed = (SOURCE, ends, "limit", "penalty_box", "source")
        self.assertEqual(self.entries(SOURCE), [boxed])
        found, = self.find(SOURCE)["entries"]
        self.assertTrue(3500 < found["left_s"] <= 3600 and found["until"].endswith("Z"), found)
        self.assertEqual(found["rule_packets"], self.early("limit"))
        self.assertEqual(self.entries("10.0.0.0/8"), [boxed])
        self.assertEqual(self.entries("10.78.1.2"), [])
        self.assertEqual(self.box.ctl("find", "10.78.1.2").returncode, 4)
        text = self.box.ctl("find", SOURCE).stdout
        self.assertIn(f"{SOURCE} at o and i: rule limit, in its penalty box, all that the source sends, until ", " ".join(text.split()))
        # Of operators, with one that is exempt; the narrowest first.
        self.ctl("key", "ban", "limit", NETWORK)
        self.ctl("key", "set", "limit", "10.78.9.9", "--exempt")
        network = (NETWORK, ends, "limit", "operator", "source")
        self.assertEqual(self.entries(SOURCE), [boxed, network])
        self.assertEqual(self.entries("10.78.9.9"), [("10.78.9.9", ends, "limit", "exempt", None), network])
        self.assertEqual(self.entries("2001:db8::1"), [])
        self.ctl("key", "unban", "limit", NETWORK)
        self.ctl("key", "unban", "limit", SOURCE)
        self.assertEqual(self.entries(SOURCE), [])
        self.ctl("panic", "pass")
        self.assertEqual(self.find(SOURCE)["state"], "not_judging")
        self.assertIn("judges nothing now", self.box.ctl("find", SOURCE).stdout)

    def test_find_shows_deny_lists_and_says_where_nothing_is_dropped_early(self):
        self.start_box()
        condition = ["o", "i"], "deny", "condition", None
        self.assertEqual(self.entries(SOURCE), [(NETWORK, *condition)])
        self.assertEqual(self.entries("2001:db8:7::/48"), [("2001:db8::/32", *condition)])
        self.assertEqual(self.entries("0.0.0.0/0"), [(NETWORK, *condition)])
        self.assertTrue(all(port["early_drop"] and port["attached"] and port["whole"] for port in self.find(SOURCE)["ports"]))
        self.assertIn("nothing of it", self.box.ctl("find", "192.0.2.1").stdout)

    def test_find_says_that_nothing_is_dropped_early_on_a_box_without(self):
        self.start_kernel_box({}, DENY, FEW_BUFFERS)
        self.assertEqual(self.find(SOURCE)["state"], "no_port")
        self.assertIn("no early drop on this box", self.box.ctl("find", SOURCE).stdout)

    def test_bans_that_have_ended_give_their_places_to_others(self):
        self.start_box(BOXED.format(length="5s"), early_drop=1)
        with HostFlood(self.hosts, dataclasses.replace(FLOW, sources=2, rate=1000)):
            wait_until("a ban without a place", lambda: self.places()[1] > 0)
        wait_until("the places of those that have ended", lambda: self.places()[0] == 0)
        early = self.early("limit")
        with HostFlood(self.hosts, FLOW):
            wait_until("early drops again", lambda: self.early("limit") > early)

    def test_what_has_no_room_is_dropped_by_the_box(self):
        self.start_box(DENY.replace(NETWORK, f"10.0.0.1 10.0.0.3 {SOURCE}"), early_drop=1)
        outside = self.kernel()["outside"]
        self.assertEqual((outside["early_capacity"], outside["early_networks"], outside["early_left_out"]), (1, 1, 3))
        with HostFlood(self.hosts, FLOW) as flood:
            wait_until("the box to drop", lambda: self.rule("deny")["exceeded"] >= MANY)
            self.assertEqual(self.came(flood), 0)
        metrics = self.box.api("GET", "/v1/metrics")[1].decode()
        self.assertIn('sluice_kernel_early_left_out{pair="lab",side="outside"}', metrics)
        self.assertIn("EARLY", self.box.ctl("xdp", "status").stdout)

    def test_nothing_is_dropped_early_where_the_box_would_look_into_tunnels(self):
        self.start_kernel_box({"early_drop": 1000}, DENY, {"packets": {"tunnels": ["gre"]}})
        with HostFlood(self.hosts, FLOW) as flood:
            wait_until("the box to drop", lambda: self.rule("deny")["exceeded"] >= MANY)
            self.assertEqual((self.came(flood), self.early("deny")), (0, 0))

    def test_the_kernel_goes_on_while_the_box_is_gone(self):
        self.start_box()
        with HostFlood(self.hosts, FLOW) as flood:
            self.expect_early(flood, "deny")
            came = self.came(flood)
            self.box.kill(self.box.dataplane)
            wait_until("the kernel to take over", lambda: self.beat_age() > 2)
            still = wait_until_still("what comes through", lambda: self.came(flood))
            self.assertEqual((still, self.pinned_counts()), (came, (0, 0)))
            self.start_box()
            self.expect_early(flood, "deny")

    def test_what_is_for_the_box_itself_goes_to_the_kernel(self):
        address = "10.78.0.9"
        ip("-n", self.hosts.box, "address", "add", f"{address}/24", "dev", "o")
        self.start_kernel_box({}, ALL, {"management": {"allow": ["icmp"], "to": [address], "rate": "1000/s"}})
        self.assertEqual(self.ping(address), 0)
        self.assertGreater(self.kernel()["outside"]["managed_packets"], 0)
        self.box.kill(self.box.dataplane)
        self.assertEqual(self.ping(address), 0, "nor does it need a box")

    def test_without_management_the_box_has_all(self):
        address = "10.78.0.9"
        ip("-n", self.hosts.box, "address", "add", f"{address}/24", "dev", "o")
        self.start_kernel_box({}, ALL)
        self.assertNotEqual(self.ping(address), 0)

    def ping(self, address):
        return subprocess.run(["ip", "netns", "exec", self.hosts.outside, "ping", "-c", "3", "-i", "0.2", "-W", "2",
                               address], capture_output=True, timeout=60).returncode


if __name__ == "__main__":
    main()
