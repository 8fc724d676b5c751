import assert from "node:assert/strict";
import test from "node:test";

import { courseText, isAmiss, isNoCluster, isNodesAnswer, numberIn, runsText, slotsText, waveText, type Fleet } from "../../../../../control/web/src/screens/nodes/node_list";
import { eventWords } from "../../../../../control/web/src/screens/overview/event_words";

const fleet: Fleet = { age_s: 1, problem: null, head: null, rollout: null, drained: [], away: [], nodes: [{ node: "a" }, { node: "b" }] };

test("an answer is one with or without etcd and store, and nothing else is", () => {
  const answer = { name: "lab", node: "a", size: 3, has_store: true, store: null, fleet };
  assert.equal(isNodesAnswer(answer), true);
  assert.deepEqual([isNoCluster(answer), isNoCluster({ cluster: null }), isNodesAnswer({ cluster: null })], [false, true, false]);
  assert.equal(isNodesAnswer({ ...answer, store: { state: "ready" }, fleet: null }), true);
  for (const wrong of [null, [], "x", {}, { ...answer, store: [] }, { ...answer, fleet: {} }, { ...answer, fleet: { ...fleet, nodes: [null] } }, { ...answer, fleet: { ...fleet, rollout: "x" } }]) {
    assert.equal(isNodesAnswer(wrong), false, JSON.stringify(wrong));
  }
});

test("what a box runs, and whether that is amiss", () => {
  assert.deepEqual(["in force", "detached", "constructor", 7, undefined].map((runs) => runsText({ runs })), ["the cluster's", "its own (detached)", "constructor", "7", ""]);
  assert.deepEqual([{ runs: "in force" }, { runs: "PANIC" }, { runs: "no dataplane" }, { runs: "differs" }, { runs: "in force", problem: "x" }, { runs: "in force", problem: "" }].map(isAmiss), [false, true, true, true, true, false]);
});

test("how far a rollout is, box by box", () => {
  const rollout = { generation: 5, staged: true, everywhere: false, nodes: ["a"] };
  assert.deepEqual(
    [{ node: "a", generation: 5 }, { node: "a", generation: 4 }, { node: "b", verdict: null }, { node: "b", verdict: { good: true } }, { node: "b", verdict: { good: false } }, { node: "b", verdict: "x" as never }].map((row) => waveText(row, rollout)),
    ["runs it", "is to run it", "has not looked at it", "has staged it", "cannot run it", "has not looked at it"]);
  assert.equal(waveText({ node: "b", generation: 5 }, { ...rollout, everywhere: true }), "runs it");
  assert.deepEqual([{ staged: false }, rollout, { ...rollout, everywhere: true }].map(courseText), ["being staged by all boxes", "on trial on some boxes", "on trial on all boxes"]);
});

test("numbers of records may be anything", () => {
  assert.deepEqual([numberIn(3), numberIn("3"), numberIn(null), numberIn({})], [3, null, null, null]);
  assert.deepEqual([slotsText(fleet, 3), slotsText(fleet, "x")], ["2 of 3 slots are held", "2 of ? slots are held"]);
});

test("events of the cluster say whom and what they are about", () => {
  const words = (more: Record<string, unknown>): string => eventWords({ seq: 1, time: "", event: "", ...more } as never);
  assert.equal(words({ event: "member_left", node: "b" }), "another box has gone: b");
  assert.equal(words({ event: "rollout_promoted", generation: 5, why: "by ann" }), "rules of the cluster are in force: by ann, generation 5");
  assert.equal(words({ event: "clock_off", offset_s: -3600 }), "the store's clock is off: -3600 s");
  assert.equal(words({ event: "drift" }), "the box runs rules of its own");
});
