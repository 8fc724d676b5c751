import assert from "node:assert/strict";
import test from "node:test";

import { networksOf } from "../../../../../../control/web/src/screens/builder/capture_file";
import { conditionOf } from "../../../../../../control/web/src/screens/builder/condition";
import { joinedValues } from "../../../../../../control/web/src/screens/builder/condition_value";
import { judgedOf, memoryOf, progressOf, valuesOf } from "../../../../../../control/web/src/screens/builder/judged_answer";
import { measured, rowsIn, type TraceCalls } from "../../../../../../control/web/src/screens/builder/row_rates";

const RESULT = {
  says: "of 20 s: 10 requests match", unit: "requests", matched: 10, refused: 2, refused_share: 0.2, groups: 5, refused_groups: 1, one_in: 4, error: 0.1, is_exact: false,
  judged_packets: 7, names: [{ key: "192.0.2.7", offered: 6, refused: 2 }, { offered: 1 }, null], limits: [{ text: "300 per minute", refused: 2 }], heatmaps: [{}, null],
  unknown: [{ code: "new", text: "a sentence" }, 7, { code: "x" }], rules: [{ id: "login", mode: "enforce", matched: 10, refused: 2, would_refuse: 0 }],
  values: [{ field: "http.host", values: ["a", "a", "b", 7] }, { field: "http.host", value: "c" }, { values: ["x"] }],
};

test("a result is read as far as it is well-formed", () => {
  const judged = judgedOf(RESULT)!;
  assert.deepEqual(judged.names, [{ key: "192.0.2.7", offered: 6, refused: 2 }]);
  assert.deepEqual(judged.unknown, ["a sentence"]);
  assert.deepEqual(judged.maps, []);
  assert.deepEqual([...judged.values], [["http.host", ["a", "b", "c"]]]);
  assert.deepEqual([judged.share, judged.oneIn, judged.isExact, judged.rules[0]?.wouldRefuse], [0.2, 4, false, 0]);
  for (const body of [null, [], "x", {}, { says: 7 }]) {
    assert.equal(judgedOf(body), null);
  }
});

test("a preview that is done has a result, or is no answer", () => {
  assert.equal(progressOf({ state: "done", result: null }), null);
  assert.equal(progressOf({ state: "elsewhere" }), null);
  assert.equal(progressOf({ state: "watching", seconds: 20, seconds_done: 7.3, matched: 9, unit: "requests", result: null })?.done, 7.3);
  assert.equal(progressOf({ state: "done", result: RESULT })?.result?.matched, 10);
});

test("memory is what a group takes, so many times; nobody says it of what is not known", () => {
  assert.deepEqual([memoryOf(1000, 80), memoryOf(null, 80), memoryOf(5, null)], [80_000, null, null]);
});

test("values that are offered can stand in a condition letter by letter", () => {
  const first = new Map([["http.host", ["a"]]]);
  const second = valuesOf([{ field: "http.host", values: ["a", "b\\c", "d\n", "e\u202e"] }, { field: "l4.dport", values: ["80"] }]);
  assert.deepEqual([...joinedValues(first, second)], [["http.host", ["a"]], ["l4.dport", ["80"]]]);
});

test("networks are apart by blanks or commas", () => {
  assert.deepEqual(networksOf(" 192.0.2.0/24,2001:db8::/32  198.51.100.1 "), ["192.0.2.0/24", "2001:db8::/32", "198.51.100.1"]);
  assert.deepEqual(networksOf(""), []);
});

/** Traces of a box by which so many packets of each condition pass between two readings. */
function box(passing: Record<string, number>, refusal: Record<string, unknown> = {}): TraceCalls & { open: string[]; most: number } {
  const names: string[] = [];
  const calls: TraceCalls & { open: string[]; most: number } = {
    open: [],
    most: 0,
    pause: () => Promise.resolve(),
    ask: async (path, { method, body }) => {
      const when = String((body as { when?: string } | undefined)?.when ?? "all");
      if (method === "POST") {
        if (when in refusal) {
          return { status: 422, body: refusal[when], againIn: null };
        }
        names.push(when);
        calls.open.push(String(names.length - 1));
        calls.most = Math.max(calls.most, calls.open.length);
        return { status: 201, body: { trace: String(names.length - 1), unread_fields: when.startsWith("tls") ? ["tls.sni"] : [], warnings: [] }, againIn: null };
      }
      const name = path.split("/").pop() ?? "";
      calls.open = method === "DELETE" ? calls.open.filter((one) => one !== name) : calls.open;
      return { status: 200, body: { packets: [{}], left_out: passing[names[Number(name)] ?? ""] ?? 0 }, againIn: null };
    },
  };
  return calls;
}

test("rows are counted beside everything, and every trace is ended", async () => {
  const text = 'l4.dport eq 80 and (http.host eq "a" or l4.dport eq 80 or tls.sni eq "b" or ip.proto eq 6) and wrong eq 1';
  const rows = rowsIn(text, conditionOf(text));
  assert.deepEqual(rows, ["l4.dport eq 80", 'http.host eq "a"', 'tls.sni eq "b"', "ip.proto eq 6", "wrong eq 1"]);
  const calls = box({ all: 994, "l4.dport eq 80": 494, "ip.proto eq 6": 994 }, { "wrong eq 1": { title: "x", problems: [{ message: "no such field" }] } });
  const found = await measured(calls, rows);
  if (typeof found === "string") {
    throw new Error(found);
  }
  assert.deepEqual([...found.rates].map(([row, { share, why }]) => [row, share, why]), [
    ["l4.dport eq 80", 0.5, null],
    ['http.host eq "a"', 0.006, null],
    ['tls.sni eq "b"', null, "no rule in force reads it"],
    ["ip.proto eq 6", 1, null],
    ["wrong eq 1", null, "no such field"],
  ]);
  assert.equal(found.packets, 2000);
  assert.deepEqual(calls.open, []);
  assert.ok(calls.most <= 4);
});

test("a box without room for traces says so", async () => {
  assert.equal(await measured(box({}, { all: { title: "refused by the dataplane", detail: "4 traces are under way" } }), ["l4.dport eq 80"]), "refused by the dataplane: 4 traces are under way");
});
