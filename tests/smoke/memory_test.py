"""Rules that need more memory than a daemon may take are refused with the amount; those before go on.

    memory_test.py DATAPLANE SLUICED SLUICECTL
"""
import re
import resource

from box_case import NULL, BoxCase, main
from programs import wait_until

MANY = 16000
ROOM = 32 << 20  # bytes that a daemon may map beside what it has
SMALL = """version: 1
rules:
  - id: small
    mode: enforce
    key: [port, dir]
    limits: [{algorithm: token_bucket, rate: 1/d, burst: 500}]
"""
OTHER = SMALL.replace("small", "other")
NEEDS = re.compile(r"need (\d+) MiB of memory(?: or more)?, and (\d+) MiB are available")


def many_rules(first=10):
    return "version: 1\nrules:\n" + "".join(
        f"  - {{id: r{i}, mode: enforce, when: ip.src eq {first}.{i >> 16}.{i >> 8 & 255}.{i & 255}, on_match: drop}}\n"
        for i in range(MANY))


def mapped(process):
    with open(f"/proc/{process.pid}/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


class Limited:
    """A process that may map only so much beside what it has mapped."""

    def __init__(self, process, room=ROOM):
        self.process, self.room = process, room

    def __enter__(self):
        self.before = resource.prlimit(self.process.pid, resource.RLIMIT_AS)
        resource.prlimit(self.process.pid, resource.RLIMIT_AS, (mapped(self.process) + self.room, self.before[1]))

    def __exit__(self, *_):
        if self.process.poll() is None:
            resource.prlimit(self.process.pid, resource.RLIMIT_AS, self.before)


class Memory(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.start_dataplane(*NULL)
        self.box.start_sluiced()
        self.apply(SMALL)

    def counted(self, rule):
        return next((each["exceeded"] + each["admitted"] for each in self.box.stats()["rules"] if each["id"] == rule), 0)

    def judges_by(self, rule):
        before = self.counted(rule)
        wait_until(f"packets of {rule}", lambda: self.counted(rule) > before)

    def expect_refused(self, done):
        self.assertNotEqual(done.returncode, 0)
        words = NEEDS.search(done.stderr)
        self.assertTrue(words, done.stderr)
        self.assertGreater(int(words[1]), int(words[2]))

    def metric(self, name):
        text = self.box.api("GET", "/v1/metrics")[1].decode()
        return next(line.split()[-1] for line in text.splitlines() if line.startswith(name))

    def test_what_the_dataplane_has_no_memory_for(self):
        generation = self.box.stats()["generation"]
        with Limited(self.box.dataplane):
            self.expect_refused(self.box.apply(many_rules()))
            self.assertIsNone(self.box.dataplane.poll())
            self.assertEqual(self.box.stats()["generation"], generation)
            self.assertEqual(self.metric('sluice_control_refused_total{reason="memory"}'), "1")
            self.judges_by("small")
            self.apply(OTHER)
            self.judges_by("other")
        self.assertIn("refused rules of uid", self.box.log("dataplane.log"))
        self.apply(many_rules())

    def test_a_message_that_does_not_fit(self):
        with Limited(self.box.dataplane, 24 << 20):
            done = self.box.apply(many_rules())
            self.expect_refused(done)
            self.assertIn("messages of this size", done.stderr)
            self.judges_by("small")
            self.apply(OTHER)
            self.judges_by("other")

    def test_what_sluiced_has_no_memory_for(self):
        """A list whose lines take it more than it may map, read by a sluiced that has little yet."""
        self.box.folder.chmod(0o755)
        (self.box.folder / "many.txt").write_text("".join(
            f"{10 + i % 90}.{i >> 16}.{i >> 8 & 255}.{i & 255}\n" for i in range(400_000)))
        listed = ("version: 1\ndata: {lists: {many: {type: cidr, file: many.txt}}}\n"
                  "rules: [{id: listed, mode: enforce, when: ip.src in $many, on_match: drop}]\n")
        with Limited(self.box.sluiced, 64 << 20):
            self.expect_refused(self.box.apply(listed))
            self.assertIsNone(self.box.sluiced.poll())
            self.judges_by("small")
            self.apply(OTHER)
            self.judges_by("other")
        self.apply(listed)


if __name__ == "__main__":
    main()
