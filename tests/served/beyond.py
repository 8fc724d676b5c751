"""Servers beyond the six, each of which has served something uncounted that none of the six serves: http.server of Python whose
handlers leave bodies unread, aiohttp, Caddy, OpenJDK's."""
import importlib.util
import json
import shutil
import sys

from servers import HERE, LOGIN_NAME, OF_LOGIN, OTHER_NAME, PORT, Server

SIMPLE, AIOHTTP, CADDY, JAVA, CADDY_TLS = "simple", "aiohttp", "caddy", "java", "caddy_tls"
# The Debian package of each, and its group of scripts/packages.txt; empty: python3 has it.
PACKAGES = {SIMPLE: "", AIOHTTP: "python3-aiohttp (served)", CADDY: "caddy (served)", JAVA: "openjdk-17-jdk-headless (java)"}
CADDY_BEGIN = """{{
    admin off
    auto_https off
    skip_install_trust
    default_sni {other}
    servers {{
        protocols h1 h2
    }}
}}
"""
# Its matcher `path` takes great letters and a dot at the end for the same, which the manual names; this one takes what is there.
CADDY_HTTP = CADDY_BEGIN + """http://:{port} {{
    bind {address}
    log {{
        output file {folder}/served.log {{
            roll_disabled
        }}
        format json
    }}
    @path path_regexp ^/login$
    @host host {login}
    handle @path {{
        header X-Served /login
        respond "served"
    }}
    handle @host {{
        header X-Served /login
        respond "served"
    }}
    handle /big {{
        root * {folder}
        file_server
    }}
    handle {{
        respond "served another"
    }}
}}
"""
CADDY_OF_TLS = CADDY_BEGIN + """https://{login} {{
    bind {address}
    tls {folder}/login.crt {folder}/login.key
    respond "served"
}}
https://{other} {{
    bind {address}
    tls {folder}/other.crt {folder}/other.key
    respond "served another"
}}
"""
# Silent connections are kept as long as those of other servers, and as many as there are.
JAVA_OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true",
                "-Dsun.net.httpserver.idleInterval=600", "-Dsun.net.httpserver.maxIdleConnections=4096")


def is_there(name):
    """Installed."""
    if name == AIOHTTP:
        return importlib.util.find_spec("aiohttp") is not None
    return {SIMPLE: True, CADDY: shutil.which("caddy"), JAVA: shutil.which("javac")}[name]


def absent():
    """{name: what it lacks}"""
    return {name: package for name, package in PACKAGES.items() if not is_there(name)}


class Beyond(Server):
    def start_simple(self):
        pages = self.folder / "pages"
        pages.mkdir(mode=0o755)
        for name in ("login", "index"):
            (pages / name).write_text(f"served /{name}\n")
        self.write_big(pages)
        self.start(sys.executable, HERE / "simple_server.py", self.address, PORT, self.log, pages)

    def start_aiohttp(self):
        self.start(sys.executable, HERE / "aiohttp_server.py", self.address, PORT, self.log)

    def start_java(self):
        self.start("java", *JAVA_OPTIONS, HERE / "java_server.java", self.address, PORT, self.log)

    def start_caddy(self):
        self.run_caddy(CADDY_HTTP)

    def start_caddy_tls(self):
        self.make_certificate("login", OF_LOGIN, LOGIN_NAME)
        self.make_certificate("other", "other", OTHER_NAME)
        self.run_caddy(CADDY_OF_TLS)

    def run_caddy(self, text):
        config = self.write("Caddyfile", text, login=LOGIN_NAME, other=OTHER_NAME)
        self.start("env", f"HOME={self.folder}", "caddy", "run", "--adapter", "caddyfile", "--config", config)

    def served_in(self, text):
        return super().served_in(text) if self.name != CADDY else [
            served_by_caddy(json.loads(line)) for line in text.splitlines() if '"status"' in line]


def served_by_caddy(line):
    """(address, status, path) of a line of its log."""
    request, (path,) = line["request"], line.get("resp_headers", {}).get("X-Served", [""])
    return request["remote_ip"], str(line["status"]), path or request["uri"]


def start(box, namespace, name, address):
    """A server by its name, of these or others."""
    return (Beyond if name in (*PACKAGES, CADDY_TLS) else Server)(box, namespace, name, address)
