import assert from "node:assert/strict";
import test from "node:test";

import { gridOf } from "../../../../../control/web/src/heat/heat_grid";
import { cellWords, groupsWords, leftWords, mapWords, offeredWords, samplingWords } from "../../../../../control/web/src/heat/heat_words";
import { answered } from "./heat_data";

test("buckets are said by the whole numbers in them", () => {
  const edges = answered().offeredEdges;
  const words = [0, 1, 3, 4, 5, 6, 17, 80].map((bucket) => offeredWords({ bucket, low: edges[bucket]!, high: edges[bucket + 1] ?? null }));
  assert.deepEqual(words.slice(0, 7), ["0", "1", "2", "3", "4 to 5", "6 to 7", "256 to 362"]);
  assert.ok(words[7]!.endsWith("or more"), words[7]!);
});

test("what was left is said as a part of the most", () => {
  const grid = gridOf(answered(), "left");
  assert.deepEqual([0, 1, 2, 16, 17].map((row) => leftWords(grid.rows[row]!)),
    ["refused now", "0 to 6 % left", "6 to 13 % left", "94 to 100 % left", "full"]);
});

test("no data, no group and no watched group are different words", () => {
  const [sampled, gap, exact] = answered().columns;
  assert.deepEqual([groupsWords(null, gap!), groupsWords(0, sampled!), groupsWords(0, exact!), groupsWords(1, exact!), groupsWords(1200, sampled!)],
    ["no data", "no watched group", "no group", "1 group", "about 1\u2009200 groups"]);
});

test("a cell is read with its time, its row and its groups", () => {
  const answer = answered();
  const grid = gridOf(answer, "left");
  assert.equal(cellWords(answer, grid, { column: 0, row: 0 }, "utc"), "07:00:00 to 07:00:10 UTC, refused now: about 5 groups");
  assert.equal(cellWords(answer, grid, { column: 1, row: 0 }, "utc"), "07:00:10 to 07:00:20 UTC, refused now: no data");
});

test("a sentence stands for the whole map", () => {
  const answer = answered();
  assert.ok(mapWords(answer, gridOf(answer, "offered")).startsWith("Groups by what they asked for: 3 columns of 10 s, 2 of them with data;"));
  assert.ok(mapWords(answered({ columns: [null] }), gridOf(answered({ columns: [null] }), "left")).endsWith("0 of them with data."));
});

test("the page says how many groups are watched, and whether all are", () => {
  const [sampled, , exact] = answered().columns;
  assert.equal(samplingWords(sampled!), "All numbers are about: one group in 256 is watched, give or take 2.0 %.");
  assert.equal(samplingWords(exact!), "Every group is watched.");
});
