import assert from "node:assert/strict";
import test from "node:test";

import { isFindAnswer, joined, type FindAnswer } from "../../../../../control/web/src/screens/find/find_answer";
import { earlyWords, findingWords, leftOut, noEarlyDrop, nothingKnown } from "../../../../../control/web/src/screens/find/find_words";

const PAGE: FindAnswer = { of: "192.0.2.1", is: "address", inside: null, boxes_read: true, lists_read: true, findings: [], next: "b" };

test("rules that would count anything of its form know nothing of it", () => {
  const row = (what: string) => ({ what, rule: "r" });
  assert.deepEqual([[], [row("counts")], [row("counts"), row("ban")]].map((findings) => nothingKnown({ ...PAGE, findings })), [true, true, false]);
});

test("findings are said in words, whatever members they lack", () => {
  const rows: [Record<string, unknown>, string][] = [
    [{ what: "condition", field: "ip.src", except: false, list: "bad", entry: "192.0.2.0/24", line: 3, others: 2, action: "drop" },
      "its condition names it as ip.src, in $bad by 192.0.2.0/24 (line 3) and 2 more: drop"],
    [{ what: "condition", field: "ip.src", except: true, list: null, action: "drop" }, "its condition excepts it as ip.src: drop"],
    [{ what: "ban", key: "192.0.2.0/24", source: "ada", until: "2026-01-01T00:00:00Z", reason: "<b>" },
      "192.0.2.0/24 is banned by ada until 2026-01-01T00:00:00Z, because: <b>"],
    [{ what: "override", key: "10.0.0.0/8", says: "exempt", line: 6, source: "override file", until: null, reason: "" },
      "10.0.0.0/8 is exempt by line 6 of the override file"],
    [{ what: "counts", key: null, form: "ip.src, http.host" }, "counts by ip.src, http.host; keys of it that have no name are not found"],
    [{ what: "counts", key: "192.0.2.1" }, "would count it as 192.0.2.1, of which nothing is known yet"],
    [{ what: "key", key: "192.0.2.1", banned: false, exempt: false, set: [], limits: [{ name: "1", text: "rate 5/s",
      workers: [{ lcore: 2, remaining: 0, most: 5, wait_ns: 200_000_000 }] }] },
      "192.0.2.1: counted; limit 1 (rate 5/s): 0 of 5 left on core 2, the next in 0.2 s"],
    [{ what: "key", key: "a" }, "a: counted"],
    [{ what: "new" }, '{"rule":"r","what":"new"}'],
  ];
  for (const [row, words] of rows) {
    assert.equal(findingWords({ rule: "r", ...row } as Parameters<typeof findingWords>[0]), words);
  }
});

test("pages are joined, and what one of them lacks is lacking", () => {
  const row = { what: "ban", rule: "r" };
  const first = joined(null, { ...PAGE, findings: [row], everybody: ["all"] });
  const both = joined(first, { ...PAGE, findings: [row, row], boxes_read: false, cut: true, next: null });
  assert.deepEqual([both.findings.length, both.next, both.everybody, both.boxes_read], [3, null, ["all"], false]);
  assert.equal(leftOut(both).length, 2);
  assert.deepEqual(leftOut({ ...PAGE, lists_read: false }).length, 1);
  assert.ok((leftOut({ ...PAGE, lists_read: false, unread: ["bad", "worse"] })[1] ?? "").endsWith(": bad, worse."));
});

test("early drop says why there is none", () => {
  const entry = { network: "192.0.2.0/24", at: ["eth0"], rule: "r", by: "penalty_box", applies_to: "source", until: "soon", rule_packets: 7 };
  assert.equal(earlyWords(entry), "in its penalty box, all that the source sends, until soon");
  assert.equal(earlyWords({ ...entry, by: "condition", applies_to: "key", until: null }), "by its condition");
  assert.equal(noEarlyDrop("works"), null);
  assert.ok(noEarlyDrop("no_port")?.startsWith("No port"));
  assert.equal(noEarlyDrop("constructor"), "constructor");
});

test("what is no answer of find is none", () => {
  for (const body of [null, [], {}, { of: "a" }, { of: 1, findings: [] }, "of"]) {
    assert.equal(isFindAnswer(body), false);
  }
  assert.equal(isFindAnswer(PAGE), true);
});
