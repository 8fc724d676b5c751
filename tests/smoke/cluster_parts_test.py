"""What the tests of several boxes stand on, itself tested: the check that finds what was admitted beyond a promise, the
proxy that slows down and cuts, and the servers that are started and end.

    cluster_parts_test.py CLOCK_SHIM
"""
import pathlib
import socket
import socketserver
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
import exact_bucket  # noqa: E402
import stand_in_store  # noqa: E402
from exact_bucket import SECOND, Limit  # noqa: E402
from programs import dice, wait_until  # noqa: E402
from proxy import Proxy  # noqa: E402
from servers import Etcd, Place, Redis, RedisCluster, SentinelPair, SteppedClock  # noqa: E402

LIMIT = Limit(rate=100, burst=50, promised=12)


def exactly(count, begin=0, rate=100, key=1):
    """Frames at a rate, as (ns, key)."""
    return [(begin + number * SECOND // rate, key) for number in range(count)]


def bucket(*boxes, limit=LIMIT):
    return exact_bucket.check_bucket(exact_bucket.merged(*boxes), limit)


class ExactBucket(unittest.TestCase):
    def test_what_left_the_boxes_is_one_history_in_order_of_time(self):
        self.assertEqual(exact_bucket.merged([(3, 7), (5, 7)], [(4, 7)], []), [(3, 7, 0), (4, 7, 1), (5, 7, 0)])

    def test_the_burst_and_the_promise_are_admitted_at_once_and_not_one_more(self):
        most = LIMIT.burst + LIMIT.promised
        self.assertEqual(exact_bucket.refusals(bucket([(0, 1)] * most), LIMIT), [])
        refused = bucket([(0, 1)] * (most + 1))
        self.assertEqual(len(exact_bucket.refusals(refused, LIMIT)), 1)
        self.assertEqual(refused[1].worst, LIMIT.promised + 1)
        self.assertGreater(exact_bucket.worst_share(refused, LIMIT), 1.0)

    def test_three_boxes_that_share_nothing_are_found(self):
        each = [(0, 1)] * LIMIT.burst + exactly(500)
        self.assertEqual(exact_bucket.refusals(bucket(each), LIMIT), [])
        found = bucket(each, each, each)
        self.assertEqual(found[1].boxes, (550, 550, 550))
        self.assertEqual(len(exact_bucket.refusals(found, LIMIT)), 1)
        told = exact_bucket.history(exact_bucket.merged(each, each, each), found[1]).splitlines()
        self.assertEqual(len(told), 30)
        self.assertEqual(told[20].split(), ["+0.0", "s", "60", "60", "60"])

    def test_a_long_run_barely_above_the_rate_is_found(self):
        self.assertEqual(exact_bucket.refusals(bucket(exactly(10_000)), LIMIT), [])
        found = bucket(exactly(10_000, rate=101))
        self.assertEqual(len(exact_bucket.refusals(found, LIMIT)), 1)
        self.assertGreater(found[1].first_refused, 10 * SECOND)

    def test_a_violation_in_the_middle_of_a_random_course_is_found_and_only_of_its_key(self):
        draw = dice("a violation")
        for _ in range(3):
            boxes = [[], [], []]
            for key in (1, 2, 3):
                for at, _ in exactly(3000, rate=99):
                    boxes[draw.randrange(3)].append((at + draw.randrange(SECOND // 100), key))
            self.assertEqual(exact_bucket.refusals(bucket(*boxes), LIMIT), [])
            guilty, at = draw.randrange(1, 4), draw.randrange(30 * SECOND)
            for number in range(LIMIT.burst + LIMIT.promised + 2):
                boxes[number % 3].append((at + number, guilty))
            found = bucket(*boxes)
            self.assertEqual([key for key, one in found.items() if one.first_refused is not None], [guilty])

    def test_what_lies_between_verdict_and_wire_is_allowed_for_and_counted(self):
        limit = Limit(100, 50, 12, in_flight=32)
        found = bucket([(0, 1)] * 94, limit=limit)
        self.assertEqual(exact_bucket.refusals(found, limit), [])
        self.assertEqual(found[1].worst, 44)

    def test_windows_hold_their_count_and_the_promise(self):
        def windows(left):
            return exact_bucket.refusals(exact_bucket.check_windows(exact_bucket.merged(left), 100, SECOND, LIMIT), LIMIT)
        two = [(SECOND - 1, 1)] * 112 + [(SECOND, 1)] * 112
        self.assertEqual(windows(two), [])
        self.assertEqual(len(windows([*two, (SECOND, 1)])), 1)

    def test_liveness_is_of_what_could_have_been_admitted(self):
        def share(left, frames_a_second):
            offered = {1: [(second * SECOND, frames_a_second) for second in range(20)]}
            return exact_bucket.liveness(exact_bucket.merged(left), offered, LIMIT, 5 * SECOND, 15 * SECOND)[1]
        self.assertEqual(share(exactly(2000), 1000), 1.0)
        self.assertEqual(share(exactly(1000, rate=50), 1000), 0.5)
        self.assertEqual(share(exactly(1000, rate=50), 50), 1.0)

    def test_a_gap_of_the_worst_ten_seconds_is_seen(self):
        left = exactly(2000) + exactly(2000, begin=25 * SECOND)
        offered = {1: [(second * SECOND, 1000) for second in range(45)]}
        worst = exact_bucket.worst_liveness(exact_bucket.merged(left), offered, LIMIT, 0, 45 * SECOND)
        self.assertAlmostEqual(worst, 0.5, delta=0.02)


class Echo(socketserver.ThreadingTCPServer):
    """Says what it hears, and ends when the client does; `ended`: how many have."""
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self):
        owner, self.ended = self, 0

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    while data := self.request.recv(65536):
                        self.request.sendall(data)
                except OSError:
                    pass
                owner.ended += 1
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class ProxyCase(unittest.TestCase):
    def setUp(self):
        self.echo = Echo()
        self.addCleanup(self.echo.server_close)
        self.addCleanup(self.echo.shutdown)
        self.proxy = Proxy(self.echo.server_address)
        self.addCleanup(self.proxy.close)

    def client(self):
        client = socket.create_connection(self.proxy.address, 20)
        self.addCleanup(client.close)
        return client

    def echoed(self, client, data=b"x"):
        client.sendall(data)
        got = b""
        while len(got) < len(data):
            chunk = client.recv(65536)
            if not chunk:
                return None
            got += chunk
        return got

    def expect_the_end(self, client):
        try:
            self.assertEqual(client.recv(1), b"")
        except ConnectionError:
            pass

    def test_bytes_pass_whole_and_in_order_while_they_are_late(self):
        self.proxy.delay(0.01, 0.009)
        client = self.client()
        for size in (1, 100, 70_000):
            data = dice("bytes").randbytes(size)
            self.assertEqual(self.echoed(client, data), data)

    def test_a_delay_is_of_each_way(self):
        client = self.client()
        self.proxy.delay(0.05)
        begin = time.monotonic()
        self.echoed(client)
        self.assertGreaterEqual(time.monotonic() - begin, 0.1)

    def test_a_way_that_stalls_keeps_what_comes(self):
        for way in ("up", "down"):
            client = self.client()
            self.assertEqual(self.echoed(client), b"x")
            at_store = self.proxy.passed("up")
            self.proxy.stall([way])
            client.sendall(b"later")
            if way == "down":
                wait_until("the store to hear it", lambda: self.proxy.passed("up") == at_store + 5)
            client.settimeout(0.2)
            with self.assertRaises(TimeoutError):
                client.recv(10)
            client.settimeout(20)
            self.proxy.heal()
            self.assertEqual(client.recv(10), b"later")

    def test_a_cut_ends_both_ends_and_the_next_connection_passes(self):
        client = self.client()
        self.echoed(client)
        self.proxy.cut()
        self.expect_the_end(client)
        wait_until("the store to see it", lambda: self.echo.ended == 1)
        self.assertEqual(self.echoed(self.client()), b"x")

    def test_who_is_refused_is_not_passed_on_until_it_heals(self):
        self.proxy.refuse()
        client = self.client()
        self.expect_the_end(client)
        self.proxy.heal()
        self.assertEqual(self.echoed(self.client()), b"x")

    def test_half_open_the_store_has_ended_and_the_box_is_not_told(self):
        client = self.client()
        self.echoed(client)
        self.proxy.half_open()
        wait_until("the store to see it", lambda: self.echo.ended == 1)
        client.sendall(b"swallowed")
        client.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            client.recv(1)
        client.settimeout(20)
        self.proxy.heal()
        self.expect_the_end(client)
        self.assertEqual(self.echoed(self.client()), b"x")

    def test_throttled_it_takes_as_long_as_the_rate_says(self):
        client = self.client()
        self.proxy.throttle(100_000, ["up"])
        begin = time.monotonic()
        self.echoed(client, bytes(20_000))
        self.assertGreaterEqual(time.monotonic() - begin, 0.2)


class PlayedDataplane:
    """A store.sock, and what is said there."""

    def __init__(self, path):
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(str(path))
        self.listening.listen()
        self.link = None

    def meet(self, node, life):
        self.link = self.listening.accept()[0]
        self.input = self.link.makefile("rb")
        self.link.sendall(stand_in_store.hello_bytes(node, life))

    def told(self, seq, units, partition=3):
        """-> (outcome, last, levels) of a batch of one bucket that gives back a unit a day."""
        entry = (77, 0, stand_in_store.ADD, units, 86_400 * SECOND, 1, 0, 0, 0, 0, 0)
        self.link.sendall(stand_in_store.batch_bytes(stand_in_store.Batch(partition, seq, [entry])))
        while True:
            size = stand_in_store.HEAD.unpack(self.input.read(4))[0]
            data = self.input.read(size)
            if data[0] == stand_in_store.SAID_REPLY:
                _, _, outcome, last, _, _, count = stand_in_store.REPLY.unpack_from(data, 1)
                begin = 1 + stand_in_store.REPLY.size
                return outcome, last, [level for level, *_ in stand_in_store.LEVEL.iter_unpack(data[begin:])][:count]

    def close(self):
        if self.link is not None:
            self.input.close()
            self.link.close()
        self.listening.close()


class PlayedStore(unittest.TestCase):
    def test_two_boxes_add_to_one_level_and_each_batch_counts_once(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f"{name}.sock" for name in "ab"]
            a, b = boxes = [PlayedDataplane(path) for path in paths]
            store = stand_in_store.StandInStore(paths)
            self.addCleanup(store.close)
            for number, box in enumerate(boxes):
                self.addCleanup(box.close)
                box.meet(f"box{number}", 5)
            applied = stand_in_store.APPLIED
            self.assertEqual(a.told(1, 10), (applied, 1, [10]))
            self.assertEqual(b.told(1, 5), (applied, 1, [15]))
            self.assertEqual(a.told(1, 10), (applied, 1, [15]), "the same batch again")
            self.assertEqual(a.told(3, 10)[0], stand_in_store.GAP)
            self.assertEqual(a.told(2, 10), (applied, 2, [25]))
            store.lie = lambda batch, levels: [0]
            self.assertEqual(b.told(2, 1), (applied, 2, [0]))


class Servers(unittest.TestCase):
    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)

    def test_redis_alone_dies_and_comes_back_empty(self):
        redis = Redis(self.place)
        redis("SET", "a", "1")
        redis.server.stop()
        redis.server.go_on()
        self.assertEqual(redis("GET", "a"), b"1")
        redis.server.kill()
        redis.restart()
        self.assertIsNone(redis("GET", "a"))

    def test_a_clock_is_stepped_while_the_server_runs(self):
        clock = SteppedClock(self.place.folder, SHIM)
        redis = Redis(self.place, before=clock.before)
        for seconds in (0, 3600, -3600, 365 * 86400):
            clock.step(seconds)
            self.assertAlmostEqual(int(redis("TIME")[0]) - time.time(), seconds, delta=30)

    def test_a_replica_takes_over_when_its_primary_dies(self):
        pair = SentinelPair(self.place)
        first = pair.primary()
        self.assertEqual([redis.role() for redis in pair.redis], ["master", "slave"])
        first.server.kill()
        wait_until("the replica to be the primary", lambda: pair.primary_port() != first.port)
        wait_until("its role to be so", lambda: pair.primary().role() == "master")

    def test_a_cluster_has_three_primaries(self):
        self.assertEqual(len(RedisCluster(self.place).primaries()), 3)

    def test_of_three_members_of_etcd_another_leads_when_one_dies(self):
        etcd = Etcd(self.place, 3)
        first = etcd.leader()
        etcd.call(first, "/v3/kv/put", {"key": "YQ==", "value": "Yg=="})
        etcd.servers[first].kill()
        other = (first + 1) % 3
        wait_until("another leader", lambda: etcd.healthy(other))
        self.assertEqual(etcd.call(other, "/v3/kv/range", {"key": "YQ=="})["kvs"][0]["value"], "Yg==")

    def test_nothing_is_left_after_its_end(self):
        place = Place()
        redis, etcd = Redis(place), Etcd(place)
        processes = [server.process for server in (redis.server, *etcd.servers)]
        redis.server.stop()  # who stands still is ended all the same
        place.close()
        self.assertTrue(all(process.poll() is not None for process in processes))
        self.assertFalse(place.folder.exists())


if __name__ == "__main__":
    SHIM = sys.argv[1]
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
