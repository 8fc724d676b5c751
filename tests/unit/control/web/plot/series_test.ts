import assert from "node:assert/strict";
import test from "node:test";

import { extended, plotted, seriesOf, summaryOf } from "../../../../../control/web/src/plot/series";
import { sparkPath } from "../../../../../control/web/src/plot/spark_path";
import type { LiveAnswer, SeriesAnswer } from "../../../../../control/web/src/transport/answers";

const PAST: SeriesAnswer = {
  run: "a", to: "2026-11-30T07:00:10Z", step_s: 1, snapshot: 10,
  columns: { offered_pps: [null, 5, 6], passed_pps: [4, 5, "x" as unknown as number] },
};

function live(snapshot: number, pps: number | null, run = "a"): LiveAnswer {
  const rate = { pps, bps: pps };
  const rates = pps === null ? null : { offered: rate, passed: rate, refused: rate, would_refuse: rate, answered: rate };
  return { snapshot, run, at: `2026-11-30T07:00:${String(snapshot).padStart(2, "0")}Z`, rates } as LiveAnswer;
}

test("columns as lines: oldest first, a gap where there is no number", () => {
  const end = Date.parse(PAST.to) / 1000;
  assert.deepEqual(plotted(seriesOf(PAST), ["offered_pps", "passed_pps", "none"]), [
    [end - 2, end - 1, end], [null, 5, 6], [4, 5, null], [null, null, null]]);
});

test("a snapshot adds a value, and snapshots that were missed are gaps", () => {
  const next = extended(seriesOf(PAST), live(13, 9));
  assert.deepEqual(next?.columns["offered_pps"], [null, 5, 6, null, null, 9]);
  assert.equal(next?.end, Date.parse("2026-11-30T07:00:13Z") / 1000);
  assert.deepEqual(extended(seriesOf(PAST), live(11, null))?.columns["offered_pps"], [null, 5, 6, null]);
});

test("the same snapshot adds nothing; another sluiced, an older and a far one want all of it anew", () => {
  const series = seriesOf(PAST);
  assert.equal(extended(series, live(10, 9)), series);
  assert.deepEqual([extended(series, live(11, 9, "b")), extended(series, live(9, 9)), extended(series, live(700, 9))], [null, null, null]);
});

test("no more than ten minutes are kept", () => {
  let series = seriesOf(PAST);
  for (let snapshot = 11; snapshot < 800; snapshot += 1) {
    series = extended(series, live(snapshot, snapshot)) ?? series;
  }
  assert.equal(series.columns["offered_pps"]?.length, 600);
});

test("what a table says of a column", () => {
  assert.deepEqual(summaryOf([null, 2, 4]), { now: 4, mean: 3, peak: 4 });
  assert.deepEqual(summaryOf([2, null]), { now: null, mean: 2, peak: 2 });
  assert.deepEqual(summaryOf([]), { now: null, mean: null, peak: null });
});

test("a spark has a gap where there is no number, and lies low where all is zero", () => {
  assert.equal(sparkPath([0, 10, null, 5, 5], 40, 10), "M0.0 10.0L10.0 0.0M30.0 5.0L40.0 5.0");
  assert.equal(sparkPath([0, 0], 10, 8), "M0.0 8.0L10.0 8.0");
  assert.equal(sparkPath([null, null], 10, 8), "");
});
