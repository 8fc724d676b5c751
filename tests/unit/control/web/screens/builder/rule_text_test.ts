import assert from "node:assert/strict";
import test from "node:test";

import { withItem, without, withRaw, withText, written } from "../../../../../../control/web/src/screens/builder/rule_edit";
import { keysAt, nodeAt, readRule, textAt, textsAt, type Path, type ReadRule } from "../../../../../../control/web/src/screens/builder/rule_text";
import { withMoreCondition } from "../../../../../../control/web/src/screens/builder/draft_text";

// One rule in the ways in which people write it.
const TEXTS = [
  `# above
id: login   # of the shop
mode: enforce
when: l4.dport eq 80 and http.request.uri.path eq "/login"

# an address, or a home
key: ["prefix(ip.src, 32|64)", ip.dst]   # two
per: request
limits: [{algorithm: token_bucket, rate: 300/m, burst: 50}]  # as measured
unknown_key: {a: [1, 2], b: *x}
on_exceed: {action: drop}
`.replace("*x", "x"),
  `- id: login
  when: >-
    l4.dport eq 80 and (http.host eq "a"
      or http.host eq "b")
  key:
    # first
    - 'ip.src'   # one
    - l4.dport
  limits:
  - algorithm: token_bucket
    rate: "300/m"
    # burst as in January
    burst: 50
  - named
  on_exceed:
    action: drop   # for now
  # behind all
`,
  `{"id": "login", "when": "l4.dport eq 80", "key": ["ip.src"], "limits": [{"rate": "300/m", "burst": "50"}], "on_exceed": {"action": "drop"}}`,
  `id: login\r\nkey: [ip.src]\r\nlimits: [{rate: 300/m, burst: 50}]\r\n`,
];
const VALUES = ["400/m", "7", "a b", "x: y", "# no", "it's", 'say "x"', "[1, 2]", "-", "é漢", "l4.dport eq 443", "{80 443}", " lead", "tail ", "", "a,b", "null", "%x"];
const PATHS: Path[] = [["id"], ["mode"], ["when"], ["per"], ["key", 0], ["key", 1], ["limits", 0, "rate"], ["limits", 0, "burst"], ["limits", 0, "algorithm"], ["on_exceed", "action"], ["description"]];

function read(text: string): ReadRule {
  const rule = readRule(text);
  if (typeof rule === "string") {
    throw new Error(`${rule} in\n${text}`);
  }
  return rule;
}

/** All texts of a rule by their path. */
function leaves(rule: ReadRule): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (path: Path): void => {
    const text = textAt(rule, path);
    const keys = keysAt(rule, path);
    const items = (nodeAt(rule, path) as { items?: unknown[] } | null)?.items ?? [];
    if (text !== null) {
      found.set(JSON.stringify(path), text.trim().replace(/\s+/g, " "));
    } else if (keys.length > 0) {
      keys.forEach((key) => walk([...path, key]));
    } else {
      items.forEach((_, at) => walk([...path, at]));
    }
  };
  walk([]);
  return found;
}

