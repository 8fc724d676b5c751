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
services:
  - {{id: web, protocol: http, when: 'l4.dport in {{80 {PORT}}}', mode: enforce, checksums: trust,
     path: inbound}}  # nobody answers the heads
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
        self.counted("all", LOGINS, 0)  # not the one that another rule refuses
        admitted, _, unknown = self.go_on(range(self.HEADS))
        self.assertEqual((self.counts("slow"), unknown), ((admitted, 0), 0))
        self.assertEqual(self.server.seen, [("GET", "/login")] * LOGINS)


class WithoutRoom(Case):
    HEADS, SOURCES, MOST = 50_000, 4_000, 8_000
    PAGES_EVERY = 5 * BATCH
    SECONDS = 600  # after which no more begin
    SILENCE = 60  # after which the box knows a connection no more
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

    def events(self):
        return self.box.stats()["connection_events"]

    def flood(self):
        """Half heads, and a page now and then: how many of each."""
        pages, full, self.begun = 0, None, {}
        begin, until = self.resident(), time.monotonic() + self.SECONDS
        for sent in range(BATCH, self.HEADS + BATCH, BATCH):
            self.begun[sent - BATCH] = time.monotonic()
            self.heads.begin(range(sent - BATCH, sent))
            wait_until("half heads to be held", lambda: self.events()["half_head"] == sent)
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
        self.counted("all", pages + LOGINS, 0)
        self.assertEqual((self.dropped(), self.heads.arrived()[0]), (0, sent))
        self.assertEqual(len(self.server.seen), pages + LOGINS)
        self.assertGreater(self.events()["evicted_half_head"], sent - self.MOST)
        self.expect_none_to_pass(sent)

    def expect_none_to_pass(self, sent):
        """The newest are held; those that went for them are known as such, and their rest is no request. Nobody asks
        for those that have been silent for so long that the box may soon know them no more."""
        newest, all_admitted, gone_on = self.MOST // 4, 0, 0
        self.assertEqual(self.go_on(range(sent - newest, sent)), (newest, 0, 0))
        for at in range(sent - newest - BATCH, -1, -BATCH):
            if time.monotonic() - self.begun[at] > self.SILENCE / 2:
                break
            admitted, dropped, unknown = self.go_on(range(at, at + BATCH))
            self.assertEqual((admitted + dropped, unknown), (BATCH, 0))
            all_admitted, gone_on = all_admitted + admitted, gone_on + BATCH
        print(f"{gone_on} of those that made room were gone on with", flush=True)
        self.assertGreaterEqual(gone_on, self.MOST)
        self.assertLessEqual(all_admitted, self.MOST // 2)
        self.assertEqual(self.events()["refused_forgotten"], 0)


if __name__ == "__main__":
    main()
