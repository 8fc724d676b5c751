"""Honest clients over a path that loses, doubles and reorders: with limits they never reach they fail no more than without
rules, and no more than where the same service only monitors."""
import concurrent.futures
import pathlib
import socket
import subprocess
import sys
import time

from http_hosts import run_within, within
from innocent import http_answer
from programs import ip
import rule_files

ADDRESS = "10.78.0.9"
PATIENCE = 40
REQUESTS = 4  # over each connection
AT_ONCE = 32
BODY = bytes(range(256)) * 120  # of an upload, in chunks
PIECE = 3000


def upload(number):
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(BODY[at:at + PIECE]), BODY[at:at + PIECE]) for at in range(0, len(BODY), PIECE))
    return b"POST /upload%d HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n%s0\r\n\r\n" % (number, chunks)


class BadPath:
    """Between a host of its own and the outside one, whose link to the box it uses: a process, as kernels may lack netem."""

    def __init__(self, hosts, seed):
        self.hosts, self.seed, self.relay = hosts, seed, None
        self.far = hosts.outside.replace("-out", "-far")

    def __enter__(self):
        self.hosts.made.append(self.far)
        ip("netns", "add", self.far)
        outside = self.hosts.outside
        ip("-n", outside, "link", "add", "far0", "type", "veth", "peer", "name", "eth0", "netns", self.far)
        for namespace, name in ((outside, "far0"), (self.far, "eth0")):
            ip("netns", "exec", namespace, "sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1")
            ip("netns", "exec", namespace, "ethtool", "-K", name, "tx", "off", "tso", "off", "gso", "off", "gro", "off")
            ip("-n", namespace, "link", "set", name, "up")
        ip("-n", self.far, "address", "add", f"{ADDRESS}/24", "dev", "eth0")
        ip("-n", outside, "link", "set", "eth0", "promisc", "on")
        self.relay = subprocess.Popen(
            run_within(outside, sys.executable, pathlib.Path(__file__).parent / "bad_relay.py", self.seed),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.relay.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_):
        print(f"the bad path: {self.relay.communicate()[0].strip()}", flush=True)


def transfer(namespace, server, number):
    """Why a client's connection did not do all that it was to; empty if it did."""
    try:
        with within(namespace):
            client = socket.create_connection((server, 80), PATIENCE)
        with client, client.makefile("rb") as read:
            for at in range(REQUESTS):
                client.sendall(upload(number) if (number + at) % 4 == 0 else
                               b"GET /page%d HTTP/1.1\r\nHost: a.example\r\n\r\n" % number)
                answer = http_answer(read)
                if not answer or answer[0] != 200:
                    return f"answered {answer}"
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


def failures(court, path, server, count, side):
    """Of so many clients, in words; `side`: under which rules, for people."""
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda number: transfer(path.far, court.servers[server].address, number), range(count)))
    failed = [words for words in results if words]
    print(f"{count} clients over the bad path to {server}, {side}: {len(failed)} failed, {time.monotonic() - begin:.0f} s", flush=True)
    return failed


def check(court, server, seed, services, count):
    """What did not hold, in words."""
    sides = {"without rules": rule_files.WITHOUT, "monitor": rule_files.innocent("monitor"),
             services: rule_files.innocent(services)}
    failed = {}
    with BadPath(court.hosts, seed) as path:
        for side, rules in sides.items():
            court.apply(rules)
            failed[side] = failures(court, path, server, count, side)
    return more_than(failed)


def more_than(failed):
    """In words, of failures by side: the last one against each before it. Monitoring alone hurts nobody either."""
    sides = list(failed)
    return [f"over the bad path {len(failed[side])} failed {side}, {len(failed[other])} {other}: {failed[side][:3]}"
            for at, side in enumerate(sides) for other in sides[:at] if len(failed[side]) > len(failed[other])]
