"""The manual: every example in it runs and prints what it says, and no key, field or option is left out.

    manual_test.py SLUICECTL SLUICED FAKE_DATAPLANE
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import manual_pages as manual
from daemon_box import DaemonBox, wait_until
from manual_traffic import CAPTURES

SLUICECTL, SLUICED, FAKE_DATAPLANE = (os.path.abspath(program) for program in sys.argv[1:4])
PAGES = manual.pages()
RUN = "/run/sluice/"  # where the manual says that sockets are


def output(*words, **options):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          text=True, timeout=60, check=False, **options)
    return done.returncode, done.stdout


class Folder:
    """The files of one page, and the captures that it names, with the programs under their own names."""

    def __init__(self, page, sockets):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="sluice-manual-"))
        self.sockets = sockets  # the folder that is RUN here
        bin_folder = self.path / "bin"
        bin_folder.mkdir()
        wrapper = bin_folder / "sluicectl"
        wrapper.write_text(f'#!/bin/sh\nexec {SLUICECTL} --socket {sockets}/sluiced.sock "$@"\n')
        wrapper.chmod(0o755)
        for block in page.blocks:
            if manual.KINDS.get(block.kind):
                (self.path / block.name).write_text(block.text)
        for name, make in CAPTURES.items():
            if name in page.text:
                (self.path / name).write_bytes(make())

    def run(self, command):
        path = f"{self.path / 'bin'}:{os.environ['PATH']}"
        code, text = output("sh", "-c", command.replace(RUN, f"{self.sockets}/"), cwd=self.path,
                            env={**os.environ, "PATH": path, "COLUMNS": "80", "TZ": "UTC"})
        return code, text.replace(f"{self.sockets}/", RUN)

    def close(self):
        shutil.rmtree(self.path)


@contextlib.contextmanager
def folder_of(page, with_daemon=False):
    """A folder for the page, and where its examples want one, sluiced with a dataplane that counts no packets."""
    with contextlib.ExitStack() as end:
        sockets = "/nonexistent"
        if with_daemon:
            box = DaemonBox(SLUICED, FAKE_DATAPLANE, SLUICECTL)
            end.callback(box.close)
            box.start_dataplane()
            box.start_sluiced()
            wait_until("sluiced and the dataplane to meet", box.connected)
            sockets = str(box.folder)
        folder = Folder(page, sockets)
        end.callback(folder.close)
        yield folder


class Examples(unittest.TestCase):
    def each(self, *kinds):
        for page in PAGES.values():
            blocks = [block for block in page.blocks if block.kind in kinds]
            if blocks:
                with folder_of(page, kinds == ("live",)) as folder:
                    for block in blocks:
                        yield block, folder

    def test_every_block_says_what_it_is(self):
        for page in PAGES.values():
            for block in page.blocks:
                self.assertIn(block.kind, manual.KINDS, f"{block} is not marked")
                self.assertEqual(bool(block.name), manual.KINDS[block.kind], str(block))
                self.assertIn(block.name, block.lead, f"{block}: nobody reads the name of this file")

    def test_rule_files_are_good_and_without_a_warning(self):
        for block, folder in self.each("rules"):
            code, text = folder.run(f"sluicectl check {block.name}")
            self.assertEqual(code, 0, f"{block}: {text}")
            self.assertNotIn("warning:", text, str(block))

    def test_the_examples_beside_the_manual_are_good(self):
        examples = sorted((manual.ROOT / "control" / "examples").glob("*.yaml"))
        self.assertGreater(len(examples), 5)
        for example in examples:
            code, text = output(SLUICECTL, "check", example)
            self.assertEqual(code, 0, text)

    def test_parts_of_rule_files_are_good(self):
        for block, folder in self.each("part", "top"):
            complete = manual.whole_rule if block.kind == "part" else manual.whole_file
            (folder.path / "whole.yaml").write_text(complete(block.text))
            code, text = folder.run("sluicectl check whole.yaml")
            self.assertEqual(code, 0, f"{block}: {text}")

    def test_boxes_are_good(self):
        for block, folder in self.each("box"):
            code, text = folder.run(f"sluicectl box-config {block.name} >config.bin")
            self.assertEqual((code, text), (0, ""), str(block))

    def check_commands(self, block, folder):
        for command, expected in block.examples():
            code, text = folder.run(command)
            self.assertTrue(manual.prints_as(expected, text),
                            f"{block}: {command}\n--- the manual:\n{expected}\n--- the program:\n{text}")
            self.assertEqual(code != 0, "error" in expected, f"{block}: {command}: exit {code}")

    def test_commands_print_what_the_manual_says(self):
        for block, folder in self.each("shell"):
            self.check_commands(block, folder)

    def test_commands_with_a_daemon_print_what_the_manual_says(self):
        for block, folder in self.each("live"):
            self.check_commands(block, folder)


class Made(unittest.TestCase):
    def test_every_page_is_installed(self):
        listed = re.search(r"foreach page : \[(.*?)\]", manual.source("control/man/meson.build"))[1]
        self.assertEqual(sorted(re.findall(r"'(\S+)'", listed)), sorted(PAGES))

    def test_every_page_is_one_and_all_of_them_are_one_for_a_browser(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-manual-"))
        self.addCleanup(shutil.rmtree, folder)
        for page in PAGES.values():
            done = subprocess.run(["scdoc"], input=page.text, text=True, capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
            (folder / page.name).write_text(done.stdout)
        whole = folder / "manual.html"
        made = output("/usr/bin/python3", manual.MAN / "one_page.py", "mandoc", whole,
                      *(folder / name for name in PAGES))
        self.assertEqual(made, (0, ""))
        text = whole.read_text()
        anchors = re.findall(r'id="([^"]+)"', text)
        self.assertEqual(len(anchors), len(set(anchors)))
        self.assertEqual(set(re.findall(r'href="#([^"]+)"', text)) - set(anchors), set())


class Complete(unittest.TestCase):
    """What the sources know and the manual does not name."""

    def named(self, page, names, section=None):
        text = PAGES[page].section(section) if section else PAGES[page].text
        self.assertEqual(manual.not_in_bold(names, text), [], f"not in bold in {page} {section or ''}")

    def test_fields_and_functions(self):
        self.assertGreater(len(manual.fields()), 50)
        self.named("sluice-rules.5", manual.fields())
        self.named("sluice-rules.5", manual.functions())

    def test_keys_of_rule_files(self):
        keys = manual.keys_in("rule_keys")
        self.assertIn("on_exceed", keys)
        self.named("sluice-rules.5", keys)

    def test_keys_of_the_box(self):
        keys = manual.keys_of(json.loads(output(SLUICECTL, "schema", "--config", "--json")[1]))
        self.assertIn("hugepages", keys)
        self.named("sluice.yaml.5", keys)

    def test_what_no_port_can_give_is_said_as_a_start_says_it(self):
        """Of which ports, what is lost there, and what to do."""
        def plain(text):
            return " ".join(re.sub(r"[_*]", " ", text).split())

        nics = "sluice-dataplane.8", "# NICS"
        for path, warning, words, places in (
                ("dataplane/port/ports.cpp", "net_af_packet ports send 802.1ad",
                 ("af_packet", "802.1ad", "0x88a8", "802.1Q", "0x8100", "net_af_xdp", "card"),
                 (nics, ("sluice.yaml.5", "# PORTS"))),
                ("dataplane/xdp/kernel_bridge.cpp", "what the kernel forwards to",
                 ("lost", "veth", "gro on", "a program of its own", "generic", "needs neither"),
                 (nics, ("sluice.yaml.5", "# THE KERNEL BESIDE IT")))):
            said = next(call for call in manual.warnings_in(path) if warning in call)
            for place, text in (path, said), *((place, PAGES[place[0]].section(place[1])) for place in places):
                for word in words:
                    self.assertIn(plain(word), plain(text), place)

    def test_nobody_is_told_to_let_the_watchdog_restart_anything(self):
        """It reports, and the box refuses `action: restart`."""
        where = [manual.ROOT / name for name in ("README.md", "CONTRIBUTING.md", "control", "dataplane", "lib")]
        texts = [path for place in where for path in ([place] if place.is_file() else sorted(place.rglob("*")))
                 if path.suffix in (".md", ".scd", ".yaml", ".yml", ".json", ".in", ".cpp", ".hpp")]
        self.assertGreater(len(texts), 1000)
        advice = re.compile(r"action: *restart|watchdog[^\n]*\brestarts?\b|\brestarts?\b[^\n]*watchdog", re.I)
        self.assertEqual([str(path) for path in texts if advice.search(path.read_text(encoding="utf-8"))], [])
        self.assertRegex(PAGES["sluice.yaml.5"].text, r"\*action\* is report: nothing is started anew")

    def test_algorithms_and_their_parameters(self):
        algorithms, words = manual.algorithms()
        self.assertIn("buckets", algorithms["sliding_counters"])
        self.assertIn("color", algorithms["trtcm"])
        page = PAGES["sluice-rules.5"]
        for name, parameters in algorithms.items():
            self.named("sluice-rules.5", parameters, f"## {name}")
        for word in [*words, *manual.words_of("lib/policy/limits/limit_reader.cpp", "kPerWords")]:
            self.assertRegex(page.text, rf"\b{word}\b")

    def test_actions_and_their_words(self):
        actions, code_points = manual.actions()
        self.assertIn("slip", actions["dns_truncate"])
        self.named("sluice-rules.5", [*actions, *code_points, *sum(actions.values(), [])], "# ACTIONS")

    def test_every_reason_of_a_verdict(self):
        self.named("sluice.7", manual.reasons())

    def test_every_event_of_connections_and_what_it_is(self):
        text = " ".join(PAGES["sluice.7"].section("# EVENTS OF CONNECTIONS").replace("*", "").split())
        tables = {array: manual.event_rows(path, array) for path, array in (
            ("lib/l7/stream/connection_event.hpp", "kConnectionEvents"), ("lib/l7/stream/track/track_reason.hpp", "kTrackEvents"),
            ("lib/l7/stream/unit_event.hpp", "kUnitEvents"), ("lib/respond/act/answer_event.hpp", "kAnswerEvents"))}
        tables["ConnectionStats"] = manual.stat_rows("lib/wire/worker_stats.hpp", "ConnectionStats")
        for array, rows in tables.items():
            self.assertGreater(len(rows), 6, array)
            for name, what in rows:
                self.assertIn(f"| {name} : {what.rstrip('.')}", text.replace("\\_", "_"), f"{array}: {name}")
        self.named("sluice.7", manual.words_of("lib/l7/stream/checksum_trust.hpp", "kChecksumTrustNames"))

    def test_every_metric(self):
        known = manual.metrics()
        self.assertIn("sluice_would_refuse_total", known)
        self.assertIn("sluice_half_heads", known)
        self.assertGreater(len(known), 90)
        section = PAGES["sluiced.8"].section("# METRICS")
        self.named("sluiced.8", known, "# METRICS")
        self.assertEqual(set(re.findall(r"\*(sluice_\w+)\*", section.replace("\\_", "_"))) - set(known), set(), "no such metric")

    def test_what_services_refuse_and_lose_is_among_the_failures(self):
        """Each reason, loss and change of a service's packets has a row that says what it means."""
        failures = (manual.ROOT / "control/FAILURES.md").read_text(encoding="utf-8")
        rows = [line for line in failures.splitlines() if line.startswith("|")]
        lost = re.compile("evicted|full|forgotten|unseen|timeout|unread|midstream|unremembered|missed|raised|cleared")
        events = [name for path, array in (("lib/l7/stream/connection_event.hpp", "kConnectionEvents"),
                                           ("lib/l7/stream/track/track_reason.hpp", "kTrackEvents"))
                  for name, _ in manual.event_rows(path, array) if lost.search(name)]
        self.assertGreater(len(events), 30)
        for name in [*events, *manual.service_reasons(), "sluice_would_refuse_total"]:
            named = re.compile(rf'`{name}`|event="{name}"')
            self.assertTrue(any(named.search(row) for row in rows), f"{name} is in no row of FAILURES.md")

    def test_commands_and_options_of_sluicectl(self):
        page = PAGES["sluicectl.1"]
        script = output(SLUICECTL, "completion", "bash")[1]
        cases = dict(re.findall(r"^ +([\w']*-?\w*'?)\) words=\"(.*)\" ;;$", script, flags=re.M))
        everywhere = [word for word in cases["''"].split() if word.startswith("--")]
        self.named("sluicectl.1", everywhere)
        commands = [word for word in cases["''"].split() if not word.startswith("--")]
        self.assertGreater(len(commands), 20)
        for command in commands:
            section = page.section(f"## {command}")
            for option in set(cases[command].split()) - set(everywhere):
                self.assertIn(f"*{option}*", section, f"{command} {option}")

    def test_options_of_the_daemons(self):
        of_sluiced = re.findall(r"^ +(?:-\w,)?(--[\w-]+)", output(SLUICED, "--help")[1], flags=re.M)
        for page, options in (("sluiced.8", of_sluiced), ("sluice-dataplane.8", manual.dataplane_options())):
            self.assertGreater(len(options), 8)
            self.named(page, options)


if __name__ == "__main__":
    del sys.argv[1:4]
    unittest.main(verbosity=2)
