"""How the peers of the box are measured, over sides that nobody started.

    peers_test.py
"""
import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/lib/bench"), str(ROOT / "scripts/lib/lab")]
import box  # noqa: E402
import commands  # noqa: E402
import forwarders  # noqa: E402
import line_program  # noqa: E402
import peer_dpdk  # noqa: E402
import peer_kernel  # noqa: E402
import peer_limits  # noqa: E402
import peers  # noqa: E402
import reload_loss  # noqa: E402
import rows  # noqa: E402

FRAMES_A_SECOND = 4_000_000
SHARE = 0.5  # of a core that its worker has
COUNTS_TAKE, TIMES_TAKE = 0.2, 0.1


class Side:
    """Forwards at one rate under a clock of its own, in which reading its counts takes long."""
    NAME = "a side"

    def __init__(self, begun_at=100.0, core_from=0.0):
        """Its worker has no core before `core_from`."""
        self.now, self.core_from = begun_at, core_from

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def counts(self):
        self.now += COUNTS_TAKE
        return {"at": self.now, "seen": round(FRAMES_A_SECOND * self.since_it_has_a_core())}

    def times(self, _):
        self.now += TIMES_TAKE
        return {"main": 5_000_000, "worker": round(1e9 * SHARE * self.since_it_has_a_core())}

    def since_it_has_a_core(self):
        return max(0.0, self.now - self.core_from)

    def pid(self):
        return 1

    @contextlib.contextmanager
    def clock(self):
        with unittest.mock.patch.object(peer_dpdk, "time", self), \
                unittest.mock.patch.object(peer_dpdk, "thread_times", self.times):
            yield


class Starting:
    """A program whose socket is there after so many seconds of a clock of its own, if it lives as long."""

    def __init__(self, socket, socket_after, lives=float("inf")):
        self.socket, self.socket_after, self.lives, self.now = socket, socket_after, lives, 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        if self.now >= self.socket_after:
            self.socket.touch()

    def running(self):
        return self.now < self.lives

    def complain(self, problem):
        raise commands.LabError(problem)


class StartOfTheBox(unittest.TestCase):
    def seconds_until_it_is_there(self, socket_after, **more):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ):
            started = box.Box(unittest.mock.Mock(), pathlib.Path(folder))
            program = Starting(pathlib.Path(folder) / "a.sock", socket_after, **more)
            started.processes = [program]
            with unittest.mock.patch.object(box, "time", program):
                started.wait_for("a.sock")
            return program.now

    def test_it_has_as_long_as_testpmd_to_fill_its_buffers(self):
        self.assertAlmostEqual(self.seconds_until_it_is_there(forwarders.START_SECONDS - 1), 119, delta=0.1)

    def test_one_without_a_socket_by_then_is_told(self):
        with self.assertRaisesRegex(commands.LabError, "made no socket within 120 s"):
            self.seconds_until_it_is_there(121)

    def test_one_that_ends_is_not_waited_for(self):
        with self.assertRaisesRegex(commands.LabError, "ended while it started"):
            self.seconds_until_it_is_there(60, lives=1)


class PerCpuSecond(unittest.TestCase):
    def test_what_it_takes_to_read_the_counts_is_no_part_of_the_figure(self):
        side = Side()
        with side.clock():
            figure = peer_dpdk.per_cpu_second(side, 0.5)
        self.assertAlmostEqual(figure, FRAMES_A_SECOND / SHARE / 1e6, places=3)

    def test_a_worker_that_others_keep_from_its_core_is_waited_for(self):
        side = Side(begun_at=100.0, core_from=110.0)
        with side.clock():
            figure = peer_dpdk.per_cpu_second(side, 0.5)
        self.assertGreater(side.now, 110.0)
        self.assertAlmostEqual(figure, FRAMES_A_SECOND / SHARE / 1e6, delta=FRAMES_A_SECOND / SHARE / 1e6 * 0.5)

    def test_a_worker_that_never_has_a_core_has_no_figure(self):
        side = Side(begun_at=100.0, core_from=1000.0)
        with side.clock(), self.assertRaisesRegex(rows.BenchError, "others have the core: the worker of a side had it for 0.000 s"):
            peer_dpdk.per_cpu_second(side, 0.5)

    def test_frames_are_waited_for_that_come_after_the_wait_begins(self):
        side = Side()
        with side.clock():
            peer_dpdk.wait_for_frames(side, FRAMES_A_SECOND)
        self.assertGreaterEqual(side.now, 101.0)


