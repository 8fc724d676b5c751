#!/usr/bin/env python3
"""python_server.py ADDRESS PORT LOG: Python's own web server; each request of any method that reaches its handler is a
line of LOG: the client's address, 200, and the path as it came."""
import http.server
import socket
import socketserver
import sys


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def server_bind(self):
        """Without asking for the name of its address, which nobody answers there; by Multipath TCP, where the kernel has it."""
        try:
            multipath = socket.socket(self.address_family, self.socket_type, socket.IPPROTO_MPTCP)
        except OSError:
            multipath = None
        if multipath:
            self.socket.close()
            self.socket = multipath
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address

    def handle_error(self, request, client_address):
        pass  # clients of this server go away as they please


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 600

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.answer
        raise AttributeError(name)

    def answer(self):
        path = self.path.split("?")[0]
        log.write(f"{self.client_address[0]} 200 {path}\n")
        log.flush()
        body = f"served {path}\n".encode()
        self.read_body()
        if path == "/big":
            return self.answer_in_chunks()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_in_chunks(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(1000):
            self.wfile.write(b"2710\r\n" + bytes(10_000) + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def read_body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        else:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    log = open(sys.argv[3], "a", encoding="utf-8", errors="replace")
    Server((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
