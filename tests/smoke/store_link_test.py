"""A box in a cluster, and somebody who plays sluice-store at its socket: who may, how the link is told of, and by which secret
the box names its keys.

    store_link_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import pathlib
import socket
import stat
import struct

import box_case
from programs import wait_until

SECRET = "00112233445566778899aabbccddeeff"
HEAD = struct.Struct("<I")
AWAY, REFUSED, FENCED, READY = range(4)
REPORT, HELLO, CLOCKS = 1, 0, 2


def report(state, why=""):
    words = why.encode()
    payload = bytes([REPORT, state]) + HEAD.pack(len(words)) + words + struct.pack("<HHQqQ", 1, 64, 250, -3, 0)
    return HEAD.pack(len(payload)) + payload


class Case(box_case.BoxCase):
    def setUp(self):
        super().setUp()
        self.secret = self.box.folder / "secret"
        self.write_secret(SECRET)

    def write_secret(self, text, mode=0o600):
        self.secret.write_text(text + "\n")
        self.secret.chmod(mode)

    def config(self):
        return {"cluster": {"name": "test", "node": "a", "size": 3, "secret_file": self.secret,
                            "store": {"addresses": ["192.0.2.1:6379"]}}}

    def start(self):
        self.box.start_dataplane(*box_case.QUIET, self.config())

    def start_both(self):
        self.start()
        self.box.start_sluiced("--config", self.box.box_file)

    def connect(self):
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(link.close)
        link.settimeout(20)
        link.connect(str(self.box.folder / "store.sock"))
        return link

    def link(self):
        return self.box.stats()["store"]

    def said(self, link):
        size = HEAD.unpack(link.recv(HEAD.size, socket.MSG_WAITALL))[0]
        return link.recv(size, socket.MSG_WAITALL)

    def health(self):
        return json.loads(self.box.api("GET", "/v1/health")[1])["store"]

    def test_the_link_is_told_of(self):
        self.start_both()
        path = pathlib.Path(self.box.folder / "store.sock")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        wait_until("the store to be away", lambda: self.link()["down"])
        self.assertEqual(self.link()["state"], "away")
        link = self.connect()
        hello = self.said(link)
        self.assertEqual(hello[0], HELLO)
        self.assertIn(b"test", hello)
        self.assertEqual(self.said(link), bytes([CLOCKS]) + HEAD.pack(0), "no clock is known yet")
        link.sendall(report(REFUSED, "there is no function: `sluicectl store init`"))
        wait_until("why to be told", lambda: "store init" in (self.health()["why"] or ""))
        self.assertEqual(self.health()["state"], "refused")
        link.sendall(report(READY))
        wait_until("the link to be ready", lambda: self.link()["state"] == "ready" and not self.link()["down"])
        self.assertEqual((self.link()["slot"], self.link()["rtt_us"], self.link()["clock_off_us"]), (1, 250, -3))
        self.assertIn(b'sluice_store_link{state="ready"} 1', self.box.api("GET", "/v1/metrics")[1])
        link.sendall(report(FENCED, "box9 has the slot"))
        wait_until("it to be fenced", lambda: self.link()["state"] == "fenced")
        # Who comes later takes the place; and who breaks a message's form is let go of.
        other = self.connect()
        self.assertEqual((self.said(other)[0], self.said(other)[0]), (HELLO, CLOCKS))
        self.assertEqual(link.recv(1), b"")
        other.sendall(HEAD.pack(5) + b"\xff" * 5)
        self.assertEqual(other.recv(1), b"")
        wait_until("nobody to be there", lambda: self.link()["state"] == "away")

    def test_another_secret_begins_anew_and_the_same_goes_on(self):
        self.start_both()
        self.box.kill(self.box.sluiced)
        self.box.kill(self.box.dataplane)
        self.start()
        self.assertNotIn("begin anew", self.box.log("dataplane.log"))
        self.box.kill(self.box.dataplane)
        self.write_secret(SECRET[::-1])
        self.start_both()
        self.assertIn("another secret than the cluster's", self.box.log("dataplane.log"))
        self.assertEqual(self.box.stats()["state"]["put_aside"], 1)

    def test_a_secret_that_is_none_is_refused(self):
        for text, mode, why in [("12345", 0o600, "32 hexadecimal digits"), ("x" * 32, 0o600, "32 hexadecimal digits"),
                                (SECRET, 0o644, "chmod 600")]:
            self.write_secret(text, mode)
            self.box.start_dataplane(*box_case.QUIET, self.config(), wait=False)
            self.assertNotEqual(self.box.dataplane.wait(60), 0)
            self.assertIn(why, self.box.log("dataplane.log"))


box_case.main()