class Resident(unittest.TestCase):
    def test_the_second_port_sends_the_residents_frames_alone(self):
        first, second = peer_dpdk.with_resident(16, 8, 7)
        self.assertEqual(first, [None] * 7 + [peer_dpdk.RESIDENT])
        self.assertEqual(len(set(second)), 16)
        self.assertNotIn(peer_dpdk.RESIDENT, second)

    def test_the_box_has_one_rule_for_all(self):
        self.assertEqual(peer_dpdk.RULES.count("- id:"), 1)
        self.assertNotIn("11.0.0.1", peer_dpdk.RULES)

    def test_who_offers_less_than_the_limit_is_held_to_what_it_offers(self):
        rate = peer_limits.HELD[0]
        gain = {"at": 10.0, "resident_seen": 2 * rate, "resident_admitted": rate,
                "admitted": rate + peer_limits.FLOOD * rate * 10}
        self.assertEqual(peer_limits.held_back(gain, peer_limits.FLOOD * rate * 100), (-0.5, 0.0))

    def test_the_kernels_rules_count_it_only_where_it_is_watched(self):
        for watches in (False, True):
            nft = peer_kernel.Nftables("program", "name", 8, watches)
            hashlimit = peer_kernel.Hashlimit("program", "name", 8, watches)
            with unittest.mock.patch.object(hashlimit, "inside") as inside:
                hashlimit.set_up((1, 1))
            for text in nft.rules((1, 1)), inside.call_args.kwargs["text"]:
                self.assertEqual(peer_kernel.RESIDENT in text, watches)


class Rows(unittest.TestCase):
    def test_a_quick_run_has_the_sources_of_the_bars(self):
        self.assertIn(peers.SIZE_OF_BARS, peers.QUICK_SIZES)
        self.assertLess(len(peers.QUICK_SIZES), len(peers.SIZES))

    def test_every_figure_of_e1_is_a_point_of_the_plot(self):
        class Bench:
            quick = False
        names = [peers.OURS, "dpdk-testpmd mac", "nftables dynamic set"]
        medians = {name: rows.Median([5.0 - place] * 5) for place, name in enumerate(names)}
        with unittest.mock.patch.object(peers, "medians_of", lambda *_: medians), contextlib.redirect_stderr(io.StringIO()):
            measured = list(peers.packets_a_second(Bench, ["E1"]))
        self.assertEqual([(row["plot"], row["x"], row["series"]) for row in measured],
                         [("peers", 1 << power, peers.OURS) for power in peers.SIZES for _ in names[1:]])
        self.assertEqual([row["bar"] for row in measured], [None, None, None, None, None, 10])
        self.assertEqual({len(row["rounds"]) for row in measured}, {5})