function commentsOf(text: string): string[] {
  return (text.match(/# [a-z][\w ]*$/gm) ?? []).filter((one) => one !== "# no"); // one of VALUES
}

test("another value changes its own bytes alone, and going back gives the same text", () => {
  for (const text of TEXTS) {
    for (const path of PATHS) {
      const rule = read(text);
      const old = textAt(rule, path);
      for (const value of VALUES.filter((one) => one.trim() !== "")) {
        const next = withText(rule, path, value);
        if (next === text) {
          continue; // not a text there
        }
        const again = read(next);
        assert.equal(textAt(again, path), value, `${JSON.stringify(path)} in\n${next}`);
        const [before, after] = [leaves(rule), leaves(again)];
        before.delete(JSON.stringify(path));
        after.delete(JSON.stringify(path));
        assert.deepEqual([...after].sort(), [...before].sort(), next);
        assert.deepEqual(commentsOf(next), commentsOf(text), next);
        if (old !== null) {
          const back = withText(again, path, old);
          assert.equal(textAt(read(back), path), old);
          if (/^[\w./]+$/.test(value) && !old.includes("\n")) {
            assert.equal(back.replace(/\s+/g, " "), text.replace(/\s+/g, " "), "back");
          }
        }
      }
    }
  }
});

test("a part of a long value leaves its lines as they are", () => {
  const text = TEXTS[1]!;
  const rule = read(text);
  const next = withText(rule, ["when"], textAt(rule, ["when"])!.replace('"b"', '"shop"'));
  assert.equal(next, text.replace('"b"', '"shop"'));
});

test("what is missing comes to its place, and what goes takes its line along", () => {
  const block = read(TEXTS[0]!);
  assert.ok(withText(block, ["description"], "the login").includes("id: login   # of the shop\ndescription: the login\nmode: enforce"));
  assert.ok(withText(read(TEXTS[1]!), ["mode"], "monitor").includes("- id: login\n  mode: monitor\n  when: >-"));
  assert.equal(withText(read(TEXTS[2]!), ["mode"], "monitor"), TEXTS[2]!.replace('"id": "login"', '"id": "login", mode: monitor'));
  assert.equal(without(block, ["mode"]), TEXTS[0]!.replace("mode: enforce\n", ""));
  assert.equal(without(block, ["key", 0]), TEXTS[0]!.replace('"prefix(ip.src, 32|64)", ', ""));
  assert.equal(without(block, ["key", 1]), TEXTS[0]!.replace(", ip.dst", ""));
  assert.equal(without(read(TEXTS[1]!), ["key", 0]), TEXTS[1]!.replace("    - 'ip.src'   # one\n", ""));
  assert.equal(without(read(TEXTS[1]!), ["limits", 1]), TEXTS[1]!.replace("  - named\n", ""));
  assert.equal(without(read("id: x\nkey: [a]\n"), ["key", 0]), "id: x\nkey: []\n");
  assert.equal(withRaw(read("id: x\non_exceed: {action: drop} # y\n"), ["on_exceed"], "{action: reset}"), "id: x\non_exceed: {action: reset} # y\n");
});

test("items come behind the last one, in the way of the list", () => {
  assert.ok(withItem(read(TEXTS[0]!), ["key"], "l4.dport").includes('key: ["prefix(ip.src, 32|64)", ip.dst, l4.dport]   # two'));
  assert.ok(withItem(read(TEXTS[1]!), ["key"], "prefix(ip.src, 24|64)").includes("    - l4.dport\n    - prefix(ip.src, 24|64)\n"));
  assert.deepEqual(textsAt(read(withItem(read("id: x\nkey: []\n"), ["key"], "a, b")), ["key"]), ["a, b"]);
  assert.equal(withItem(read("id: x\n"), ["key"], "ip.src"), "id: x\nkey: [ip.src]\n");
  assert.equal(withText(read("id: x\nwhen:\nkey: []\n"), ["when"], "l4.dport eq 80"), "id: x\nwhen: l4.dport eq 80\nkey: []\n");
  assert.equal(withText(read("id: x\n"), ["limits", 0, "rate"], "1/s"), "id: x\nlimits: [{rate: 1/s}]\n");
});

test("what is no rule says why, whatever stands in it", () => {
  for (const text of ["", "a", "[]", "- id: a\n- id: b", "a: [", "\u0000", "&a [*a]", "? ", ": : :", "a: !!js/function x", "%YAML 9.9\n---\n{", "{}".repeat(99), "[".repeat(500)]) {
    const rule = readRule(text);
    if (typeof rule !== "string") {
      withText(rule, ["id"], "x");
      without(rule, ["id"]);
      withItem(rule, ["key"], "x");
    }
  }
  assert.ok(String(readRule("a: [")).includes("no YAML yet"));
  assert.ok(String(readRule("- id: a\n- id: b")).includes("a list of one"));
});

test("texts are written so that YAML reads the same", () => {
  for (const value of VALUES.filter((one) => one !== "")) {
    assert.equal(textAt(read(`id: ${written(value, false)}\n`), ["id"]), value);
    assert.equal(textAt(read(`{id: ${written(value, true)}}\n`), ["id"]), value);
  }
});

test("a condition that a link brings holds beside the rule's own", () => {
  const own = (text: string): string | null => textAt(read(withMoreCondition(read(text), 'ip.src in {10.0.0.0/8} or l4.dport eq 1')), ["when"]);
  assert.equal(own("id: x\n"), "ip.src in {10.0.0.0/8} or l4.dport eq 1");
  assert.equal(own("id: x\nwhen: l4.dport eq 80\n"), "l4.dport eq 80 and (ip.src in {10.0.0.0/8} or l4.dport eq 1)");
  assert.equal(own("id: x\nwhen: a eq 1 or b eq 2\n"), "(a eq 1 or b eq 2) and (ip.src in {10.0.0.0/8} or l4.dport eq 1)");
});
