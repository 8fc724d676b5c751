"""What a dataplane finds at its interfaces and leaves there: programs, links held down, panic, a second dataplane."""
import contextlib
import itertools
import signal
import subprocess
import time

from kernel_case import kernels_counts
from target import CLOSED, Box, Outcome, Target, ip, wait_until

AF_PACKET = ("net_af_packet0,iface=o", "net_af_packet1,iface=i")
AF_XDP = ("net_af_xdp0,iface=o", "net_af_xdp1,iface=i")
FEW_BUFFERS = {"memory": {"mbufs": 12288}}
MANY = 100
NEEDS_GRO = "is lost unless the other end of this veth has GRO"


def gro(target, word):
    """At the hosts' ends: a veth takes what XDP forwards to it where its end has GRO."""
    for host in (target.hosts.outside, target.hosts.inside):
        ip("netns", "exec", host, "ethtool", "-K", "eth0", "gro", word)


@contextlib.contextmanager
def pins_of(target):
    """`ip netns exec` hides the mount that is usual."""
    pins = target.box.folder / "bpf"
    pins.mkdir()
    subprocess.run(["mount", "-t", "bpf", "bpf", str(pins)], check=True)
    try:
        yield pins
    finally:
        subprocess.run(["umount", "-l", str(pins)], check=False)


def restart(target, devices, config=None):
    if target.box.dataplane.poll() is None:
        target.box.kill(target.box.dataplane)
    target.box.start_dataplane(*devices, config, netns=target.hosts.box)


def bridging(target, pins, mode):
    """A box with `kernel` is killed, and the kernel forwards for it. -> frames that had come to the closed host before."""
    restart(target, AF_XDP, {**FEW_BUFFERS, "kernel": {"pins": str(pins), "heartbeat": "1s", "mode": mode}})
    target.wait_until_it_carries()
    target.box.kill(target.box.dataplane)
    came, forwarded = target.came_to(CLOSED), kernels_counts(pins)[0]
    wait_until("the kernel to forward", lambda: kernels_counts(pins)[0] > forwarded + MANY)
    return came


def arrives(target, came):
    """Whether what is forwarded now, unjudged, comes to the closed host."""
    try:
        wait_until("what the kernel forwards", lambda: target.came_to(CLOSED) > came)
    except AssertionError:
        return False
    return True


def left_programs(programs, deadline, dice):
    """The kernel forwards for a box that was killed; one without `kernel`, or with other pins, comes after it."""
    outcome = Outcome()
    with Target(programs) as target, pins_of(target) as pins:
        gro(target, "on")
        while time.monotonic() < deadline:
            outcome.attempts += 1
            came = bridging(target, pins, dice.choice(("native", "generic")))
            outcome.expect(arrives(target, came), "what the kernel forwards did not arrive")
            devices, config = dice.choice(((AF_PACKET, None), (AF_XDP, FEW_BUFFERS)))
            target.box.start_dataplane(*devices, config, netns=target.hosts.box)
            target.wait_until_it_carries()
            past = target.came_to(CLOSED)
            outcome.survived += target.carries()
            outcome.expect(target.came_to(CLOSED) == past, "frames past an always-drop rule, by a program left behind")
            # Killed, it would leave a program of libxdp's, which is nobody's of this box and refuses the next one.
            target.box.kill(target.box.dataplane, signal.SIGTERM)
    return outcome


def bridged(programs, deadline, dice):
    """What the kernel forwards by itself arrives: generically, and natively with GRO at the other end. Natively without it
    all of that is lost, as the box says at its start."""
    outcome = Outcome()
    with Target(programs) as target, pins_of(target) as pins:
        while time.monotonic() < deadline:
            outcome.attempts += 1
            mode, word = dice.choice(tuple(itertools.product(("native", "generic"), ("on", "off"))))
            gro(target, word)
            said = target.box.log("dataplane.log").count(NEEDS_GRO)
            came = bridging(target, pins, mode)
            if (mode, word) == ("native", "off"):
                outcome.expect(target.came_to(CLOSED) == came, "natively without GRO something arrives: the warning is for nothing")
            else:
                outcome.expect(arrives(target, came), f"{mode}, GRO {word}: what the kernel forwards did not arrive")
            warned = target.box.log("dataplane.log").count(NEEDS_GRO) > said
            outcome.expect(warned == (mode == "native"), f"{mode}: warns of ends without GRO {warned}")
            target.box.start_dataplane(*AF_PACKET, netns=target.hosts.box)
            outcome.survived += target.carries()
    return outcome


def held_links(programs, deadline, dice):
    """The dataplane is killed around the moment at which it takes a side down after the other."""
    outcome = Outcome()
    with Target(programs) as target:
        while time.monotonic() < deadline:
            outcome.attempts += 1
            end = dice.choice("oi")
            target.flood.__exit__()  # nobody can send on a link that is down
            ip("-n", target.hosts.box, "link", "set", end, "down")
            time.sleep(dice.uniform(0, 0.4))
            target.box.kill(target.box.dataplane)
            ip("-n", target.hosts.box, "link", "set", end, "up")
            target.start_dataplane()
            target.begin_flood()
            outcome.survived += target.carries()
            target.expect_the_bound(outcome)
    return outcome


def panic_kills(programs, deadline, dice):
    """Panic is set and resumed, and the dataplane killed at once: the next one knows what was said last."""
    outcome = Outcome()
    with Target(programs) as target:
        box = target.box
        while time.monotonic() < deadline:
            outcome.attempts += 1
            word = dice.choice(("pass", "resume"))
            said = box.ctl("panic", word, "--dataplane-socket", box.dataplane_socket)
            outcome.expect(said.returncode == 0, f"panic {word} was refused")
            restart(target, AF_PACKET)
            box.wait_for_link(True)
            wait_until("stats", lambda: box.stats() is not None)
            outcome.expect(box.stats()["panic"] == (word == "pass"), f"a kill has undone panic {word}")
            past = target.came_to(CLOSED)
            alive = target.carries()
            came = target.came_to(CLOSED) > past
            outcome.expect(came == (word == "pass"), f"frames were judged otherwise than after panic {word}")
            outcome.survived += alive
    return outcome


def shared_ports(programs, deadline, dice):
    """A second dataplane wants an interface of the first, or one interface twice."""
    outcome = Outcome()
    with Target(programs) as target:
        while time.monotonic() < deadline:
            outcome.attempts += 1
            other = Box(*programs)
            try:
                ends = dice.choice((AF_PACKET, AF_XDP, ("net_null0,no-rx=1", AF_PACKET[1]), (AF_PACKET[0], "net_af_packet1,iface=o")))
                ended = other.start_dataplane(*ends, netns=target.hosts.box, wait=False).wait(60)
                outcome.expect(ended == 1, f"a second dataplane on {ends} ended with {ended}")
            finally:
                other.close()
            outcome.survived += target.carries()
        target.expect_the_bound(outcome)
    return outcome