class ReloadLoss(unittest.TestCase):
    class Bench:
        quick, rounds = True, 5

    def rows_of(self, lost):
        """`lost(name, what, round)` of each stretch."""
        self.asked = []

        def measured(_, kind, what, stretch=None):
            self.asked.append((kind.NAME, what, stretch))
            counts = dict.fromkeys(("sent", "received", "dropped", "skipped", "seconds"), 0)
            number = lost(kind.NAME, what, (len(self.asked) - 1) // (4 * len(reload_loss.SIDES)))
            return reload_loss.Loss({**counts, "lost": number}, {}, stretch or len(self.asked))
        with unittest.mock.patch.object(reload_loss, "lost", measured), \
                unittest.mock.patch.object(reload_loss, "may_make_namespaces", lambda _: None), \
                contextlib.redirect_stderr(io.StringIO()):
            return list(reload_loss.losses(self.Bench, ["E7"]))

    def test_the_box_is_beside_its_undisturbed_stretch_and_the_peers(self):
        found = self.rows_of(lambda name, what, number: number if (name, what) == (reload_loss.OURS, reload_loss.SAME) else 7)
        self.assertEqual(len(found), 2 * 7)
        self.assertEqual(found[0]["reference"], f"{reload_loss.OURS}, undisturbed")
        self.assertEqual((found[0]["value"], found[0]["rounds"], found[0]["reference_value"]), (2, [0, 1, 2, 3, 4], 7))
        self.assertEqual([(name, what) for name, what, _ in self.asked[:5]],
                         [(reload_loss.OURS, reload_loss.SAME), (reload_loss.OURS, "undisturbed"),
                          (reload_loss.OURS, reload_loss.CHANGED), (reload_loss.OURS, "undisturbed"),
                          ("XDP, LRU hash map", reload_loss.SAME)])
        self.assertEqual({row["ratio"] for row in found}, {None})

    def test_an_undisturbed_stretch_lasts_as_long_as_the_one_before_it_took(self):
        found = self.rows_of(lambda *_: 0)
        self.assertEqual([stretch for _, __, stretch in self.asked[:6]], [None, 1, None, 3, None, 5])
        self.assertEqual([counts["stretch"] for counts in found[0]["counts"]], [1, 17, 33, 49, 65])

    def test_a_slow_reload_lengthens_its_stretch(self):
        now = [0.0]

        def pass_by(seconds):
            now[0] += seconds
        took = iter((0.0, 1.0, 0.0))
        side = unittest.mock.Mock(reload=lambda _: pass_by(next(took)))
        with unittest.mock.patch.object(reload_loss, "time", unittest.mock.Mock(monotonic=lambda: now[0], sleep=pass_by)):
            self.assertAlmostEqual(reload_loss.disturb(side, reload_loss.SAME, 3), reload_loss.EVERY + 1)

    def test_one_lost_packet_misses_the_bar(self):
        self.assertEqual({rows.meets(row) for row in self.rows_of(lambda *_: 0)}, {True})
        self.assertEqual({rows.meets(row) for row in self.rows_of(lambda *_: 1)}, {False})

    def test_other_rules_differ_each_time_and_the_same_do_not(self):
        for what, limits in (reload_loss.SAME, 1), (reload_loss.CHANGED, 2):
            self.assertEqual(len({reload_loss.limits_of(what, number) for number in range(1, 6)}), limits)
        for number in range(1, 6):
            limits = [reload_loss.limits_of(reload_loss.CHANGED, one) for one in (number, number + 1)]
            self.assertNotEqual(*limits)

    def test_a_sender_that_cannot_begin_is_an_error_in_words(self):
        with tempfile.TemporaryDirectory() as name:
            sender = reload_loss.Sender(["sh", "-c", "echo why >&2; exit 3"], pathlib.Path(name))
            with contextlib.closing(reload_loss.Stoppable(sender)), self.assertRaisesRegex(rows.BenchError, "why"):
                sender.process.wait()
                reload_loss.wait_until_seen(unittest.mock.Mock(NAME="a side", seen=lambda: 0), sender)


class Programs(unittest.TestCase):
    def test_one_that_does_not_begin_is_an_error_and_is_ended(self):
        started = []
        popen = line_program.subprocess.Popen

        def start(*words, **options):
            started.append(popen(*words, **options))
            return started[0]
        with unittest.mock.patch.object(line_program.subprocess, "Popen", start), self.assertRaises(rows.BenchError):
            line_program.LineProgram("sh", ["sh", "-c", "echo no"])
        self.assertIsNotNone(started[0].returncode)

    def test_one_that_ends_is_an_error_and_may_be_stopped(self):
        program = line_program.LineProgram("sh", ["sh", "-c", "echo ready"])
        program.process.wait()
        with self.assertRaises(rows.BenchError):
            program.do("counts")
        program.stop()

    def test_one_that_does_not_end_is_killed(self):
        with unittest.mock.patch.object(line_program, "STOP_SECONDS", 0.1):
            program = line_program.LineProgram("sh", ["sh", "-c", "echo ready; exec sleep 60"])
            program.stop()
        self.assertEqual(program.process.returncode, -9)


if __name__ == "__main__":
    unittest.main()
