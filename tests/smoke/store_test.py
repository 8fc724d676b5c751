"""sluice-store between a stand-in for the dataplane and a real redis-server: who may come in, what is said of a store
that cannot be used, and that nothing is lost or counted twice when it dies.

store_test.py SLUICE_STORE SLUICECTL
"""
import os
import pathlib
import signal
import sys
import time
import unittest

from store_box import APPLIED, FENCED, GAP, RIGHTS, SECRET_DIGEST, StoreCase, TestAuthority, free_port, until


class StoreTest(StoreCase):
    def setUp(self):
        super().setUp()
        self.redis = self.serve()

    def box(self, name="a", **options):
        return super().box(self.redis, name=name, **options)

    def test_function_is_missing_loaded_and_flushed(self):
        box = self.box()
        box.reaches("refused", "sluicectl store init")
        self.assertEqual(self.ctl("check", box).returncode, 1)
        done = self.ctl("init", box)
        self.assertEqual(done.returncode, 0, done)
        box.reaches("ready")
        self.assertEqual(self.ctl("check", box).returncode, 0)
        self.assertEqual(box.say(5)[1], 5)
        self.redis("FUNCTION", "FLUSH")
        box.reaches("refused", "sluicectl store init")
        self.ctl("init", box)
        box.reaches("ready")
        self.assertEqual(box.say(2)[1], 7)
        self.assertIn("1 of 2 slots are held, 1 keys", self.ctl("status", box).stdout)

    def test_amounts_survive_kills_and_are_counted_once(self):
        box = self.box()
        self.ctl("init", box)
        box.reaches("ready")
        first, level = box.say(5)
        self.assertEqual((first["outcome"], level), (APPLIED, 5))
        self.assertEqual(box.say(5, seq=1)[1], 5, "a retry is read")
        gap, _ = box.say(5, seq=9)
        self.assertEqual((gap["outcome"], gap["last"]), (GAP, 1))
        box.process.kill()
        box.process.wait()
        box.start()
        box.reaches("ready")
        self.assertEqual(box.say(5, seq=1)[1], 5, "by the next process too")
        self.redis.process.send_signal(signal.SIGSTOP)
        box.tell(4, seq=2)
        box.reaches("away")
        self.redis.process.send_signal(signal.SIGCONT)
        reply, level = box.reply()
        self.assertEqual((reply["seq"], level), (2, 9))
        self.redis.end()
        box.reaches("away")
        self.redis.start()
        self.ctl("init", box)
        box.reaches("ready")
        empty, _ = box.say(1, seq=3)
        self.assertEqual((empty["outcome"], empty["last"]), (GAP, 0))
        self.assertNotEqual(empty["born"], first["born"])

    def test_time_goes_on_while_no_process_is_there(self):
        box = self.box()
        self.ctl("init", box)
        box.reaches("ready")
        first, level = box.say(100, seconds=1)
        self.assertEqual(level, 100)

        def restarted(*clocks):
            box.process.kill()
            box.process.wait()
            box.start(clocks)
            box.reaches("ready")
            return box.say(1, seconds=1)

        told, level = restarted()
        self.assertEqual(level, 101, "of a clock that nobody knows nothing is paid back")
        later_us = told["now"] - time.monotonic_ns() // 1000 + 20 * 10**6
        _, level = restarted((3, first["born"], later_us))
        self.assertLessEqual(level, 82)
        self.assertGreater(level, 0)

    def test_names_sizes_and_the_last_slot(self):
        box = self.box()
        self.ctl("init", box)
        box.reaches("ready")
        other = self.box("b", life=2)
        other.reaches("ready")
        self.box("c", life=3).reaches("fenced", "all 2 slots")
        self.box("d", size=3, life=4).reaches("fenced", "size 2")
        box.say(1)
        self.assertEqual(self.ctl("forget", box, "b").returncode, 0)

    def test_a_name_is_the_first_boxs_while_it_is_there(self):
        box = self.box()
        self.init(box)
        box.reaches("ready")
        box.say(1)
        twin = self.box(where="twin", life=5)
        twin.reaches("fenced", "another box is called a, and joined first")
        self.assertEqual(twin.say(1)[0]["outcome"], FENCED)
        self.assertEqual(box.say(1)[1], 2)
        box.link.close()  # its dataplane has ended, so that the name is free at once
        twin.reaches("ready")
        box.meet()
        box.reaches("fenced", "another box has joined as a")
        self.assertEqual(twin.say(1, seq=1)[1], 3)
        twin.end()
        third = self.box(where="third", life=6)
        third.reaches("fenced", "joined first")
        self.redis("EVAL", "local h = cmsgpack.unpack(redis.call('HGET', KEYS[1], 's0')) h.seen = h.seen - 6000000 "
                   "return redis.call('HSET', KEYS[1], 's0', cmsgpack.pack(h))", "1", "sluice:{edge:roster}")
        third.reaches("ready")

    def test_boxes_have_one_secret(self):
        box = self.box()
        self.init(box)
        box.reaches("ready")
        other = self.box("b", life=2, secret=SECRET_DIGEST + 1)
        other.reaches("fenced", "another secret", "store rekey")
        self.assertEqual(other.say(1)[0]["outcome"], FENCED)
        self.assertEqual(self.ctl("check", box).returncode, 0)
        (other.folder / "secret").write_text("0" * 32 + "\n")
        self.assertIn("another secret", self.ctl("check", other).stderr)
        rekeyed = self.ctl("rekey", other)
        self.assertEqual(rekeyed.returncode, 0, rekeyed)
        box.reaches("fenced", "another secret")
        self.assertEqual(self.ctl("rekey", box).returncode, 0)
        box.reaches("ready")
        self.assertEqual(box.say(5)[1], 5)

    def test_one_partition_that_cannot_be_used_ends_no_connection(self):
        box = self.box()
        self.init(box)
        self.redis("SET", "sluice:{edge:03}", "somebody's")
        box.reaches("refused", "1 of 64 partitions cannot be used; 3: ", "WRONGTYPE")
        checked = self.ctl("check", box)
        self.assertEqual(checked.returncode, 1)
        self.assertIn("partition 3: ", checked.stderr)
        box.send(box.batch(5, partition=3), box.batch(4, partition=4))
        reply, level = box.reply()
        self.assertEqual((reply["partition"], level), (4, 4), "others are answered")
        dialled = self.dialled()
        self.redis("HSET", "sluice:{edge:05}", "b", "short")
        box.tell(1, partition=5)
        box.reaches("refused", "2 of 64 partitions")
        self.redis("DEL", "sluice:{edge:03}", "sluice:{edge:05}")
        self.assertEqual({box.reply()[0]["partition"] for _ in range(2)}, {3, 5})
        box.reaches("ready")
        self.assertEqual(self.dialled(), dialled + 3, "by redis-cli alone")

    def dialled(self):
        return int(self.redis("INFO", "stats").split("total_connections_received:")[1].split()[0])

    def test_rights(self):
        (pathlib.Path(self.folder.name) / "password").write_text("right\n")
        self.redis("ACL", "SETUSER", "sluice", "reset", "on", ">right", "~sluice:{edge:*", *RIGHTS)
        box = self.box(store={"user": "sluice", "password_file": f"{self.folder.name}/password"})
        self.assertEqual(self.ctl("init", box).returncode, 1, "no box loads functions")
        admin = self.box("admin", life=9)
        self.assertIn("--user comes with --password-file", self.ctl("init", admin, "--user", "nosuch").stderr)
        self.ctl("init", admin)
        box.reaches("ready")
        self.assertEqual(box.say(3)[1], 3)
        # The function has its caller's rights, no others.
        self.redis("ACL", "SETUSER", "sluice", "-hset")
        box.reaches("refused", "rights")
        self.redis("ACL", "SETUSER", "sluice", "+hset", "resetpass", ">other")
        self.redis("CLIENT", "KILL", "TYPE", "normal")
        box.reaches("refused", "no such user and password")

    def test_stores_that_cannot_be_used(self):
        box = self.box()
        self.ctl("init", box)
        box.reaches("ready")
        self.redis("CONFIG", "SET", "maxmemory", "100mb")
        self.redis("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        box.reaches("refused", "noeviction")
        self.redis("CONFIG", "SET", "maxmemory-policy", "noeviction")
        box.reaches("ready")
        self.redis("CONFIG", "SET", "maxmemory", "1mb")
        box.reaches("refused", "no memory left")
        self.redis("CONFIG", "SET", "maxmemory", "0")
        box.reaches("ready")
        self.redis("REPLICAOF", "127.0.0.1", "1")
        box.reaches("away", "replica")
        self.redis("REPLICAOF", "NO", "ONE")
        box.reaches("ready")

    def test_each_birth_of_a_partition_is_another(self):
        box = self.box()
        self.init(box)
        box.reaches("ready")
        born = {box.say(5)[0]["born"]}
        for _ in range(2):
            self.redis("FLUSHALL")
            lost, _ = box.say(5, seq=2)
            self.assertEqual((lost["outcome"], lost["last"]), (GAP, 0))
            born.add(lost["born"])
        self.assertEqual(len(born), 3)

    def test_one_wait_is_of_all_that_was_said_before_it(self):
        replica = self.serve("--replicaof", "127.0.0.1", str(self.redis.port))
        self.redis.has_a_replica()
        box = self.box(durability="replica")
        self.init(box)
        box.reaches("ready")
        box.send(*(box.batch(5, partition=partition) for partition in range(16)))
        self.assertEqual([box.reply()[1] for _ in range(16)], [5] * 16)
        calls = self.redis("INFO", "commandstats").split("cmdstat_wait:calls=")[1].split(",")[0]
        self.assertLess(int(calls), 16, "fewer than batches")
        replica.process.send_signal(signal.SIGSTOP)
        box.tell(2)
        until(lambda: int(self.redis("FCALL_RO", "sl1_status", "1", "sluice:{edge:03}").split()[-1]) == 2, "it is charged")
        replica.process.send_signal(signal.SIGCONT)
        reply, level = box.reply()
        self.assertEqual((reply["outcome"], level), (APPLIED, 7))
        replica.end()
        box.reaches("away", "no replica")

    def test_two_addresses_of_primaries(self):
        other = self.serve()
        box = super().box(self.redis, other)
        self.init(box)
        box.reaches("ready")
        self.assertEqual(box.say(5)[1], 5)
        self.redis("CLIENT", "KILL", "TYPE", "normal")
        box.reaches("ready")
        self.assertEqual(box.say(2)[1], 7, "the first address is dialled first")
        done = self.ctl("check", box)
        self.assertEqual(done.returncode, 1)
        self.assertIn("both primaries", done.stderr)
        other("REPLICAOF", "127.0.0.1", str(self.redis.port))
        self.assertEqual(self.ctl("check", box).returncode, 0)

    def test_a_store_without_functions_has_the_script(self):
        old = self.serve("--rename-command", "FUNCTION", "", "--rename-command", "FCALL", "")
        box = super().box(old)
        box.reaches("refused", "script", "store init")
        self.assertIn("script", self.init(box))
        box.reaches("ready")
        self.assertEqual(box.say(5)[1], 5)
        self.assertEqual(self.ctl("check", box).returncode, 0)
        old("SCRIPT", "FLUSH")
        box.reaches("refused", "script", "store init")
        self.init(box)
        box.reaches("ready")
        self.assertEqual(box.say(2)[1], 7)
        self.assertIn("1 of 2 slots are held, 1 keys", self.ctl("status", box).stdout)
        # Neither EVAL nor SCRIPT nor FUNCTION is a box's.
        (pathlib.Path(self.folder.name) / "password").write_text("right\n")
        old("ACL", "SETUSER", "sluice", "reset", "on", ">right", "~sluice:{edge:*", *RIGHTS, "-fcall", "+evalsha")
        other = super().box(old, name="b", life=2, store={"user": "sluice",
                                                          "password_file": f"{self.folder.name}/password"})
        other.reaches("ready")
        self.assertEqual(other.say(1)[1], 8)


class Tls(StoreCase):
    def setUp(self):
        super().setUp()
        self.authority = TestAuthority(self.folder.name)
        self.port = free_port()
        self.certificate = self.authority.certify("redis.test")
        self.redis = self.serve("--tls-port", str(self.port), *self.certificate, "--tls-replication", "yes")

    def box(self, name="a", ca=None, server="redis.test", **store):
        tls = {"ca_file": ca or self.authority.file, "server_name": server}
        return super().box(name=name, life=ord(name), store={"addresses": [f"127.0.0.1:{self.port}"], "tls": tls, **store},
                           size=9, durability="replica")

    def test_the_store_and_its_replica_over_tls(self):
        self.serve("--replicaof", "127.0.0.1", str(self.port), "--tls-replication", "yes", *self.certificate)
        self.redis.has_a_replica()
        (pathlib.Path(self.folder.name) / "password").write_text("right\n")
        (pathlib.Path(self.folder.name) / "wrong").write_text("wrong\n")
        self.redis("ACL", "SETUSER", "sluice", "reset", "on", ">right", "~sluice:{edge:*", *RIGHTS)
        box = self.box(user="sluice", password_file=f"{self.folder.name}/password")
        box.reaches("refused", "store init")
        self.assertEqual(self.ctl("init", box).returncode, 1)
        admin = self.box("b")
        self.init(admin)
        box.reaches("ready")
        self.assertEqual(box.say(5)[1], 5)
        self.assertEqual(self.ctl("check", box).returncode, 0)
        self.box("c", user="sluice", password_file=f"{self.folder.name}/wrong").reaches("refused", "no such user and password")
        self.redis("ACL", "SETUSER", "sluice", "~sluice:{other:*", "resetkeys")
        box.reaches("refused", "rights")

    def test_certificates_that_do_not_hold(self):
        other = TestAuthority(self.folder.name, "other")
        box = self.box(ca=other.file)
        box.reaches("away", "its certificate is refused")
        self.assertIn("its certificate is refused", self.ctl("check", box).stderr)
        self.box("b", server="other.test").reaches("away", "certificate", "mismatch")
        old = [word.removeprefix("--") for word in self.authority.certify("redis.test", days=-1)[:4]]
        self.assertEqual(self.redis("CONFIG", "SET", *old), "OK")
        self.box("c").reaches("away", "certificate has expired")


if __name__ == "__main__":
    StoreCase.store, StoreCase.ctl_program = (os.path.abspath(program) for program in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
