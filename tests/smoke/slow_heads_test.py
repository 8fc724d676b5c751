"""Half heads of requests, many at once, with room for all of them and without: the real programs between two hosts.

    slow_heads_test.py DATAPLANE SLUICED SLUICECTL [CLASS...]
"""
import time

from box_case import main
from http_case import HttpCase, request
from programs import wait_until
from slow_heads import PORT, SlowHeads

BATCH = 1000
LOGINS = 5


class Case(HttpCase):
    # So slow that no clock comes into it.
    RULES = f"""version: 1
rules:
  - {{id: login, mode: enforce, when: http.request.uri.path eq "/login", key: [http.host, http.request.uri.path],
     per: request, limits: [{{algorithm: token_bucket, rate: 1/d, burst: {LOGINS}}}]}}
  - {{id: slow, mode: enforce, when: proto.l7 eq "http" and l4.dport eq {PORT}, key: [ip.dst], per: request,
     limits: [{{algorithm: token_bucket, rate: 1M/s, burst: 1M}}]}}
  - {{id: all, mode: monitor, when: proto.l7 eq "http" and l4.dport eq 80, key: [ip.src], per: request,
     limits: [{{algorithm: token_bucket, rate: 1M/s, burst: 1M}}]}}
"""
    SOURCES = 120
    MOST = 64_000  # connections

    def setUp(self):
        super().setUp()
        self.start_between("af_packet", {"packets": {"connections": {"timeout": "10m", "max": self.MOST}}},
                           ports=",framecnt=4096,blocksz=1048576")
        self.box.start_sluiced()
        self.apply(self.RULES)
        self.serve()
        self.heads = SlowHeads(self.hosts, self.ADDRESS, self.SOURCES)
        self.addCleanup(self.heads.close)

    def log_in(self):
        for _ in range(LOGINS):
            self.assertEqual(self.ask(request("/login")).answer(), "/login")
        self.ask(request("/login"))

    def dropped(self):
        reasons = self.box.stats()["reasons"]
        return sum(reasons[name] for name in ("no_head_room", "head_too_long", "lost_head", "overlap"))

    def go_on(self, numbers):
        """Each of these heads is completed: how many were judged, how many dropped, and how many passed as what no head
        is known of."""
        def now():
            return self.counts("slow")[0], self.dropped(), self.heads.arrived()[1]
        begin = now()
        for at in range(0, len(numbers), BATCH):
            sent = numbers[at:at + BATCH]
            self.heads.go_on(sent)
            wait_until("the rest to come through or be dropped", lambda: sum(now()[1:])
                       == sum(begin[1:]) + at + len(sent))
        admitted, dropped, came = (after - before for before, after in zip(begin, now()))
        return admitted, dropped, came - admitted


class WithRoom(Case):
    HEADS = 30_000

    def test_many_half_heads_are_held_and_those_beside_them_judged(self):
        for at in range(0, self.HEADS, BATCH):
            self.heads.begin(range(at, at + BATCH))
            wait_until("half heads to arrive", lambda: self.heads.arrived()[0] == at + BATCH)
        self.log_in()
        self.counted("login", LOGINS, 1)
        self.counted("all", LOGINS + 1, 0)
        admitted, _, unknown = self.go_on(range(self.HEADS))
        self.assertEqual((self.counts("slow"), unknown), ((admitted, 0), 0))
        self.assertEqual(self.server.seen, [("GET", "/login")] * LOGINS)


class WithoutRoom(Case):
    HEADS, SOURCES, MOST = 60_000, 4_000, 8_000
    PAGES_EVERY = 5 * BATCH
    SECONDS = 600  # after which no more begin
    # Tables are taken at the start; what else grows by a little.
    MEMORY = 8 << 20

    def resident(self):
        with open(f"/proc/{self.box.dataplane.pid}/status", encoding="utf-8") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def expect_the_budget(self):
        now = self.box.stats()["connections"]
        self.assertLessEqual(now["connections"], self.MOST)
        self.assertLessEqual(now["half_heads"], self.MOST // 2)
        self.assertLessEqual(now["held_lines"], self.MOST * 4)
        self.assertLessEqual(now["given_up_connections"], self.MOST // 8)

    def without_line(self):
        """Heads that found no line near theirs in a full table: dropped whole, so their senders begin again."""
        return self.box.stats()["connection_events"]["refused_full"]

    def judged_beginnings(self):
        events = self.box.stats()["connection_events"]
        return events["half_head"] + events["refused_full"]

    def flood(self):
        """Half heads, and a page now and then: how many of each."""
        pages, full, self.refused = 0, None, []
        begin, until = self.resident(), time.monotonic() + self.SECONDS
        for sent in range(BATCH, self.HEADS + BATCH, BATCH):
            self.heads.begin(range(sent - BATCH, sent))
            wait_until("half heads to be held", lambda: self.judged_beginnings() == sent)
            self.refused.append(self.without_line() - sum(self.refused))
            if sent % self.PAGES_EVERY == 0:
                self.assertEqual(self.ask(request(f"/page/{pages}")).answer(), f"/page/{pages}")
                pages += 1
                self.expect_the_budget()
            full = self.resident() if sent == 2 * self.MOST else full
            if time.monotonic() > until:
                break
        now = self.resident()
        print(f"{sent} half heads, {pages} pages; resident: {begin >> 10} KiB before, {full >> 10} KiB when full, "
              f"{now >> 10} KiB after", flush=True)
        self.assertLess(full - begin, self.MEMORY)
        self.assertLess(now - full, 2 << 20)
        return sent, pages

    def test_more_half_heads_than_there_is_room_for(self):
        sent, pages = self.flood()
        self.log_in()
        self.counted("login", LOGINS, 1)
        self.counted("all", pages + LOGINS + 1, 0)
        refused = sum(self.refused)
        self.assertLess(refused, sent / 100)
        self.assertEqual((self.dropped(), self.heads.arrived()[0]), (refused, sent - refused))
        self.assertEqual(len(self.server.seen), pages + LOGINS)
        self.assertGreater(self.box.stats()["connection_events"]["evicted_half_head"], sent - self.MOST)
        self.expect_the_newest(sent)

    def expect_the_newest(self, sent):
        """The newest are held; those that went for them last are known as such, and their rest is no request."""
        held = self.MOST // 2
        newest = held // 2
        lost = sum(self.refused[-newest // BATCH:])
        self.assertEqual(self.go_on(range(sent - newest, sent)), (newest - lost, 0, lost))
        given_up = self.MOST // 16
        end = sent - held - given_up // 4
        admitted, dropped, unknown = self.go_on(range(end - given_up, end))
        # A source whose head found no line keeps another for longer.
        self.assertEqual(admitted + dropped + unknown, given_up)
        self.assertLessEqual(admitted + unknown, sum(self.refused))


if __name__ == "__main__":
    main()
