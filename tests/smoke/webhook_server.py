"""A webhook for tests: it checks signatures, and answers as it is told."""
import hashlib
import hmac
import http.server
import json
import ssl
import threading
import time


class Webhook:
    """`answers`: statuses for the first requests, then 200; None: it never answers. `certificate`: a file with one for
    127.0.0.1 and its key, by which it speaks TLS."""

    def __init__(self, secret, answers=(), certificate=None):
        self.secret, self.answers = secret, list(answers)
        self.lock = threading.Lock()
        self.asked, self.taken, self.wrong = 0, [], []
        self.gate = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.scheme = "http"
        if certificate:
            self.scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # The handshake is made by the thread of a connection: one that fails ends no other.
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server.server_port}/hook"

    def close(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()

    def fault_of(self, headers, body):
        """What is wrong with the signature; empty: nothing."""
        words = dict(word.split("=", 1) for word in headers["Sluice-Signature"].split(","))
        made = hmac.new(self.secret, words["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(made, words["v1"]):
            return "it is signed otherwise"
        return "" if abs(time.time() - int(words["t"])) < 300 else "its time is another"

    def next_answer(self):
        with self.lock:
            self.asked += 1
            return self.answers.pop(0) if self.answers else 200

    def take(self, headers, body, status):
        document = json.loads(body)
        fault = self.fault_of(headers, body)
        if document["id"] != headers["Sluice-Notice"]:
            fault += " another id"
        with self.lock:
            if fault:
                self.wrong.append(fault)
            elif status == 200:
                self.taken.append(document)

    def events(self):
        with self.lock:
            return [notice["event"] for notice in self.taken]

    def handler(self):
        webhook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = webhook.next_answer()
                if status is None:
                    webhook.gate.wait()
                    return
                webhook.take(self.headers, body, status)
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def handle(self):
                try:
                    super().handle()
                except (ssl.SSLError, ConnectionError):
                    pass  # whoever calls does not trust the certificate

            def log_message(self, *_):
                pass

        return Handler
