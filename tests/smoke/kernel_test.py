"""What the kernel does at af_xdp ports while no box takes their frames, and the box that comes back.

    kernel_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import pathlib
import signal
import subprocess

from box_case import main
from host_flood import Flow, HostFlood
from kernel_case import KernelCase, bpftool
from one_thread import stopped, threads_named
from programs import ip, wait_until, wait_until_still

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


class KernelBridge(KernelCase):
    def start_box(self, fail="open", **options):
        return self.start_kernel_box({"fail": fail}, RULES, **options)

    def exceeded(self):
        return self.box.stats()["rules"][0]["exceeded"]

    def events(self):
        return json.loads(self.box.api("GET", "/v1/events")[1])["events"]

    def came(self, flood):
        return flood.total()

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
            self.assertIn({"event": "bridged", "pair": "lab"}, [
                {name: event.get(name) for name in ("event", "pair")} for event in self.events()])
            for _ in range(2):
                self.box.dataplane.send_signal(signal.SIGSTOP)
                self.expect_bridged(flood)
                self.box.dataplane.send_signal(signal.SIGCONT)
                self.expect_limit(flood)
            self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
            self.expect_bridged(flood)
            told = self.xdp_without_a_box()
            self.assertRegex(told.stdout, r"(?m)^i +native +\d+ +xsk_def_prog +kernel forwards$")
            self.assertRegex(told.stdout, r"(?m)^o +native +\d+ +xsk_def_prog +kernel forwards$")
            self.assertIn("start sluice-dataplane", told.stderr)
            for namespace, begins in ((self.hosts.box, "INTERFACE "), (self.hosts.outside, "the kernel has no program at any")):
                told = self.xdp_without_a_box(namespace=namespace)
                self.assertTrue(told.stdout.startswith(begins), told.stdout)
                self.assertIn("of another: `ip netns exec NAMESPACE sluicectl xdp status`\n", told.stdout)
            self.assertEqual({one["interface"]: one["decides"] for one in json.loads(
                self.xdp_without_a_box("--json").stdout)["interfaces"]}, {"o": "kernel forwards", "i": "kernel forwards"})
            self.assertNotIn("removing XDP program", self.box.log("dataplane.log"))  # of its driver, which cannot take it off

    def xdp_without_a_box(self, *more, namespace=None):
        """In the network namespace of the box, whose interfaces they are, or in another."""
        done = subprocess.run(["ip", "netns", "exec", namespace or self.hosts.box, self.box.sluicectl, "xdp", "status", "--socket",
                               self.box.api_socket, *more], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        return done

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
            wait_until("the last beat to be too old", lambda: "  box\n" not in self.xdp_without_a_box().stdout)
            self.assertRegex(self.xdp_without_a_box().stdout, r"(?m)^o +native +\d+ +xsk_def_prog +kernel drops$")
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
        self.assertIn('sluice_kernel_bridged_packets_total{pair="lab",side="outside"}',
                      self.box.api("GET", "/v1/metrics")[1].decode())

    def test_an_interface_that_returns_gets_its_program_again(self):
        self.start_box()
        self.box.kill(self.box.dataplane)
        self.start_box()
        ip("-n", self.hosts.box, "link", "delete", "o")
        wait_until("it to be seen", lambda: self.kernel()["outside"] is None)
        inside = self.kernel()["inside"]
        self.assertFalse(inside["takes_over"], "a fault of one port is not the other's")
        self.hosts.connect_outside()
        for host in (self.hosts.outside, self.hosts.inside):
            self.take_redirected(host)
        wait_until("its program", lambda: self.kernel()["outside"] is not None)
        with HostFlood(self.hosts, FLOW) as flood:
            self.expect_limit(flood)
            self.box.kill(self.box.dataplane)
            self.expect_bridged(flood)

    def test_the_program_stands_where_it_was_told_to(self):
        for mode in ("generic", "native", "generic", "auto"):
            self.start_kernel_box({"mode": mode}, RULES)
            stands = "generic" if mode == "auto" else mode  # where the one before stood, without a gap
            self.assertEqual({port["mode"] for port in self.kernel().values()}, {stands})
            self.assertIn(stands, self.box.ctl("xdp", "status").stdout)
            shown = json.loads(subprocess.run(["ip", "-n", self.hosts.box, "-j", "link", "show", "o"], check=True,
                                              capture_output=True, text=True).stdout)[0]["xdp"]
            self.assertEqual(shown["mode"], {"native": 1, "generic": 2}[stands])
            with HostFlood(self.hosts, FLOW) as flood:
                self.expect_limit(flood)
                self.box.kill(self.box.dataplane)
                self.expect_bridged(flood)

    def test_forget_leaves_nothing_behind(self):
        self.start_box()
        programs = {port["program"] for port in self.kernel().values()}
        self.assertEqual(len(programs), 2)
        forget = ["ip", "netns", "exec", self.hosts.box, self.box.dataplane_program, "--config", str(self.box.box_file), "--forget"]
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
