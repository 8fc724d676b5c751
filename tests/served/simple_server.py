#!/usr/bin/env python3
"""simple_server.py ADDRESS PORT LOG FOLDER: http.server of Python as it comes, over files of FOLDER. Its handler knows GET and
HEAD, and reads no body of theirs: what stands there is the next request. Each that has a file is a line of LOG: the client's
address, the status, and /login where the file is that one."""
import functools
import http.server
import pathlib
import sys

from python_server import Server

LOGIN = "/login"


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_request(self, code="-", size="-"):
        is_login = pathlib.Path(self.translate_path(self.path)) == pathlib.Path(self.directory + LOGIN)
        log.write(f"{self.client_address[0]} {int(code)} {LOGIN if is_login else self.path.split('?')[0]}\n")
        log.flush()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    address, port, file, folder = sys.argv[1:]
    log = open(file, "a", encoding="utf-8", errors="replace")
    Server((address, int(port)), functools.partial(Handler, directory=folder)).serve_forever()
