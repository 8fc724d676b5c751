"""Web servers and clients at the hosts of a HostsCase, within the test's own process."""
import contextlib
import ctypes
import http.server
import os
import socket
import socketserver
import threading

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000


@contextlib.contextmanager
def within(namespace):
    """This thread is in that network namespace; what sockets it makes meanwhile stay there."""
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    other = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        assert libc.setns(other, CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        yield
    finally:
        assert libc.setns(own, CLONE_NEWNET) == 0
        os.close(own)
        os.close(other)


def run_within(namespace, *command):
    """The words of a program there."""
    return ["ip", "netns", "exec", namespace, *map(str, command)]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def answer(self):
        self.read_body()
        self.server.asked = True
        self.server.may_answer.wait(60)
        self.server.seen.append((self.command, self.path))
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def read_body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        else:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def log_message(self, *_):
        pass


class WebServer(http.server.ThreadingHTTPServer):
    """Answers each request with its path; `seen`: methods and paths, in the order of answers."""
    daemon_threads = True

    def __init__(self, namespace, address, port=80):
        self.seen = []
        self.asked = False
        self.may_answer = threading.Event()
        self.may_answer.set()
        with within(namespace):
            super().__init__((address, port), _Handler)
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def wait_before_answers(self):
        """From now on, until answer_now(); `asked`: whether any request has come."""
        self.asked = False
        self.may_answer.clear()

    def answer_now(self):
        self.may_answer.set()

    def handle_error(self, request, client_address):
        pass  # clients of these tests go away as they please

    def close(self):
        self.shutdown()
        self.thread.join()
        self.server_close()


class _FirstBytes(socketserver.BaseRequestHandler):
    def handle(self):
        if self.request.recv(65536):
            self.server.seen += 1
            self.request.sendall(b"\n")


class FirstBytesServer(socketserver.ThreadingTCPServer):
    """Answers the first bytes of each connection with a line, and closes it; `seen`: how many."""
    daemon_threads = True

    def __init__(self, namespace, address, port):
        self.seen = 0
        with within(namespace):
            super().__init__((address, port), _FirstBytes)
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    handle_error = WebServer.handle_error
    close = WebServer.close


class Client:
    """One connection, whose segments go out as they are given."""

    def __init__(self, namespace, address, port=80, patience=60, source=None):
        with within(namespace):
            self.socket = socket.create_connection((address, port), patience, source and (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("rb")

    def send(self, text):
        self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def answer(self):
        """The body of the next answer."""
        assert self.answers.readline().startswith(b"HTTP/1.1 200")
        size = 0
        while (line := self.answers.readline()) not in (b"\r\n", b""):
            name, value = line.split(b":", 1)
            size = int(value) if name.lower() == b"content-length" else size
        return self.answers.read(size).decode()

    def close(self):
        self.answers.close()
        self.socket.close()
