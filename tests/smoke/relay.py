"""A socket that passes requests on to sluiced, and lets a test do something before one of them arrives."""
import http.server
import threading

from daemon_box import UnixConnection
from stand_ins import UnixHttpServer


class Relay:
    """`before(target)` is called for each request that comes, and ends before it is passed on."""

    def __init__(self, path, to, before):
        self.path = path

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                before(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                connection = UnixConnection(to)
                connection.request(self.command, self.path, body or None)
                answer = connection.getresponse()
                data = answer.read()
                connection.close()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET

            def address_string(self):
                return "unix"

            def log_message(self, *_):
                pass

        self.server = UnixHttpServer(path, Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
