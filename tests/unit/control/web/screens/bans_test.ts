import assert from "node:assert/strict";
import test from "node:test";

import { bansPath, bansQueryOf, type Ban } from "../../../../../control/web/src/screens/bans/bans_query";
import { keysIn, liftCalls, MOST_CHOSEN, toggled, whyNot, type Chosen } from "../../../../../control/web/src/screens/bans/chosen";
import { outcomeLines } from "../../../../../control/web/src/screens/bans/outcome";
import { routeOf } from "../../../../../control/web/src/frame/route";

function ban(more: Partial<Ban>): Ban {
  return { rule: "r", mode: "enforce", inactive: null, key: "192.0.2.1", tier: 1, applies_to: "key", source: "operator", left_s: 1, until: null, reason: "", ...more };
}

test("what is asked for", () => {
  assert.equal(bansPath(bansQueryOf(routeOf("#/bans?rule=r&source=policy&filter=10.&sort=end")), "end:1:2:3:4"),
    "/v1/bans?most=50&rule=r&source=policy&filter=10.&after=end%3A1%3A2%3A3%3A4&sort=end");
  assert.equal(bansPath(bansQueryOf(routeOf("#/bans?source=toString&sort=x")), ""), "/v1/bans?most=50");
});

test("bans of one rule and tier are lifted by one call", () => {
  const bans = [ban({}), ban({ source: "penalty_box" }), ban({ key: "192.0.2.2" }), ban({ tier: 2 }), ban({ rule: "s" })];
  const calls = liftCalls(toggled(new Map(), bans, true));
  assert.deepEqual(calls, [
    { rule: "r", tier: 1, keys: ["192.0.2.1", "192.0.2.2"] }, { rule: "r", tier: 2, keys: ["192.0.2.1"] }, { rule: "s", tier: 1, keys: ["192.0.2.1"] }]);
});

test("files' bans and those without a name are not chosen, nor more than one call takes", () => {
  assert.ok(whyNot(ban({ source: "policy" })) !== null && whyNot(ban({ key: null })) !== null && whyNot(ban({})) === null);
  let chosen: Chosen = toggled(new Map(), [ban({ source: "policy" }), ban({ key: null })], true);
  assert.equal(chosen.size, 0);
  chosen = toggled(chosen, Array.from({ length: MOST_CHOSEN + 5 }, (_, at) => ban({ key: String(at) })), true);
  assert.equal(chosen.size, MOST_CHOSEN);
  assert.equal(toggled(chosen, [ban({ key: "1" })], false).size, MOST_CHOSEN - 1);
});

test("keys of a text", () => {
  assert.deepEqual(keysIn("192.0.2.1\r\n  10.0.0.0/8 \n\n# no key\na|b"), ["192.0.2.1", "10.0.0.0/8", "a|b"]);
});

test("what came of it, by the keys that were sent", () => {
  assert.deepEqual(outcomeLines("r", ["a", "b"], { status: 200, againIn: null, body: { unbanned: 1, not_banned: 1, ended: 0, unanswered: 0, warnings: [{ line: 2, message: "the key b is not banned" }] } }),
    ["r: 1 let out, 1 had no ban of their own", "b: the key b is not banned"]);
  assert.deepEqual(outcomeLines("r", ["a"], { status: 422, againIn: null, body: { title: "nothing was banned", detail: "1 of 1 keys are wrong", problems: [{ line: 1, message: "no address" }] } }),
    ["r: nothing was banned: 1 of 1 keys are wrong", "a: no address"]);
  assert.deepEqual(outcomeLines("r", [], { status: 0, againIn: null, body: null }), ["r: sluiced does not answer"]);
});
