import assert from "node:assert/strict";
import test from "node:test";

import { Follow } from "../../../../../control/web/src/transport/follow";
import { FakeSluiced, settled } from "./fake_sluiced";

const PACE = { longest: 5000, hidden: 15_000 };

test("one call is under way at a time, and the screen's end stops it", async () => {
  const around = new FakeSluiced();
  const calls: ((rest: number | null) => void)[] = [];
  let aborted = 0;
  const following = new Follow((signal) => {
    signal.addEventListener("abort", () => (aborted += 1));
    return new Promise((resolve) => calls.push(resolve));
  }, around, PACE).begin();
  await around.pass(1000);
  assert.equal(calls.length, 1);
  calls[0]!(1000);
  await settled();
  await around.pass(999);
  assert.equal(calls.length, 1);
  await around.pass(1);
  assert.equal(calls.length, 2);
  following.end();
  assert.ok(aborted > 0);
  calls[1]!(0);
  await settled();
  await around.pass(60_000);
  assert.equal(calls.length, 2);
});

test("what hangs is given up, and hidden tabs ask seldom", async () => {
  const around = new FakeSluiced();
  let calls = 0;
  new Follow((signal) => {
    calls += 1;
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(0)));
  }, around, PACE).begin();
  await around.pass(5000);
  around.hidden = true;
  await around.pass(200);
  assert.equal(calls, 2);
  await around.pass(5000);
  await around.pass(14_000);
  assert.equal(calls, 2);
  await around.pass(1000);
  assert.equal(calls, 3);
});

test("a turn that says so is the last", async () => {
  const around = new FakeSluiced();
  let calls = 0;
  new Follow(() => Promise.resolve(calls++ === 0 ? 0 : null), around, PACE).begin();
  await around.pass(200);
  await around.pass(60_000);
  assert.equal(calls, 2);
});
