"""How far long work is: a line of standard error where that is a terminal, and not a byte where it is none.

    long_work_test.py SLUICECTL

Nothing here takes long by itself: what the work writes to, or whom it asks, waits until the line has been seen, or the
process is stopped for longer than a work goes on without a line.
"""
import os
import pathlib
import pty
import re
import signal
import socket
import subprocess
import time

from capture_files import SECOND, Case, main, pcap, udp

RULES = """version: 1
rules:
  - {id: a, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]}
"""
CLEAR = "\r\033[K"
LISTED = """version: 1
data: {lists: {nets: {type: cidr, file: nets.txt}}}
rules:
  - {id: a, mode: enforce, when: ip.src in $nets, on_match: drop}
"""
A_MILLION = 1_000_000


class LongWork(Case):
    def setUp(self):
        super().setUp()
        self.rules = self.write("rules.yaml", RULES)
        # What is written of so many frames is more than a pipe holds.
        self.capture = self.write("long.pcap", pcap([(SECOND * i, udp()) for i in range(1, 5001)]))

    def begin(self, *words, stderr, stdout=subprocess.DEVNULL):
        process = subprocess.Popen([self.sluicectl, *words], stdout=stdout, stderr=stderr)
        self.addCleanup(process.stdout.close if process.stdout else lambda: None)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def terminal(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        return ours, theirs

    def read_until(self, ours, *marks):
        shown = ""
        while not all(mark in shown for mark in marks):
            shown += os.read(ours, 4096).decode()
        return shown

    def rest(self, ours):
        shown = ""
        try:
            while piece := os.read(ours, 4096):
                shown += piece.decode()
        except OSError:  # nobody is at the other end
            pass
        return shown

    def expect_line(self, begin, release, *marks):
        """`begin(stderr)` starts the same work twice, `release(process)` lets one go on."""
        quiet = begin(subprocess.PIPE)  # it has waited longer than the other when that shows its line
        self.addCleanup(quiet.stderr.close)
        ours, theirs = self.terminal()
        loud = begin(theirs)
        os.close(theirs)
        shown = self.read_until(ours, *marks)
        self.assertTrue(shown.startswith(CLEAR), shown)
        release(loud)
        self.assertEqual(loud.wait(60), 0)
        self.assertTrue((shown + self.rest(ours)).endswith(CLEAR), "the line is gone")
        release(quiet)
        self.assertEqual(quiet.stderr.read(), b"")
        self.assertEqual(quiet.wait(60), 0)

    def test_replay(self):
        ends = {}

        def begin(stderr):
            path = self.path(f"verdicts{len(ends)}")
            os.mkfifo(path)
            end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.set_blocking(end, True)
            self.addCleanup(os.close, end)
            process = self.begin("replay", self.rules, "--pcap", self.capture, "--verdicts", path, stderr=stderr)
            ends[process] = end
            return process

        def release(process):
            with os.fdopen(os.dup(ends[process])) as verdicts:
                self.assertEqual(sum(1 for _ in verdicts), 5000)
        self.expect_line(begin, release, "replay: ", " % of ", " s")

    def test_inspect(self):
        def begin(stderr):
            return self.begin("inspect", "--pcap", self.capture, "--fields", "ip.src,ip.dst,l4.dport", stderr=stderr,
                              stdout=subprocess.PIPE)

        def release(process):
            self.assertGreaterEqual(process.stdout.read().count(b"\n"), 5000)
        self.expect_line(begin, release, "inspect: ", " % of ", " s")

    def expect_line_until_sluiced_answers(self, command, answer, line):
        path = self.path("sluiced.sock")
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(path)
        listener.listen()
        asked = {}

        def begin(stderr):
            process = self.begin(command, self.rules, "--json", "--socket", path, stderr=stderr)
            asked[process] = listener.accept()[0]
            self.addCleanup(asked[process].close)
            return process

        def release(process):
            asked[process].recv(65536)
            asked[process].sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                                   b"Content-Length: %d\r\n\r\n%s" % (len(answer), answer))
        self.expect_line(begin, release, line)

    def test_lists_that_sluiced_compiles_for_apply(self):
        self.expect_line_until_sluiced_answers("apply", b'{"generation": "0a", "rules": 1, "warnings": []}', "apply: 1 s")

    def test_lists_that_sluiced_compiles_for_diff(self):
        self.expect_line_until_sluiced_answers("diff", b'{"changes": [], "warnings": []}', "diff: 1 s")

    def check_that_is_stopped(self, rules):
        """What it shows at a terminal, if it was stopped for longer than a second while it worked."""
        ours, theirs = self.terminal()
        process = self.begin("check", rules, stderr=theirs, stdout=subprocess.PIPE)
        os.close(theirs)
        tasks = pathlib.Path(f"/proc/{process.pid}/task")
        while process.poll() is None and len(list(tasks.iterdir())) < 2:  # who would show the line does not wait yet
            pass
        if process.returncode is None:
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.2)
            process.send_signal(signal.SIGCONT)
        self.assertIn("1,000,000", process.stdout.read().decode())
        self.assertEqual(process.wait(60), 0)
        return self.rest(ours)

    def test_a_list_of_a_million_that_check_compiles(self):
        rules = self.write("listed.yaml", LISTED)
        self.write("nets.txt", "".join(f"10.{i >> 15 & 255}.{i >> 7 & 255}.{i * 2 & 255}\n" for i in range(A_MILLION)))
        # It may be through before the line that is due is written.
        shown = next(filter(None, (self.check_that_is_stopped(rules) for _ in range(20))), "")
        self.assertRegex(shown, f"^{re.escape(CLEAR)}check: [0-9]+ s")
        self.assertTrue(shown.endswith(CLEAR), "the line is gone")


if __name__ == "__main__":
    main()
