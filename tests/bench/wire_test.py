"""What W1 to W7 make of their rounds, without a program that is measured: no round is left out, nothing is left behind.

    wire_test.py
"""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/lib/bench"), str(ROOT / "scripts/lib/lab")]
import forwarders  # noqa: E402
import forwarding  # noqa: E402
import pktgen  # noqa: E402
import report_plot  # noqa: E402
import rows  # noqa: E402
import testpmd_sends  # noqa: E402
import wire  # noqa: E402

ROUNDS = 5


def delay(share, met_pauses=0):
    return {"share": share, "met_pauses": met_pauses,
            "delay_us": {"frames": 1000, "p50": 10 * share, "p99": 100 * share, "p99_9": 1000 * share}}


def search(rate=1e6, delays=()):
    return {"throughput_pps": rate, "probed": True, "delays": list(delays),
            "trials": [{"result": "passed" if rate else "lost", "refused_bursts": 2}],
            "received_pps": rate, "sent": 10, "received": 9, "refused_bursts": 1}


class Rounds(unittest.TestCase):
    def setUp(self):
        self.bench = forwarding.Bench(None, pathlib.Path("build"), forwarding.Effort(0.1, ROUNDS, True), pathlib.Path("r.yaml"))
        silent = mock.patch.object(rows, "note")
        silent.start()
        self.addCleanup(silent.stop)

    def rows_of(self, name, answers):
        """The rows where sluice-pktgen says these of the rounds, in turn."""
        answers = iter(answers)
        self.asked, self.rings = [], set()

        def measured(_, device, words, queues=1, rings=pktgen.RINGS):
            self.asked.append((device.name, list(map(str, words)), queues))
            self.rings.add(rings)
            return {"box": {"table_full": 7}, **next(answers)}
        with mock.patch.object(wire, "measured", measured):
            return list(wire.BENCHES[name](self.bench, [name]))

    def test_every_round_of_both_is_in_the_row(self):
        row = self.rows_of("W3", [search(rate * 1e6) for rate in range(1, 11)])[0]
        self.assertEqual((row["rounds"], row["reference_rounds"]), ([1, 3, 5, 7, 9], [2, 4, 6, 8, 10]))
        self.assertEqual((row["value"], row["reference_value"]), (5, 6))
        self.assertEqual([one["table_full"] for one in row["counts"]], [7] * ROUNDS)
        self.assertIn("a queue each with sources of its own", row["case"])
        self.assertEqual({queues for _, _, queues in self.asked}, {2})
        self.assertTrue(all("--drop-refused" in words for _, words, _ in self.asked), "no queue waits for another")

    def test_sizes_are_points_of_the_plot(self):
        found = self.rows_of("W1", [search()] * 100)
        self.assertEqual([row["x"] for row in found], [64, 512, "IMIX"])
        self.assertEqual({row["plot"] for row in found}, {"sizes"})
        points = report_plot.points_of({"W1": {"rows": found}})["sizes"]
        self.assertEqual(set(points["W: Mpps"]), {"Sluice, one rule", wire.REFERENCE})
        self.assertEqual([one["trials"] for one in found[0]["counts"]], [1] * ROUNDS)

    def test_a_round_without_a_figure_leaves_the_row_without_one(self):
        answers = [search()] * 30
        answers[4] = search(rate=0)
        failed, sound, _ = self.rows_of("W1", answers)
        self.assertIsNone(failed["value"])
        self.assertIn("1 of 10 rounds failed", failed["case"])
        self.assertEqual(failed["failed_rounds"], ["no rate passed, the last: lost"])
        self.assertNotIn("plot", failed)
        self.assertEqual(sound["value"], 1)
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            rows.Table().show(failed)
        self.assertIn("no figure", shown.getvalue())

    def test_frames_that_a_full_ring_refuses_are_lost_in_w6_and_wait_in_w1(self):
        self.rows_of("W1", [search()] * 100)
        self.assertFalse(any("--drop-refused" in words for _, words, _ in self.asked))
        self.assertEqual(self.rings, {pktgen.RINGS})
        found = self.rows_of("W6", [search()] * 100)
        self.assertTrue(all("--drop-refused" in words for _, words, _ in self.asked))
        self.assertEqual(self.rings, {pktgen.RINGS_OF_NIC})
        self.assertEqual({words[words.index("--backlog") + 1] for _, words, _ in self.asked}, {str(wire.BURST)})
        self.assertEqual([row["case"].split(": ")[1] for row in found],
                         ["throughput without back-pressure, 64 bytes, none lost",
                          "throughput without back-pressure, 64 bytes, at most 0.1 % lost"])

    def test_both_ways_are_added_up_and_each_is_told(self):
        row = self.rows_of("W7", [{**search(1e6), "back": search(3e6)}] * 10)[0]
        self.assertEqual((row["value"], row["reference_value"], row["ratio"]), (4, 4, 1))
        self.assertEqual(row["counts"][0]["back"], {"sent": 10, "received": 9})
        self.assertTrue(all("--bidir" in words for _, words, _ in self.asked))

    def test_both_modes_of_testpmd_send(self):
        asked = []

        def rounds(_, device, mode):
            asked.append((device.name, mode))
            return wire.Round(len(asked), {})
        with mock.patch.object(testpmd_sends, "into_both_ports", lambda *words: rounds(*words, "flowgen")), \
                mock.patch.object(testpmd_sends, "into_one_port", lambda *words: rounds(*words, "txonly")):
            found = list(testpmd_sends.BENCHES["W5"](self.bench, ["W5"]))
        self.assertEqual([row["rounds"] for row in found], [[1, 3, 5, 7, 9], [11, 13, 15, 17, 19]])
        self.assertEqual([mode for _, mode in asked], ["flowgen"] * 10 + ["txonly"] * 10)

    def test_a_table_that_is_not_full_is_no_full_table(self):
        row = self.rows_of("W2", [search()] * 8 + [{**search(), "box": {"table_full": 0}}, {**search(), "box": {}}])[0]
        self.assertEqual((row["value"], row["failed_rounds"]), (None, ["the table was not full"]))
        self.assertEqual(self.rows_of("W2", [search()] * 10)[0]["x"], "all new")

    def test_delays_are_medians_of_all_rounds(self):
        found = self.rows_of("W4", [search(delays=[delay(0.5), delay(0.9, 50)])] * 10)
        self.assertEqual(len(found), len(wire.DELAYS))
        barred = [row for row in found if row["bar"] is not None]
        self.assertEqual([row["case"].split(": ")[1][:9] for row in barred], ["p99 at 50"])
        self.assertEqual((barred[0]["bar"], barred[0]["bar_of"]), (50 + wire.BAR_P99, "value"))
        self.assertTrue(rows.meets(barred[0]))
        self.assertEqual(len(found[0]["rounds"]), ROUNDS)
        self.assertEqual(found[0]["left_out"], [0.048] * ROUNDS)

    def test_no_round_of_delays_is_left_out(self):
        sound = search(delays=[delay(0.5), delay(0.9)])
        for bad, why in ((search(rate=0), "no rate passed"),
                         (search(delays=[delay(0.5), delay(0.9, 200)]), "16.7% of the frames met pauses")):
            found = self.rows_of("W4", [sound] * 9 + [bad])
            self.assertEqual([row["value"] for row in found], [None])
            self.assertIn(why, found[0]["failed_rounds"][0])
            self.assertIn("1 of 10 rounds failed", found[0]["case"])
            self.assertIsNone(rows.meets(found[0]))


