"""V2: what open pages cost sluiced. Each asks GET /v1/live for the next second, as the dashboard does.

    live_pages.py SLUICED FAKE_DATAPLANE [--pages 32] [--rules 10000] [--seconds 20] [--view overview]

Prints sluiced's share of a core while nobody looks, while one page does, and while all do; the slowest answer; and the
size of one, compressed. The first bar is 3 % with 32 pages, the goal 1 %.
"""
import argparse
import http.client
import os
import pathlib
import socket
import sys
import threading
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "smoke"))
from daemon_box import DaemonBox, wait_until  # noqa: E402

OF_USER = 8  # places; by TCP each address is a user
TOKEN = "7f3c0de5b1a94e02c8d6"


def rules(count):
    return "version: 1\nrules:\n" + "".join(
        f"  - {{id: r{i:05}, mode: enforce, when: l4.dport eq {i % 65_536}, key: [ip.src],"
        " limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}\n" for i in range(count))


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Page(threading.Thread):
    def __init__(self, number, port, view, stop):
        super().__init__(daemon=True)
        self.user, self.port, self.view, self.stop = f"127.0.1.{1 + number // OF_USER}", port, view, stop
        self.answers = self.refused = self.size = 0
        self.slowest = 0.0  # seconds for what is there already

    def run(self):
        after = 0
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30, source_address=(self.user, 0))
        while not self.stop.is_set():
            try:
                begin = time.monotonic()
                connection.request("GET", f"/v1/live?after={after}&wait=3&view={self.view}", headers={
                    "Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "gzip"})
                answer = connection.getresponse()
                body = answer.read()
                if after == 0:
                    self.slowest = max(self.slowest, time.monotonic() - begin)
            except (ConnectionError, http.client.HTTPException):
                connection.close()
                continue
            if answer.status != 200:
                self.refused += 1
                self.stop.wait(1)
                continue
            self.answers += 1
            self.size = len(body)
            # The number alone: reading 32 answers would cost this program more than sluiced.
            text = zlib.decompressobj(31).decompress(body, 64).decode()
            after = int(text.split('"snapshot":')[1].split(",")[0])
        connection.close()


def measure(pid, seconds, pages):
    for page in pages:
        page.start()
    time.sleep(2)
    cpu, begin = cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_seconds(pid) - cpu) / (time.monotonic() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluiced")
    parser.add_argument("fake_dataplane")
    parser.add_argument("--pages", type=int, default=32)
    parser.add_argument("--rules", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--view", choices=["overview", "rules"], default="overview")
    asked = parser.parse_args()
    box = DaemonBox(os.path.abspath(asked.sluiced), os.path.abspath(asked.fake_dataplane), "")
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        (box.folder / "token").write_text(TOKEN + "\n")
        (box.folder / "token").chmod(0o600)
        config = box.folder / "sluice.yaml"
        config.write_text(f'version: 1\napi: {{listen: "127.0.0.1:{port}", token_file: token}}\n')
        box.start_dataplane("--rate", 1_000_000)
        sluiced = box.start_sluiced("--config", config)
        wait_until("the dataplane", box.connected)
        applied = box.put_rules(rules(asked.rules))
        assert applied.status == 200, applied.text
        idle = measure(sluiced.pid, asked.seconds, [])
        shares, slowest, size, refused = [], 0.0, 0, 0
        for count in (1, asked.pages):
            stop = threading.Event()
            pages = [Page(i, port, asked.view, stop) for i in range(count)]
            shares.append(measure(sluiced.pid, asked.seconds, pages))
            stop.set()
            for page in pages:
                page.join()
            slowest = max(slowest, *(page.slowest for page in pages), 0)
            size, refused = pages[0].size, refused + sum(page.refused for page in pages)
        print(f"{asked.rules} rules, view {asked.view}: idle {idle:.2%} of a core, 1 page {shares[0]:.2%}, "
              f"{asked.pages} pages {shares[1]:.2%}; first answer within {slowest * 1000:.0f} ms, {size} bytes, "
              f"{refused} refused")
    finally:
        box.close()


if __name__ == "__main__":
    main()
