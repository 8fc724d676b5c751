import assert from "node:assert/strict";
import test from "node:test";

import { Checker, checkedOf } from "../../../../../control/web/src/editor/check";
import { problemsOf, rangeOf, ruleAtLine } from "../../../../../control/web/src/editor/problems";
import { fieldsOf, keysOf, offersAt } from "../../../../../control/web/src/editor/words";
import type { Reply } from "../../../../../control/web/src/transport/send";

test("a problem stands at its bytes, and never outside of the text", () => {
  const text = "id: é\nrate: fast, x\n";
  const at = (line: number, column: number, length: number | null): string => {
    const { from, to } = rangeOf(text, { severity: "error", line, column, length, text: "", hint: null, file: null });
    return text.slice(from, to);
  };
  assert.equal(at(2, 7, null), "fast");
  assert.equal(at(2, 7, 2), "fa");
  assert.equal(at(1, 5, 2), "é"); // two bytes
  assert.equal(at(1, 99, null), "");
  assert.equal(at(99, 1, 5), "");
});

test("a line of a rule file is of the rule whose id stands above it", () => {
  const text = "version: 1\nlimits:\n  x: {}\nrules:\n  - id: a # one\n    key: []\n  - {id: \"b c\", key: []}\nservices:\n  - x\n";
  assert.deepEqual([3, 5, 6, 7, 9, 99].map((line) => ruleAtLine(text, line)), [null, "a", "a", "b c", null, null]);
});

test("problems of any answer are problems", () => {
  assert.deepEqual(problemsOf([{ severity: "warning", line: 3, column: 0, text: "x", hint: "y" }, 7, null, { line: "z" }]), [
    { severity: "warning", line: 3, column: 1, length: null, text: "x", hint: "y", file: null },
    { severity: "error", line: 1, column: 1, length: null, text: "nothing is said of it", hint: null, file: null },
  ]);
  assert.deepEqual(problemsOf("no list"), []);
  assert.equal(problemsOf([{ line: 33, file: "etc/rules.yaml", text: "x" }])[0]?.file, "etc/rules.yaml");
  assert.equal(checkedOf("t", { ok: true, problems: [{ severity: "error" }] }).isOk, false);
  assert.equal(checkedOf("t", null).isOk, false);
});

test("what is offered fits the place", () => {
  const { keys, values } = keysOf({ $defs: { rule: { properties: { mode: { enum: ["off", "monitor"] }, when: {}, key: {}, on_match: { anyOf: [{ enum: ["drop"] }, {}] } } } } });
  const words = { fields: fieldsOf([{ name: "ip.src", says: "an address" }, { name: 7 }, null]), keys, values };
  const offered = (text: string): string[] | undefined => offersAt(text, text.length, words)?.offers.map((one) => one.label);
  assert.deepEqual(offered("id: x\nwh"), ["key", "mode", "on_match", "when"]);
  assert.deepEqual(offered("when: ip"), ["ip.src"]);
  assert.deepEqual(offered("when: >-\n  l4.dport eq 80 and ip"), ["ip.src"]);
  assert.deepEqual(offered("key: [ip"), ["ip.src"]);
  assert.deepEqual(offered("key:\n  - ip"), ["ip.src"]);
  assert.deepEqual(offered("mode: m"), ["off", "monitor"]);
  assert.deepEqual(offered("on_match: d"), ["drop"]);
  assert.equal(offered("id: x # ip"), undefined);
  assert.equal(offersAt("when: a.ip", 10, words)?.from, 6);
});

test("only the newest text's check counts", async () => {
  const waiting: { text: string; answer(reply: Reply): void; signal: AbortSignal }[] = [];
  const timers: (() => void)[] = [];
  const checker = new Checker({
    ask: (_, body, signal) => new Promise((answer) => waiting.push({ text: (body as { text: string }).text, answer, signal })),
    later: (run) => {
      timers.push(run);
      return () => timers.splice(timers.indexOf(run), 1);
    },
  });
  checker.ask("/p", "a", false);
  checker.ask("/p", "ab", false);
  assert.equal(timers.length, 1); // the first was never sent
  timers.shift()!();
  checker.ask("/p", "abc", false);
  timers.shift()!();
  assert.deepEqual(waiting.map((one) => one.text), ["ab", "abc"]);
  assert.ok(waiting[0]!.signal.aborted);
  const reply = (ok: boolean): Reply => ({ status: 200, body: { ok, problems: [], rules: [] }, againIn: null });
  waiting[1]!.answer(reply(true));
  waiting[0]!.answer(reply(false));
  await new Promise((done) => setTimeout(done, 0));
  assert.deepEqual([checker.result.value?.text, checker.result.value?.isOk, checker.isUnderWay.value], ["abc", true, false]);
});
