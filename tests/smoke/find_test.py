"""All that concerns an address, a host or a key, over rules and two workers, with the real programs.

    find_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import subprocess
import sys

from capture_files import udp, udp6
from dns_test import asks
from programs import wait_until
from workers_case import WorkersCase, main

FRAMES = 40  # of each source, to hosts of their own: both workers have some
MANY_SOURCES = "198.51.100.3"  # a host that they go to over both workers
RULES = """version: 1
data:
  lists:
    bad: {type: cidr, file: bad.txt}
    names: {type: string, file: names.txt}
bypass:
  - {when: ip.src eq 10.0.0.9 and ip.ttl eq 9, key: [ip.src], limit: {algorithm: token_bucket, rate: 1/d, burst: 7}}
rules:
  - {id: deny, mode: enforce, on_match: drop, when: ip.src in $bad and ip.ttl eq 9}
  - {id: not-us, mode: monitor, key: [], when: 'not ip.dst in {10.0.0.0/30} and ip.ttl eq 9',
     limits: [{algorithm: token_bucket, rate: 1/d, burst: 5}]}
  - id: nets
    mode: monitor
    tiers:
      - {key: ["prefix(ip.src, 24|64)"], limits: [{algorithm: token_bucket, rate: 1/m, burst: 1000}]}
      - {key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1/m, burst: 1000}]}
  - {id: flows, mode: monitor, key: [ip.src, ip.dst],
     limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}], ban: {after: 1, within: 1h, for: 1d}}
  - {id: asked, mode: monitor, key: [dns.qname], limits: [{algorithm: token_bucket, rate: 1/m, burst: 1000}]}
  - {id: named, mode: monitor, key: [ip.src], when: dns.qname in $names or dns.qname eq "never.example",
     limits: [{algorithm: token_bucket, rate: 1/m, burst: 1000}]}
  - {id: elsewhere, mode: monitor, key: [ip.src], when: 'ip.src in {172.16.0.0/12}', limits: [{algorithm: token_bucket, rate: 1/d, burst: 5}]}
  - {id: policy, mode: monitor, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/m, burst: 1000}], overrides: {file: keys.csv}}
  - {id: all, mode: monitor, key: [], limits: [{algorithm: token_bucket, rate: 1/d, burst: 5}]}
"""
FILES = {
    "bad.txt": "# addresses\n192.0.2.0/24\n10.0.0.0/29\n10.0.0.7\n",
    "names.txt": "one.example\ntwo.example\n",
    "keys.csv": "key,limit,rate,burst,count,expires,reason,ban\n10.0.0.7,1,,9,,,,\n10.0.0.0/25,,,,,,shared,yes\n"
                "10.0.0.8,,,,,,abuse,yes\n",
}


# Sends the frames of a file, a line of hex each, again and again, until its input ends.
SEND = """
import select, socket, sys, time
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
frames = [bytes.fromhex(line) for line in open(sys.argv[1])]
while not select.select([sys.stdin], [], [], 0)[0]:
    for frame in frames:
        out.send(frame)
        time.sleep(0.001)
