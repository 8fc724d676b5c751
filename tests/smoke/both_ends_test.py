"""What a recording is judged unsound for, on frames made by hand."""
import ipaddress
import os
import struct
import tempfile
import unittest

import capture_files as frames
from both_ends import Resets, faults_in

REQUEST = b"GET / HTTP/1.1\r\nX: "
SRC, DST = "192.0.2.1", "198.51.100.7"


def segment(padding, checksum=None):
    """-> (the checksum that is right, a frame with the one given)"""
    tcp = struct.pack("!HHIIBBHHH", 1000, 80, 1, 1, 5 << 4, 0x18, 1000, 0, 0) + REQUEST + padding + b"\r\n\r\n"
    pseudo = ipaddress.IPv4Address(SRC).packed + ipaddress.IPv4Address(DST).packed + struct.pack("!HH", 6, len(tcp))
    right = frames.checksum(pseudo + tcp)
    written = struct.pack("!H", right if checksum is None else checksum)
    return right, frames.ethernet(frames.ipv4(SRC, DST, 6, tcp[:16] + written + tcp[18:]), 0x0800)


# Its right checksum is 0: what two more bytes sum up to is what was missing.
NOUGHT = b"a" + struct.pack("!H", segment(b"a\0\0")[0])


class Checksums(unittest.TestCase):
    def faults(self, frame):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "frames.pcap")
            with open(path, "wb") as file:
                file.write(frames.pcap([(1, frame)]))
            return faults_in(path)

    def test_the_right_one_is_sound(self):
        self.assertEqual(self.faults(segment(b"abc")[1]), (1, 0, []))

    def test_both_ways_to_write_nought_are_sound(self):
        for written in (0, 0xFFFF):
            right, frame = segment(NOUGHT, written)
            self.assertEqual(right, 0)
            self.assertEqual(self.faults(frame), (1, 0, []), written)

    def test_others_are_not(self):
        for padding, written in ((b"abc", 0xFFFF), (b"abc", 0), (NOUGHT, 1)):
            _, _, faults = self.faults(segment(padding, written)[1])
            self.assertIn("frame 1: tcp.checksum.status: GET / HTTP/1.1 ", faults, (padding, written))


class WhereResetsStand(unittest.TestCase):
    """Of a client at port 1000 that has sent bytes 1 to 9, and its FIN at 10."""
    SENT = (("0", "1000", "80", 1, 1, 9, 0, 0, 0), ("0", "1000", "80", 10, 1, 0, 0, 1, 0))

    def fault(self, *segments):
        resets = Resets()
        return [resets.fault(*segment) for segment in (*self.SENT, *segments)][-1]

    def reset(self, seq):
        return "0", "1000", "80", seq, 0, 0, 0, 0, 1

    def data_of_the_server(self, ack):
        return "0", "80", "1000", 1, ack, 5, 0, 0, 0

    def test_where_the_receiver_awaits_the_next_byte(self):
        self.assertFalse(self.fault(self.reset(11)))
        self.assertTrue(self.fault(self.reset(10)))
        self.assertTrue(self.fault(self.reset(12)))

    def test_at_the_fin_in_answer_to_what_was_sent_before_it_came(self):
        self.assertFalse(self.fault(self.data_of_the_server(10), self.reset(10)))
        self.assertTrue(self.fault(self.data_of_the_server(9), self.reset(9)))
        self.assertTrue(self.fault(self.data_of_the_server(11), self.reset(10)))

    def test_of_no_other_connection(self):
        of_another = ("1", *self.data_of_the_server(10)[1:])
        self.assertTrue(self.fault(of_another, self.reset(10)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
