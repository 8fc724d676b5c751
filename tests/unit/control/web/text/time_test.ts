import assert from "node:assert/strict";
import test from "node:test";

import { clockText, instantText, preciseText, spanText } from "../../../../../control/web/src/text/time";

const NOON = Date.parse("2026-11-30T12:00:00Z");

test("an instant has its zone, and its day where that is another", () => {
  assert.equal(instantText("2026-11-30T07:00:01.003Z", "utc", NOON), "07:00:01 UTC");
  assert.equal(instantText("2026-11-29T23:59:59Z", "utc", NOON), "2026-11-29 23:59:59 UTC");
  assert.ok(/ UTC[+-]\d\d:\d\d$/.test(instantText("2026-11-30T07:00:01Z", "local", NOON)));
  assert.equal(clockText(NOON, "utc"), "12:00:00");
  assert.equal(preciseText("2026-11-30T07:00:01.123456789Z", "utc", NOON), "07:00:01.123456 UTC");
  assert.equal(preciseText("2026-11-29T07:00:01.5Z", "utc", NOON), "2026-11-29 07:00:01.5 UTC");
  assert.equal(preciseText("2026-11-30T07:00:01Z", "utc", NOON), "07:00:01 UTC");
  assert.equal(preciseText(null, "utc", NOON), "–");
});

test("no instant is a dash", () => {
  assert.deepEqual([instantText(null, "utc", NOON), instantText("<script>", "utc", NOON)], ["–", "–"]);
});

test("spans", () => {
  const rows: [number, string][] = [[-1, "0 s"], [0.9, "0 s"], [41.3, "41 s"], [60, "1 min"], [125, "2 min 5 s"], [11_400, "3 h 10 min"], [352_800, "4 d 2 h"]];
  for (const [seconds, text] of rows) {
    assert.equal(spanText(seconds), text);
  }
});

test("the box's clock: by the name of its zone, summer and winter, else by how far it is before UTC", () => {
  const berlin = { name: "Europe/Berlin", offset_s: 3600 };
  assert.equal(instantText("2026-11-30T07:00:01.003Z", berlin, NOON), "08:00:01 UTC+01:00");
  assert.equal(instantText("2026-07-01T22:30:00Z", berlin, NOON), "2026-07-02 00:30:00 UTC+02:00");
  assert.equal(clockText(NOON, { name: null, offset_s: -12_600 }), "08:30:00");
  assert.equal(clockText(NOON, { name: "No/Where", offset_s: 3600 }), "13:00:00");
  assert.equal(instantText("1969-12-31T23:59:59.500Z", berlin, NOON), "1970-01-01 00:59:59 UTC+01:00");
});
