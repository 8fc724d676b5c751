import assert from "node:assert/strict";
import test from "node:test";

import { routeOf, fragmentOf } from "../../../../../../control/web/src/frame/route";
import { comparison, conditionOfKey } from "../../../../../../control/web/src/screens/rule/condition";
import { idOnTrial, liveBuilder } from "../../../../../../control/web/src/screens/builder/live_builder";
import { heatPath, liveRule, placeOf, RANGES, rulePlaceOf, shifted, USUAL, usualWords } from "../../../../../../control/web/src/screens/rule/rule_place";

const NOW = Date.parse("2026-11-30T08:00:00Z");

test("the row of a rule is asked for by its whole id, which others may contain", () => {
  assert.deepEqual(liveRule(routeOf("#/rule/bots")), { view: "rules", sort: "id", order: "asc", id: "bots", most: 256 });
  assert.equal(liveBuilder(routeOf("#/builder?rule=bots")).id, "bots");
  assert.equal(liveBuilder(routeOf("#/builder")).view, "overview");
  idOnTrial.value = "new-rule";
  assert.equal(liveBuilder(routeOf("#/builder")).id, "new-rule");
  idOnTrial.value = "";
});

test("a place of the screen comes back from its fragment, and what is none is the usual one", () => {
  const place = rulePlaceOf(routeOf("#/rule/a%2Fb?limit=2&range=2h&to=2026-11-30T07%3A00%3A00Z"));
  assert.deepEqual(place, { rule: "a/b", limit: 2, range: "2h", to: "2026-11-30T07:00:00Z" });
  assert.deepEqual(rulePlaceOf(routeOf(fragmentOf(placeOf(place)))), place);
  assert.deepEqual(rulePlaceOf(routeOf("#/rule/a?limit=-1&range=constructor&to=now")), { rule: "a", limit: 0, range: USUAL, to: null });
  assert.equal(fragmentOf(placeOf({ rule: "a", limit: 0, range: "30m", to: null })), "#/rule/a?range=30m");
});

test("the usual time is sluiced's to say; any other is asked for by its ends", () => {
  assert.equal(heatPath({ rule: "a b", limit: 1, range: USUAL, to: null }, NOW), "/v1/rules/a%20b/heatmap?limit=1");
  assert.equal(decodeURIComponent(heatPath({ rule: "a", limit: 0, range: "2h", to: null }, NOW)),
    "/v1/rules/a/heatmap?limit=0&from=2026-11-30T05:59:57Z&to=2026-11-30T07:59:57Z&step=10");
  assert.ok(heatPath({ rule: "a", limit: 0, range: "12h", to: null }, NOW).endsWith("step=60"));
});

test("no range with ends has more columns than sluiced gives, or one that is still counted", () => {
  for (const range of Object.keys(RANGES)) {
    for (const to of [null, "2026-11-30T07:00:00Z", "2026-11-30T07:59:59Z", "2026-12-30T00:00:00Z"]) {
      const words = new URLSearchParams(heatPath({ rule: "a", limit: 0, range, to }, NOW).split("?")[1]);
      if (!words.has("from")) {
        continue; // sluiced says how much
      }
      const [from, end] = [Date.parse(words.get("from") ?? ""), Date.parse(words.get("to") ?? "")];
      for (const own of [1, 5, 10]) {
        assert.ok((end - from) / 1000 / Number(words.get("step") ?? own) <= 720, `${range} ${own}`);
      }
      assert.ok(end <= NOW - 3000, range);
    }
  }
});

test("the usual range says how long it is, and another is what it is called", () => {
  assert.equal(usualWords(NOW - 720_000, NOW), "finest columns: 12 min");
  const words = new URLSearchParams(heatPath({ rule: "a", limit: 0, range: "30m", to: null }, NOW).split("?")[1]);
  assert.equal(Date.parse(words.get("to") ?? "") - Date.parse(words.get("from") ?? ""), 1_800_000);
  assert.equal(shifted({ rule: "a", limit: 0, range: USUAL, to: null }, NOW, -1, NOW).range, "30m");
});

test("earlier is a whole range back, and later ends at now", () => {
  const place = { rule: "a", limit: 0, range: "30m", to: null };
  assert.equal(shifted(place, NOW, -1, NOW).to, "2026-11-30T07:30:00Z");
  assert.equal(shifted({ ...place, to: "2026-11-30T07:30:00Z" }, NOW - 1_800_000, 1, NOW).to, null);
});

test("a key is a condition where its text can stand in one", () => {
  assert.equal(conditionOfKey("ip.src", "192.0.2.7"), "ip.src in {192.0.2.7}");
  assert.equal(conditionOfKey("prefix(ip.src, 24|64)|http.host", "192.0.2.0/24|a.example"), 'ip.src in {192.0.2.0/24} and http.host eq "a.example"');
  assert.equal(conditionOfKey("l4.dport", "443"), "l4.dport eq 443");
  assert.equal(conditionOfKey("eth.src", "02:00:00:00:00:01"), "eth.src eq 02:00:00:00:00:01");
  for (const [shape, key] of [["", ""], ["http.host", 'a" or ip.ttl eq 1'], ["http.host", "a\\x20"], ["ip.src", "192.0.2.7} or {"], ["l4.dport", "1 or 2"],
    ["lower(http.host)", "a"], ["ip.src|http.host", "192.0.2.7"], ["http.host", "a\u202e"]] as const) {
    assert.equal(conditionOfKey(shape, key), null, key);
  }
});

test("what keys share is a condition likewise", () => {
  assert.equal(comparison("ip.src/16", "10.7.0.0/16"), "ip.src in {10.7.0.0/16}");
  assert.equal(comparison("ip.src.country", "NL"), 'ip.src.country eq "NL"');
  assert.equal(comparison("ip.src.asn", "64500"), "ip.src.asn eq 64500");
  assert.equal(comparison("constructor()", "x"), null);
});
