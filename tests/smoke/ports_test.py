"""What a dataplane finds at its interfaces, changes there, and leaves behind.

    ports_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import re
import signal
import subprocess
import sys

from box_case import HostsCase, main
from host_flood import Flow, HostFlood
from kernel_case import FEW_BUFFERS, KernelCase
from programs import Box, ip, wait_until, wait_until_still
from tagged_frames import outer_tag

DROP_ALL = "version: 1\nrules: [{id: all, mode: enforce, when: ip.proto eq 17, on_match: drop}]\n"
FLOW = Flow(sources=1, hosts=1, rate=500)
MANY = 200


class Link:
    """An interface of the box, as the kernel shows it."""

    def __init__(self, namespace, name):
        found = subprocess.run(["ip", "-n", namespace, "-j", "link", "show", name], check=True,
                               capture_output=True, text=True)
        link, = json.loads(found.stdout)
        self.mtu, self.flags = link["mtu"], set(link["flags"])
        self.program = link.get("xdp", {}).get("prog", {}).get("id")

    @property
    def changed(self):
        return self.mtu, "PROMISC" in self.flags, "UP" in self.flags


class Ports(HostsCase):
    def link(self, name):
        return Link(self.hosts.box, name)

    def refused(self, process, *words):
        self.assertEqual(process.wait(60), 1)
        log = self.box.log("dataplane.log")
        for word in words:
            self.assertIn(word, log)

    def other_box(self):
        other = Box(*self.programs)
        self.addCleanup(other.close)
        return other


class Shared(Ports):
    """An interface is one port of one dataplane."""

    def test_one_interface_on_both_sides_is_refused(self):
        process = self.box.start_dataplane("net_af_packet0,iface=o", "net_af_packet1,iface=o", netns=self.hosts.box,
                                           wait=False)
        self.refused(process, "the interface `o` is a port already")

    def test_two_names_of_one_interface_are_refused(self):
        ip("-n", self.hosts.box, "link", "property", "add", "dev", "o", "altname", "uplink")
        process = self.box.start_dataplane("net_af_packet0,iface=o", "net_pcap1,iface=uplink",
                                           netns=self.hosts.box, wait=False)
        self.refused(process, "the interface uplink is a port of this box already")

    def test_an_interface_of_another_dataplane_is_refused_while_that_one_runs(self):
        self.start_between("af_packet")
        before = {name: self.link(name).changed for name in "oi"}
        other = self.other_box()
        process = other.start_dataplane("net_af_packet0,iface=i", "net_null1,no-rx=1", netns=self.hosts.box, wait=False)
        self.assertEqual(process.wait(60), 1)
        self.assertIn("the interface i is a port of another sluice-dataplane (process ", other.log("dataplane.log"))
        self.assertEqual({name: self.link(name).changed for name in "oi"}, before)
        self.box.kill(self.box.dataplane)  # which leaves nothing that refuses the next one
        other.start_dataplane("net_af_packet0,iface=i", "net_null1,no-rx=1", netns=self.hosts.box)


class Rights(Ports):
    """A start without a right that a port needs names it."""

    def start_without(self, capabilities):
        return subprocess.run(["ip", "netns", "exec", self.hosts.box, "setpriv", f"--bounding-set={capabilities}",
                               self.box.dataplane_program, "--config", str(self.box.box_file)], capture_output=True,
                              text=True, timeout=60)

    def test_what_a_port_of_af_packet_lacks(self):
        process = self.start_between("af_packet", wait=False)
        process.kill()
        process.wait()
        for capabilities, names in (("-net_raw", "CAP_NET_RAW"), ("-net_raw,-net_admin", "CAP_NET_RAW, CAP_NET_ADMIN")):
            done = self.start_without(capabilities)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(f"this process lacks {names}: run it as root, or grant that (AmbientCapabilities= of its unit)",
                          done.stderr)


class Changed(Ports):
    """What a port changes at its interface is changed back."""

    UNTOUCHED = {"o": (1500, False, True), "i": (1500, False, True)}

    def both(self):
        return {name: self.link(name).changed for name in "oi"}

    def start_narrow(self):
        self.start_between("af_packet", {"ports": [{"mtu": 1400}]})
        self.assertEqual({name: self.link(name).changed for name in "oi"}, {"o": (1400, True, True), "i": (1400, True, True)})

    def test_an_ordered_end_restores_the_ports(self):
        self.start_narrow()
        self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
        self.assertEqual(self.both(), self.UNTOUCHED)
        self.assertFalse((self.box.folder / "state" / "ports").exists())

    def test_a_start_that_fails_restores_them(self):
        process = self.box.start_dataplane("net_af_packet0,iface=o", "net_af_packet1,iface=absent",
                                           {"ports": [{"mtu": 1400}]}, netns=self.hosts.box, wait=False)
        self.refused(process, "iface=absent does not come up")
        self.assertEqual(self.both(), self.UNTOUCHED)

    def test_what_was_promiscuous_before_stays_so(self):
        ip("-n", self.hosts.box, "link", "set", "o", "promisc", "on")
        self.start_narrow()
        self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
        self.assertEqual(self.both(), {**self.UNTOUCHED, "o": (1500, True, True)})

    def test_after_a_kill_the_next_start_knows_what_was_before(self):
        self.start_narrow()
        self.box.kill(self.box.dataplane)
        self.start_between("af_packet")  # without `mtu`: that of the interfaces themselves
        self.assertEqual({name: self.link(name).mtu for name in "oi"}, {"o": 1500, "i": 1500})
        self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
        self.assertEqual(self.both(), self.UNTOUCHED)

    def set_mtu(self, mtu):
        for name in "oi":
            ip("-n", self.hosts.box, "link", "set", name, "mtu", str(mtu))

    def test_an_mtu_set_while_no_dataplane_runs_is_the_interfaces_own(self):
        self.start_narrow()
        self.box.kill(self.box.dataplane)
        self.set_mtu(1300)
        self.start_between("af_packet")
        self.assertEqual(self.both(), {"o": (1300, True, True), "i": (1300, True, True)})
        self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
        self.assertEqual(self.both(), {"o": (1300, False, True), "i": (1300, False, True)})

    def test_an_mtu_set_while_it_runs_stays(self):
        self.start_narrow()
        self.set_mtu(1300)
        self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
        self.assertEqual(self.both(), {"o": (1300, False, True), "i": (1300, False, True)})

    def test_an_mtu_set_before_a_start_without_these_ports_stays(self):
        self.start_narrow()
        self.box.kill(self.box.dataplane)
        self.set_mtu(1300)
        self.box.start_dataplane("net_null0,no-rx=1", "net_null1,no-rx=1", netns=self.hosts.box)
        self.assertEqual(self.both(), {"o": (1300, False, True), "i": (1300, False, True)})

    def test_what_another_dataplane_has_now_is_restored_behind_that_one(self):
        self.start_narrow()
        self.box.kill(self.box.dataplane)
        other = self.other_box()
        other.start_dataplane("net_af_packet0,iface=o", "net_af_packet1,iface=i", netns=self.hosts.box)
        for _ in range(2):  # nothing is forgotten meanwhile
            self.box.start_dataplane("net_null0,no-rx=1", "net_null1,no-rx=1", netns=self.hosts.box)
            self.assertIn("o is a port of another dataplane now", self.box.log("dataplane.log"))
            self.assertEqual(self.both(), {"o": (1400, True, True), "i": (1400, True, True)})
            self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
        self.assertEqual(other.kill(other.dataplane, signal.SIGTERM), 0)
        self.box.start_dataplane("net_null0,no-rx=1", "net_null1,no-rx=1", netns=self.hosts.box)
        self.assertEqual(self.both(), self.UNTOUCHED)

    def test_after_a_kill_a_start_without_these_ports_restores_them(self):
        self.start_narrow()
        self.box.kill(self.box.dataplane)
        self.box.start_dataplane("net_null0,no-rx=1", "net_null1,no-rx=1", netns=self.hosts.box)
        self.assertEqual(self.both(), self.UNTOUCHED)

    def forget(self, *how):
        """Of the state directory of the box, without its ports."""
        return subprocess.run(["ip", "netns", "exec", self.hosts.box, *how, self.box.dataplane_program, "--state-dir",
                               str(self.box.folder / "state"), "--forget"], capture_output=True, text=True, timeout=60)

    def test_forgetting_restores_them_too(self):
        self.start_narrow()
        self.box.kill(self.box.dataplane)
        subprocess.run(["ip", "netns", "exec", self.hosts.box, self.box.dataplane_program, "--config",
                        str(self.box.box_file), "--forget"], check=True, timeout=60)
        self.assertEqual(self.both(), self.UNTOUCHED)
        self.assertEqual(list((self.box.folder / "state").iterdir()), [])

    def assert_not_all_forgotten(self, done, why):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(why, done.stderr)
        self.assertRegex(done.stderr, "what a dataplane has changed at (o, i|i, o) stays, and stays kept in .*/state/ports")
        self.assertEqual([file.name for file in (self.box.folder / "state").iterdir()], ["ports"])

    def test_what_forgetting_cannot_restore_stays_kept(self):
        self.start_narrow()
        self.box.kill(self.box.dataplane)
        other = self.other_box()
        other.start_dataplane("net_af_packet0,iface=o", "net_af_packet1,iface=i", netns=self.hosts.box)
        self.assert_not_all_forgotten(self.forget(), "o is a port of another dataplane now")
        self.assertEqual(self.both(), {"o": (1400, True, True), "i": (1400, True, True)})
        self.assertEqual(other.kill(other.dataplane, signal.SIGTERM), 0)
        self.assert_not_all_forgotten(self.forget("setpriv", "--bounding-set=-net_admin"), "Operation not permitted")
        done = self.forget()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.both(), self.UNTOUCHED)
        self.assertEqual(list((self.box.folder / "state").iterdir()), [])

    def hold_inside_down(self):
        """The outside has no link, and the box holds the inside down for that."""
        self.start_between("af_packet")
        if self.box.sluiced is None:
            self.box.start_sluiced()
        self.box.wait_for_link(True)
        wait_until("both links", lambda: all(port["link_up"] for port in self.box.ports().values()))
        ip("-n", self.hosts.outside, "link", "set", "eth0", "down")
        wait_until("the inside to be held", lambda: self.box.ports()["inside"]["held_down"])
        self.assertNotIn("UP", self.link("i").flags)

    def kill_while_inside_is_held(self):
        """Ends with both links as they were, but that the inside is held down by who is killed then."""
        self.hold_inside_down()
        self.box.kill(self.box.dataplane)
        ip("-n", self.hosts.outside, "link", "set", "eth0", "up")
        self.assertNotIn("UP", self.link("i").flags)

    def test_an_ordered_end_brings_up_the_side_that_it_holds(self):
        self.hold_inside_down()
        self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
        self.assertEqual(self.both(), self.UNTOUCHED)  # the outside has no link still, and nobody holds the inside for it
        self.assertFalse((self.box.folder / "state" / "ports").exists())

    def test_a_side_that_was_held_down_at_a_kill_comes_back(self):
        self.kill_while_inside_is_held()
        self.start_between("af_packet")
        self.assertIn("brought i up again", self.box.log("dataplane.log"))
        self.box.wait_for_link(True)
        wait_until("both links", lambda: all(port["link_up"] for port in self.box.ports().values()))
        self.assertEqual(self.box.kill(self.box.dataplane, signal.SIGTERM), 0)
        self.assertEqual(self.both(), self.UNTOUCHED)

    def test_it_comes_back_also_where_nothing_follows_links_any_more(self):
        self.kill_while_inside_is_held()
        self.box.start_dataplane("net_null0,no-rx=1", "net_null1,no-rx=1", netns=self.hosts.box)
        self.assertEqual(self.both(), self.UNTOUCHED)

    def test_a_side_that_is_down_at_the_start_is_followed(self):
        ip("-n", self.hosts.outside, "link", "set", "eth0", "down")
        self.start_between("af_packet")
        self.box.start_sluiced()
        wait_until("the inside to be held", lambda: self.box.ports()["inside"]["held_down"])
        shown = self.box.ctl("health")
        self.assertIn("port lab outside: its link is down\nport lab inside: held down, because", shown.stdout)
        self.assertEqual(shown.returncode, 0, "it says that sluiced has its dataplane")
        ip("-n", self.hosts.outside, "link", "set", "eth0", "up")
        wait_until("both links", lambda: all(port["link_up"] for port in self.box.ports().values()))
        self.assertNotIn("port lab", self.box.ctl("health").stdout)


# Sends one frame of that many bytes.
_SEND_SIZED = """
import socket, sys
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
out.send(b"\\xff" * 6 + b"\\x02\\0\\0\\0\\0\\x01" + b"\\x99\\x99" + bytes(int(sys.argv[1]) - 14))
"""


class Narrowed(Ports):
    """Somebody else gives an interface another MTU while the box runs."""

    def setUp(self):
        super().setUp()
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.box.wait_for_link(True)

    def set_mtu(self, name, mtu, side):
        ip("-n", self.hosts.box, "link", "set", name, "mtu", str(mtu))
        wait_until("the box to see it", lambda: self.box.ports()[side]["mtu"] == mtu)

    def send(self, size):
        subprocess.run(["ip", "netns", "exec", self.hosts.outside, sys.executable, "-c", _SEND_SIZED, str(size)], check=True,
                       timeout=60)

    def too_long(self):
        return self.box.stats()["reasons"]["too_long"]

    def sent(self):
        return self.box.ports()["inside"]["tx_bytes"]

    def test_what_it_does_not_let_out_is_counted_and_said(self):
        self.assertNotIn("MTU", self.box.ctl("health").stdout)
        self.set_mtu("i", 1400, "inside")
        said = "the MTU of port net_af_packet1,iface=i (lab inside) is 1400 now, and was 1500: packets of up to 1500 bytes"
        self.assertEqual(self.box.log("dataplane.log").count(said), 1)
        self.assertIn("port lab inside has an MTU of 1400, below the 1500 that its pair needs", self.box.ctl("health").stdout)
        self.assertIn('sluice_port_mtu_bytes{pair="lab",side="inside"} 1400', self.box.api("GET", "/v1/metrics")[1].decode())
        before = self.too_long()
        self.send(1415)
        wait_until("the frame to be counted", lambda: self.too_long() == before + 1)
        sent = self.sent()
        self.send(1414)
        self.set_mtu("i", 1500, "inside")
        self.send(1514)
        wait_until("what fits to leave", lambda: self.sent() >= sent + 1414 + 1514)
        self.assertEqual(self.too_long(), before + 1)
        self.assertNotIn("MTU", self.box.ctl("health").stdout)

    def test_the_next_start_goes_on_with_the_lesser_of_both(self):
        for end in (signal.SIGKILL, signal.SIGTERM):
            self.set_mtu("i", 1400, "inside")
            self.box.kill(self.box.dataplane, end)
            self.start_between("af_packet")
            self.box.wait_for_link(True)
            self.assertIn("different MTUs, 1500 outside and 1400 inside: both have 1400", self.box.log("dataplane.log"))
            self.assertEqual([side["mtu"] for side in self.box.ports().values()], [1400, 1400])

    def test_a_side_is_below_the_other_where_that_one_is_raised(self):
        self.set_mtu("o", 1600, "outside")
        shown = self.box.ctl("health").stdout
        self.assertIn("port lab inside has an MTU of 1500, below the 1600 that its pair needs", shown)
        self.assertIn("port lab outside has an MTU of 1600, above the 1500 that its pair was started for", shown)

    def raise_both(self):
        """As somebody does who wants long packets, at the hosts too."""
        for hosts in (self.hosts.outside, self.hosts.inside):
            ip("-n", hosts, "link", "set", "eth0", "mtu", "9000")
        self.set_mtu("o", 9000, "outside")
        self.set_mtu("i", 9000, "inside")

    def test_what_the_box_was_not_started_for_is_counted_and_said(self):
        self.raise_both()
        said = "(lab inside) is 9000 now, and was 1500, but the pair was started for 1500: longer packets are dropped as too_long"
        self.assertEqual(self.box.log("dataplane.log").count(said), 1)
        shown = self.box.ctl("health").stdout
        for side in ("outside", "inside"):
            self.assertIn(f"port lab {side} has an MTU of 9000, above the 1500 that its pair was started for", shown)
        self.assertNotIn("below", shown)
        self.assertEqual(self.box.ctl("ports").stdout.count("9,000, set up for 1,500"), 2)
        before = self.too_long()
        self.send(4000)
        wait_until("the frame to be counted", lambda: self.too_long() == before + 1)

    def test_the_next_start_takes_what_its_ports_can_carry(self):
        for end in (signal.SIGKILL, signal.SIGTERM):
            self.raise_both()
            self.box.kill(self.box.dataplane, end)
            self.start_between("af_packet")
            self.box.wait_for_link(True)
            self.assertIn("have an MTU of 9000, and can carry 1500: both have that now", self.box.log("dataplane.log"))
            self.assertEqual([side["mtu"] for side in self.box.ports().values()], [1500, 1500])
            self.assertNotIn("MTU", self.box.ctl("health").stdout)


class Large(Ports):
    """Interfaces whose MTU is more than an af_xdp port can carry; there are no huge pages."""

    def set_mtu(self, namespace, name, mtu):
        ip("-n", namespace, "link", "set", name, "mtu", str(mtu))

    def test_a_start_goes_on_with_what_fits(self):
        for name in "oi":
            self.set_mtu(self.hosts.box, name, 9000)
        self.start_between("af_xdp")
        self.assertIn("have an MTU of 9000, and can carry 3542: both have that now", self.box.log("dataplane.log"))
        self.assertEqual({name: self.link(name).mtu for name in "oi"}, {"o": 3542, "i": 3542})

    def test_a_veth_whose_other_end_sends_more_is_refused_with_what_to_do(self):
        for host in (self.hosts.outside, self.hosts.inside):
            self.set_mtu(host, "eth0", 9000)
        process = self.start_between("af_xdp", wait=False)
        self.refused(process, "iface=o (lab outside) refuses a receive queue", "the MTU of the other end of this veth",
                     "`ip link set END mtu 1500`")
        for host in (self.hosts.outside, self.hosts.inside):
            self.set_mtu(host, "eth0", 1500)
        self.start_between("af_xdp")


class LeftPrograms(KernelCase):
    """What a dataplane with `kernel` left at its interfaces, before one with another configuration."""

    def programs_there(self):
        return {name: Link(self.hosts.box, name).program for name in "oi"}

    def leave(self, **options):
        """A box with `kernel` is killed, and the kernel forwards for it."""
        self.start_kernel_box({"fail": "open"}, DROP_ALL, **options)
        self.box.kill(self.box.dataplane)
        self.assertNotIn(None, self.programs_there().values())

    def expect_judged(self, state):
        """All of the flood comes to the box, which drops it."""
        with HostFlood(self.hosts, FLOW) as flood:
            wait_until("the box to drop", lambda: self.box.stats()["rules"][0]["exceeded"] >= MANY)
            self.assertEqual(flood.total(), 0)
        self.assertEqual(list(self.pins.glob(f"sluice/*{state}/*")), [])

    def test_a_start_without_kernel_takes_it_away(self):
        self.leave()
        self.start_between("af_packet")
        self.box.wait_for_link(True)
        self.assertEqual(self.programs_there(), {"o": None, "i": None})
        self.assertIn("took a program that an earlier dataplane had left", self.box.log("dataplane.log"))
        self.expect_judged("_2fstate")

    def test_so_does_one_with_another_state_directory(self):
        self.leave()
        left = self.programs_there()
        self.box.dataplane_state = "another"
        self.start_kernel_box({"fail": "open"}, DROP_ALL)
        self.assertTrue(set(left.values()).isdisjoint(self.programs_there().values()))
        self.apply(DROP_ALL)
        self.expect_judged("_2fstate")

    def test_status_shows_what_is_at_the_interface(self):
        self.start_between("af_packet")
        self.box.start_sluiced()
        self.assertIn("the kernel has no program at the interface of any port", self.box.ctl("xdp", "status").stdout)
        self.assertNotIn("XDP", self.box.ctl("health").stdout)
        self.put_other("xdpgeneric")
        ports = self.box.ports()
        self.assertEqual((ports["outside"]["other_program"], ports["inside"]["other_program"]),
                         ({"program": self.programs_there()["o"], "mode": "generic", "owner": "unknown"}, None))
        self.assertIsNone(ports["outside"]["kernel"])
        shown = self.box.ctl("xdp", "status").stdout
        self.assertIn(" unknown ", shown)
        self.assertIn("`sluicectl health` says what to do", shown)
        shown = self.box.ctl("health").stdout
        self.assertIn(f"port lab outside: the XDP program {self.programs_there()['o']} (generic) at o is not this box's", shown)
        self.take_other_away(shown)
        self.assertNotIn("XDP", self.box.ctl("health").stdout)

    def put_other(self, hook, name="pass"):
        """A program that passes all, of somebody else, at the outside."""
        other = self.box.folder / "other.c"
        other.write_text(f'__attribute__((section("xdp"))) int {name}(void* context) {{ return 2; }}\n'
                         'char _license[] __attribute__((section("license"))) = "GPL";\n')
        subprocess.run(["clang-14", "-O2", "-target", "bpf", "-c", str(other), "-o", str(other.with_suffix(".o"))], check=True)
        ip("-n", self.hosts.box, "link", "set", "dev", "o", hook, "obj", str(other.with_suffix(".o")), "sec", "xdp")

    def take_other_away(self, said):
        """As the box has said last that it is to be done."""
        advice = re.findall(r"`ip (link set dev o xdp\w+ off)` takes it away", said)
        self.assertTrue(advice, said)
        ip("-n", self.hosts.box, *advice[-1].split())
        self.assertIsNone(self.programs_there()["o"])

    def test_a_start_of_af_packet_says_it(self):
        for hook, mode in (("xdpgeneric", "generic"), ("xdpdrv", "native")):
            self.put_other(hook)
            self.start_between("af_packet")
            said = self.box.log("dataplane.log")
            self.assertIn(f"the XDP program {self.programs_there()['o']} ({mode}) at o is not this box's", said)
            self.box.kill(self.box.dataplane, signal.SIGTERM)
            self.take_other_away(said)

    def test_a_start_of_af_xdp_is_refused_and_leaves_it(self):
        for hook in ("xdpgeneric", "xdpdrv"):
            for config in (FEW_BUFFERS, {**FEW_BUFFERS, "kernel": {"pins": str(self.pins)}}):
                self.put_other(hook)
                there = self.programs_there()["o"]
                process = self.start_between("af_xdp", config, wait=False)
                self.assertEqual(process.wait(60), 1)
                said = self.box.log("dataplane.log")
                self.assertIn("net_af_xdp needs its place", said)
                self.assertEqual(self.programs_there()["o"], there)
                self.take_other_away(said)

    def test_a_dispatcher_is_refused_unless_all_that_it_carries_is_of_sockets(self):
        self.put_other("xdpdrv", name="xdp_dispatcher")  # which carries nothing that is known
        there = self.programs_there()["o"]
        process = self.start_between("af_xdp", FEW_BUFFERS, wait=False)
        self.assertEqual(process.wait(60), 1)
        said = self.box.log("dataplane.log")
        self.assertIn("net_af_xdp needs its place", said)
        self.assertEqual(self.programs_there()["o"], there)
        self.take_other_away(said)

    def test_the_program_of_a_drivers_sockets_is_nobody_elses(self):
        for _ in range(2):  # again behind a kill, which leaves it there
            self.start_between("af_xdp", FEW_BUFFERS)
            self.assertIsNotNone(self.programs_there()["o"])
            self.box.start_sluiced()
            self.assertNotIn("XDP", self.box.ctl("health").stdout + self.box.log("dataplane.log"))
            self.assertIn(" driver ", self.box.ctl("xdp", "status").stdout)
            self.box.kill(self.box.sluiced)
            self.box.kill(self.box.dataplane)

    def test_forgetting_removes_it_wherever_its_pins_are(self):
        self.leave()
        # With a configuration that knows neither the pins nor the state directory of before.
        (self.box.folder / "another").mkdir()
        forget = ["ip", "netns", "exec", self.hosts.box, self.box.dataplane_program, "--state-dir",
                  str(self.box.folder / "another"), "--pair", "lab", "--outside", "net_af_packet0,iface=o", "--inside",
                  "net_af_packet1,iface=i", "--forget"]
        subprocess.run(forget, check=True, timeout=60)
        self.assertEqual(self.programs_there(), {"o": None, "i": None})
        self.assertEqual(set(self.pins.iterdir()), self.kernels_own)


class Caveats(KernelCase):
    """What frames need that no port can give: said at the start, with what to do."""

    def test_the_outer_tag_of_802_1ad(self):
        said = "net_af_packet ports send 802.1ad frames (0x88a8) on as 802.1Q (0x8100)"
        self.start_between("af_xdp", FEW_BUFFERS)
        self.assertEqual(outer_tag(self.hosts), "88a8 10")
        self.assertNotIn(said, self.box.log("dataplane.log"))
        self.box.kill(self.box.dataplane, signal.SIGTERM)
        self.start_between("af_packet")
        self.assertEqual(outer_tag(self.hosts), "8100 10")
        self.assertIn(said, self.box.log("dataplane.log"))

    def bridges(self, mode, gro):
        """Whether what the kernel forwards by itself arrives; and the log of the box before."""
        for host in (self.hosts.outside, self.hosts.inside):
            ip("netns", "exec", host, "ethtool", "-K", "eth0", "gro", gro)
        self.start_kernel_box({"fail": "open", "mode": mode}, DROP_ALL)
        self.box.kill(self.box.dataplane)
        with HostFlood(self.hosts, FLOW) as flood:
            before = self.pinned_counts()[0]
            wait_until("the kernel to forward", lambda: self.pinned_counts()[0] >= before + MANY)
            return wait_until_still("what came", lambda: flood.total() > 0)

    def test_what_the_kernel_forwards_to_a_veth(self):
        said = "is lost unless the other end of this veth has GRO"
        self.assertTrue(self.bridges("generic", "off"))
        self.assertNotIn(said, self.box.log("dataplane.log"))
        self.assertTrue(self.bridges("native", "on"))
        self.assertEqual(self.box.log("dataplane.log").count(said), 2)  # once for each side
        self.assertFalse(self.bridges("native", "off"), "then the warning is for nothing")


if __name__ == "__main__":
    main()
