import assert from "node:assert/strict";
import test from "node:test";

import { AnswerPoll } from "../../../../../control/web/src/transport/answer_poll";
import { FakeSluiced, settled } from "./fake_sluiced";

function begun(every: number | null = 1000): [FakeSluiced, AnswerPoll<number>] {
  const sluiced = new FakeSluiced();
  const poll = new AnswerPoll<number>(sluiced, (body) => (typeof body === "number" ? body : null), () => every);
  return [sluiced, poll];
}

test("asks again a step after each answer, by the path of then", async () => {
  const [sluiced, poll] = begun();
  poll.ask("a", () => `/a?${sluiced.time}`);
  await sluiced.last().answer({ status: 200, body: 1 });
  await sluiced.pass(999);
  assert.equal(sluiced.calls.length, 1);
  await sluiced.pass(1);
  assert.deepEqual([sluiced.calls.length, sluiced.last().path, poll.shown.value?.answer], [2, "/a?1000", 1]);
});

test("an answer to a question that is not asked any more is thrown away; what stood there stays until the new one comes", async () => {
  const [sluiced, poll] = begun();
  poll.ask("a");
  await sluiced.last().answer({ status: 200, body: 1 });
  await sluiced.pass(1000);
  const former = sluiced.last();
  poll.ask("b");
  await settled();
  assert.equal(former.call.signal?.aborted, true);
  await former.answer({ status: 200, body: 2 });
  assert.deepEqual([poll.shown.value?.key, poll.shown.value?.answer, poll.asked.value], ["a", 1, "b"]);
  await sluiced.last().answer({ status: 200, body: 3 });
  assert.deepEqual([poll.shown.value?.key, poll.shown.value?.answer], ["b", 3]);
});

test("a hidden tab rests until it is seen", async () => {
  const [sluiced, poll] = begun();
  poll.ask("a");
  sluiced.hidden = true;
  await sluiced.last().answer({ status: 200, body: 1 });
  await sluiced.pass(3_600_000);
  assert.equal(sluiced.calls.length, 1);
  sluiced.hidden = false;
  poll.wake();
  await settled();
  assert.equal(sluiced.calls.length, 2);
});

test("what is asked once is asked once", async () => {
  const [sluiced, poll] = begun(null);
  poll.ask("a");
  await sluiced.last().answer({ status: 200, body: 1 });
  await sluiced.pass(100_000);
  assert.equal(sluiced.calls.length, 1);
  poll.ask(null);
  assert.equal(poll.shown.value, null);
});

test("who fails is asked ever less often, and the reason stands beside the old answer", async () => {
  const [sluiced, poll] = begun();
  poll.ask("a");
  await sluiced.last().answer({ status: 200, body: 1 });
  await sluiced.pass(1000);
  for (const [reply, seconds, why] of [[{ status: 200, body: "x" }, 2, "What answers is no sluiced of this page's version"],
    [{ status: 0 }, 4, "sluiced does not answer"], [{ status: 503, body: { title: "busy" }, againIn: 20 }, 20, "busy"]] as const) {
    await sluiced.last().answer(reply);
    assert.deepEqual([poll.trouble.value, poll.shown.value?.answer], [why, 1]);
    const calls = sluiced.calls.length;
    await sluiced.pass(seconds * 1000 - 1);
    assert.equal(sluiced.calls.length, calls);
    await sluiced.pass(1);
    assert.equal(sluiced.calls.length, calls + 1);
  }
});

test("a session that is over locks the page", async () => {
  const [sluiced, poll] = begun();
  poll.ask("a");
  await sluiced.last().answer({ status: 401 });
  assert.deepEqual(sluiced.locked, ["The session is over."]);
});
