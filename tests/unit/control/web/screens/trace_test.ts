import assert from "node:assert/strict";
import test from "node:test";

import { commentOf, flowText, waitText } from "../../../../../control/web/src/screens/trace/packet_words";
import { bytesOf, nanosecondsOf, pcapngOf } from "../../../../../control/web/src/screens/trace/pcapng";
import { splitAt, type Packet } from "../../../../../control/web/src/screens/trace/trace_answers";
import { MOST_KEPT, NO_PACKETS, withPackets } from "../../../../../control/web/src/screens/trace/trace_list";

const PACKET: Packet = {
  time: "2026-11-30T12:00:00.123456789Z", port: "uplink", dir: "in", src: "2001:db8::1", dst: "2001:db8::2", proto: 17, sport: 53, dport: 4000, bytes: 90, verdict: "drop",
  reason: "limit", rule: "a rule", key: "k", limit: "0", service: null, would_refuse: null, wait_s: 1.5, matched: ["a", "b"], matched_count: 2, lcore: 1, frame: "00ff10",
};

// The blocks of a capture: type, and the bytes between the two lengths, which must agree.
function blocksOf(bytes: Uint8Array): { type: number; body: DataView }[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const blocks: { type: number; body: DataView }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = view.getUint32(at + 4, true);
    assert.equal(length % 4, 0);
    assert.equal(view.getUint32(at + length - 4, true), length);
    blocks.push({ type: view.getUint32(at, true), body: new DataView(bytes.buffer, bytes.byteOffset + at + 8, length - 12) });
    at += length;
  }
  return blocks;
}

function joined(parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

test("a capture is a section, an interface and the packets, each to its last byte", () => {
  const file = joined(pcapngOf([{ time: PACKET.time, frame: "00ff10", size: 90, comment: "drop limit é" }, { time: "?", frame: "zz", size: 0, comment: "" }], "edge-1"));
  const [section, card, first, second, ...more] = blocksOf(file);
  assert.deepEqual([section?.type, card?.type, first?.type, second?.type, more.length], [0x0a0d0d0a, 1, 6, 6, 0]);
  assert.equal(section?.body.getUint32(0, true), 0x1a2b3c4d);
  assert.equal(card?.body.getUint16(0, true), 1);
  const body = first!.body;
  const at = (BigInt(body.getUint32(4, true)) << 32n) | BigInt(body.getUint32(8, true));
  assert.equal(at, nanosecondsOf(PACKET.time));
  assert.deepEqual([body.getUint32(12, true), body.getUint32(16, true), body.getUint8(21), body.getUint8(23)], [3, 90, 0xff, 0]);
  assert.deepEqual([body.getUint16(24, true), body.getUint16(26, true)], [1, 13]); // a comment of so many bytes
  assert.deepEqual([second?.body.getUint32(12, true), second?.body.getUint32(16, true)], [0, 0]);
});

test("instants to the nanosecond, and bytes of hex", () => {
  assert.equal(nanosecondsOf("1970-01-01T00:00:01.5Z"), 1_500_000_000n);
  assert.equal(nanosecondsOf("2026-11-30T12:00:00.123456789Z") % 1_000_000_000n, 123_456_789n);
  assert.equal(nanosecondsOf("<script>"), 0n);
  assert.deepEqual([...bytesOf("00ffA")], [0, 255]);
});

test("a packet in words", () => {
  assert.equal(flowText(PACKET), "[2001:db8::1]:53 > [2001:db8::2]:4000 udp");
  assert.equal(commentOf(PACKET), 'drop limit rule="a rule" key=k limit=0 wait="1.500 s" matched=a,b');
  assert.deepEqual([waitText(null), waitText(0), waitText(0.25), waitText(42)], ["never", "", "0.250 s", "42 s"]);
});

test("a fault's place in a condition", () => {
  assert.deepEqual(splitAt("ip.src in $x", 1, 11), ["ip.src in ", "$", "x"]);
  assert.deepEqual(splitAt("é = 1", 1, 6), ["é = 1", " ", ""]);
  assert.deepEqual(splitAt("a\nbcd\ne", 2, 2), ["a\nb", "c", "d\ne"]);
  assert.deepEqual([splitAt("a", 2, 1), splitAt("a", 1, 0)], [null, null]);
});

test("a trace keeps the newest packets and counts all", () => {
  const many = Array.from({ length: MOST_KEPT }, () => PACKET);
  const list = withPackets(withPackets(NO_PACKETS, { judges: true, has_rule: true, left_out: 2, packets: many }), { judges: false, has_rule: true, left_out: 7, packets: [PACKET] });
  assert.deepEqual([list.rows.length, list.shown, list.leftOut, list.judges, list.rows[0]?.number], [MOST_KEPT, MOST_KEPT + 1, 7, false, 2]);
});
