import assert from "node:assert/strict";
import test from "node:test";

import { leaveOpen, unadded, whyNotAdded, whyUnadded } from "../../../../../../control/web/src/screens/builder/unadded";
import { bareRule, endOf, isOfOthers, isSameSet } from "../../../../../../control/web/src/screens/builder/rule_trial";
import { byText, nameOf } from "../../../../../../control/web/src/text/by";

const TRIAL = { text: "id: a\nkey: []\n", original: "id: a\nkey: [ip.src]\n", generation: "1", until: "2026-11-30T08:00:00Z", files: [{ name: "a", directory: "/", text: "x" }] };

test("a rule is the same as an item and as a map, however far in", () => {
  assert.equal(bareRule("  - id: a\n    key:\n      - ip.src\r\n\n"), "id: a\nkey:\n  - ip.src");
  assert.equal(bareRule("id: a\nkey:\n  - ip.src\n"), "id: a\nkey:\n  - ip.src");
  assert.equal(bareRule(""), "");
  assert.equal(bareRule("# above\n\n- id: a # its own\n  # within\n  key: []\n# below\n\n"), "id: a # its own\n# within\nkey: []");
  assert.equal(bareRule("# nothing but a comment"), "");
});

test("a trial ends by the text that is in force, not by the generation, which a ban changes", () => {
  assert.equal(endOf(TRIAL, "  - id: a\n    key: []\n", "2"), "stays");
  assert.equal(endOf(TRIAL, "- id: a\n  key: [ip.src]", "2"), "back");
  assert.equal(endOf(TRIAL, "- id: a\n  key: [ip.dst]", "2"), "other");
  assert.equal(endOf(TRIAL, null, null), "other");
  assert.equal(endOf(TRIAL, "- id: a\n  key: [ip.dst]", "1"), "stays"); // the very set, however its text is told
  assert.equal(endOf({ ...TRIAL, original: "" }, null, null), "back"); // a new rule is gone
});

test("another trial is of others once this one was seen, or where it ends later", () => {
  const shown = (until: string) => ({ seconds_left: 1, until, goes_back_to: null });
  assert.equal(isOfOthers(TRIAL, shown(TRIAL.until), true), false);
  assert.equal(isOfOthers(TRIAL, shown("2026-11-30T07:59:00Z"), true), true);
  assert.equal(isOfOthers(TRIAL, shown("2026-11-30T07:59:00Z"), false), false); // of a snapshot before it
  assert.equal(isOfOthers(TRIAL, shown("2026-11-30T08:00:09Z"), false), true);
  assert.equal(isSameSet(TRIAL, TRIAL.files), true);
  assert.equal(isSameSet({ ...TRIAL, files: null }, TRIAL.files), false);
});

test("who has changed something has a name, or the number of a user", () => {
  assert.deepEqual([nameOf("bob"), nameOf("65534"), nameOf(0), nameOf(undefined)], ["bob", null, null, null]);
  assert.deepEqual([byText("bob"), byText(0), byText("65534"), byText(null)], ["bob", "uid 0", "uid 65534", "?"]);
});

test("what is typed and not in the text is a reason to wait", () => {
  leaveOpen("new row", whyNotAdded("ip.ttl eq 7", "step 2"));
  assert.equal(whyUnadded(), "“ip.ttl eq 7” is typed in step 2 and not added: add it, or empty its box");
  leaveOpen("rate", "rate: a number");
  leaveOpen("new row", null);
  assert.equal(whyUnadded(), "rate: a number");
  leaveOpen("rate", whyNotAdded("  ", "step 3"));
  assert.deepEqual(unadded.value, {});
});
