"""What went over the links of both hosts, recorded, and judged by tshark."""
import subprocess
import sys

from http_hosts import run_within

ENDS = ("outside", "inside")
ERROR = str(8 << 20)  # PI_ERROR of Wireshark's expert information
# What no recording may show at either end. Of TCP's analysis it is what the bytes of a segment decide, at whatever
# pace the machine runs: a gap before a segment, an ACK of bytes that never came, bytes before others. What a pause
# brings forth (retransmissions, duplicate ACKs, full windows) is a host's own doing and stays allowed.
UNSOUND = {
    "_ws.malformed": bool,
    "_ws.expert.severity": lambda seen: ERROR in seen.split(","),
    "ip.checksum.status": lambda seen: "0" in seen.split(","),
    "tcp.checksum.status": lambda seen: "0" in seen.split(","),
    "udp.checksum.status": lambda seen: "0" in seen.split(","),
    "tcp.analysis.lost_segment": bool,
    "tcp.analysis.ack_lost_segment": bool,
    "tcp.analysis.out_of_order": bool,
}
SEGMENT = ("tcp.stream", "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.flags.syn",
           "tcp.flags.fin", "tcp.flags.reset")
CHECKED = ("ip.check_checksum:TRUE", "tcp.check_checksum:TRUE", "udp.check_checksum:TRUE")


def ahead(number, of):
    return (number - of + 0x80000000 & 0xFFFFFFFF) - 0x80000000


class Resets:
    """Whether each RST stands where its receiver, which had all that was recorded before, awaits the next byte.

    A host that has sent its FIN answers a segment which acknowledges no more than what was before it by an RST at that
    segment's ACK (RFC 9293, 3.10.7): the number of the FIN itself.
    """

    def __init__(self):
        self.ends = {}
        self.fins = set()
        self.acks = set()
        self.seen = 0

    def fault(self, stream, sender, receiver, seq, ack, length, syn, fin, reset):
        key = stream, sender
        awaited, end = self.ends.get(key), seq + length + syn + fin & 0xFFFFFFFF
        if reset:
            self.seen += 1
            answers_one_before_the_fin = (key, seq) in self.fins and (stream, receiver, seq) in self.acks
            sound = awaited in (None, seq) or answers_one_before_the_fin
            return not sound and f"RST at {seq}, awaited at {awaited}"
        self.acks.add((stream, sender, ack))
        if fin:
            self.fins.add((key, end - 1 & 0xFFFFFFFF))
        if awaited is None or syn or ahead(end, awaited) > 0:
            self.ends[key] = end
        return None


# Writes what comes and goes over eth0 as a pcap, until its input ends and nothing is left.
_RECORD = """
import select, socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
s.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
s.bind(("eth0", 3))
out = open(sys.argv[1], "wb")
out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
print("ready", flush=True)
while s in (ready := select.select([s, sys.stdin], [], [])[0]):
    frame, more, _, _ = s.recvmsg(65536, 64)
    seconds, ns = struct.unpack("qq", more[0][2])
    out.write(struct.pack("<IIII", seconds, ns, len(frame), len(frame)) + frame)
out.close()
"""


# What tshark says of 0xFFFF where it would write 0: the same sum (RFC 1071), which kernels send.
EQUAL_CHECKSUM = "tcp.checksum.ffff"


def read(file, fields, *options):
    """The texts of these fields, of each frame of a recording."""
    command = ["tshark", "-n", "-r", file, "-T", "fields", *options]
    command += [word for option in CHECKED for word in ("-o", option)]
    command += [word for field in fields for word in ("-e", field)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def faults_in(file):
    """-> (frames, RSTs among them, what is wrong with them)"""
    resets, faults = Resets(), []
    rows = read(file, [*UNSOUND, EQUAL_CHECKSUM, "_ws.col.Info", *SEGMENT])
    for number, row in enumerate(rows, 1):
        (*seen, is_equal, info), (stream, sender, receiver, *numbers) = row[:-len(SEGMENT)], row[-len(SEGMENT):]
        wrong = [name for (name, is_wrong), text in zip(UNSOUND.items(), seen)
                 if is_wrong(text) and not (name == "tcp.checksum.status" and is_equal)]
        if stream:
            wrong.append(resets.fault(stream, sender, receiver, *map(int, numbers)))
        faults += [f"frame {number}: {name}: {info}" for name in wrong if name]
    return len(rows), resets.seen, faults


class Recorder:
    def __init__(self, namespace, path):
        self.process = subprocess.Popen(run_within(namespace, sys.executable, "-c", _RECORD, path),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def stop(self):
        """Once all that came has been written."""
        if self.process.poll() is None:
            self.process.communicate()


class BothEnds:
    """Records at both hosts until it is stopped. Their links have no offloads, so that all checksums are whole."""

    def __init__(self, hosts, folder):
        self.files = {end: folder / f"{end}.pcap" for end in ENDS}
        self.recorders = [Recorder(getattr(hosts, end), self.files[end]) for end in ENDS]

    def stop(self):
        for recorder in self.recorders:
            recorder.stop()

    def read(self, end, fields, *options):
        return read(self.files[end], fields, *options)


class Watched:
    """Of a HostsCase: what goes over both links while a test runs is sound."""

    def watch(self):
        self.ends = BothEnds(self.hosts, self.box.folder)
        self.addCleanup(self.ends.stop)

    def judge_both_ends(self):
        self.ends.stop()
        for end in ENDS:
            frames, resets, faults = faults_in(self.ends.files[end])
            print(f"{end}: {frames} frames, {resets} RSTs", flush=True)
            self.assertGreater(frames, 0)
            self.assertEqual(faults, [], end)
