import assert from "node:assert/strict";
import test from "node:test";

import { linkText, mtuText, spreadText } from "../../../../../control/web/src/screens/ports/port_numbers";
import { cyclesOf, grown, rateOf, spreadOf, type Worker } from "../../../../../control/web/src/screens/workers/worker_numbers";

const stages = (each: number, idle: number): Record<string, number> => ({ receive: each, parse: each, match: each, key: each, locate: each, meter: each, send: each, other: each, idle });
const worker = (packets: number, each: number, idle: number): Worker => ({ lcore: 1, packets, cycles: { turns: packets, packets, per_second: 1e9, of_turns: 256, stages: stages(each, idle) } });

test("cycles of a packet are of the time between two answers", () => {
  const { stages: each, all, idle, packets, nanoseconds } = cyclesOf(worker(300, 4000, 9000), worker(100, 1000, 1000));
  assert.deepEqual([each.parse, all, packets, Math.round(nanoseconds ?? 0)], [15, 120, 200, 120]);
  assert.equal(idle, 8000 / (8000 + 24_000));
});

test("of a dataplane that began anew they are of its start", () => {
  assert.equal(cyclesOf(worker(10, 100, 0), worker(100, 1000, 0)).packets, 10);
});

test("without packets there is no figure of one, and without stages none at all", () => {
  assert.deepEqual([cyclesOf(worker(5, 1, 9), worker(5, 1, 1)).all, cyclesOf(worker(5, 1, 9), worker(5, 1, 1)).idle], [null, 1]);
  assert.deepEqual([cyclesOf({ lcore: 1 }, null).all, cyclesOf({ lcore: 1 }, null).idle], [null, null]);
});

test("a counter that went back has no rate", () => {
  assert.deepEqual([grown(1, 2), grown(null, 1), rateOf(30, 10, 2), rateOf(30, 10, 0)], [null, null, 10, null]);
});

test("how packets are spread", () => {
  const [a, b] = [{ lcore: 1, packets: 40 }, { lcore: 2, packets: 20 }];
  assert.deepEqual(spreadOf([a, b], [{ lcore: 1, packets: 10 }, { lcore: 2, packets: 10 }]), [0.75, 0.25]);
  assert.deepEqual(spreadOf([a, b], [a, b]), [null, null]);
});

test("ports in words", () => {
  const port = { pair: "a", side: "outside", device: "d" };
  assert.deepEqual([{ ...port, gone: true }, { ...port, held_down: true, link_up: true }, { ...port, link_up: true }, port].map(linkText), ["gone", "held down", "up", "down"]);
  assert.deepEqual([mtuText(port), mtuText({ ...port, mtu: 1500, set_mtu: 1500 }), mtuText({ ...port, mtu: 9000, set_mtu: 1500 })], ["–", "1500", "9000, set up for 1500"]);
  assert.deepEqual([spreadText({ ...port, hashes: "ip", asked: "l4" }), spreadText({ ...port, hashes: "ip", handed_over: true })], ["ip, not l4", "ip, handed over"]);
});
