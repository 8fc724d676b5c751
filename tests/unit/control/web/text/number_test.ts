import assert from "node:assert/strict";
import test from "node:test";

import { countText, scaled, share, shortTimeText, whole, withUnit } from "../../../../../control/web/src/text/number";

test("three digits and a power of 1000", () => {
  const rows: [number, string][] = [
    [0, "0"], [7, "7"], [1.234, "1.23"], [12.34, "12.3"], [999, "999"], [999.6, "1.00 k"], [1000, "1 k"], [1234, "1.23 k"],
    [999_600, "1.00 M"], [12_345_678, "12.3 M"], [4e10, "40 G"], [-1500, "-1.50 k"], [3e18, "3000 P"],
  ];
  for (const [value, text] of rows) {
    assert.equal(scaled(value), text);
  }
});

test("times of a packet have one unit, and counts the word that goes with them", () => {
  assert.deepEqual([87.5, 999.4, 999.6, 34_200, 1.2e6, 2e9].map(shortTimeText), ["87.5 ns", "999 ns", "1.00 µs", "34.2 µs", "1.20 ms", "2 s"]);
  assert.equal(shortTimeText(null), "–");
  assert.deepEqual([countText(1, "group", "groups"), countText(0, "group", "groups"), countText(2, "group", "groups")], ["1 group", "0 groups", "2 groups"]);
});

test("what nobody knows is a dash, never 0", () => {
  for (const value of [null, undefined, NaN, Infinity, "12" as unknown as number]) {
    assert.deepEqual([scaled(value), withUnit(value, "pps"), whole(value), share(value)], ["–", "–", "–", "–"]);
  }
});

test("units", () => {
  assert.equal(withUnit(1_230_000, "pps"), "1.23 Mpps");
  assert.equal(withUnit(12, "bit/s"), "12 bit/s");
  assert.equal(whole(51_234), "51\u2009234");
  assert.equal(whole(2_500_000), "2.50 M");
  assert.deepEqual([share(0), share(0.004), share(0.123), share(1)], ["0 %", "0.4 %", "12 %", "100 %"]);
});
