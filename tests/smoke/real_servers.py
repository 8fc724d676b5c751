"""Servers that people run, at the inside host of a test."""
import socket
import subprocess
import threading

from http_hosts import run_within, within
from programs import wait_until

NGINX = """
daemon off;
master_process off;
error_log {folder}/error.log;
pid {folder}/nginx.pid;
events {{ worker_connections 512; }}
http {{
    log_format path '$uri';
    access_log {folder}/access.log path;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {address}:80;
        default_type text/plain;
        location / {{ return 200 "a page\\n"; }}
        location /files {{ root {folder}; }}
    }}
}}
"""


def listens(namespace, port, kind="t"):
    shown = subprocess.run(run_within(namespace, "ss", f"-Hln{kind}", "sport", "=", f":{port}"),
                           capture_output=True, text=True, check=True).stdout
    return bool(shown.strip())


def start_nginx(box, namespace, address):
    """-> the paths that it has served so far, whenever it is called"""
    folder = box.folder / "nginx"
    folder.mkdir()
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, address=address))
    box.start(run_within(namespace, "nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"), "nginx.log")
    wait_until("nginx to listen", lambda: listens(namespace, 80))
    return lambda: (folder / "access.log").read_text().split()


def certificate(folder):
    """-> (key, certificate) of a server that no client knows"""
    key, made = folder / "server.key", folder / "server.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                    "2", "-subj", "/CN=test.example", "-keyout", key, "-out", made], check=True, capture_output=True)
    return key, made


def start_tls(box, namespace, address):
    key, made = certificate(box.folder)
    box.start(run_within(namespace, "openssl", "s_server", "-accept", f"{address}:443", "-key", key, "-cert", made, "-www"),
              "s_server.log")
    wait_until("s_server to listen", lambda: listens(namespace, 443))


def start_quic(box, namespace, address):
    key, made = certificate(box.folder)
    (box.folder / "index.html").write_text("a page\n")
    box.start(run_within(namespace, "gtlsserver", "-q", "-d", box.folder, address, 443, key, made), "gtlsserver.log")
    wait_until("gtlsserver to listen", lambda: listens(namespace, 443, "u"))


class NameServer:
    """Answers each query over UDP or TCP with the address 192.0.2.1; `seen`: over which."""

    def __init__(self, namespace, address):
        self.seen = []
        with within(namespace):
            self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.datagrams.bind((address, 53))
            self.listening = socket.create_server((address, 53))
        for serve in (self.serve_datagrams, self.serve_connections):
            threading.Thread(target=serve, daemon=True).start()

    @staticmethod
    def answer(query):
        """With its first question alone."""
        end = query.index(b"\0", 12) + 5
        head = query[:2] + b"\x85\x80\0\1\0\1\0\0\0\0"
        return head + query[12:end] + b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + bytes([192, 0, 2, 1])

    def serve_datagrams(self):
        try:
            while True:
                query, client = self.datagrams.recvfrom(4096)
                self.seen.append("udp")
                self.datagrams.sendto(self.answer(query), client)
        except OSError:
            pass  # closed

    def serve_connections(self):
        try:
            while True:
                connection = self.listening.accept()[0]
                with connection, connection.makefile("rb") as read:
                    query = read.read(int.from_bytes(read.read(2), "big"))
                    self.seen.append("tcp")
                    answer = self.answer(query)
                    connection.sendall(len(answer).to_bytes(2, "big") + answer)
        except OSError:
            pass

    def close(self):
        self.datagrams.close()
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
