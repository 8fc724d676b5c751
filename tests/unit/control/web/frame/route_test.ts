import assert from "node:assert/strict";
import test from "node:test";

import { fragmentOf, routeOf } from "../../../../../control/web/src/frame/route";
import { refusalOf } from "../../../../../control/web/src/frame/verbs";
import { stateWords } from "../../../../../control/web/src/frame/words";
import { liveRules, rulesPlace, rulesQueryOf } from "../../../../../control/web/src/screens/rules/rules_query";
import { eventWords } from "../../../../../control/web/src/screens/overview/event_words";
import type { Who } from "../../../../../control/web/src/transport/answers";

test("a place survives its own fragment, whatever its words say", () => {
  for (const text of ["a b", "&sort=id#/?%", "<script>", "漢\u202e", "a/b", "%zz", "__proto__"]) {
    const { screen, subject, words } = routeOf(fragmentOf({ screen: "rule", subject: text, words: { filter: text, empty: "", none: null, at: 0 } }));
    assert.deepEqual([screen, subject, [...words]], ["rule", text, [["filter", text], ["at", "0"]]]);
  }
  assert.equal(fragmentOf({ screen: "overview" }), "#/overview");
  assert.equal(routeOf("#/rule/%zz").subject, "%zz");
  assert.deepEqual(routeOf(""), { screen: "", subject: "", words: new Map() });
});

test("a table of rules survives its own fragment", () => {
  for (const filter of ["", "a b", "&sort=id#/?%", "<script>", "漢\u202e"]) {
    const query = { sort: "live_keys", order: "asc", filter, first: 128 } as const;
    assert.deepEqual(rulesQueryOf(routeOf(fragmentOf(rulesPlace(query)))), query);
  }
});

test("what a fragment says amiss is as if it said nothing", () => {
  const plain = { sort: "matched_pps", order: "desc", filter: "", first: 0 };
  for (const fragment of ["", "#", "#/constructor?sort=__proto__&order=up&first=-3", "#/overview?first=1e99"]) {
    assert.deepEqual(rulesQueryOf(routeOf(fragment)), plain);
  }
  assert.deepEqual(liveRules(routeOf("#/rules?filter=x")), { view: "rules", ...plain, filter: "x", most: 64 });
  assert.equal(rulesQueryOf(routeOf(`#/rules?filter=${"x".repeat(1000)}`)).filter.length, 128);
  assert.equal(rulesQueryOf(routeOf(`#/rules?filter=${"\u6f22".repeat(100)}`)).filter.length, 42);
});

test("a verb that a role lacks is refused with the role that has it", () => {
  const who: Who = { user: "u", role: "view", via: "unix", box: "b", verbs: { apply: false, confirm: false }, needs: { apply: "admin", confirm: "operate" } };
  assert.equal(refusalOf(who, "confirm"), "your role is view; this wants operate");
  assert.equal(refusalOf({ ...who, role: "operate", verbs: { confirm: true } }, "confirm"), null);
  assert.equal(refusalOf(who, "toString"), "your role is view; this wants another one");
  assert.equal(refusalOf(null, "confirm"), "this page has no session");
});

test("words that every object knows are words like others", () => {
  assert.equal(stateWords("constructor").word, "constructor");
  assert.equal(eventWords({ seq: 1, time: "", event: "toString" }), "toString");
});

test("events in words", () => {
  assert.equal(eventWords({ seq: 1, time: "", event: "ban", edge: "start", for_s: 60 }), "banned, for 1 min");
  assert.equal(eventWords({ seq: 1, time: "", event: "limit_end", for_s: 5 }), "within its limit again, after 5 s");
  assert.equal(eventWords({ seq: 1, time: "", event: "limit_start", wait_s: 0.3333 }), "over its limit from now on, wait 333 ms");
  assert.equal(eventWords({ seq: 1, time: "", event: "limit_end", for_s: 0 }), "within its limit again, after 0 ms");
  assert.equal(eventWords({ seq: 1, time: "", event: "lost", lost: 7 }), "events were lost: 7");
});
