"""Limits of open connections between real clients and a real server: dataplane, sluiced, sluicectl.

    concurrency_test.py DATAPLANE SLUICED SLUICECTL
"""
import contextlib
import socket
import struct

import workers_case
from box_case import HostsCase
from http_hosts import within
from programs import wait_until

PORT = 8080
SERVER = "10.78.0.2"


def hold(count, key="ip.src"):
    """More than so many connections are refused at once."""
    return f"""version: 1
rules:
  - id: open
    mode: enforce
    when: dir eq "in" and l4.dport eq {PORT}
    key: [{key}]
    limits: [{{algorithm: concurrency, count: {count}, idle: 1h}}]
    on_exceed: {{action: reset}}
"""


class Server:
    """Accepts connections, and closes those of clients that are gone."""

    def __init__(self, namespace):
        with within(namespace):
            self.socket = socket.create_server((SERVER, PORT), backlog=128)
        self.accepted = {}

    def accept(self, client):
        """The server's end of a client's connection."""
        while client.getsockname() not in self.accepted:
            end, address = self.socket.accept()
            self.accepted[address] = end
        return self.accepted.pop(client.getsockname())

    def close(self):
        for end in self.accepted.values():
            end.close()
        self.socket.close()


class Talking:
    """What both cases do."""

    def connect(self):
        """A connection, or None: it was refused."""
        with within(self.hosts.outside):
            try:
                client = socket.create_connection((SERVER, PORT), 60)
            except ConnectionRefusedError:
                return None
        self.ends.callback(client.close)
        return client

    def connect_all(self, count):
        """So many, and not one more."""
        clients = [self.connect() for _ in range(count)]
        self.assertNotIn(None, clients)
        self.assertIsNone(self.connect())
        return clients

    def start_server(self):
        self.ends = contextlib.ExitStack()
        self.addCleanup(self.ends.close)
        self.server = Server(self.hosts.inside)
        self.addCleanup(self.server.close)

    def finish(self, client):
        """Both ends send their FIN, the client first."""
        end = self.server.accept(client)
        client.close()
        self.assertEqual(end.recv(1), b"")
        end.close()

    def counted(self, event):
        return self.box.stats()["table"].get(f"connections_{event}", 0)

    def wait_for(self, event, count):
        wait_until(f"{count} connections {event}", lambda: self.counted(event) >= count)
        self.assertEqual(self.counted(event), count)


class OneWorker(Talking, HostsCase):
    def start(self):
        self.start_between("af_packet")

    def setUp(self):
        super().setUp()
        self.start()
        self.box.start_sluiced()
        self.apply(hold(3))
        self.start_server()

    def test_what_closes_makes_room(self):
        first, second, third = self.connect_all(3)
        first.shutdown(socket.SHUT_WR)
        end = self.server.accept(first)
        self.assertEqual(end.recv(1), b"")
        self.assertIsNone(self.connect())  # the server may go on sending
        end.close()
        self.wait_for("finished", 1)
        fourth = self.connect()
        self.assertIsNotNone(fourth)
        self.assertIsNone(self.connect())
        second.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        second.close()
        self.wait_for("reset", 1)
        self.assertIsNotNone(self.connect())
        self.assertIsNone(self.connect())
        for open_yet in (third, fourth):
            open_yet.sendall(b"x")

    def test_what_is_open_survives_a_reload_and_the_dataplane(self):
        clients = self.connect_all(3)
        self.apply(hold(4))
        self.assertIsNotNone(self.connect())
        self.assertIsNone(self.connect())
        self.apply(hold(3))
        self.assertIsNone(self.connect())
        self.box.kill(self.box.dataplane)
        self.start()
        self.box.wait_for_link(True)
        self.assertIsNone(self.connect())
        for client in clients[:2]:
            self.finish(client)
        self.wait_for("finished", 2)
        self.assertIsNotNone(self.connect())
        self.assertIsNone(self.connect())


class SeveralWorkers(Talking, workers_case.WorkersCase):
    """Connections of one key meet all workers, those of their servers others than those of their clients."""
    COUNT = 24

    def test_all_of_them_are_counted_and_closed(self):
        self.start()
        self.apply(hold(self.COUNT, "ip.dst"))
        self.start_server()
        for turn in (1, 2):
            for client in self.connect_all(self.COUNT):
                self.finish(client)
            self.wait_for("finished", turn * self.COUNT)
        self.assertEqual(self.counted("untold"), 0)


if __name__ == "__main__":
    workers_case.main()
