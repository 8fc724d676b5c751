"""A million keys and networks with numbers of their own, and keys of a full table, with the real programs.

    overrides_test.py DATAPLANE SLUICED SLUICECTL
"""
import json

from box_case import BoxCase, main
from box_file import merged
from capture_files import pcap, udp
from programs import wait_until

KEYS = 1_000_000
MANY = """version: 1
rules:
  - id: hosts
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1M/s, burst: 1M}]
    overrides: {file: keys.csv}
"""
COARSE = """version: 1
rules:
  - id: hosts
    mode: enforce
    key: [ip.src]
    on_full: {coarsen: {factor: 4}}
    limits: [{algorithm: token_bucket, rate: 1/d, burst: 3}]
"""


def address(number):
    return f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"


class Running(BoxCase):
    """The frames of a capture, again and again."""

    def start(self, sources, config=None):
        capture = self.box.folder / "in.pcap"
        capture.write_bytes(pcap([(at, udp(src=source)) for at, source in enumerate(sources)]))
        self.devices = [f"net_pcap{port},rx_pcap={capture},infinite_rx=1" for port in (0, 1)]
        self.box.start_dataplane(*self.devices, merged({"memory": {"mbufs": 32768}}, config or {}))
        self.box.start_sluiced()

    def key(self, *words):
        done = self.box.ctl("key", *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def on_worker(self, *words):
        """What the worker says. Where it did not come to it in time it has done nothing, and is asked again."""
        def answer():
            done = self.box.ctl("key", *words, "--json")
            if not done.stdout:
                return None
            told = json.loads(done.stdout)
            if any(not worker["begun"] for worker in told.get("unanswered", [])):
                return None
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return told["limits"][0]["workers"][0]
        return wait_until("the worker's answer", answer)

    def dropped(self):
        return self.box.stats()["verdicts"]["drop"]


class ManyKeys(Running):
    def test_each_has_its_numbers_and_one_can_be_changed(self):
        self.start([address(KEYS - 1), address(KEYS + 1)])
        with open(self.box.folder / "keys.csv", "w", encoding="ascii") as out:
            out.write("key,limit,rate,burst,count,expires,reason\n")
            for number in range(KEYS):
                out.write(f"{address(number)},1,1/d,{5 + number % 100},,,contract {number}\n")
        done = self.box.apply(MANY)
        self.assertEqual(done.returncode, 0, done.stderr)
        wait_until("the last key's numbers to be enforced", self.dropped)
        for number in (0, 1, 99, KEYS // 2, KEYS - 1):
            self.assertEqual(self.on_worker("show", "hosts", address(number))["most"], 5 + number % 100)
        self.assertEqual(self.on_worker("show", "hosts", address(KEYS))["most"], 1_000_000)
        # One of them, for a while: then the file's numbers count again.
        last = address(KEYS - 1)
        self.key("set", "hosts", last, "--limit", "1", "--burst", "7", "--for", "1h")
        self.assertEqual(self.on_worker("show", "hosts", last)["most"], 7)
        self.key("set", "hosts", last, "--limit", "1", "--burst", "8", "--for", "1s")
        wait_until("the file's numbers",
                   lambda: self.on_worker("show", "hosts", last)["most"] == 5 + (KEYS - 1) % 100)


class Networks(Running):
    CSV = ("key,limit,rate,burst,count,expires,reason\n10.0.0.0/16,1,1/d,50,,,a branch\n"
           "10.1.0.0-10.1.0.9,exempt,,,,,its servers\n10.0.0.2,1,1/d,9,,,a key\n")

    def write(self, csv):
        (self.box.folder / "keys.csv").write_text(csv, encoding="ascii")

    def most(self, key):
        return self.on_worker("show", "hosts", key)["most"]

    def test_the_line_that_a_key_goes_by_is_told_and_holds_after_a_kill(self):
        self.start([address(1), address(0x10001)])
        self.write(self.CSV)
        done = self.box.apply(MANY)
        self.assertEqual(done.returncode, 0, done.stderr)
        wait_until("the network's numbers to be enforced", self.dropped)
        row = {"key": "10.0.0.0/16", "source": "override file", "line": 2, "reason": "a branch", "says": "numbers", "tier": 1,
               "until": None}
        self.assertEqual(self.on_worker("show", "hosts", address(1))["row"], row)
        self.assertNotIn("row", self.on_worker("show", "hosts", address(2)))
        self.assertEqual([self.most(address(at)) for at in (1, 2, 3, 0x20000)], [50, 9, 50, 1_000_000])
        self.assertIn("the numbers of 10.0.0.0/16, line 2 of the override file", self.key("show", "hosts", address(1)))
        self.assertIn("exempt by 10.1.0.0-10.1.0.9, line 3 of the override file, because: its servers",
                      self.key("show", "hosts", address(0x10001)))
        self.assertIn("10.1.0.0-10.1.0.9", self.box.ctl("find", address(0x10001)).stdout)
        # An operator's word for one key goes before.
        self.key("set", "hosts", address(1), "--exempt")
        self.assertNotIn("exempt by", self.key("show", "hosts", address(1)))
        self.key("unset", "hosts", address(1))
        # What is refused changes nothing.
        self.write(self.CSV + "10.1.0.5-10.1.0.20,1,1/d,9,,,across\n")
        done = self.box.apply(MANY)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("keys.csv:5:1: ", done.stderr)
        self.assertIn("10.1.0.0-10.1.0.9 and 10.1.0.5-10.1.0.20 overlap, and neither lies in the other; the first is on "
                      "line 3", done.stderr)
        self.assertEqual(self.most(address(1)), 50)
        # What is used stays used, after a kill too.
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane(*self.devices, {"memory": {"mbufs": 32768}})
        self.box.wait_for_link(True)
        wait_until("the network's numbers", lambda: self.most(address(1)) == 50)
        self.assertEqual(self.on_worker("show", "hosts", address(1))["row"], row)
        self.assertEqual(self.on_worker("show", "hosts", address(1))["remaining"], 0)

    def test_a_million_of_them(self):
        self.start([address(2 * KEYS - 1), address(2 * KEYS + 1)])
        with open(self.box.folder / "keys.csv", "w", encoding="ascii") as out:
            out.write("key,limit,rate,burst,count,expires,reason\n10.0.0.0/8,1,1/d,4,,,all\n")
            for number in range(KEYS):
                out.write(f"{address(2 * number)}/31,1,1/d,{5 + number % 100},,,contract {number}\n")
        done = self.box.apply(MANY)
        self.assertEqual(done.returncode, 0, done.stderr)
        wait_until("the last network's numbers to be enforced", self.dropped)
        for number in (0, 1, 99, KEYS // 2, KEYS - 1):
            self.assertEqual(self.most(address(2 * number + 1)), 5 + number % 100)
        self.assertEqual(self.most(address(2 * KEYS)), 4)
        self.assertEqual(self.on_worker("show", "hosts", address(3))["row"]["key"], "10.0.0.2/31")


class FullTable(Running):
    def test_a_key_without_a_place_is_reset_through_its_network(self):
        self.start([address(number) for number in range(0x1F0)], {"memory": {"tables": {"keys": 64}}})
        self.assertEqual(self.box.apply(COARSE).returncode, 0)
        # Of a network that is in the capture, and is not itself.
        key = address(0x1FA)
        wait_until("its network to have spent everything",
                   lambda: self.on_worker("show", "hosts", key)["remaining"] == 0)
        told = self.on_worker("reset", "hosts", key)
        self.assertEqual((told["bucket"], told["step"], told["before"], told["remaining"],
                          told["given_wider"]), (False, 1, 0, 3, 3))
        wait_until("its neighbours to have spent it",
                   lambda: self.on_worker("show", "hosts", key)["remaining"] == 0)
        told = self.on_worker("grant", "hosts", key, "2")
        self.assertEqual((told["before"], told["remaining"], told["given_wider"]), (0, 2, 2))
        wait_until("and that", lambda: self.on_worker("show", "hosts", key)["remaining"] == 0)
        self.assertIn("a wider one owes (step 1), 3 given back to it", self.key("reset", "hosts", key))


if __name__ == "__main__":
    main()
