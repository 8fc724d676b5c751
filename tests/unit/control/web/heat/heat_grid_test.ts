import assert from "node:assert/strict";
import test from "node:test";

import { clockTicks, cursorPart, labelledRows } from "../../../../../control/web/src/heat/heat_axes";
import { cellAt, edgeOf, gridOf, limitPlace, movedBy } from "../../../../../control/web/src/heat/heat_grid";
import { colourOf, paletteOf } from "../../../../../control/web/src/heat/heat_colours";
import { cellBox, isStripe, paint } from "../../../../../control/web/src/heat/heat_pixels";
import { scaleOf } from "../../../../../control/web/src/heat/heat_scale";
import { answered } from "./heat_data";

test("map 1 has rows from its least to the limit and above, without those that no whole number fits in", () => {
  const grid = gridOf(answered(), "offered");
  assert.deepEqual(grid.rows.map(({ bucket }) => bucket), [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
  assert.deepEqual([grid.groups(0, 0), grid.groups(0, 1), grid.groups(1, 0), grid.groups(2, 3), grid.groups(9, 0)], [40_000, 0, null, 10, null]);
});

test("what is above all limits and the row of none are shown where there is somebody", () => {
  const columns = [{ at: "2026-11-30T07:00:00Z", one_in: 1, groups: 2, offered: [[0, 1], [80, 1]], left: [] }];
  const buckets = gridOf(answered({ columns }), "offered").rows.map(({ bucket }) => bucket);
  assert.deepEqual([buckets[0], buckets[buckets.length - 1]], [0, 80]);
});

test("map 2 has all its rows, whatever is in them", () => {
  assert.equal(gridOf(answered({ columns: [] }), "left").rows.length, 18);
});

test("the limit lies within its row by the logarithm of its number", () => {
  const answer = answered();
  const grid = gridOf(answer, "offered");
  const row = grid.rows.findIndex(({ bucket }) => bucket === 17);
  const place = limitPlace(answer, grid)!;
  assert.ok(place > row + 0.4 && place < row + 0.5, String(place)); // 300 of 256 to 362
  assert.equal(limitPlace(answered({ limits: [] }), grid), row + 0.5);
  assert.equal(limitPlace(answered({ limit_bucket: null }), gridOf(answered({ limit_bucket: null }), "offered")), null);
  assert.equal(limitPlace(answer, gridOf(answer, "left")), null);
});

test("cells leave no pixel between them and share none", () => {
  for (const [parts, length] of [[7, 100], [60, 61], [720, 300]] as const) {
    for (let at = 0; at < parts; at += 1) {
      assert.ok(edgeOf(at + 1, parts, length) >= edgeOf(at, parts, length));
    }
    assert.deepEqual([edgeOf(0, parts, length), edgeOf(parts, parts, length)], [0, length]);
  }
});

test("the cell under a point is the one that was painted there", () => {
  const grid = gridOf(answered(), "offered");
  const size = { width: 301, height: 170 };
  const [scale, palette] = [scaleOf(grid.counts), paletteOf(false)];
  const pixels = paint(grid, scale, palette, size);
  for (let column = 0; column < grid.columns; column += 1) {
    for (let row = 0; row < grid.rows.length; row += 1) {
      const box = cellBox(grid, column, row, size);
      const [x, y] = [Math.floor((box.left + box.right) / 2), Math.floor((box.top + box.bottom) / 2)];
      assert.deepEqual(cellAt(grid, (x + 0.5) / size.width, (y + 0.5) / size.height), { column, row });
      const groups = grid.groups(column, row);
      const expected = groups === null ? (isStripe(x, y) ? palette.hatch : palette.background) : colourOf(palette, scale.level(groups));
      assert.deepEqual([...pixels.slice((y * size.width + x) * 4, (y * size.width + x) * 4 + 4)], [...expected, 255]);
    }
  }
});

test("there is no cell beside a map, and none in an empty one", () => {
  const grid = gridOf(answered(), "left");
  for (const [x, y] of [[-0.1, 0.5], [1, 0.5], [0.5, 1], [NaN, 0]] as const) {
    assert.equal(cellAt(grid, x, y), null);
  }
  assert.equal(cellAt(gridOf(answered({ columns: [] }), "left"), 0.5, 0.5), null);
});

test("keys move a cell within the map, the first one to the newest column", () => {
  const grid = gridOf(answered(), "left");
  assert.deepEqual(movedBy("ArrowLeft", null, grid), { column: 2, row: 0 });
  assert.deepEqual(movedBy("ArrowLeft", { column: 0, row: 3 }, grid), { column: 0, row: 3 });
  assert.deepEqual(movedBy("ArrowUp", { column: 1, row: 16 }, grid), { column: 1, row: 17 });
  assert.deepEqual(movedBy("PageUp", { column: 1, row: 16 }, grid), { column: 1, row: 17 });
  assert.deepEqual(movedBy("Home", { column: 1, row: 3 }, grid), { column: 0, row: 3 });
  for (const key of ["constructor", "a", "Tab"]) {
    assert.equal(movedBy(key, { column: 1, row: 1 }, grid), null);
  }
});

test("axes have labels at full steps, and no more than there is room for", () => {
  const from = Date.parse("2026-11-30T07:00:03Z");
  const ticks = clockTicks(from, from + 600_000, 800);
  assert.equal(new Date(ticks[0]!).toISOString(), "2026-11-30T07:02:00.000Z");
  assert.ok(ticks.length <= 10);
  assert.equal(clockTicks(from, from, 0).length, 1);
  assert.deepEqual(labelledRows(gridOf(answered(), "left"), 300), [0, 4, 8, 12, 17]);
  assert.ok(labelledRows(gridOf(answered(), "offered"), 100).length <= 6);
});

test("the cursor of another plot has a place where its instant is on the map", () => {
  const answer = answered();
  const at = Date.parse(answer.from) / 1000;
  assert.deepEqual([cursorPart(answer, at + 15), cursorPart(answer, at - 1), cursorPart(answer, null)], [0.5, null, null]);
});
