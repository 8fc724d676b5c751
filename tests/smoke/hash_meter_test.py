"""The peer made of rte_hash and rte_meter limits: captures through its two ports."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/lib/bench"), str(ROOT / "scripts/lib/lab")]
from forwarding import source_of, udp_frame, write_capture  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
PATIENCE = 60
BURST = 10


def frames(sources, each):
    return [udp_frame(source_of(number), 0x0A4D0002, 40000, 53) for _ in range(each) for number in range(sources)]


class HashMeter(unittest.TestCase):
    def forwarded(self, sent, keys, when_full):
        """Counts once all frames have come, the addresses of what left the other port, and the seconds that it took."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write_capture(folder / "in.pcap", sent)
            write_capture(folder / "none.pcap", [])
            began = time.monotonic()
            with subprocess.Popen(
                    [str(PROGRAM), "--lcores", "0@0,1@0", "--no-pci", "--no-telemetry", "--log-level=error", "--no-huge", "-m", "256",
                     "--no-shconf", f"--vdev=net_pcap0,rx_pcap={folder}/in.pcap",
                     f"--vdev=net_pcap1,rx_pcap={folder}/none.pcap,tx_pcap={folder}/out.pcap",
                     "--", str(keys), "1", str(BURST), "8192", when_full],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
                while process.stdout.readline() not in ("ready\n", ""):
                    pass
                counts = {"received": 0}
                while counts["received"] < len(sent):
                    self.assertLess(time.monotonic(), began + PATIENCE)
                    process.stdin.write("counts\n")
                    process.stdin.flush()
                    counts = json.loads(process.stdout.readline())
                # Limits that follow at once: each waits until the worker has left the numbers of the one before.
                for number in range(100):
                    process.stdin.write(f"limit {number + 1} {BURST}\n")
                    process.stdin.flush()
                    self.assertEqual(json.loads(process.stdout.readline())["received"], len(sent))
                took = time.monotonic() - began
                process.stdin.close()
                self.assertEqual(process.wait(PATIENCE), 0)
            out = (folder / "out.pcap").read_bytes()[24:]
        size = 16 + len(sent[0])
        return counts, [out[at + 16 + 26:at + 16 + 30] for at in range(0, len(out), size)], took

    def test_each_source_has_its_burst_and_its_rate(self):
        counts, left, took = self.forwarded(frames(4, 100), 1024, "drop")
        self.assertEqual(counts["received"], 400)
        self.assertEqual(len(left), counts["admitted"])
        for number in range(4):
            admitted = left.count(source_of(number).to_bytes(4, "big"))
            self.assertGreaterEqual(admitted, BURST)
            self.assertLessEqual(admitted, BURST + took + 1)

    def test_what_is_no_ipv4_is_dropped(self):
        zeros = frames(1, 1)[0][:14] + bytes(46)
        counts, left, _ = self.forwarded([*frames(2, 1), zeros, zeros], 1024, "pass")
        self.assertEqual((counts["received"], counts["admitted"], len(left)), (4, 2, 2))

    def test_a_full_table_drops_or_passes_what_it_has_no_place_for(self):
        for when_full, passed in ("drop", 8), ("pass", 64):
            counts, left, _ = self.forwarded(frames(64, 1), 8, when_full)
            self.assertEqual((counts["without_bucket"], len(left)), (56, passed))


if __name__ == "__main__":
    unittest.main()
