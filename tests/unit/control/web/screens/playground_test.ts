import assert from "node:assert/strict";
import test from "node:test";

import { isSimulation, type SimulatedRun } from "../../../../../control/web/src/screens/playground/answer";
import { ALGORITHMS, limitsOf, limitsText, limitWords, limitYaml, newLimit, withAlgorithm, withValue } from "../../../../../control/web/src/screens/playground/limits";
import { FATES, lanesOf, marksOf, spanWords, stateLines, ticksOf } from "../../../../../control/web/src/screens/playground/marks";
import { Newest } from "../../../../../control/web/src/screens/playground/newest";
import { loadOf, LOADS, MOST_HITS, newRun, runBody, runOf, runWords, withHit, withWord } from "../../../../../control/web/src/screens/playground/run";
import { fragmentOf, routeOf } from "../../../../../control/web/src/frame/route";

function simulatedRun(fates: string, at: number[] = Array.from(fates, (_, index) => index)): SimulatedRun {
  const counts = { offered: 1, admitted: 1, yellow: 0, delayed: 0, refused: 0, waiting: 0, last_admitted_ns: null, cut: false };
  return {
    algorithm: "token_bucket", text: "", unit: "packet", yaml: "", line: "", end_ns: 100, counts, window_ns: 1, most_in_window: 1, promised: 1, promise: "",
    dots: { step_ns: 1, at_ns: at, fates, units: at.map(() => 1), passes_ns: at.map(() => null) }, state: { step_ns: 50, most: 4, left: [4, 0], least: [0, 0] }, days: null,
  };
}

test("a limit is the text that a rule has", () => {
  assert.equal(limitYaml(newLimit("token_bucket")), "{algorithm: token_bucket, rate: 10/s, burst: 10}");
  const zoned = withValue(withValue(newLimit("fixed_window"), "zone", "Europe/Berlin"), "utc_offset", "+03:00");
  assert.equal(limitYaml(zoned), '{algorithm: fixed_window, count: 10, window: 1s, utc_offset: "+03:00", zone: Europe/Berlin}');
  assert.equal(limitYaml(withValue(newLimit("sliding_log"), "count", '1"}, {x')), '{algorithm: sliding_log, count: "1\\"}, {x", window: 1s}');
  assert.equal(limitYaml(withValue(newLimit("sliding_log"), "count", "1\n- x")).includes("\n"), false);
  assert.equal(limitsText([newLimit("sliding_log"), newLimit("srtcm")]).split("\n").length, 3);
});

test("another algorithm keeps what both have, and a variant has parameters of its own", () => {
  const limit = withAlgorithm(withValue(newLimit("fixed_window"), "count", "7"), "sliding_log");
  assert.equal(limitYaml(limit), "{algorithm: sliding_log, count: 7, window: 1s}");
  assert.equal(limitYaml(withValue(newLimit("trtcm"), "variant", "rfc4115")), "{algorithm: trtcm, variant: rfc4115, cir: 5/s, cbs: 5, eir: 5/s, ebs: 5}");
  assert.equal(newLimit("no such").algorithm, ALGORITHMS[0]?.name);
});

test("limits and load come back out of a fragment", () => {
  for (const { name } of LOADS) {
    const limits = [withValue(newLimit("fixed_window"), "zone", "Europe/Berlin"), newLimit("trtcm"), withValue(newLimit("token_bucket"), "rate", "20Mbit/s")];
    const run = newRun(name, new Map([["cost", "3"], ["stalls", "1s:1s, 3s:1s"]]));
    const route = routeOf(fragmentOf({ screen: "playground", words: { ...limitWords(limits), ...runWords(run) } }));
    assert.equal(limitsText(limitsOf(route)), limitsText(limits));
    assert.deepEqual(runBody(runOf(route) ?? newRun("hits")), runBody(run));
  }
  const emptied = withWord(newRun("backlog"), "stalls", "");
  assert.deepEqual(runBody(runOf(routeOf(fragmentOf({ screen: "playground", words: runWords(emptied) }))) ?? newRun("hits"))["stalls"], []);
  assert.equal(runOf(routeOf("#/playground?load=constructor")), null);
  assert.deepEqual(limitsOf(routeOf("#/playground?l1=__proto__;count=1&l2=sliding_log;toString=1;count=5")).map(limitYaml), ["{algorithm: sliding_log, count: 5}"]);
});

test("what is asked for has the words of the load alone", () => {
  assert.deepEqual(runBody(newRun("edge")), { load: "edge", size: "10", edge_at: "1s", apart: "20ms", duration: "3s", cost: "1" });
  assert.deepEqual(runBody(newRun("backlog"))["stalls"], ["4s:1s", "6s:1s"]);
  assert.deepEqual(runBody(withWord(newRun("constant"), "offer", " "))["offer"], undefined);
  assert.equal(loadOf("no such").name, "hits");
});

