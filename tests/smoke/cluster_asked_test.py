"""Five logins a minute over two boxes that ask their store about each: real programs, a real redis-server.

    cluster_asked_test.py DATAPLANE SLUICED SLUICECTL STORE
"""
import concurrent.futures
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
from cluster_boxes import RULE, ClusterBoxes  # noqa: E402
from http_hosts import Client, WebServer  # noqa: E402
from programs import wait_until  # noqa: E402

SERVER = "10.78.0.2"
MOST, BOXES = 5, 2
LOGIN = "POST /login HTTP/1.1\r\nHost: www.example\r\nContent-Length: 0\r\n\r\n"


def logins(algorithm, key="ip.src"):
    return f"""version: 1
rules:
  - id: {RULE}
    mode: enforce
    when: http.request.uri.path eq "/login"
    key: [{key}]
    per: request
    limits: [{{{algorithm}, scope: cluster}}]
"""


class FiveLogins(unittest.TestCase):
    programs = []

    @classmethod
    def setUpClass(cls):
        cls.boxes = ClusterBoxes(cls.programs[:3], cls.programs[3], BOXES)
        cls.boxes.size = 4  # of two or three each may be one ahead, and a bucket of five is merged
        cls.addClassCleanup(cls.boxes.close)
        cls.boxes.open()
        cls.servers = [WebServer(hosts.inside, SERVER) for hosts in cls.boxes.network.hosts]
        for server in cls.servers:
            cls.addClassCleanup(server.close)
        cls.boxes.wait_until_shared()

    def setUp(self):
        self.clients = []
        self.addCleanup(lambda: [client.close() for client in self.clients])

    def log_in(self, times):
        """So many at each box, all at once, each over a connection of its own."""
        def one(box):
            client = Client(self.boxes.network.hosts[box].outside, SERVER)
            client.send(LOGIN)
            return client
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.clients += pool.map(one, [box for box in range(BOXES) for _ in range(times)])

    def judged(self):
        rules = [self.boxes.rule(number) for number in range(BOXES)]
        return [sum(rule[name] for rule in rules) for name in ("admitted", "exceeded")]

    def store(self, name):
        return sum(box.stats()["store"][name] for box in self.boxes.boxes)

    def test_five_of_twenty_pass_whichever_box_they_come_by(self):
        for algorithm in ("algorithm: token_bucket, rate: 5/m, burst: 5", "algorithm: fixed_window, phase: first, count: 5, window: 1h",
                          "algorithm: sliding_log, count: 5, window: 1h"):
            with self.subTest(algorithm):
                self.boxes.apply(logins(algorithm))
                seen = sum(len(server.seen) for server in self.servers)
                asked = self.store("asked")
                before = self.judged()
                self.log_in(10)
                wait_until("all to be judged", lambda: sum(self.judged()) - sum(before) >= 2 * 10)
                wait_until("the counts to be there", lambda: self.store("asked") - asked >= 2 * 10)
                self.assertEqual([self.store(name) for name in ("asked_late", "asked_down", "asked_no_room")], [0, 0, 0])
                self.assertEqual([now - then for now, then in zip(self.judged(), before)], [MOST, 2 * 10 - MOST])
                wait_until("all that passed to be answered", lambda: sum(len(s.seen) for s in self.servers) - seen >= MOST)
                self.assertEqual(sum(len(server.seen) for server in self.servers) - seen, MOST)
                self.assertEqual(self.store("asked") - asked, 2 * 10)

    def test_without_the_store_each_box_has_its_share(self):
        self.boxes.apply(logins("algorithm: fixed_window, phase: first, count: 1, window: 1h", "ip.src, ip.dst"))
        for box in self.boxes.boxes:
            box.kill_store()
        wait_until("the store to be away", lambda: all(box.stats()["store"]["down"] for box in self.boxes.boxes))
        before, down = self.judged(), self.store("asked_down")
        self.log_in(3)
        wait_until("all to be judged", lambda: sum(self.judged()) - sum(before) >= 2 * 3)
        # Twice what the limit counts has no room beside anything: one for each box, and the next after two hours.
        self.assertEqual([now - then for now, then in zip(self.judged(), before)], [BOXES, 4])
        wait_until("the counts to be there", lambda: self.store("asked_down") - down >= 2 * 3)
        for box in self.boxes.boxes:
            box.start_store()
        self.boxes.wait_until_shared()


if __name__ == "__main__":
    FiveLogins.programs = [word for word in sys.argv[1:] if "/" in word]
    unittest.main(argv=[word for word in sys.argv if word not in FiveLogins.programs], verbosity=2)
