"""Limits whose packets are handed to the owners of their keys: the real dataplane, sluiced, sluicectl.

    owner_test.py DATAPLANE SLUICED SLUICECTL
"""
import collections
import json

import workers_case
from box_file import pair
from numbered_frames import Sending, frame_of, send_numbered
from programs import wait_until

SOURCES = 40
HOSTS = 5
MOST = 50

LOG = f"{{algorithm: sliding_log, count: {MOST}, window: 1h}}"
BY_HOST = f"""version: 1
defaults: {{mode: enforce}}
rules:
  - {{id: host, when: 'dir eq "in" and ip.proto eq 17', key: [ip.dst], limits: [{LOG}]}}
"""
BOTH = BY_HOST + f"""  - {{id: source, when: ip.proto eq 17, key: [ip.src], limits: [{LOG.replace(str(MOST), "8")}]}}
  - {{id: beside, when: 'dir eq "in" and ip.proto eq 17', key: [ip.src], limits: [{{algorithm: token_bucket, rate: 1000/s, burst: 1000}}]}}
"""


class Case(workers_case.WorkersCase):
    def send(self):
        came = send_numbered(self.hosts, Sending(20, SOURCES, 3000, HOSTS), self.wait_for_all)
        for (source, host), numbers in came.items():
            self.assertEqual(numbers, sorted(numbers), f"from {source} to {host}")
        return came

    def wait_for_all(self):
        """A worker that has no core, and an owner that is asked, take their time."""
        def judged():
            rule = self.box.stats()["rules"][0]
            return rule["admitted"] + rule["exceeded"] + rule["skipped"]
        wait_until("all frames to be judged", lambda: judged() >= SOURCES * 20)

    def expect_each_host_its_count(self):
        by_host = collections.Counter()
        for (_, host), numbers in self.send().items():
            by_host[host] += len(numbers)
        self.assertEqual(by_host, {host: MOST for host in range(HOSTS)})
        rule = self.box.stats()["rules"][0]
        offered = SOURCES * 20
        self.assertEqual((rule["admitted"], rule["exceeded"]),
                         (MOST * HOSTS, offered - MOST * HOSTS))
        for reason in ("ring_full", "tx_full", "no_memory"):
            self.assertEqual(self.reasons()[reason], 0, reason)
        return [worker["handed_over"] for worker in self.box.workers()]

    def test_a_log_is_exact_over_sources_of_all_workers(self):
        self.start()
        self.apply(BY_HOST)
        self.assertEqual(self.scopes(), {"host": "owner"})
        handed = self.expect_each_host_its_count()
        for host in range(HOSTS):  # the owner of the host is asked, whoever receives its packets
            owners = set()
            for source in range(8):
                told = self.told_of(frame_of(source, host))
                self.assertEqual((told["sure"], told["reason"], told["limits"][0]["bucket"]), (True, "over_limit", True))
                owners.add(told["lcore"])
            self.assertEqual(len(owners), 1)
        # Those that receive from no port hand over to owners alone.
        for count in handed[1:]:
            self.assertGreater(count, 0, handed)
        self.assertIn(f"host, limit 1: at most {MOST} packets in any 1h, packets handed to the owner of their "
                      "ip.dst: its algorithm is not merged\n", self.box.ctl("rules").stdout)
        told = self.box.ctl("explain", "--src", "192.0.2.7", "--dst", "198.51.100.1", "--proto", "udp")
        self.assertIn("owner, packets handed to the owner of their ip.dst", told.stdout, told.stderr)

    def test_frames_that_one_worker_receives_and_sends(self):
        # The ways of two pairs differ, so a host may meet two workers.
        self.start({"ports": [{"hand_over": False}, pair("net_null0,no-rx=1", "net_null1,no-rx=1", "more")]})
        self.apply(BY_HOST)
        self.assertEqual(self.scopes(), {"host": "owner"})
        handed = self.expect_each_host_its_count()
        self.assertGreater(handed[0], SOURCES * 20 / 10)
        self.assertEqual(sum(handed[1:]), 0)
        self.assertIn("lab in as owner", self.box.workers()[2]["lanes"])

    def test_packets_that_may_have_units_stay_and_their_owners_are_asked(self):
        self.start()
        self.apply(BY_HOST + f"  - {{id: names, mode: monitor, key: [dns.qname], per: query, limits: [{LOG}]}}\n")
        self.assertEqual(self.scopes(), {"host": "asked", "names": "asked"})
        by_host = collections.Counter()
        for (_, host), numbers in self.send().items():
            by_host[host] += len(numbers)
        stats = self.box.stats()
        rule = stats["rules"][0]
        self.assertEqual(rule["admitted"] + rule["exceeded"], SOURCES * 20)
        # The worker that receives a packet is asked about it, and does not ask the owner for a question's sake.
        told = self.told_of(frame_of(0))
        self.assertEqual((told["verdict"], told["limits"][0]["at_owner"], told["limits"][0]["charged"]), ("pass", True, True))
        explained = self.box.ctl("explain", "--src", "192.0.2.7", "--dst", "198.51.100.1", "--proto", "udp")
        self.assertIn("it is taken to have room", explained.stdout, explained.stderr)
        self.assertEqual(rule["admitted"], sum(by_host.values()))
        self.assertLessEqual(max(by_host.values()), MOST)
        if self.reasons()["no_answer"] == 0:
            self.assertEqual(by_host, {host: MOST for host in range(HOSTS)})
        self.assertIn("the key's owner is asked: its algorithm is not merged", self.box.ctl("rules").stdout)

    def test_rules_that_have_nothing_in_common_meet_at_one_worker(self):
        self.start()
        self.apply(BOTH)
        self.assertEqual(self.scopes(), {"host": "owner", "source": "owner", "beside": "merged"})
        by_source = collections.Counter()
        by_host = collections.Counter()
        for (source, host), numbers in self.send().items():
            by_source[source] += len(numbers)
            by_host[host] += len(numbers)
        # Every frame that any limit refuses spends nothing elsewhere, so the hosts fill up.
        self.assertEqual(by_host, {host: MOST for host in range(HOSTS)})
        self.assertLessEqual(max(by_source.values()), 8)
        self.assertIn("handed to the owner of all of its rule's packets",
                      self.box.ctl("rules").stdout)
        bounds = {rule["id"]: rule["limits"][0]["bound"]
                  for rule in json.loads(self.box.api("GET", "/v1/rules")[1])["rules"]}
        self.assertIn("not local, since packets are handed over for `host`", bounds["beside"])
        changed = self.box.folder / "next.yaml"
        changed.write_text("version: 1\nrules: [" + BOTH[BOTH.index("{id: beside"):].strip() + "]\n")
        self.assertRegex(self.box.ctl("diff", str(changed)).stdout, "merged.* -> .*local")


if __name__ == "__main__":
    workers_case.main()
