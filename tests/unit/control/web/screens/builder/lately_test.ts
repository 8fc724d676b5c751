import assert from "node:assert/strict";
import test from "node:test";

import { latelyOfMap, quantile, refusedShare, whyNoLately } from "../../../../../../control/web/src/screens/builder/lately";
import { amountOf, mostIn, rateText, rateWords, secondsOf } from "../../../../../../control/web/src/screens/builder/rate_text";

const EDGES = [0, 1, 2, 4, 8, 16];
const MAP = { step_s: 60, offered_edges: EDGES, columns: [{ offered: [[1, 50], [2, 40]] }, null, { offered: [[4, 10]] }] };

test("why there is nothing lately is not that the map is off, where it is on", () => {
  assert.ok(whyNoLately({ map: "on", columns: [] }).startsWith("Its map has nothing yet"));
  assert.ok(whyNoLately(null).startsWith("There is no map"));
});

test("quantiles and refused groups are read off the columns of a map", () => {
  const lately = latelyOfMap(MAP)!;
  assert.deepEqual([quantile(lately, 0.5), quantile(lately, 0.9), quantile(lately, 0.99), quantile(lately, 1)], [2, 4, 16, 16]);
  assert.deepEqual([0, 1, 4, 8, 16, 99].map((allowed) => Math.round(refusedShare(lately, allowed) * 1000)), [1000, 1000, 100, 100, 0, 0]);
  const shares = Array.from({ length: 100 }, (_, at) => refusedShare(lately, at / 4));
  assert.ok(shares.every((share, at) => at === 0 || share <= shares[at - 1]!)); // a higher limit refuses no more
});

test("a map without columns, or of another kind, says nothing", () => {
  for (const body of [null, {}, { ...MAP, columns: [null] }, { ...MAP, step_s: 0 }, { ...MAP, columns: [{ offered: [["x", 1], [99, 5], [-1, 2]] }] }, [], "x"]) {
    assert.equal(latelyOfMap(body), null);
  }
});

test("rates, amounts and spans are read as rules have them", () => {
  assert.deepEqual(rateWords("300/m"), { amount: "300", span: "m" });
  assert.deepEqual(rateWords(" 20Mbit / s"), { amount: "20Mbit", span: "s" });
  assert.equal(rateWords("300"), null);
  assert.equal(rateText({ amount: " 5 ", span: "h" }), "5/h");
  assert.deepEqual(["300", "4K", "64KiB", "20Mbit", "1.5M", "x", "-3"].map(amountOf), [300, 4000, 65536, 2.5e6, 1.5e6, null, null]);
  assert.deepEqual(["90s", "15m", "500us", "2"].map(secondsOf), [90, 900, 0.0005, null]);
  assert.equal(mostIn(60, { rate: "300/m", burst: "50", count: null, window: null }), 350);
  assert.equal(mostIn(60, { rate: null, burst: null, count: "100", window: "30s" }), 200);
  assert.equal(mostIn(1, { rate: null, burst: null, count: "100", window: "30s" }), 100);
  assert.equal(mostIn(60, { rate: "fast", burst: null, count: null, window: null }), null);
});
