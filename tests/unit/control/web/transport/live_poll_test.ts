import assert from "node:assert/strict";
import test from "node:test";

import { effect } from "@preact/signals";

import { LivePoll, type LiveQuery } from "../../../../../control/web/src/transport/live_poll";
import { FakeSluiced, settled, snapshot } from "./fake_sluiced";

const OVERVIEW: LiveQuery = { view: "overview" };
const RULES: LiveQuery = { view: "rules", sort: "id", order: "asc", filter: "a&b", first: 0, most: 64 };

async function begun(query = OVERVIEW): Promise<[FakeSluiced, LivePoll]> {
  const sluiced = new FakeSluiced();
  const poll = new LivePoll(sluiced);
  poll.ask(query);
  await settled();
  return [sluiced, poll];
}

test("the first call waits for nothing, later ones for the next snapshot", async () => {
  const [sluiced, poll] = await begun();
  assert.equal(sluiced.last().path, "/v1/live?view=overview");
  await sluiced.pass(1000);
  await sluiced.last().answer(snapshot(42));
  assert.equal(sluiced.last().path, "/v1/live?after=42&wait=3&view=overview");
  assert.deepEqual([poll.shown.value?.answer.snapshot, poll.shown.value?.arrived, poll.trouble.value], [42, 1000, null]);
});

test("an effect that asks is not run again by the answers", async () => {
  const sluiced = new FakeSluiced();
  const poll = new LivePoll(sluiced);
  const dispose = effect(() => poll.ask(OVERVIEW));
  await settled();
  await sluiced.last().answer(snapshot(1));
  await sluiced.pass(250);
  assert.deepEqual(
    sluiced.calls.map((call) => call.path),
    ["/v1/live?view=overview", "/v1/live?after=1&wait=3&view=overview"],
  );
  dispose();
});

test("one call at a time, and no more than four a second", async () => {
  const [sluiced] = await begun();
  await sluiced.last().answer(snapshot(1));
  assert.equal(sluiced.calls.length, 1);
  await sluiced.pass(249);
  assert.equal(sluiced.calls.length, 1);
  await sluiced.pass(1);
  assert.equal(sluiced.calls.length, 2);
});

test("an answer without a newer snapshot makes nothing younger", async () => {
  const [sluiced, poll] = await begun();
  await sluiced.last().answer(snapshot(7));
  await sluiced.pass(3000);
  await sluiced.last().answer(snapshot(7));
  assert.equal(poll.shown.value?.arrived, 0);
});

test("an older snapshot is thrown away, and that of a new sluiced is not", async () => {
  const [sluiced, poll] = await begun();
  await sluiced.last().answer(snapshot(7));
  await sluiced.pass(300);
  await sluiced.last().answer(snapshot(6));
  assert.deepEqual([poll.shown.value?.answer.snapshot, poll.restarts.value], [7, 0]);
  await sluiced.pass(300);
  await sluiced.last().answer(snapshot(1, { run: "b" }));
  assert.deepEqual([poll.shown.value?.answer.snapshot, poll.restarts.value], [1, 1]);
});

test("another question is asked at once, and what the former one brings is thrown away", async () => {
  const [sluiced, poll] = await begun();
  const former = sluiced.last();
  poll.ask(RULES);
  await settled();
  assert.equal(sluiced.last().path, "/v1/live?view=rules&sort=id&order=asc&filter=a%26b&first=0&most=64");
  assert.equal(former.call.signal?.aborted, true);
  await sluiced.last().answer(snapshot(5));
  await former.answer(snapshot(6));
  assert.deepEqual([poll.shown.value?.answer.snapshot, poll.shown.value?.query], [5, RULES]);
});

test("a hidden tab asks every 15 s, and at once when it is seen again", async () => {
  const [sluiced, poll] = await begun();
  sluiced.hidden = true;
  await sluiced.last().answer(snapshot(1));
  await sluiced.pass(14_999);
  assert.equal(sluiced.calls.length, 1);
  await sluiced.pass(1);
  assert.equal(sluiced.calls.length, 2);
  await sluiced.last().answer(snapshot(16));
  await sluiced.pass(1000);
  sluiced.hidden = false;
  poll.wake();
  await settled();
  assert.equal(sluiced.calls.length, 3);
});

test("who finds no place comes again when he was told to", async () => {
  const [sluiced, poll] = await begun();
  await sluiced.last().answer({ status: 503, body: { title: "busy", detail: "no place" }, againIn: 5 });
  assert.equal(poll.trouble.value, "busy: no place");
  await sluiced.pass(4999);
  assert.equal(sluiced.calls.length, 1);
  await sluiced.pass(1);
  await sluiced.last().answer(snapshot(1));
  assert.equal(poll.trouble.value, null);
});

test("who is not answered asks again, ever less often, and never with a wait", async () => {
  const [sluiced, poll] = await begun();
  await sluiced.last().answer(snapshot(3));
  await sluiced.pass(300);
  for (const seconds of [1, 2, 3, 4, 5, 5, 5]) {
    await sluiced.last().answer({ status: 0 });
    assert.equal(poll.trouble.value, "sluiced does not answer");
    const calls = sluiced.calls.length;
    await sluiced.pass(seconds * 1000 - 1);
    assert.equal(sluiced.calls.length, calls);
    await sluiced.pass(1);
    assert.equal(sluiced.calls.length, calls + 1);
    assert.equal(sluiced.last().path, "/v1/live?view=overview");
  }
});

test("a call that nobody answers is given up after 8 s", async () => {
  const [sluiced] = await begun();
  await sluiced.pass(7999);
  assert.equal(sluiced.last().call.signal?.aborted, false);
  await sluiced.pass(1);
  assert.equal(sluiced.last().call.signal?.aborted, true);
});

test("a session that is over ends the calls, and what was shown stays", async () => {
  const [sluiced, poll] = await begun();
  await sluiced.last().answer(snapshot(3));
  await sluiced.pass(300);
  await sluiced.last().answer({ status: 401, body: { title: "no session" } });
  await sluiced.pass(60_000);
  assert.deepEqual([sluiced.locked.length, sluiced.calls.length, poll.shown.value?.answer.snapshot], [1, 2, 3]);
});

test("what is no answer of sluiced changes nothing that is shown", async () => {
  const [sluiced, poll] = await begun();
  await sluiced.last().answer(snapshot(3));
  for (const body of [null, "<html>", [], { snapshot: 4 }, { ...(snapshot(4).body as object), rules: null }, { ...(snapshot(4).body as object), ports: {} }]) {
    await sluiced.pass(6000);
    await sluiced.last().answer({ status: 200, body });
    assert.deepEqual([poll.shown.value?.answer.snapshot, poll.trouble.value], [3, "What answers is no sluiced of this page's version"]);
  }
});

test("a page of another version is outdated", async () => {
  const [sluiced, poll] = await begun();
  await sluiced.last().answer(snapshot(3));
  await sluiced.pass(300);
  assert.equal(poll.outdated.value, false);
  await sluiced.last().answer(snapshot(1, { run: "b", web: "x" }));
  assert.equal(poll.outdated.value, true);
});