test("hits are in order, bounded, and the run goes on a second behind the last", () => {
  let run = newRun("hits");
  assert.deepEqual(runBody(run), { load: "hits", cost: "1", hits: [], duration: "10s" });
  for (const ms of [0, 120.4, 100, 12_345]) {
    run = withHit(run, ms);
  }
  assert.deepEqual(runBody(run)["hits"], ["0ms", "120ms", "120ms", "12345ms"]);
  assert.equal(runBody(run)["duration"], "14s");
  for (let at = 0; at <= MOST_HITS; at += 1) {
    run = withHit(run, 20_000 + at);
  }
  assert.equal(run.hits.length, MOST_HITS);
});

test("marks stand in the lane of their fate, by size of their units", () => {
  const run = simulatedRun("ard", [0, 50, 100]);
  const lanes = lanesOf([run]);
  assert.deepEqual(lanes.map((fate) => fate.letter), ["a", "d", "r"]);
  const marks = marksOf({ ...run.dots, units: [1, 4, 2], passes_ns: [null, null, 75] }, lanes, 200, 100);
  assert.deepEqual(marks.map((mark) => [mark.fate.letter, mark.x, mark.y]), [["a", 0, 11], ["r", 100, 55], ["d", 200, 33]]);
  assert.ok((marks[1]?.size ?? 0) > (marks[2]?.size ?? 0) && (marks[2]?.size ?? 0) > (marks[0]?.size ?? 0));
  assert.deepEqual(marks.map((mark) => mark.until), [null, null, 150]);
  assert.equal(marksOf({ ...run.dots, fates: "xyz" }, lanes, 200, 100).length, 0);
  assert.equal(new Set(FATES.map((fate) => fate.shape)).size, FATES.length);
});

test("what is left is drawn from full to nothing", () => {
  const lines = stateLines(simulatedRun("a").state, 200, 90, 100);
  assert.deepEqual(lines.left, [[0, 0], [100, 90]]);
  assert.deepEqual(lines.least, [[0, 90], [100, 90]]);
});

test("ticks are round, and apart", () => {
  assert.deepEqual(ticksOf(3e9, 300).map((tick) => tick.text), ["0 s", "1 s", "2 s", "3 s"]);
  assert.deepEqual(ticksOf(4 * 86_400e9, 400).map((tick) => tick.text), ["0 s", "24 h", "2 d", "3 d", "4 d"]);
  for (const end of [1, 1e3, 7e6, 1e9, 86_400e9, 800 * 86_400e9]) {
    const ticks = ticksOf(end, 350);
    assert.ok(ticks.length >= 1 && ticks.length <= 6, `${end}: ${ticks.length}`);
  }
  assert.deepEqual([0, 5e8, 2e9, 1e3, 300e9, 7200e9, 86_400e9 * 3].map(spanWords), ["0 s", "500 ms", "2 s", "1 µs", "5 min", "2 h", "3 d"]);
});

test("one call at a time, of what was asked last", async () => {
  const calls: number[] = [];
  const shown: number[] = [];
  const ends: (() => void)[] = [];
  const newest = new Newest<number, number>(
    (question) => new Promise((done) => {
      calls.push(question);
      ends.push(() => done(question));
    }),
    (answer) => shown.push(answer),
    () => Promise.resolve(),
  );
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) {
      await Promise.resolve();
    }
  };
  newest.ask(1);
  await settle();
  newest.ask(2);
  newest.ask(3);
  await settle();
  assert.deepEqual(calls, [1]);
  ends[0]?.();
  await settle();
  assert.deepEqual([calls, shown], [[1, 3], [1]]);
  newest.forget();
  ends[1]?.();
  await settle();
  assert.deepEqual(shown, [1], "nobody looks any more");
  newest.ask(4);
  await settle();
  ends[2]?.();
  await settle();
  assert.deepEqual(shown, [1, 4]);
});

test("an answer of another form is none", () => {
  const good = { ok: true, problems: [], start_ns: 0, runs: [simulatedRun("ar")] };
  assert.ok(isSimulation(good));
  assert.ok(isSimulation({ ok: false, problems: [{ severity: "error" }], runs: [] }));
  for (const bad of [null, [], { ok: true }, { ...good, runs: [{}] }, { ...good, problems: [null] }, { ...good, runs: [{ ...simulatedRun("a"), dots: { at_ns: ["x"] } }] }]) {
    assert.equal(isSimulation(bad), false);
  }
});
