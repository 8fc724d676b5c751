"""Requests whose limits the owners of their keys are asked about, over several workers; one of them stands still.

    asking_test.py DATAPLANE SLUICED SLUICECTL
"""
import json

import workers_case
from http_case import HttpCase, request
from one_thread import stopped, threads_named
from programs import wait_until

MOST = 20
SOURCES = 24
HOSTS = 24


def by_host(on_full="closed"):
    return f"""version: 1
rules:
  - {{id: host, mode: enforce, key: [http.host], per: request, on_full: {on_full},
     limits: [{{algorithm: sliding_log, count: {MOST}, window: 1h}}]}}
"""


class Case(HttpCase, workers_case.WorkersCase):
    def setUp(self):
        super().setUp()
        self.start({"workers": {"watchdog": {"stall": "300ms"}}})
        self.serve()

    def apply_asked(self, rules):
        self.apply(rules)
        self.assertEqual(self.scopes(), {"host": "asked"})

    def judged(self):
        return sum(self.counts("host"))

    def ask_each(self, hosts, source=None):
        """A request to each of these hosts, by host, all under way at once."""
        return {host: self.ask(request("/", host=host), source) for host in hosts}

    def expect_no_packet_lost(self):
        for reason in ("ring_full", "tx_full", "no_memory", "lost_head", "no_head_room"):
            self.assertEqual(self.reason(reason), 0, reason)

    def settled(self):
        asks = self.box.stats()["asks"]
        return asks == dict.fromkeys(asks, 0)

    def test_a_host_has_one_exact_limit_over_all_workers(self):
        self.apply_asked(by_host())
        sources = self.add_sources(SOURCES)

        def ask():
            for source in sources:
                self.ask(request("/", host="one.example"), source)
            return SOURCES
        asked = self.use_up("host", ask)
        self.assertEqual(self.counts("host"), (MOST, asked - MOST))
        self.assertEqual(len(self.server.seen), MOST)
        workers = self.box.workers()
        self.assertGreater(sum(worker["units"]["http_request"] > 0 for worker in workers), 1)
        self.assertGreater(sum(worker["ask_events"]["asked"] > 0 for worker in workers), 1)
        self.assertEqual(sum(worker["ask_events"]["answered"] > 0 for worker in workers), 1, "a key has one owner")
        wait_until("what was reserved to be settled", self.settled)
        self.assertGreaterEqual(self.asks("charged"), MOST)
        self.expect_no_packet_lost()

    def bystander(self):
        """A worker that neither receives from the ports nor has packets of the two hosts: it is an owner alone."""
        before = [worker["packets"] for worker in self.box.workers()]
        self.assertEqual(self.ask(request("/first", host="first.example")).answer(), "/first")
        after = [worker["packets"] for worker in self.box.workers()]
        return next(index for index in range(1, len(after)) if after[index] == before[index])

    def thread_of(self, worker):
        thread, = threads_named(self.box.dataplane, f"rte-worker-{self.box.workers()[worker]['lcore']}")
        return thread

    def wait_for_stall(self, worker):
        wait_until("the worker to be seen standing still", lambda: self.box.workers()[worker]["stalled_ms"] > 0)

    def answered(self, clients):
        for client in clients:
            self.assertEqual(client.answer(), "/")

    def test_an_owner_that_stands_still_is_waited_for_in_vain(self):
        hosts = [f"h{number}.example" for number in range(HOSTS)]
        self.apply_asked(by_host())
        thread = self.thread_of(worker := self.bystander())
        first = self.judged()
        with stopped(thread):
            self.wait_for_stall(worker)
            refused = self.reason("no_answer")
            clients = self.ask_each(hosts)
            wait_until("all to be judged", lambda: self.judged() == first + HOSTS)
            admitted, held_back = self.counts("host")
            self.assertEqual(self.reason("no_answer") - refused, held_back)
            self.assertGreater(held_back, 0)
            self.assertGreater(admitted, 1)
            self.assertEqual(self.asks("no_answer"), held_back)
            self.apply_asked(by_host("open"))
            opened = self.box.stats()["table"]["ask_open"]
            self.answered(self.ask_each(hosts).values())
            self.assertEqual(self.box.stats()["table"]["ask_open"] - opened, held_back)
        wait_until("it to go on", lambda: self.box.workers()[worker]["stalled_ms"] == 0)
        wait_until("what it promised to be given back", self.settled)
        self.assertEqual(self.asks("late"), 2 * held_back)
        self.expect_no_packet_lost()
        self.assertEqual(len(clients), HOSTS)

    def panic(self, on):
        status, text = self.box.api("POST", "/v1/panic", json.dumps({"pass": on}))
        self.assertEqual(status, 200, text)

    def host_of(self, hosts):
        """One whose owner stands still."""
        for host in hosts:
            refused, judged = self.reason("no_answer"), self.judged()
            self.ask(request("/", host=host))
            wait_until("the request to be judged", lambda: self.judged() > judged)
            if self.reason("no_answer") > refused:
                return host
        raise AssertionError("the worker owns no host")

    def panic_meanwhile(self, host):
        """Whether it came before the wait of the request was over."""
        refused = self.reason("no_answer")
        client = self.ask(request("/", host=host))
        waited = self.box.stats()["asks"]["waiting_packets"] > 0
        self.panic(True)
        self.answered([client])  # one that was refused before is sent again
        self.assertEqual(self.box.stats()["asks"]["waiting_packets"], 0)
        self.panic(False)
        return waited and self.reason("no_answer") == refused

    def test_panic_lets_go_of_packets_that_wait(self):
        self.apply_asked(by_host())
        thread = self.thread_of(worker := self.bystander())
        with stopped(thread):
            self.wait_for_stall(worker)
            host = self.host_of(f"h{number}.example" for number in range(HOSTS))
            self.assertTrue(any(self.panic_meanwhile(host) for _ in range(50)))
        wait_until("what was reserved to be settled", self.settled)
        self.assertEqual(self.ask(request("/last", host="last.example")).answer(), "/last")
        self.expect_no_packet_lost()


if __name__ == "__main__":
    workers_case.main()
