"""Runs plans over a link: a client that the kernel knows nothing of, with addresses that no host has."""
import collections
import dataclasses
import select
import socket
import time

import wire
from http_hosts import within
from plan import HANDSHAKE_SECONDS, Datagram, Deliver, Do, Finish, Open, Send, Until, Wait, segments
from wire import ACK, FIN, PSH, RST, SYN, Headers

SYNS = 6  # sent for one handshake
SYNS_AGAIN = 3  # where the same ports are used again: a server that knows the connection yet answers none of them
MSS = 1400
IDLE = 0.001
LOOK = 0.05  # seconds between two looks whether it is enough
KINDS = {4: b"\x08\x00", 6: b"\x86\xdd"}  # by version of IP
ETH_P_ALL = 3
RECEIVE_FORCE, SEND_FORCE = 33, 32


@dataclasses.dataclass(frozen=True)
class Target:
    address: bytes
    port: int


class Link:
    """The client's end: frames to one neighbour, and those for `clients` (first octet of their addresses)."""

    def __init__(self, namespace, neighbour, own):
        self.head = neighbour + own
        with within(namespace):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        for option in (RECEIVE_FORCE, SEND_FORCE):
            self.socket.setsockopt(socket.SOL_SOCKET, option, 32 << 20)
        self.socket.bind(("eth0", ETH_P_ALL))
        self.socket.setblocking(False)

    def send(self, packet):
        frame = self.head + KINDS[packet[0] >> 4] + packet
        try:
            self.socket.send(frame)
        except BlockingIOError:
            select.select([], [self.socket], [], 1)
            self.socket.send(frame)

    def receive(self, seconds):
        """What has come, after so long a wait at most."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return
        for _ in range(512):
            try:
                frame, (_, _, kind, _, _) = self.socket.recvfrom(65536)
            except BlockingIOError:
                return
            if kind != socket.PACKET_OUTGOING and frame[12:14] in KINDS.values():
                yield frame[14:]

    def close(self):
        self.socket.close()


class Peer:
    """What a client knows of one connection."""

    def __init__(self, flow, target):
        self.flow, self.target = flow, target
        self.reset_numbers()
        self.openings = 0
        self.received = bytearray()  # of all connections of this flow, one behind the other

    def reset_numbers(self):
        self.is_open = self.ended = self.reset = False
        self.server_next = 0
        self.server_options = b""  # of its SYN-ACK
        self.acknowledged = self.flow.iss + 1 & wire.MASK
        self.news = 0  # data and ends since the last Wait

    def take(self, segment):
        """Whether an acknowledgement is due."""
        if segment.flags & RST:
            exact = segment.seq == self.server_next if self.is_open else segment.ack == (self.flow.iss + 1 & wire.MASK)
            self.reset |= exact
            self.news += exact
            return False
        if segment.flags & SYN:
            if segment.ack == (self.flow.iss + 1 & wire.MASK) and not self.is_open:
                self.is_open, self.server_next = True, segment.seq + 1 & wire.MASK
                self.server_options = segment.options
                return False  # by Open
            return self.is_open
        if ahead(segment.ack, self.acknowledged) > 0:
            self.acknowledged = segment.ack
        if segment.seq == self.server_next and not self.ended:
            self.received += segment.payload
            ends = bool(segment.flags & FIN)
            self.server_next = self.server_next + len(segment.payload) + ends & wire.MASK
            self.ended |= ends
            self.news += bool(segment.payload) + ends
        return bool(segment.payload) or bool(segment.flags & FIN)


def ahead(number, of):
    return (number - of + 0x80000000 & wire.MASK) - 0x80000000


class Run:
    """One plan on its way. `failed`: why it could not go on, in words."""

    def __init__(self, plan, client, target, link):
        self.plan, self.client, self.target, self.link = plan, client, target, link
        self.peers, self.by_port = {}, {}
        for flow in plan.flows:
            self.peers.setdefault(flow, Peer(flow, target))
        self.at, self.until, self.syns, self.number = 0, None, 0, 0
        self.failed = ""
        self.datagrams = []  # that have come
        self.ready = []  # packets of Sends that follow each other: made first, then sent with nothing between them

    def peer(self, step):
        return self.peers[self.plan.flows[step.flow]]

    def done(self):
        return self.at >= len(self.plan.steps) or bool(self.failed)

    def put(self, peer, head, payload=b""):
        self.number = self.number + 1 & 0xFFFF
        self.ready += wire.packets(self.client, self.target.address, peer.flow.sport, self.target.port, head, payload, self.number)

    def send_ready(self):
        """A server's answer to the first of several would come between them if each was made when the one before was sent."""
        ready, self.ready = self.ready, []
        for packet in ready:
            self.link.send(packet)

    def take(self, segment):
        peer = self.by_port.get(segment.dport)
        if peer is not None and peer.take(segment):
            self.put(peer, Headers(peer.acknowledged, peer.server_next))
            self.send_ready()

    def advance(self, now):
        """All that can be done at once."""
        while not self.done():
            step = self.plan.steps[self.at]
            if not isinstance(step, Send):
                self.send_ready()
            going = {Open: self.open, Send: self.send, Wait: self.wait, Deliver: self.deliver, Finish: self.finish,
                     Datagram: self.datagram, Until: self.wait_for, Do: self.do}
            going = going[type(step)](step, now)
            if not going:
                break
            self.at, self.until, self.syns = self.at + 1, None, 0
        self.send_ready()

    def open(self, step, now):
        peer = self.peer(step)
        if self.until is None:
            peer.reset_numbers()
            peer.openings += 1
            self.by_port[peer.flow.sport] = peer
        if peer.is_open:
            self.put(peer, segments(step, peer.flow, peer.server_next, peer.server_options)[1][0])
            return True
        if peer.reset:
            self.failed = "nobody listens"
            return False
        if self.until is None or now > self.until:
            if self.syns == (SYNS if peer.openings == 1 else SYNS_AGAIN):
                self.failed = "no SYN-ACK"
                return False
            self.put(peer, segments(step, peer.flow, 0)[0][0])
            self.until, self.syns = now + HANDSHAKE_SECONDS * (1 + self.syns // 2), self.syns + 1
        return False

    def send(self, step, _):
        peer = self.peer(step)
        for head, data in segments(step, peer.flow, peer.server_next, peer.server_options):
            self.put(peer, head, data)
        return True

    def datagram(self, step, _):
        flow = self.plan.flows[step.flow]
        self.by_port[flow.sport] = self.peers[flow]
        self.number = self.number + 1 & 0xFFFF
        for packet in wire.datagrams(self.client, self.target.address, flow.sport, self.target.port, step.headers(), step.data,
                                     step.number or self.number):
            self.link.send(packet)
        return True

    def take_datagram(self, port, payload):
        if port in self.by_port:
            self.datagrams.append(payload)
            self.by_port[port].news += 1

    def wait(self, step, now):
        peer = self.peer(step)
        if self.until is None:
            self.until = now + step.seconds
        met = {"data": peer.news > 0, "close": peer.ended or peer.reset, "time": False}[step.until]
        if met or now > self.until:
            peer.news = 0
            return True
        return False

    def wait_for(self, step, now):
        if self.until is None:
            self.until = now + step.seconds
        return step.event.is_set() or now > self.until

    def deliver(self, step, now):
        peer = self.peer(step)
        had = peer.acknowledged - (peer.flow.iss + 1) & wire.MASK
        if had >= len(step.data) or peer.reset or peer.ended:
            return True
        if self.until is None or now > self.until:
            if self.syns == SYNS:
                return True
            if self.syns:  # the first time only waits
                self.put(peer, Headers(peer.acknowledged, peer.server_next, ACK | PSH), step.data[had:had + MSS])
            self.until, self.syns = now + HANDSHAKE_SECONDS, self.syns + 1
        return False

    @staticmethod
    def do(step, _):
        step.action()
        return True

    def finish(self, step, now):
        """Again until the server has acknowledged it and ended itself; not for ever."""
        peer = self.peer(step)
        number = peer.flow.iss + 1 + step.at
        if peer.reset or (peer.ended and ahead(peer.acknowledged, number) > 0):
            return True
        if self.until is None or now > self.until:
            if self.syns == SYNS:
                return True
            self.put(peer, Headers(number, peer.server_next, FIN | ACK))
            self.until, self.syns = now + HANDSHAKE_SECONDS, self.syns + 1
        return False

    def abandon(self):
        """Ends what is open at the server, at the number that it awaits."""
        for peer in self.peers.values():
            if peer.is_open and not peer.reset:
                self.put(peer, Headers(peer.acknowledged, peer.server_next, RST | ACK))
        self.send_ready()


class Engine:
    """Many runs at once over one link."""

    def __init__(self, link):
        self.link = link
        self.runs = collections.OrderedDict()

    def run(self, runs, seconds, is_enough=None):
        """Until all are done, or it is enough, at most so long; those that are not done fail."""
        by_client = {run.client: run for run in runs}
        now = time.monotonic()
        deadline, look = now + seconds, now + LOOK
        going = list(runs)
        while going and (now := time.monotonic()) < deadline:
            if is_enough and now > look:
                if is_enough():
                    break
                look = now + LOOK
            for run in going:
                run.advance(now)
            going = [run for run in going if not run.done()]
            self.dispatch(by_client, IDLE)
        for run in going:
            run.failed = run.failed or "took too long"
        return by_client

    def dispatch(self, by_client, seconds):
        for packet in self.link.receive(seconds):
            segment = wire.read(packet)
            if segment:
                run = by_client.get(segment.dst)
                if run:
                    run.take(segment)
            elif datagram := wire.read_udp(packet):
                run = by_client.get(datagram[1])
                if run:
                    run.take_datagram(*datagram[2:])

    def settle(self, by_client, seconds):
        """What still comes is taken for so long; then what is open is reset."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.dispatch(by_client, min(left, 0.02))
        for run in by_client.values():
            run.abandon()

