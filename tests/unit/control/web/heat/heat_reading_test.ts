import assert from "node:assert/strict";
import test from "node:test";

import type { Reading } from "../../../../../control/web/src/heat/heat_answer";
import { readingKind, readingNumbers, readingSays } from "../../../../../control/web/src/heat/heat_reading";

const reading = (kind: string, says: string, numbers: [string, unknown][] = []): Reading => ({ kind, says, numbers });

test("the kind of a reading stands once, before its sentence", () => {
  const bots = reading("bots", "bots: 90 % of all packets");
  assert.equal(readingKind(bots), "Bots");
  assert.equal(readingSays(bots), "90 % of all packets");
  assert.equal(readingSays(reading("unclear", "no usual picture: 3 %")), "No usual picture: 3 %");
  assert.equal(readingSays(reading("false_positives", "false positives: 38 %")), "38 %");
  assert.equal(readingKind(reading("constructor", "x")), null);
  assert.equal(readingSays(reading("constructor", "")), "");
});

test("its numbers have words, and where there is no data there are none", () => {
  const told: [string, unknown][] = [["z", 0.002], ["p99_q", 0.6], ["watched", 1750], ["later", 0.002], ["text", "<b>"]];
  assert.deepEqual(readingNumbers(reading("typical", "typical: x", told)).map(({ label, text }) => [label, text]), [
    ["with nothing left", "0.2 %"], ["99 in 100 groups for at most", "0.60 ×"], ["groups watched", "1\u2009750"], ["later", "0.002"], ["text", null]]);
  assert.deepEqual(readingNumbers(reading("none", "no data", told)), []);
});
