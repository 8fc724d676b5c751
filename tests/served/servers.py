"""Debian's web servers, each at an address of its own of the inside host, and the requests that each has served."""
import pathlib
import shutil
import sys

from http_hosts import run_within
from programs import wait_until
from real_servers import listens
import wire

HERE = pathlib.Path(__file__).parent
PORT = 80
BIG = 10_000_000  # bytes of /big
PROXIED_PORT = 8080  # where connections begin with a PROXY line
BEHIND = 8081  # of the server behind a proxy
# Requests that reached the handler, as each log has them: address, status, path.
NGINX = """
daemon off;
master_process off;
error_log {folder}/error.log;
pid {folder}/nginx.pid;
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
    log_format served '{client} $status $uri';
    access_log {folder}/served.log served;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    lingering_close off;
    server {{
        listen {address}:{port} backlog=1024;
{more}        default_type text/plain;
        location / {{ return 200 "served $uri\\n"; }}
        location = /big {{ root {folder}; }}
    }}
}}
"""
PROXIED = "        listen {address}:{port} proxy_protocol;\n"
APACHE = """
ServerRoot /usr/lib/apache2
ServerName localhost
Listen {address}:{port}
PidFile {folder}/httpd.pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/error.log
LoadModule mpm_event_module modules/mod_mpm_event.so
LoadModule authz_core_module modules/mod_authz_core.so
LoadModule rewrite_module modules/mod_rewrite.so
LoadModule http2_module modules/mod_http2.so
Protocols h2c http/1.1
ServerLimit 1
ThreadLimit 512
ThreadsPerChild 512
MaxRequestWorkers 512
DocumentRoot {folder}
LogFormat "%h %>s %U" served
CustomLog {folder}/served.log served
RewriteEngine on
RewriteRule ^/big$ {folder}/big [L]
RewriteRule ^ - [R=200,L]
<Directory {folder}>
Require all granted
</Directory>
"""
HAPROXY = """
global
    maxconn 2048
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend web
    bind {address}:{port}
    http-request set-header X-Served-Client %[src]
    default_backend nginx
backend nginx
    server nginx 127.0.0.1:{behind}
"""
LIGHTTPD = """
server.document-root = "{folder}/pages"
server.bind = "{address}"
server.port = {port}
server.errorlog = "{folder}/error.log"
server.pid-file = "{folder}/lighttpd.pid"
server.max-fds = 8192
server.modules = ("mod_accesslog")
server.feature-flags = ( "server.h2c" => "enable" )
accesslog.filename = "{folder}/served.log"
accesslog.format = "%h %s %U"
"""


class Server:
    """A server until the box's test ends; `address`: of the inside host."""

    def __init__(self, box, namespace, name, address):
        self.box, self.namespace, self.name, self.address = box, namespace, name, address
        self.target = wire.packed(address)
        self.folder = box.folder / name
        self.folder.mkdir(mode=0o755)
        self.log, self.read = self.folder / "served.log", 0
        self.processes = []
        self.write_big(self.folder)
        getattr(self, "start_" + name)()
        wait_until(f"{name} to listen", self.listens)

    def listens(self):
        for process in self.processes:
            if process.poll() is not None:
                raise AssertionError(f"{self.name} has ended: " + self.box.log(f"{self.name}.log")[-1000:])
        return listening_at(self.namespace, self.address)

    def start(self, *command):
        self.processes.append(self.box.start(run_within(self.namespace, *command), f"{self.name}.log"))

    def write(self, name, text, **values):
        path = self.folder / name
        path.write_text(text.format(**{"folder": self.folder, "address": self.address, "port": PORT, **values}))
        return path

    @staticmethod
    def write_big(folder):
        with (folder / "big").open("wb") as file:
            file.truncate(BIG)

    def start_nginx(self, client="$remote_addr", more=PROXIED, **values):
        more = more.format(address=self.address, port=PROXIED_PORT)
        config = self.write("nginx.conf", NGINX, client=client, more=more, **values)
        self.start("nginx", "-p", self.folder, "-c", config, "-e", self.folder / "error.log")

    def start_python(self):
        self.start(sys.executable, HERE / "python_server.py", self.address, PORT, self.log)

    def start_apache(self):
        # One process, so that it can be killed: in order it waits 10 s for connections that raw clients have left.
        self.start("apache2", "-X", "-f", self.write("apache.conf", APACHE))

    def start_haproxy(self):
        self.start_nginx(client="$http_x_served_client", more="", address="127.0.0.1", port=BEHIND)
        self.start("haproxy", "-db", "-f", self.write("haproxy.conf", HAPROXY, behind=BEHIND))

    def start_lighttpd(self):
        pages = self.folder / "pages"
        pages.mkdir(mode=0o755)
        for name in ("login", "index.html"):
            (pages / name).write_text(f"served /{name}\n")
        self.write_big(pages)
        self.start("lighttpd", "-D", "-f", self.write("lighttpd.conf", LIGHTTPD))

    def start_node(self):
        self.start("node", HERE / "node_server.js", self.address, PORT, self.log)

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()

    def new_lines(self):
        """[(client's address, path)] of requests served since the last time."""
        if not self.log.exists():
            return []
        with self.log.open("rb") as file:
            file.seek(self.read)
            text = file.read()
        whole = text[:text.rfind(b"\n") + 1]
        self.read += len(whole)
        lines = (line.decode(errors="replace").split(" ", 2) for line in whole.split(b"\n") if line)
        return [(address, path) for address, status, path in lines if status[0] in "12"]


def listening_at(namespace, address):
    return listens(namespace, f"{PORT} and src {address}")


PROGRAMS = {"nginx": "nginx", "python": sys.executable, "apache": "apache2", "haproxy": "haproxy", "lighttpd": "lighttpd",
            "node": "node"}