class Ends(unittest.TestCase):
    """However a start ends, what it started ends with it."""

    def start(self, **parts):
        """Of the box, in which these methods do something else -> the methods that were called."""
        calls = []
        box = mock.Mock()
        for name in ("ctl", "start", "apply", "stop"):
            def call(*_, name=name):
                calls.append(name)
                if name in parts:
                    raise parts[name]
            setattr(box, name, call)
        with mock.patch.object(forwarders, "Box", return_value=box):
            problem = next(iter(parts.values()))
            with self.assertRaises(type(problem)):
                forwarders.Sluice(None, None, [], "rules.yaml")
        return calls

    def test_bad_rules_are_refused_before_anything_starts(self):
        self.assertEqual(self.start(ctl=forwarders.LabError("bad rules")), ["ctl"])

    def test_what_fails_later_is_stopped(self):
        self.assertEqual(self.start(apply=forwarders.LabError("no")), ["ctl", "start", "apply", "stop"])
        self.assertEqual(self.start(apply=KeyboardInterrupt()), ["ctl", "start", "apply", "stop"])
        self.assertEqual(self.start(start=forwarders.LabError("no")), ["ctl", "start", "stop"])

    def test_a_generator_that_never_ends_is_an_error_in_words(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(pktgen, "PATIENCE", 0.2), \
                mock.patch.object(pktgen, "command", return_value=["sleep", "60"]):
            with self.assertRaisesRegex(rows.BenchError, "did not end within"):
                pktgen.run(pathlib.Path("build"), pathlib.Path(folder), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
