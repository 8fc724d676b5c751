"""Stand-ins for sluiced and sluice-dataplane: they answer as told and note what they were asked."""
import http.server
import json
import os
import pathlib
import re
import socket
import socketserver
import struct
import threading

# Of the dataplane's protocol.
VERSION = int(re.search(r"kWireVersion = (\d+)", (
    pathlib.Path(__file__).parents[2] / "lib" / "wire" / "message.hpp").read_text())[1])

# Of PacketTreatment in its Welcome: six words, eight ports of tunnels; of connections, of fragments; two more.
TREATMENT_SIZE = 6 + 8 * 3 + (3 * 8 + 1) + (1 + 2 * 8) + (1 + 8)


class UnixHttpServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class Sluiced:
    """`answers`: (method, path, with its query or without) -> (status, document), or a list of them."""

    def __init__(self, path, answers):
        self.asked = []  # (method, path, body)
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                owner.asked.append((self.command, self.path, body.decode()))
                found = answers.get((self.command, self.path)) or \
                    answers.get((self.command, self.path.split("?")[0]),
                                (404, problem("Not Found", "no such thing")))
                if isinstance(found, list):  # one after the other, and the last again and again
                    found = found.pop(0) if len(found) > 1 else found[0]
                status, document = found
                data = document if isinstance(document, bytes) else json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json" if status < 300 else
                                 "application/problem+json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_PUT = do_POST = answer

            def address_string(self):
                return "unix"

            def log_message(self, *_):
                pass

        self.server = UnixHttpServer(path, Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def problem(title, detail, **more):
    return {"type": "about:blank", "title": title, "status": 0, "detail": detail, **more}


class Dataplane:
    """Takes one client, of any version: Hello, then SetPanic, which it answers or refuses."""

    def __init__(self, path, refuse="", audit_dir=""):
        self.panic = None
        self.refuse, self.audit_dir = refuse, audit_dir.encode()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with self.listener.accept()[0] as client:
            hello = receive(client)
            assert hello[0] == 0, hello
            send(client, b"\0" + hello[1:5] + struct.pack("<IQIBIq", os.getpid(), 7, 0, 0, 2, 1_000_000)
                 + bytes(TREATMENT_SIZE))
            request = receive(client)
            assert request[0] == 4 and len(request) == 10, request
            self.panic = request[1] == 1
            if self.refuse:
                text = self.refuse.encode()
                send(client, b"\x05" + struct.pack("<I", len(text)) + text)
            else:
                send(client, b"\x04" + request[1:2] + b"\0" + struct.pack("<I", len(self.audit_dir))
                     + self.audit_dir)

    def close(self):
        self.thread.join(10)
        self.listener.close()


def receive(client):
    size = struct.unpack("<I", take(client, 4))[0]
    return take(client, size)


def take(client, size):
    data = b""
    while len(data) < size:
        part = client.recv(size - len(data))
        assert part, "closed early"
        data += part
    return data


def send(client, message):
    client.sendall(struct.pack("<I", len(message)) + message)
