"""scripts/attack that is ended from outside leaves nothing behind. Wants root.

    attack_stop_test.py DATAPLANE SLUICED SLUICECTL
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from programs import PATIENCE, wait_until

TREE = pathlib.Path(__file__).resolve().parents[2]
ATTACK = TREE / "tests" / "attack" / "attack.py"
sys.path.append(str(ATTACK.parent))
import soak  # noqa: E402

PROGRAMS = sys.argv[1:4]


def namespaces():
    return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout


def runs_in(namespace, program):
    """Beside what sets the namespace up."""
    pids = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True).stdout.split()
    commands = subprocess.run(["ps", "-o", "args=", "-p", ",".join(pids)], capture_output=True, text=True).stdout if pids else ""
    return program in commands


def children_of(pid):
    """And theirs."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    return found + [other for child in found for other in children_of(child)]


class Help(unittest.TestCase):
    def test_it_says_what_each_attack_is_and_how_long_it_goes_on(self):
        for words in ([], ["soak"]):
            shown = subprocess.run([sys.executable, ATTACK, *words, "--help"], capture_output=True, text=True, check=True).stdout
            self.assertRegex(shown, r"(?m)^usage: scripts/attack ")
            self.assertRegex(shown, r"(?m)^  soak +mixed traffic, operators and kills; what grows ends it$")
            self.assertRegex(shown, r"(?m)^  kills +kills at random under load$")
            self.assertIn("`soak --hours 24`", " ".join(shown.split()))

    def test_an_attack_that_there_is_not_is_refused(self):
        done = subprocess.run([sys.executable, ATTACK, "soka", "--shim", "-", "--programs", *PROGRAMS], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no attack is called soka: kills, damage,", done.stderr)

    def test_a_time_that_is_none_is_refused(self):
        for words, why in ((["--hours", "0"], "a second to a year"), (["--hours", "nan"], "a second to a year"),
                           (["--hours", "inf"], "a second to a year"), (["--seconds", "0"], "a second to a year"),
                           (["--hours", "1", "--seconds", "5"], "give one of them")):
            done = subprocess.run([sys.executable, ATTACK, "soak", *words, "--shim", "-", "--programs", *PROGRAMS],
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(why, done.stderr)


class Judged(unittest.TestCase):
    """What a soak shows, and what ends it."""
    USUAL = [100, 20, 4, 5, 15, 9, 5000, 1.0]
    ADMITTED = {"limited": 50, "rated": 1050, "overridden": 700, "steered": 800, "pages": 520, "hellos": 520}

    def test_each_figure_that_grows_is_told(self):
        self.assertEqual(soak.grown([self.USUAL], self.USUAL), [])
        for at, figure in enumerate(soak.FIGURES):
            most = self.USUAL[at] * soak.GROWS + figure.slack
            now = [*self.USUAL[:at], most + 1, *self.USUAL[at + 1:]]
            self.assertEqual(soak.grown([self.USUAL], now), [f"{figure.name}: {most + 1}, {self.USUAL[at]} at most before"])
            self.assertEqual(soak.grown([self.USUAL, now], now), [], "it was as much before")

    def test_more_than_was_promised_is_told_and_so_is_nothing(self):
        self.assertEqual(soak.broken_promises(self.ADMITTED, {}, 100), [])
        for promise in soak.PROMISES:
            most = promise.most(100)
            more = {**self.ADMITTED, promise.name: most + 1}
            self.assertEqual(soak.broken_promises(more, {}, 100), [f"{promise.name}: {most + 1} admitted, {most} promised"])
        still = soak.broken_promises(self.ADMITTED, {**self.ADMITTED, "rated": 1000}, 100)
        self.assertEqual([words.split(":")[0] for words in still], ["overridden", "steered", "pages", "hellos"])

    def test_the_page_names_all_of_it(self):
        page = (ATTACK.parent / "README.md").read_text()
        for name in (*soak.HOST_OF, "pages", "hellos"):
            self.assertIn(f"`{name}`", page)


# What scripts/attack takes from scripts/lib/common.sh, where all that it needs is installed and built.
COMMON = f"""
root={{root}} python={sys.executable}
die() {{{{ echo "$1" >&2; exit 1; }}}}
install_missing() {{{{ :; }}}}
configure() {{{{ :; }}}}
build() {{{{ :; }}}}
"""


@unittest.skipUnless(os.geteuid() == 0, "wants root: it makes network namespaces")
class Stop(unittest.TestCase):
    def expect_nothing_left(self, command, way, namespace="box", program="sluice-dataplane"):
        """The command is ended once that program runs in that namespace."""
        attack = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(attack.kill)
        tag = f"slt{attack.pid % 100000}-"
        wait_until(program, lambda: runs_in(tag + namespace, program))
        begun = children_of(attack.pid)
        self.assertTrue(begun)
        attack.send_signal(way)
        said = attack.communicate(timeout=PATIENCE)[1]
        self.assertEqual(attack.returncode, 130, said)
        self.assertIn("nothing is left behind", said)
        self.assertNotIn(tag, namespaces())
        self.assertEqual([pid for pid in begun if os.path.exists(f"/proc/{pid}")], [])

    def test_a_signal_undoes_all_that_it_made(self):
        for way in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with self.subTest(signal=way.name):
                self.expect_nothing_left([sys.executable, ATTACK, "frames", "--seconds", "600", "--shim", "-",
                                          "--programs", *PROGRAMS], way)

    def test_also_of_a_day_of_mixed_traffic(self):
        """With its clients, its server and both daemons."""
        self.expect_nothing_left([sys.executable, ATTACK, "soak", "--hours", "24", "--shim", "-", "--programs", *PROGRAMS],
                                 signal.SIGTERM, "out", "new_clients.py")

    def test_also_if_the_script_for_people_is_what_ends(self):
        """Its process is the one that a shell or a service ends; it stands in a tree that has been built."""
        with tempfile.TemporaryDirectory(prefix="sluice-smoke-") as name:
            root = pathlib.Path(name)
            for link, target in (("scripts/attack", TREE / "scripts" / "attack"), ("tests", TREE / "tests"),
                                 *zip(("build/dataplane/sluice-dataplane", "build/control/daemon/sluiced",
                                       "build/control/cli/sluicectl"), PROGRAMS)):
                (root / link).parent.mkdir(parents=True, exist_ok=True)
                (root / link).symlink_to(os.path.abspath(target))
            (root / "scripts" / "lib").mkdir()
            (root / "scripts" / "lib" / "common.sh").write_text(COMMON.format(root=root))
            self.expect_nothing_left([root / "scripts" / "attack", "frames", "--seconds", "600"], signal.SIGTERM)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
