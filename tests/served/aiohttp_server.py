#!/usr/bin/env python3
"""aiohttp_server.py ADDRESS PORT LOG: aiohttp; each request that reaches a handler is a line of LOG: the client's address, 200,
and /login where the route is that one, else the path as it came."""
import sys

from aiohttp import web

LOGIN = "/login"
BIG = bytes(10_000_000)


def note(request, path):
    log.write(f"{request.remote} 200 {path}\n")
    log.flush()
    return web.Response(text=f"served {path}\n")


async def login(request):
    return note(request, LOGIN)


async def page(request):
    return note(request, request.rel_url.raw_path)


async def big(_):
    return web.Response(body=BIG)


if __name__ == "__main__":
    address, port, file = sys.argv[1:]
    log = open(file, "a", encoding="utf-8", errors="replace")
    application = web.Application()
    for path, handler in ((LOGIN, login), ("/big", big), ("/{rest:.*}", page)):
        application.router.add_route("*", path, handler)
    web.run_app(application, host=address, port=int(port), backlog=1024, keepalive_timeout=600, access_log=None, print=None)