"""


class Find(WorkersCase):
    LCORES = "0@0,1@0,2@1"

    def setUp(self):
        super().setUp()
        self.start()
        for name, text in FILES.items():
            (self.box.folder / name).write_text(text)
        self.apply(RULES)
        hosts = [f"198.51.100.{host}" for host in range(1, FRAMES + 1)]
        frames = [asks("one.example", src="10.0.0.7", dst=host) for host in hosts]
        frames += [udp(src="203.0.113.5", dst=host) for host in hosts] + [udp6()]
        frames += [udp(src=f"203.0.113.{number}", dst=MANY_SOURCES) for number in range(6, 20)]
        (self.box.folder / "frames").write_text("".join(frame.hex() + "\n" for frame in frames))
        sender = subprocess.Popen(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", SEND, self.box.folder / "frames"],
                                  stdin=subprocess.PIPE)
        self.addCleanup(sender.wait)
        self.addCleanup(sender.stdin.close)

    def ask(self, what, *words, exit=0):
        """The whole answer, once all workers are in it: beside other work one may not be in time."""
        answers = []

        def answered():
            done = self.box.ctl("find", what, *words, "--json")
            answers.append((done.returncode, done.stdout, done.stderr))
            return done.returncode == exit and not any(
                row.get("unanswered") for row in json.loads(done.stdout or "{}").get("findings", []))
        wait_until(f"the answer about {what}: {answers[-1:]}", answered)
        return json.loads(answers[-1][1])

    def rows(self, what, kind, **options):
        return [row for row in self.ask(what, **options)["findings"] if row["what"] == kind]

    def keys(self, what, **options):
        return {(row["rule"], row["key"]): row for row in self.rows(what, "key", **options)}

    def buckets(self, row):
        return [worker for limit in row["limits"] for worker in limit["workers"] if worker["bucket"]]

    def wait_for_keys(self, what, *wanted):
        wait_until(f"{wanted} of {what}", lambda: set(wanted) <= set(self.keys(what)))
        return self.keys(what)

    def test_an_address_in_conditions_lists_keys_and_bans(self):
        keys = self.wait_for_keys("10.0.0.7", ("nets", "10.0.0.0/24"), ("named", "10.0.0.7"), ("policy", "10.0.0.7"),
                                  ("flows", "10.0.0.7|198.51.100.1"), ("flows", "10.0.0.7|198.51.100.40"))
        self.assertNotIn("203.0.113.5", json.dumps([key for _, key in keys]))
        answer = self.ask("10.0.0.7")
        self.assertEqual((answer["of"], answer["is"], answer["inside"], answer["next"]), ("10.0.0.7", "address", None, None))
        named = [(row["rule"], row["field"], row["except"], row["list"], row["entry"], row["line"], row["others"])
                 for row in answer["findings"] if row["what"] == "condition"]
        self.assertEqual(named, [("deny", "ip.src", False, "bad", "10.0.0.0/29", 3, 1)])
        self.assertEqual(answer["everybody"], ["not-us", "asked", "all"])
        self.assertEqual((answer["lists_read"], answer["cut"]), (True, False))
        counted = {(row["rule"], row["key"]) for row in answer["findings"] if row["what"] == "counts"}
        self.assertEqual(counted, {("nets", "10.0.0.7"), ("flows", None)})
        own = keys["policy", "10.0.0.7"]
        self.assertEqual([network["key"] for network in own["networks"]], ["10.0.0.0/25"])
        self.assertTrue(own["banned"])
        # Banned, it has been charged nothing: its numbers are known, and no bucket has them yet.
        self.assertEqual({(worker["bucket"], worker["overridden"]) for limit in own["limits"] for worker in limit["workers"]},
                         {(False, True)})
        # The box of a rule whose keys have several parts.
        wait_until("bans of flows", lambda: any(row.get("ban") and row["banned"] for row in self.rows("10.0.0.7", "key")
                                               if row["rule"] == "flows"))
        text = self.box.ctl("find", "10.0.0.7").stdout
        for line in ("rule deny: its condition names it as ip.src, in $bad by 10.0.0.0/29 (line 3) and 1 more: on_match drop",
                     "rule policy, key 10.0.0.7: banned", "within 10.0.0.0/25, banned by policy, because: shared",
                     "rules that may meet it as they meet everybody: not-us, asked, all"):
            self.assertIn(line, " ".join(text.split()))

    def test_other_addresses(self):
        # By the file of overrides, and nothing has come of it; the exception of a condition.
        self.assertEqual({rule for rule, _ in self.wait_for_keys("10.0.0.8", ("nets", "10.0.0.0/24"))}, {"nets", "policy"})
        self.assertEqual(self.keys("10.0.0.8")["policy", "10.0.0.8"]["file_ban"]["reason"], "abuse")
        self.assertEqual([(row["rule"], row["except"]) for row in self.rows("10.0.0.1", "condition")],
                         [("deny", False), ("not-us", True)])
        self.assertEqual([row["rule"] for row in self.rows("10.0.0.9", "condition")], ["bypass.1"])
        # As a source and as a destination; of IPv6; inside IPv6.
        self.wait_for_keys(MANY_SOURCES, ("nets", MANY_SOURCES), ("flows", f"203.0.113.5|{MANY_SOURCES}"))
        wait_until("both workers", lambda: len({bucket["lcore"] for bucket in self.buckets(
            self.keys(MANY_SOURCES)["nets", MANY_SOURCES])}) == 2)
        self.wait_for_keys("2001:DB8::1", ("nets", "2001:db8::/64"), ("policy", "2001:db8::1"))
        mapped = self.ask("::ffff:10.0.0.7", exit=4)
        self.assertEqual((mapped["of"], mapped["inside"]), ("::ffff:10.0.0.7", "10.0.0.7"))
        # A rule is not told of where its condition leaves none of them.
        rows = self.ask("172.32.0.1", exit=4)["findings"]
        self.assertNotIn("elsewhere", [row["rule"] for row in rows])
        self.assertIn(("elsewhere", "172.16.0.1"), [(row["rule"], row.get("key")) for row in self.ask("172.16.0.1")["findings"]])

    def test_networks_and_what_is_set(self):
        for words in (("ban", "policy", "10.0.0.0/16", "--reason", "abuse"), ("set", "flows", "10.0.0.3|198.51.100.9", "--burst", "4"),
                      ("ban", "asked", "two.example")):
            done = self.box.ctl("key", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
        bans = {(row["key"], row["source"], row["reason"]) for row in self.rows("10.0.0.0/8", "ban")}
        self.assertEqual(bans, {("10.0.0.0/16", "operator", "abuse"), ("10.0.0.0/25", "policy", "shared")})
        self.assertEqual([network["key"] for network in self.keys("10.0.0.7")["policy", "10.0.0.7"]["networks"]],
                         ["10.0.0.0/25", "10.0.0.0/16"])
        keys = self.wait_for_keys("10.0.0.0/8", ("flows", "10.0.0.7|198.51.100.1"), ("policy", "10.0.0.7"))
        self.assertEqual(keys["flows", "10.0.0.3|198.51.100.9"]["set"][0]["set"], "1: burst 4")
        # One that is narrower than a key is what that counts.
        self.assertIn(("nets", "10.0.0.0/24"), self.wait_for_keys("10.0.0.0/28", ("nets", "10.0.0.0/24")))
        self.assertIn("two.example", [key for _, key in self.keys("Two.Example.")])

    def test_hosts_and_keys(self):
        answer = self.wait_for_keys("ONE.example", ("asked", "one.example"))
        self.assertEqual(len(answer), 1)
        self.assertEqual([(row["rule"], row["field"], row["list"], row["entry"]) for row in self.rows("one.example", "condition")],
                         [("named", "dns.qname", "names", "one.example")])
        self.assertEqual([row["rule"] for row in self.rows("never.example", "condition")], ["named"])
        nothing = self.ask("other.example", exit=4)
        self.assertEqual([(row["what"], row["rule"]) for row in nothing["findings"]], [("counts", "asked")])
        self.assertIn("nothing is known of it", self.box.ctl("find", "other.example").stdout)
        self.wait_for_keys("10.0.0.7|198.51.100.2", ("flows", "10.0.0.7|198.51.100.2"))

    def test_pages_go_on_where_they_ended(self):
        whole = self.wait_for_keys("198.51.100.0/24", *(("flows", f"10.0.0.7|198.51.100.{host}") for host in (1, 20, 40)))
        first = json.loads(self.box.ctl("find", "198.51.100.0/24", "--most", "20", "--json").stdout)
        self.assertTrue(first["next"], first)
        self.assertFalse(first["cut"])
        found = [row for row in first["findings"]]
        after = first["next"]
        while after:
            page = json.loads(self.box.api("GET", f"/v1/find?of=198.51.100.0/24&most=7&after={after}")[1])
            self.assertLessEqual(len(page["findings"]), 7)
            found += page["findings"]
            after = page["next"]
        paged = [(row["rule"], row["key"]) for row in found if row["what"] == "key"]
        self.assertEqual(len(paged), len(set(paged)))
        self.assertLessEqual(set(whole), set(paged))
        self.assertEqual(self.box.api("GET", "/v1/find?of=1.2.3.4&after=00:nets~k:")[0], 409)
        self.assertEqual(self.box.api("GET", "/v1/find?of=1.2.3.4&after=junk")[0], 400)

    def test_what_is_nothing_to_find(self):
        for what, said in (("10.0.0.7/24", "has host bits set; the network is 10.0.0.0/24"), ("10.0.0.300", "10.0.0.300"),
                           ("10.0.0.0/33", "10.0.0.0/33"), ("fe80::1%eth0", "fe80::1%eth0"), ("one.example:443", "without its port it is one.example"),
                           ("bücher.example", "http.host"), ("", "name an address, a network"), ("x" * 10_240, "at most 2048 bytes")):
            done = self.box.ctl("find", what)
            self.assertEqual((done.returncode, done.stdout), (1, ""), what)
            self.assertIn(said, done.stderr)
        self.assertEqual(self.box.api("GET", "/v1/find?of=10.0.0.7%00")[0], 400)
        self.assertEqual(self.box.ctl("find").returncode, 2)

    def test_without_a_dataplane_it_says_what_sluiced_knows(self):
        done = self.box.ctl("key", "ban", "policy", "10.0.0.7", "--reason", "abuse")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.box.terminate(self.box.dataplane)
        self.box.wait_for_link(False)
        answer = self.ask("10.0.0.7", exit=3)
        self.assertFalse(answer["boxes_read"])
        row = next(row for row in answer["findings"] if row["what"] == "key")
        self.assertEqual((row["rule"], row["set"][0]["set"], row["limits"]), ("policy", "banned", []))


if __name__ == "__main__":
    main()
