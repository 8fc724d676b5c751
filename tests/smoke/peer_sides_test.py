"""The box and the forwarder of rte_hash and rte_meter as sides of E1 to E7: what they are asked about, and by which limit."""
import contextlib
import pathlib
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/lib/bench"), str(ROOT / "scripts/lib/lab")]
from box import Programs  # noqa: E402
import peer_dpdk  # noqa: E402
import reload_loss  # noqa: E402

DATAPLANE = pathlib.Path(sys.argv[1]).resolve()
del sys.argv[1:6]  # the others lie beside it
BURST, KEYS, EVERY, TABLE = 10, 64, 256, 1024


class Bench:
    build = DATAPLANE.parents[1]
    programs = Programs(DATAPLANE.parents[1])
    quick = True

    @staticmethod
    @contextlib.contextmanager
    def folder():
        with tempfile.TemporaryDirectory() as name:
            yield pathlib.Path(name)


class Sides(unittest.TestCase):
    @contextlib.contextmanager
    def side(self, kind):
        began = time.monotonic()
        with Bench.folder() as folder:
            traffic = peer_dpdk.Traffic(folder, peer_dpdk.with_resident(KEYS, EVERY, 0))
            with peer_dpdk.running(Bench, kind, traffic, TABLE) as side:
                side.start((1, BURST))
                peer_dpdk.wait_for_frames(side, 16 * traffic.frames)
                counts = {**side.counts(), **side.resident_counts()}
                yield side, counts, time.monotonic() - began

    def test_the_first_frame_is_judged_and_the_resident_is_one_of_all(self):
        for kind in peer_dpdk.SluicePeer, peer_dpdk.HashMeter:
            with self.subTest(kind.NAME), self.side(kind) as (_, counts, took):
                self.assertGreaterEqual(counts["resident_seen"], 16)
                self.assertGreaterEqual(counts["resident_admitted"], BURST)
                self.assertLessEqual(counts["resident_admitted"], BURST + took + 1)
                self.assertLessEqual(counts["admitted"], (KEYS + 1) * (BURST + took + 1))

    def test_no_frame_of_the_box_is_without_rules(self):
        with self.side(peer_dpdk.SluicePeer) as (side, _, __):
            reasons = {reason for reason, packets in side.box.stats()["reasons"].items() if packets}
        self.assertEqual(reasons, {"within_limits", "over_limit", "bad_ip_header"})

    def test_rules_are_loaded_again_while_frames_come_and_all_are_accounted_for(self):
        for what in reload_loss.SAME, reload_loss.CHANGED:
            with self.subTest(what):
                loss = reload_loss.lost(Bench, reload_loss.BoxSide, what)
                counts = loss.counts
                self.assertGreater(counts["received"], 0)
                self.assertEqual(loss, counts["sent"] - counts["received"])
                self.assertEqual(set(counts["reasons"]) - {"tx_full", "link_down"}, {"within_limits"})
                self.assertEqual(counts["reasons"]["within_limits"], counts["received"])
                self.assertGreaterEqual(loss.stretch, reload_loss.QUICK_RELOADS * reload_loss.EVERY)

    def test_an_undisturbed_stretch_lasts_as_long_as_is_asked(self):
        loss = reload_loss.lost(Bench, reload_loss.BoxSide, reload_loss.UNDISTURBED, 0.5)
        self.assertGreater(loss.counts["received"], 0)
        self.assertGreaterEqual(loss.counts["seconds"], 0.5)
        self.assertEqual(loss.stretch, 0.5)


if __name__ == "__main__":
    unittest.main()
