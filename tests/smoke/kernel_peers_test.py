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


class Bench:
    """What peer_kernel wants of one: where the programs lie."""
    build = PROGRAM.parents[3]


@unittest.skipIf(REFUSAL, f"no network namespaces: {REFUSAL}")
class KernelPeers(unittest.TestCase):
    def setUp(self):
        for program in ("nft", "iptables-legacy"):
            if shutil.which(program) is None:
                self.skipTest(f"there is no {program}")

    def admitted(self, kind, table=4 * SOURCES, sources=SOURCES, every=0, frames=FRAMES, burst=BURST):
        """Counts of a run, and the seconds from before the first frame."""
        began = time.monotonic()
        with peer_kernel.running(Bench, kind, table, (1, burst), watches_resident=every != 0) as peer:
            peer.do("sources", sources, 0, every)
            peer.do("run", frames)
            return peer.counts(), time.monotonic() - began

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

    def test_a_full_table_passes_drops_or_forgets(self):
        """Four times as many sources as places: a set of nftables stops matching, xt_hashlimit drops what is new, an LRU map
        gives each source a new bucket when it comes again."""
        places = 1 << 12
        for kind, least, most in ((peer_kernel.Nftables, 0.7, 1), (peer_kernel.Hashlimit, 0, 0.3), (peer_kernel.Xdp, 0.9, 1)):
            with self.subTest(kind.NAME):
                counts, took = self.admitted(kind, table=places, sources=4 * places, frames=8 * 4 * places, burst=1)
                by_rate = places * took  # each source that found a place has its packet a second
                self.assertGreaterEqual(counts["admitted"], least * counts["seen"])
                self.assertLessEqual(counts["admitted"], most * counts["seen"] + by_rate)

    def test_a_limit_that_refuses_is_seen_to_while_frames_come(self):
        for _ in range(20):
            with peer_kernel.running(Bench, peer_kernel.Xdp, 4 * SOURCES, (1_000_000, 1000)) as peer:
                peer.do("sources", SOURCES, 0, 0)
                answer = peer.do("change", 1, 1)
                self.assertGreater(answer["first_refused_at"], answer["changed_at"])

    def test_known_sources_keep_their_old_limit_in_nftables_and_hashlimit(self):
        """A change of numbers holds at once in an XDP program, and not at all in the others."""
        for kind, refuses in (peer_kernel.Xdp, True), (peer_kernel.Nftables, False), (peer_kernel.Hashlimit, False):
            with self.subTest(kind.NAME), peer_kernel.running(Bench, kind, 4 * SOURCES, (1_000_000, 1000)) as peer:
                peer.do("sources", SOURCES, 0, 0)
                peer.do("run", 4 * SOURCES)
                peer.change((1, 1))
                peer.do("run", 4 * SOURCES)
                counts = peer.counts()
                self.assertEqual(counts.get("refused", counts["seen"] - counts["admitted"]) > 0, refuses, counts)


if __name__ == "__main__":
    unittest.main()
