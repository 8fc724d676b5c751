"""The peers in the kernel limit: an XDP program, a dynamic set of nftables, xt_hashlimit, each in a namespace of its own.
Wants root."""
import contextlib
import json
import pathlib
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/lib/bench"), str(ROOT / "scripts/lib/lab")]
from network import may_make_namespaces  # noqa: E402
import peer_kernel  # noqa: E402
import reload_loss  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
del sys.argv[1]  # sluice-pktgen, which lies where reload_loss looks for it
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


@unittest.skipIf(REFUSAL, f"no network namespaces: {REFUSAL}")
class Routers(unittest.TestCase):
    """The sides of E7: frames go through them, under the limit that was loaded last."""

    @contextlib.contextmanager
    def side(self, kind, limit=reload_loss.LIMITS[0]):
        with tempfile.TemporaryDirectory() as name:
            side = kind(Bench, pathlib.Path(name), secrets.token_hex(3), limit)
            try:
                yield side
            finally:
                side.stop()

    def sent(self, side):
        """What became of as many frames, and the seconds that it took."""
        began = time.monotonic()
        done = subprocess.run(list(map(str, side.sender(Bench, [
            "--count", FRAMES, "--rate", 20_000, "--sources", SOURCES, "--latency", "--linger", "1s", "--json"]))),
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), time.monotonic() - began

    def test_what_is_admitted_arrives_also_after_reloads(self):
        for kind in reload_loss.SIDES[1:]:
            with self.subTest(kind.NAME), self.side(kind) as side:
                found, _ = self.sent(side)
                self.assertEqual((found["sent"], found["received"], found["duplicates"]), (FRAMES, FRAMES, 0))
                for limit in reload_loss.LIMITS:
                    side.reload(limit)
                self.assertEqual(self.sent(side)[0]["lost"], 0)

    def test_the_limit_is_in_force_and_stays_so_when_it_is_loaded_again(self):
        limit = (1, BURST)
        for kind in reload_loss.SIDES[1:]:
            with self.subTest(kind.NAME), self.side(kind, limit) as side:
                found, took = self.sent(side)
                self.assertGreaterEqual(found["received"], SOURCES * BURST)
                self.assertLessEqual(found["received"], SOURCES * (BURST + took + 1))
                side.reload(limit)
                found, took = self.sent(side)
                self.assertLessEqual(found["received"], SOURCES * (BURST + took + 1))

    def test_nothing_is_left(self):
        with self.side(reload_loss.Nftables) as side:
            names = side.router, side.ends
        left = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
        for name in names:
            self.assertNotIn(name, left)


if __name__ == "__main__":
    unittest.main()
