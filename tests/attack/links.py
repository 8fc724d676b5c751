"""What a dataplane changes and follows at the links of its ports, killed in between: MTU, promiscuous mode, sides down."""
import json
import signal
import subprocess
import time

from ports import AF_PACKET, AF_XDP, FEW_BUFFERS, restart
from tagged_frames import outer_tag
from target import Outcome, Target, ip, wait_until

WIDTHS = (1300, 1400, 1500)
RETAGS = "net_af_packet ports send 802.1ad frames (0x88a8) on as 802.1Q (0x8100)"


def settings_of(target, name):
    """-> (MTU, whether it is promiscuous, whether it is up)"""
    shown = subprocess.run(["ip", "-n", target.hosts.box, "-j", "link", "show", name], check=True, capture_output=True, text=True)
    link, = json.loads(shown.stdout)
    return link["mtu"], "PROMISC" in link["flags"], "UP" in link["flags"]


def set_own(target, dice):
    """What the interfaces are to have when no dataplane runs."""
    own = {}
    for name in "oi":
        own[name] = dice.choice(WIDTHS), dice.random() < 0.3, True
        mtu, is_promiscuous, _ = own[name]
        ip("-n", target.hosts.box, "link", "set", name, "mtu", str(mtu), "promisc", "on" if is_promiscuous else "off")
    return own


def start(target, dice, wait=True):
    """With an MTU of its own, or the interfaces'."""
    config = dice.choice((None, {"ports": [{"mtu": dice.choice(WIDTHS)}]}))
    return target.box.start_dataplane(*AF_PACKET, config, netns=target.hosts.box, wait=wait)


def changed_links(programs, deadline, dice):
    """Dataplanes with another MTU each are killed, in the midst of a start too; one that ends in order comes last."""
    outcome = Outcome()
    with Target(programs) as target:
        box = target.box
        while time.monotonic() < deadline:
            outcome.attempts += 1
            box.kill(box.dataplane, signal.SIGTERM)
            own = set_own(target, dice)
            for _ in range(dice.randint(1, 3)):
                is_whole = dice.random() < 0.5
                start(target, dice, wait=is_whole)
                time.sleep(dice.uniform(0, 0.1 if is_whole else 1))
                box.kill(box.dataplane)
            start(target, dice)
            outcome.survived += target.carries()
            outcome.expect(box.kill(box.dataplane, signal.SIGTERM) == 0, "an ordered end went wrong")
            left = {name: settings_of(target, name) for name in "oi"}
            outcome.expect(left == own, f"the links were {own} before (MTU, promiscuous, up), and are {left}")
            target.start_dataplane()
        target.expect_the_bound(outcome)
    return outcome


def is_followed(target, words, is_so):
    """Whether the ports become so; `words` are what else is said."""
    try:
        wait_until(words, lambda: is_so(target.box.ports()))
    except AssertionError:
        return False
    return True


def down_at_start(programs, deadline, dice):
    """The cable of a side is out when the dataplane starts, and comes back later, behind a kill or without one."""
    outcome = Outcome()
    with Target(programs) as target:
        box, hosts = target.box, target.hosts
        while time.monotonic() < deadline:
            outcome.attempts += 1
            host, other = dice.choice(((hosts.outside, "inside"), (hosts.inside, "outside")))
            target.flood.__exit__()  # nobody can send on a link that is down
            box.kill(box.dataplane, dice.choice((signal.SIGKILL, signal.SIGTERM)))
            ip("-n", host, "link", "set", "eth0", "down")
            for _ in range(dice.randint(1, 2)):
                restart(target, AF_PACKET)
                box.wait_for_link(True)
                outcome.expect(is_followed(target, "the side to be held", lambda ports: ports[other]["held_down"]),
                               f"{other} is not taken down where the other side was down at the start")
            ip("-n", host, "link", "set", "eth0", "up")
            outcome.expect(is_followed(target, "both links", lambda ports: all(port["link_up"] for port in ports.values())),
                           f"{other} is not brought back with the side that was down at the start")
            target.begin_flood()
            outcome.survived += target.carries()
            target.expect_the_bound(outcome)
    return outcome


def outer_tags(programs, deadline, dice):
    """Frames of 802.1ad under the flood: af_xdp keeps their outer tag, af_packet makes it 802.1Q's and says so."""
    outcome = Outcome()
    with Target(programs) as target:
        box = target.box
        while time.monotonic() < deadline:
            outcome.attempts += 1
            # Killed, it would leave a program of libxdp's, which refuses the next one.
            box.kill(box.dataplane, signal.SIGTERM)
            said = box.log("dataplane.log").count(RETAGS)
            devices, config, kind = dice.choice(((AF_PACKET, None, "8100"), (AF_XDP, FEW_BUFFERS, "88a8")))
            box.start_dataplane(*devices, config, netns=target.hosts.box)
            outcome.survived += target.carries()
            came = outer_tag(target.hosts)
            outcome.expect(came == f"{kind} 10", f"the outer tag 88a8 10 left {devices[0]} as {came}")
            warned = box.log("dataplane.log").count(RETAGS) > said
            outcome.expect(warned == (kind == "8100"), f"{devices[0]} warns of tags that it changes: {warned}")
        target.expect_the_bound(outcome)
    return outcome
