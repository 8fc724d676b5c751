import assert from "node:assert/strict";
import test from "node:test";

import { handedOver, linesOf, placeOfLimit, rootOf, sameTexts, setFilesOf, textsOver, withLines } from "../../../../../../control/web/src/screens/sets/set_files";
import { hunks, lineDiff } from "../../../../../../control/web/src/text/line_diff";

test("a set of several files is handed over by their names and where these begin", () => {
  const file = (name: string, directory: string) => ({ name, directory, text: "" });
  assert.equal(rootOf(file("rules.yaml", "/etc/sluice")), "/etc/sluice");
  assert.equal(rootOf(file("rules.d/a.yaml", "/etc/sluice/rules.d")), "/etc/sluice");
  assert.equal(rootOf(file("/etc/x/a.yaml", "/etc/x")), "/etc/x");
  assert.deepEqual([handedOver([file("a.yaml", "/etc")]).query, handedOver([file("a.yaml", "/etc")]).call], ["directory=%2Fetc&file=a.yaml", { rules: "" }]);
  const alone = handedOver([file("etc/rules.yaml", "/srv/etc")]); // lists begin in its folder, whatever it was called by
  assert.equal(alone.query, "directory=%2Fsrv%2Fetc&file=etc%2Frules.yaml");
  const two = handedOver([file("a.yaml", "/etc"), file("b.yaml", "/etc")], { confirm: "60s" });
  assert.equal(two.query, "confirm=60s&directory=%2Fetc");
  assert.equal(two.call.form?.getAll("rules").length, 2);
  assert.equal(setFilesOf({ generation: "1", etag: "2", files: [] }), null);
});

test("what is changed here stays over another set, and nothing else does", () => {
  const set = (...texts: string[]) => ({ generation: "1", etag: "1", files: texts.map((text, at) => ({ name: `${"abc"[at]}.yaml`, directory: "/etc", text })) });
  const mine = { base: set("a", "b"), texts: ["a, by me", "b"] };
  assert.deepEqual(textsOver(set("a", "b, by bob"), mine), ["a, by me", "b, by bob"]);
  assert.deepEqual(textsOver(set("a, by bob", "b", "c"), mine), ["a, by me", "b", "c"]);
  assert.deepEqual(textsOver({ ...set("b"), files: [{ name: "b.yaml", directory: "/etc", text: "b, by bob" }] }, mine), ["b, by bob"]);
  assert.deepEqual(textsOver(set("a", "b"), null), ["a", "b"]);
});

test("a rule takes the lines of another, indented as they were", () => {
  const text = "rules:\n  - id: a\n    mode: off\n\n  - id: b\n";
  assert.equal(withLines(text, 2, 3, "- id: a\n  mode: enforce\n"), "rules:\n  - id: a\n    mode: enforce\n\n  - id: b\n");
  assert.equal(withLines(text, 2, 3, "id: a\nkey: []\n"), "rules:\n  - id: a\n    key: []\n\n  - id: b\n");
});

test("a limit that rules name stands under limits of a file", () => {
  const texts = [{ text: "rules:\n  - id: a\n    limits:\n      per-source: x\n" }, { text: "version: 1\nlimits:\n  # per-source: no\n  other: {}\n\n  'per-source': {rate: 1/s}\nrules:\n" }];
  assert.deepEqual(placeOfLimit(texts, "per-source"), { at: 1, line: 6 });
  assert.deepEqual(placeOfLimit(texts, "other"), { at: 1, line: 4 });
  assert.equal(placeOfLimit(texts, "a"), null);
});

test("sets are the same where each text is", () => {
  const files = [{ name: "a", directory: "/", text: "1\n2\n3" }];
  assert.ok(sameTexts(files, [{ name: "a", directory: "/x", text: "1\n2\n3" }]));
  assert.ok(!sameTexts(files, [{ name: "b", directory: "/", text: "1\n2\n3" }]) && !sameTexts(files, []) && !sameTexts(files, [{ name: "a", directory: "/", text: "1" }]));
  assert.equal(linesOf("1\n2\n3", 2, 3), "2\n3");
});

test("a difference gives both texts back", () => {
  const texts = ["", "a\n", "a\nb\nc\n", "a\nx\nc\n", "c\nb\na\n", "a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nb\nc\nd\ne\nf\ng\nH\ni\n"];
  for (const before of texts) {
    for (const after of texts) {
      const lines = lineDiff(before, after);
      const side = (kinds: string[]): string => lines.filter((line) => kinds.includes(line.kind)).map((line) => `${line.text}\n`).join("");
      assert.equal(side(["same", "out"]), before);
      assert.equal(side(["same", "in"]), after);
    }
  }
  const [whole, part] = [lineDiff(texts[5]!, texts[6]!), hunks(lineDiff(texts[5]!, texts[6]!), 1)];
  assert.deepEqual([whole.length, part.length, part[0]], [10, 5, null]);
});
