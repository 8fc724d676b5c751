"""The schemas for editors know what the readers of both files know.

    schema_test.py SLUICECTL
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema
import manual_pages as manual
import yaml

SLUICECTL = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parents[2]
WRONG = {"zzz": 1}


def schema(*words):
    return json.loads(subprocess.run([SLUICECTL, "schema", *words], capture_output=True, check=True, timeout=60).stdout)


def maps_in(value, path=()):
    """The places of all maps in a document."""
    if isinstance(value, dict):
        yield path
        for key, inner in value.items():
            yield from maps_in(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from maps_in(inner, (*path, number))


def at(document, path):
    for step in path:
        document = document[step]
    return document


class Installed(unittest.TestCase):
    """What editors and shells look for, where they look for it."""
    PLACES = {"bash": "share/bash-completion/completions/sluicectl",
              "zsh": "share/zsh/vendor-completions/_sluicectl",
              "fish": "share/fish/vendor_completions.d/sluicectl.fish",
              "rules": "share/sluice/rules.schema.json",
              "box": "share/sluice/sluice.schema.json",
              "manual": "share/man/man7/sluice.7",
              "failures": "share/doc/sluice/FAILURES.md",
              "examples": "share/doc/sluice/examples"}

    def test_what_the_manual_speaks_of_is_installed(self):
        build = pathlib.Path(SLUICECTL).resolve().parents[2]
        listed = json.loads(subprocess.run(["meson", "introspect", "--installed", str(build)], capture_output=True,
                                           check=True, timeout=120).stdout)
        for what, place in self.PLACES.items():
            self.assertTrue(any(path.endswith(place) for path in listed.values()), what)

    # Beside these, what neither shells nor editors look for: one page of all for a browser.
    DOCUMENTS = {*(f"control/man/{page}" for page in ("sluice.7", "sluice-rules.5", "sluice.yaml.5", "sluicectl.1", "sluiced.8",
                                                      "sluice-dataplane.8", "sluice-store.8", "sluice-dashboard.7", "sluice-cluster.7")),
                 *(f"control/completion/{name}" for name in ("sluicectl", "_sluicectl", "sluicectl.fish")),
                 "control/schema/rules.schema.json", "control/schema/sluice.schema.json"}

    def test_a_tree_that_was_only_run_has_them(self):
        """`scripts/run` builds the target that they are made by, as this test has it built before."""
        run = (ROOT / "scripts/run").read_text(encoding="utf-8")
        self.assertRegex(run, r"(?m)^    build build .*control/cli/sluicectl control/store/sluice-store documents$")
        build = pathlib.Path(SLUICECTL).resolve().parents[2]
        asked = subprocess.run(["ninja", "-C", str(build), "-t", "query", "documents"], capture_output=True, text=True,
                               check=True, timeout=60)
        made = {line.strip(" |") for line in asked.stdout.splitlines()}
        self.assertEqual(self.DOCUMENTS - made, set())
        for name in sorted(self.DOCUMENTS):
            self.assertGreater((build / name).stat().st_size, 1000, name)

    def test_each_shell_has_its_own(self):
        scripts = {shell: subprocess.run([SLUICECTL, "completion", shell], capture_output=True, text=True, check=True,
                                         timeout=60).stdout for shell in ("bash", "zsh", "fish")}
        self.assertTrue(scripts["zsh"].startswith("#compdef sluicectl"))
        for shell, script in scripts.items():
            for word in ("trace", "capture", "schema", "dropped", "token-file"):
                self.assertIn(word, script, shell)


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.rules = [manual_text for manual_text in cls.texts_of("rules")]
        cls.boxes = list(cls.texts_of("box"))
        for name in ("control/examples", "control/etc", "scripts/lib/lab"):
            for path in sorted((ROOT / name).glob("*.yaml")):
                (cls.boxes if path.name == "sluice.yaml" else cls.rules).append(path.read_text(encoding="utf-8"))

    @staticmethod
    def texts_of(kind):
        for page in manual.pages().values():
            yield from (block.text for block in page.blocks if block.kind == kind)

    def validator(self, *words):
        of = schema(*words)
        jsonschema.Draft202012Validator.check_schema(of)
        return jsonschema.Draft202012Validator(of)

    def refused(self, document, command):
        """What our own reader says of a document, JSON being YAML."""
        path = pathlib.Path(self.folder.name) / "file.yaml"
        path.write_text(json.dumps(document), encoding="utf-8")
        done = subprocess.run([SLUICECTL, *command, str(path)], capture_output=True, timeout=60)
        return done.stderr.decode() if done.returncode else ""

    def agree(self, texts, validator, command):
        self.assertGreater(len(texts), 3)
        known, tried = set(), 0
        for text in texts:
            document = yaml.safe_load(text)
            errors = [error.message for error in validator.iter_errors(document)]
            self.assertEqual(errors, [], text)
            for path in maps_in(document):
                # A map of this kind once: what stands in lists differs by its keys.
                kind = (tuple(step for step in path if isinstance(step, str)), frozenset(at(document, path)))
                if kind in known:
                    continue
                known.add(kind)
                changed = copy.deepcopy(document)
                at(changed, path).update(WRONG)
                by_schema = not validator.is_valid(changed)
                said = self.refused(changed, command)
                unknown = "unknown key `zzz`" in said
                # A name that is free to choose is no key: then what stands there may be wrong to the reader.
                self.assertTrue(by_schema if unknown else bool(said) or not by_schema, (path, said, text))
                tried += unknown
        return tried

    def test_rule_files(self):
        self.assertGreater(self.agree(self.rules, self.validator(), ["check"]), 60)

    def test_boxes(self):
        self.assertGreater(self.agree(self.boxes, self.validator("--config"), ["box-config"]), 15)

    def wrong_types(self, texts, validator, command):
        """A list or a map where one value is wanted, and one value where these are."""
        tried, known = 0, set()
        for text in texts:
            document = yaml.safe_load(text)
            for path in maps_in(document):
                for key, value in at(document, path).items():
                    for wrong in ([["a"]], 7) if isinstance(value, (dict, list)) else ({"zzz": 1},):
                        kind = (tuple(step for step in path if isinstance(step, str)), key, type(wrong))
                        if kind in known:
                            continue
                        known.add(kind)
                        changed = copy.deepcopy(document)
                        at(changed, path)[key] = wrong
                        if validator.is_valid(changed):
                            continue  # the schema is no stricter than the reader: that is the next line's
                        self.assertNotEqual(self.refused(changed, command), "", (path, key, wrong, text))
                        tried += 1
        return tried

    def test_what_a_schema_refuses_its_reader_refuses(self):
        self.assertGreater(self.wrong_types(self.rules, self.validator(), ["check"]), 100)
        self.assertGreater(self.wrong_types(self.boxes, self.validator("--config"), ["box-config"]), 40)

    def test_wrong_words_and_types_are_refused_by_both(self):
        rules = self.validator()
        for rule in ({"mode": "enforced"}, {"mode": ["enforce"]}, {"limits": "x"}, {"key": "ip.src"}, {"per": "packets"},
                     {"on_exceed": {"action": "dropp"}}, {"on_exceed": {"action": "drop", "status": 429}},
                     {"rejected_spend": "maybe"}, {"events": ["limits"]}, {"heatmap": "maybe"},
                     {"limits": [{"algorithm": "token_bucket", "count": 1, "window": "1s"}]}):
            whole = {"id": "a", "key": ["ip.src"], "limits": [{"algorithm": "token_bucket", "rate": "1/s", "burst": 1}]}
            document = {"version": 1, "rules": [{**whole, **rule}]}
            self.assertFalse(rules.is_valid(document), rule)
            self.assertTrue(self.refused(document, ["check"]), rule)
        self.assertFalse(rules.is_valid({"version": 2, "rules": []}))
        self.assertFalse(rules.is_valid({"rules": []}))
        box = self.validator("--config")
        for part in ({"api": {"listen": "127.0.0.1:1"}}, {"api": []}, {"on_no_rules": "pas"}, {"ports": {}},
                     {"packets": {"tunnels": "gre"}}, {"packets": {"tunnels": ["gre:1"]}}, {"sockets": {"controll": {}}}):
            self.assertFalse(box.is_valid({"version": 1, **part}), part)
            self.assertTrue(self.refused({"version": 1, **part}, ["box-config"]), part)

    def test_every_key_has_a_type(self):
        def walk(part, path):
            if isinstance(part, dict):
                for name, value in part.get("properties", {}).items() if "additionalProperties" in part else ():
                    self.assertTrue(set(value) - {"description"}, (*path, name))
                for name, value in part.items():
                    walk(value, (*path, name))
            elif isinstance(part, list):
                for value in part:
                    walk(value, path)
        walk(schema(), ())
        walk(schema("--config"), ())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
