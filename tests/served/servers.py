"""Debian's web servers, each at an address of its own of the inside host, and the requests that each has served."""
import pathlib
import re
import signal
import ssl
import subprocess
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
NGINX_BEGIN = """
daemon off;
master_process off;
error_log {folder}/error.log;
pid {folder}/nginx.pid;
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
"""
# Requests that reached the handler, as each log has them: address, status, path.
NGINX = NGINX_BEGIN + """    log_format served '{client} $status $uri';
    access_log {folder}/served.log served;
    lingering_close off;
    lingering_time 1000s;
    lingering_timeout 600s;
    client_header_timeout 600s;
    client_body_timeout 600s;
    keepalive_timeout 600s;
    keepalive_requests 100000;
    send_timeout 600s;
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
    http-request set-path /login if {{ req.hdr(X-Login,-1) -m str yes }}
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


TLS = NGINX_BEGIN + """    access_log off;
    ssl_protocols TLSv1.2 TLSv1.3;
    client_header_timeout 600s;
    keepalive_timeout 600s;
    keepalive_requests 100000;
    send_timeout 600s;
    server {{
        listen {address}:443 ssl backlog=1024 default_server;
        ssl_certificate {folder}/other.crt;
        ssl_certificate_key {folder}/other.key;
    }}
    server {{
        listen {address}:443 ssl;
        server_name {login};
        ssl_certificate {folder}/login.crt;
        ssl_certificate_key {folder}/login.key;
    }}
}}
"""
NAMED = """
options {{
    directory "{folder}";
    pid-file "{folder}/named.pid";
    session-keyfile none;
    listen-on {{ {address}; }};
    listen-on-v6 {{ none; }};
    recursion no;
    dnssec-validation no;
    tcp-clients 1000;
    tcp-listen-queue 1000;
    querylog yes;
    notify no;
}};
controls {{ }};
logging {{ channel served {{ file "{folder}/served.log"; severity info; }}; category queries {{ served; }}; }};
zone "example" {{ type primary; file "{folder}/zone"; }};
"""
ZONE = """$TTL 60
@ SOA ns root 1 60 60 60 60
@ NS ns
ns A 192.0.2.2
login A 192.0.2.1
index A 192.0.2.3
"""
LOGIN_NAME, OTHER_NAME = "login.example", "index.example"
OF_LOGIN = "login-is-served"  # in the certificate for LOGIN_NAME
QUERY = re.compile(r"client \S+ ([0-9.]+)#\d+ .*: query: (\S+) ")


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
        port, kind = LISTENS.get(self.name, (PORT, "t"))
        return listens(self.namespace, f"{port} and src {bracketed(self.address)}", kind)

    def start(self, *command):
        self.processes.append(self.box.start(run_within(self.namespace, *command), f"{self.name}.log"))

    def write(self, name, text, **values):
        path, address = self.folder / name, bracketed(self.address)
        path.write_text(text.format(**{"folder": self.folder, "address": address, "port": PORT, **values}))
        return path

    @staticmethod
    def write_big(folder):
        with (folder / "big").open("wb") as file:
            file.truncate(BIG)

    def start_nginx(self, client="$remote_addr", more=PROXIED, **values):
        more = more.format(address=bracketed(self.address), port=PROXIED_PORT)
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
        for name in ("login", "index", "index.html"):
            (pages / name).write_text(f"served /{name}\n")
        self.write_big(pages)
        self.start("lighttpd", "-D", "-f", self.write("lighttpd.conf", LIGHTTPD))

    def start_node(self):
        self.start("node", HERE / "node_server.js", self.address, PORT, self.log)

    def make_certificate(self, name, subject, host=""):
        """`host`: for which it is, where that is another text than the subject's."""
        alternative = ["-addext", f"subjectAltName=DNS:{host}"] if host else []
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                        "2", "-subj", f"/CN={subject}", *alternative, "-keyout", self.folder / f"{name}.key", "-out",
                        self.folder / f"{name}.crt"], check=True, capture_output=True)

    def certificate_size(self, name):
        """In bytes, as it is sent."""
        return len(ssl.PEM_cert_to_DER_cert((self.folder / f"{name}.crt").read_text(encoding="ascii")))

    def start_tls(self):
        self.make_certificate("login", OF_LOGIN)
        self.make_certificate("other", "other")
        config = self.write("nginx.conf", TLS, login=LOGIN_NAME)
        self.start("nginx", "-p", self.folder, "-c", config, "-e", self.folder / "error.log")

    def start_named(self):
        (self.folder / "zone").write_text(ZONE)
        self.start("named", "-f", "-c", self.write("named.conf", NAMED))

    def start_quic(self):
        self.make_certificate("server", "test.example")
        self.start("gtlsserver", "-q", "-d", self.folder, self.address, 443, self.folder / "server.key",
                   self.folder / "server.crt")

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()

    def pause(self):
        """Until resume() its system alone takes connections and their bytes."""
        for process in self.processes:
            process.send_signal(signal.SIGSTOP)

    def resume(self):
        for process in self.processes:
            process.send_signal(signal.SIGCONT)

    def flush(self):
        """lighttpd keeps lines for up to 4 s unless it is told to begin a new file."""
        if self.name == "lighttpd":
            self.processes[0].send_signal(signal.SIGHUP)

    def new_lines(self):
        """[(client's address, path)] of requests served since the last time."""
        if not self.log.exists():
            return []
        with self.log.open("rb") as file:
            file.seek(self.read)
            text = file.read()
        whole = text[:text.rfind(b"\n") + 1]
        self.read += len(whole)
        return [(address, path) for address, status, path in self.served_in(whole.decode(errors="replace")) if status[0] in "12"]

    def served_in(self, text):
        """[(client's address, status, path)] of whole lines of its log."""
        if self.name == "named":
            found = filter(None, map(QUERY.search, text.splitlines()))
            return [(one[1], "200", "/login" if one[2].lower() == LOGIN_NAME else one[2]) for one in found]
        return [line.split(" ", 2) for line in text.split("\n") if line]


def bracketed(address):
    """As it stands in front of a port."""
    return f"[{address}]" if ":" in address else address


# Those of other protocols: a port, and whether over TCP or UDP.
LISTENS = {"tls": (443, "t"), "caddy_tls": (443, "t"), "quic": (443, "u"), "named": (53, "u")}
SIX = ("nginx", "python", "apache", "haproxy", "lighttpd", "node")
