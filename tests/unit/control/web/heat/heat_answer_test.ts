import assert from "node:assert/strict";
import test from "node:test";

import { heatAnswerOf } from "../../../../../control/web/src/heat/heat_answer";
import { answered, RAW } from "./heat_data";

test("cells are what is well-formed of them, and nothing else is one", () => {
  const offered = [[1, 5], [1.5, 7], [-1, 7], [81, 7], ["2", 7], [3, null], [4, -2], [6, Infinity], "x", null, [7]];
  const [column] = answered({ columns: [{ at: RAW.from, one_in: 0, groups: "many", offered, left: { 0: 3 } }] }).columns;
  assert.deepEqual([...column!.offered], [[1, 5]]);
  assert.deepEqual([column!.left.size, column!.oneIn, column!.groups, column!.error], [0, 1, 0, null]);
});

test("a column without an instant has no data", () => {
  assert.deepEqual(answered({ columns: [{ at: "soon" }, 7, null, []] }).columns, [null, null, null, null]);
});

test("an answer that has no columns, edges, step or time is none", () => {
  for (const more of [{ columns: {} }, { offered_edges: [] }, { left_edges: "x" }, { step_s: 0 }, { step_s: null }, { rule: 5 },
    { from: "x" }, { from: RAW.to, to: RAW.from }]) {
    assert.equal(heatAnswerOf({ ...RAW, ...more }), null, JSON.stringify(more));
  }
  assert.equal(heatAnswerOf(null), null);
  assert.equal(heatAnswerOf([RAW]), null);
});

test("no answer makes the page draw more than 720 columns", () => {
  assert.equal(answered({ columns: Array.from({ length: 5000 }, () => null) }).columns.length, 720);
});
