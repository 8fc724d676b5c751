"""sluice-store where primaries change: Sentinel, which names another one, and a Redis Cluster, whose partitions lie at
several and move.

cluster_stores_test.py SLUICE_STORE SLUICECTL
"""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
from resp import RespError  # noqa: E402
from servers import Place, RedisCluster, SentinelPair  # noqa: E402
from store_box import APPLIED, GAP, RIGHTS, StoreCase, until  # noqa: E402

PARTITIONS = 256


class PlaceCase(StoreCase):
    def setUp(self):
        super().setUp()
        self.place = Place()
        self.addCleanup(self.place.close)


class Sentinels(PlaceCase):
    def setUp(self):
        super().setUp()
        self.pair = SentinelPair(self.place, "--repl-diskless-sync-delay", "0", down_after_ms=500)
        self.addresses = [f"{host}:{port}" for host, port in self.pair.addresses()]

    def box(self, **options):
        store = {"sentinel": self.pair.NAME, "addresses": self.addresses}
        return super().box(store=store, **options)

    def replicas_of(self, redis):
        with redis.client() as client:
            return sum("state=online" in value for value in client.info("replication").values())

    def test_a_replica_takes_over_with_all_that_was_confirmed(self):
        box = self.box(durability="replica")
        self.init(box)
        box.reaches("ready")
        first = self.pair.primary()
        for units in (5, 2):
            self.assertEqual(box.say(units)[0]["outcome"], APPLIED)
        # A sentinel that does not answer is not waited for.
        self.pair.sentinels[0][1].kill()
        first.server.kill()
        box.reaches("away")
        until(lambda: self.primary_now() != first.port, "a fail-over")
        first.server.start()  # empty, and told to be a replica: one has to confirm
        box.reaches("ready")
        after, level = box.say(1)
        self.assertEqual((after["outcome"], level), (APPLIED, 8))
        self.assertEqual(self.ctl("check", box).returncode, 0)

    def primary_now(self):
        return int(self.pair.ask(self.pair.sentinels[1][0], "SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.pair.NAME)[1])

    def test_a_replica_that_lacks_amounts_says_which(self):
        box = self.box()
        self.init(box)
        box.reaches("ready")
        first = self.pair.primary()
        box.say(5)
        until(lambda: first.role() == "master" and self.replicas_of(first) == 1, "a replica follows")
        first("WAIT", 1, 0)
        with first.client() as admin:  # which the password that comes now does not lock out
            admin("CONFIG", "SET", "requirepass", "none of the replica's")
            admin("CLIENT", "KILL", "TYPE", "replica")
            until(lambda: admin("ROLE")[2] == [], "the replica is cut off")
            lost, level = box.say(2)
            self.assertEqual((lost["outcome"], level), (APPLIED, 7))
        first.server.kill()
        box.reaches("away")
        box.reaches("ready")
        gap, _ = box.say(1)
        self.assertEqual((gap["outcome"], gap["last"], gap["born"]), (GAP, 1, lost["born"]))
        self.assertEqual(box.say(2, seq=2)[1], 7)

    def test_a_primary_that_is_one_no_more_is_left(self):
        admin = self.box(name="admin", life=9)
        admin.reaches("refused", "store init")
        self.init(admin)
        for redis in self.pair.redis:
            redis("ACL", "SETUSER", "sluice", "reset", "on", ">right", "~sluice:{edge:*", *RIGHTS)
        (pathlib.Path(self.folder.name) / "password").write_text("right\n")
        # The sentinels know neither the user nor a password.
        box = StoreCase.box(self, store={"sentinel": self.pair.NAME, "addresses": self.addresses, "user": "sluice",
                                         "password_file": f"{self.folder.name}/password"})
        box.reaches("ready")
        self.assertEqual(box.say(5)[1], 5)
        first = self.pair.primary()
        self.pair.ask(self.pair.sentinels[0][0], "SENTINEL", "FAILOVER", self.pair.NAME)
        until(lambda: self.pair.primary_port() != first.port, "another primary")
        until(lambda: box.say(1, seq=2)[1] == 6 and self.pair.primary()("FCALL", "sl1_status", 1, "sluice:{edge:03}")[6][2] == 2,
              "the new primary is told")

    def test_names_and_servers_that_are_none(self):
        box = StoreCase.box(self, store={"sentinel": "other", "addresses": self.addresses})
        box.reaches("refused", "knows no primary other")
        self.assertEqual(self.ctl("check", box).returncode, 1)
        plain = StoreCase.box(self, self.pair.redis[0], name="b", store={"sentinel": "store"})
        plain.reaches("refused", "no sentinel")


class ClusterCase(PlaceCase):
    replicas = 0

    def setUp(self):
        super().setUp()
        self.cluster = RedisCluster(self.place, "--repl-diskless-sync-delay", "0", replicas=self.replicas)

    def box(self, **options):
        return super().box(self.cluster.redis[1], store={"cluster_mode": True}, **options)

    def key(self, partition):
        return f"sluice:{{edge:{partition:02}}}"

    def say_all(self, box, units):
        """In every partition at once. -> the levels"""
        for partition in range(PARTITIONS):
            box.tell(units, partition=partition)
        return {reply["partition"]: level for reply, level in (box.reply() for _ in range(PARTITIONS))}


class Cluster(ClusterCase):
    def test_partitions_lie_at_all_primaries(self):
        box = self.box()
        box.reaches("refused", "store init")
        self.assertEqual(self.init(box).count("function sl1"), 3)
        box.reaches("ready")
        self.assertEqual(self.say_all(box, 5), dict.fromkeys(range(PARTITIONS), 5))
        self.assertEqual(self.say_all(box, 2), dict.fromkeys(range(PARTITIONS), 7))
        self.assertTrue(all(redis("DBSIZE") > PARTITIONS // 6 for redis in self.cluster.redis))
        self.assertEqual(self.ctl("check", box).returncode, 0)
        self.assertIn(f"1 of 2 slots are held, {PARTITIONS} keys", self.ctl("status", box).stdout)
        slot = self.cluster.slot_of(self.key(3))
        for redis in self.cluster.redis:
            redis("CONFIG", "SET", "cluster-require-full-coverage", "no")
        for redis in self.cluster.redis:
            redis("CLUSTER", "DELSLOTS", slot)
        box.reaches("away", f"no node of the Redis Cluster has the slots of 1 of {PARTITIONS} partitions")

    def test_a_slot_moves(self):
        """With the rights that sluice-store(8) lists, and no others."""
        self.init(self.box(name="admin", life=9))
        for redis in self.cluster.redis:
            redis("ACL", "SETUSER", "sluice", "reset", "on", ">right", "~sluice:{edge:*", *RIGHTS, "+cluster|slots", "+asking")
        (pathlib.Path(self.folder.name) / "password").write_text("right\n")
        box = StoreCase.box(self, self.cluster.redis[1], store={
            "cluster_mode": True, "user": "sluice", "password_file": f"{self.folder.name}/password"})
        box.reaches("ready")
        self.assertEqual(box.say(5)[1], 5)
        slot, source = self.cluster.slot_of(self.key(3)), self.cluster.primary_of(self.key(3))
        target = next(redis for redis in self.cluster.redis if redis is not source)
        ids = {redis: redis("CLUSTER", "MYID").decode() for redis in self.cluster.redis}
        target("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source])
        source("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target])
        self.assertEqual(box.say(1)[1], 6)
        source("MIGRATE", *target.address, self.key(3), 0, 5000)
        self.assertEqual(box.say(1)[1], 7, "asked of the target for once")
        for redis in (target, source, *self.cluster.redis):
            redis("CLUSTER", "SETSLOT", slot, "NODE", ids[target])
        self.assertEqual(box.say(1)[1], 8, "moved for good")
        self.assertEqual(box.say(1)[1], 9)

    def test_a_primary_dies_and_comes_back_empty(self):
        box = self.box()
        self.init(box)
        box.reaches("ready")
        self.say_all(box, 5)
        dead = self.cluster.primary_of(self.key(3))
        other = next(number for number in range(PARTITIONS) if self.cluster.primary_of(self.key(number)) is not dead)
        dead.server.kill()
        box.reaches("away", str(dead.port))
        dead.restart()
        until(lambda: all(self.cluster.is_whole(redis) for redis in self.cluster.redis), "the cluster is whole")
        box.reaches("refused", "store init")
        self.init(box)
        box.reaches("ready")
        self.assertEqual(box.say(1, partition=other)[1], 6)
        gap, _ = box.say(1)
        self.assertEqual((gap["outcome"], gap["last"]), (GAP, 0))

    def test_a_plain_redis_is_none_and_a_node_is_no_plain_redis(self):
        plain = StoreCase.box(self, self.serve(), store={"cluster_mode": True})
        plain.reaches("refused", "no node of a Redis Cluster")
        node = StoreCase.box(self, self.cluster.redis[0], name="b")
        for redis in self.cluster.redis:
            try:
                redis("FUNCTION", "FLUSH")
            except RespError:
                pass
        node.reaches("refused", "cluster_mode")


class ClusterWithReplicas(ClusterCase):
    replicas = 1

    def test_a_replica_takes_over_with_all_that_was_confirmed(self):
        box = self.box(durability="replica")
        self.init(box)
        box.reaches("ready")
        self.assertEqual(self.say_all(box, 5), dict.fromkeys(range(PARTITIONS), 5))
        dead = self.cluster.primary_of(self.key(3))
        others = [redis for redis in self.cluster.redis if redis is not dead]
        dead.server.kill()
        box.reaches("away", str(dead.port))
        until(lambda: sum(redis.role() == "master" for redis in others) == 3, "its replica is a primary")
        dead.restart()  # empty, and the replica of who took over: one has to confirm
        box.reaches("ready")
        self.assertEqual(self.say_all(box, 2), dict.fromkeys(range(PARTITIONS), 7))


if __name__ == "__main__":
    StoreCase.store, StoreCase.ctl_program = (os.path.abspath(program) for program in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
