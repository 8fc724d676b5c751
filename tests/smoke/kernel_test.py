"""What the kernel does at af_xdp ports while no box takes their frames, and the box that comes back.

    kernel_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import pathlib
import signal
import struct
import subprocess

from box_case import HostsCase, main
from host_flood import Flow, HostFlood
from one_thread import stopped, threads_named
from programs import ip, wait_until, wait_until_still

# Far above what a worker waits for its core on a busy machine: no beat is late that is not held back here.
HEARTBEAT = "2s"
BURST = 20
# The rate gives nothing while this runs, and the bucket outlives the dataplane.
RULES = f"""version: 1
rules:
  - id: flood
    mode: enforce
    when: ip.proto eq 17
    key: [ip.src]
    limits: [{{algorithm: token_bucket, rate: 1/d, burst: {BURST}}}]
    on_exceed: {{action: drop}}
"""
MANY = 200  # more than the limit ever lets through
FLOW = Flow(sources=1, hosts=1, rate=500)


def bpftool(*arguments):
    return json.loads(subprocess.run(["bpftool", "-j", *arguments], check=True, capture_output=True, text=True,
                                     timeout=60).stdout)


class KernelBridge(HostsCase):
    def setUp(self):
        super().setUp()
        # A frame that XDP forwards into a veth is taken at the other end by NAPI, which GRO brings along.
        for host in (self.hosts.outside, self.hosts.inside):
            ip("netns", "exec", host, "ethtool", "-K", "eth0", "gro", "on")
        # `ip netns exec` hides /sys of before: pins lie where all of a test's processes see them.
        self.pins = self.box.folder / "bpf"
        self.pins.mkdir()
        subprocess.run(["mount", "-t", "bpf", "bpf", str(self.pins)], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.pins)])
        self.kernels_own = set(self.pins.iterdir())  # that it makes in every such mount

    def start_box(self, fail="open", **options):
        process = self.start_between("af_xdp", {"kernel": {"fail": fail, "heartbeat": HEARTBEAT, "pins": str(self.pins)}},
                                     **options)
        if options.get("wait", True):
            if self.box.sluiced is None:
                self.box.start_sluiced()
                self.apply(RULES)
            self.box.wait_for_link(True)
            wait_until("the box to decide", lambda: not any(port["takes_over"] for port in self.kernel().values()))
        return process

    def kernel(self):
        return {side: port["kernel"] for side, port in self.box.ports().items()}

    def exceeded(self):
        return self.box.stats()["rules"][0]["exceeded"]

    def pinned_counts(self):
        """Of the outside, as the kernel has them: bridged and dropped packets, without a box."""
        state, = self.pins.glob("sluice/*/lab/state")
        value = bytes(int(byte, 16) for byte in bpftool("map", "dump", "pinned", str(state))[0]["value"])
        bridged, _, dropped, _ = struct.unpack_from("4Q", value, 64)
        return bridged, dropped

    def came(self, flood):
        return sum(flood.came().values())

    def expect_limit(self, flood):
        """Nothing comes through, nothing is bridged, and the box refuses what is sent."""
        came = wait_until_still("what comes through", lambda: self.came(flood))
        bridged, refused = self.pinned_counts(), self.exceeded()
        wait_until("the box to refuse more", lambda: self.exceeded() >= refused + MANY)
        self.assertEqual((self.came(flood), self.pinned_counts()), (came, bridged))
        return came

    def expect_bridged(self, flood):
        came, (bridged, dropped) = self.came(flood), self.pinned_counts()
        wait_until("the kernel to forward", lambda: self.came(flood) >= came + MANY)
        wait_until("it to be counted", lambda: self.pinned_counts()[0] >= bridged + MANY)
        self.assertEqual(self.pinned_counts()[1], dropped)

    def test_the_kernel_forwards_while_no_box_takes_frames(self):
        self.start_box()
        with HostFlood(self.hosts, FLOW) as flood:
            self.assertLessEqual(self.expect_limit(flood), BURST)
            self.box.kill(self.box.dataplane)
            self.expect_bridged(flood)
            self.start_box()
            self.expect_limit(flood)
            self.assertIn("packets of pair lab that the box did not get", self.box.log("dataplane.log"))
            for _ in range(2):
                self.box.dataplane.send_signal(signal.SIGSTOP)
                self.expect_bridged(flood)
                self.box.dataplane.send_signal(signal.SIGCONT)
                self.expect_limit(flood)
            self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
            self.expect_bridged(flood)

    def test_a_worker_that_hangs_stops_the_heartbeat(self):
        self.start_box()
        worker, = threads_named(self.box.dataplane, f"rte-worker-{self.box.workers()[0]['lcore']}")
        with HostFlood(self.hosts, FLOW) as flood:
            self.expect_limit(flood)
            with stopped(worker):
                self.expect_bridged(flood)
                self.assertTrue(self.kernel()["outside"]["takes_over"])
                self.assertIn("kernel forwards", self.box.ctl("xdp", "status").stdout)
            self.expect_limit(flood)

    def test_fail_closed_drops(self):
        self.start_box("closed")
        with HostFlood(self.hosts, FLOW) as flood:
            came = self.expect_limit(flood)
            self.box.kill(self.box.dataplane)
            bridged, dropped = self.pinned_counts()
            wait_until("the kernel to drop", lambda: self.pinned_counts()[1] >= dropped + MANY)
            self.assertEqual((self.came(flood), self.pinned_counts()[0]), (came, bridged))
            self.start_box("closed")
            self.expect_limit(flood)
            self.assertGreaterEqual(self.kernel()["outside"]["dropped_packets"], dropped + MANY)
            # What is to happen is changed by the next box, over the programs of the one before.
            self.box.kill(self.box.dataplane)
            self.start_box("open")
            self.box.kill(self.box.dataplane)
            self.expect_bridged(flood)

    def test_what_operators_see(self):
        self.start_box()
        with HostFlood(self.hosts, FLOW) as flood:
            self.box.kill(self.box.dataplane)
            self.expect_bridged(flood)
        self.start_box()
        outside = self.kernel()["outside"]
        self.assertEqual((outside["fail"], outside["heartbeat_ns"], outside["bridged_packets"]),
                         ("open", 2_000_000_000, self.pinned_counts()[0]))
        self.assertEqual({program["id"] for program in bpftool("prog", "show") if program["type"] == "xdp"} &
                         {port["program"] for port in self.kernel().values()},
                         {port["program"] for port in self.kernel().values()})
        text = self.box.ctl("xdp", "status").stdout
        for word in (outside["mode"], "box", "open", str(outside["program"])):
            self.assertIn(word, text)
        self.assertIn('sluice_kernel_bridged_packets_total{pair="lab",side="outside"',
                      self.box.api("GET", "/v1/metrics")[1].decode())

    def test_forget_leaves_nothing_behind(self):
        self.start_box()
        programs = {port["program"] for port in self.kernel().values()}
        self.assertEqual(len(programs), 2)
        forget = [self.box.dataplane_program, "--config", str(self.box.box_file), "--forget"]
        self.assertEqual(subprocess.run(forget, capture_output=True, timeout=60).returncode, 1, "a box has them")
        self.assertEqual(len(list(self.pins.glob("sluice/*/lab/*"))), 3)
        self.box.kill(self.box.dataplane)
        self.assertTrue(programs <= {program["id"] for program in bpftool("prog", "show")})
        subprocess.run(forget, check=True, timeout=60)
        self.assertEqual(set(self.pins.iterdir()), self.kernels_own)
        wait_until("the kernel to free the programs",
                   lambda: not programs & {program["id"] for program in bpftool("prog", "show")})
        self.assertFalse(any(link.get("prog_id") in programs for link in bpftool("link", "show")))
        for end in ("o", "i"):
            shown = subprocess.run(["ip", "-n", self.hosts.box, "-j", "link", "show", end], check=True,
                                   capture_output=True, text=True)
            self.assertNotIn("xdp", json.loads(shown.stdout)[0])

    def test_pins_that_would_not_outlive_the_process_are_refused(self):
        self.pins = pathlib.Path("/tmp")
        self.assertEqual(self.start_box(wait=False).wait(60), 1)
        self.assertIn("no file system for pins", self.box.log("dataplane.log"))


if __name__ == "__main__":
    main()
