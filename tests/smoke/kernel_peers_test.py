"""The peers in the kernel limit: an XDP program, a dynamic set of nftables, xt_hashlimit, each in a namespace of its own.
Wants root."""
import pathlib
import shutil
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/lib/bench"), str(ROOT / "scripts/lib/lab")]
from network import may_make_namespaces  # noqa: E402
import peer_kernel  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SOURCES, FRAMES, BURST = 64, 64 * 64, 10
REFUSAL = may_make_namespaces("peers")


@unittest.skipIf(REFUSAL, f"no network namespaces: {REFUSAL}")
class KernelPeers(unittest.TestCase):
    def setUp(self):
        for program in ("nft", "iptables-legacy"):
            if shutil.which(program) is None:
                self.skipTest(f"there is no {program}")

    def admitted(self, kind, table=4 * SOURCES, sources=SOURCES, every=0):
        """Counts of a run, and the seconds from before the first frame."""
        with peer_kernel.namespace() as name:
            peer = kind(PROGRAM, name, table)
            try:
                began = time.monotonic()
                peer.start((1, BURST))
                peer.do("sources", sources, 0, every)
                peer.do("run", FRAMES)
                return peer.counts(), time.monotonic() - began
            finally:
                peer.stop()

    def test_each_source_has_its_burst_and_its_rate(self):
        for kind in peer_kernel.KERNEL_PEERS:
            with self.subTest(kind.NAME):
                counts, took = self.admitted(kind)
                self.assertEqual(counts["seen"], FRAMES)
                self.assertGreaterEqual(counts["admitted"], SOURCES * BURST)
                self.assertLessEqual(counts["admitted"], SOURCES * (BURST + took + 1))

    def test_the_resident_is_counted_apart(self):
        for kind in peer_kernel.KERNEL_PEERS:
            with self.subTest(kind.NAME):
                counts, took = self.admitted(kind, every=16)
                self.assertEqual(counts["resident_seen"], FRAMES // 16)
                self.assertGreaterEqual(counts["resident_admitted"], BURST)
                self.assertLessEqual(counts["resident_admitted"], BURST + took + 1)

    def test_a_full_set_of_nftables_stops_matching(self):
        counts, _ = self.admitted(peer_kernel.Nftables, table=SOURCES, sources=2 * SOURCES)
        self.assertGreaterEqual(counts["admitted"], FRAMES // 2)


if __name__ == "__main__":
    unittest.main()
