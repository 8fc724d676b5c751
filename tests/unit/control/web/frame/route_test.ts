import assert from "node:assert/strict";
import test from "node:test";

import { fragmentOf, queryOf, routeOf } from "../../../../../control/web/src/frame/route";
import { refusalOf } from "../../../../../control/web/src/frame/verbs";
import { stateWords } from "../../../../../control/web/src/frame/words";
import { eventWords } from "../../../../../control/web/src/screens/overview/event_words";
import type { Who } from "../../../../../control/web/src/transport/answers";

test("a route survives its own fragment, whatever the filter says", () => {
  for (const filter of ["", "a b", "&sort=id#/?%", "<script>", "漢\u202e"]) {
    const route = { screen: "rules", sort: "live_keys", order: "asc", filter, first: 128 } as const;
    assert.deepEqual(routeOf(fragmentOf(route)), route);
  }
});

test("what a fragment says amiss is as if it said nothing", () => {
  const plain = { screen: "overview", sort: "matched_pps", order: "desc", filter: "", first: 0 };
  for (const fragment of ["", "#", "#/constructor?sort=__proto__&order=up&first=-3", "#/overview?first=1e99"]) {
    assert.deepEqual(routeOf(fragment), plain);
  }
  assert.deepEqual(queryOf(routeOf("#/overview?filter=x")), { view: "overview" });
  assert.equal(routeOf(`#/rules?filter=${"x".repeat(1000)}`).filter.length, 128);
  assert.equal(routeOf(`#/rules?filter=${"\u6f22".repeat(100)}`).filter.length, 42);
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
  assert.equal(eventWords({ seq: 1, time: "", event: "limit_end", for_s: 5 }), "no longer refused, after 5 s");
  assert.equal(eventWords({ seq: 1, time: "", event: "lost", lost: 7 }), "events were lost: 7");
});
