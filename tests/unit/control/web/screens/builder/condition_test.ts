import assert from "node:assert/strict";
import test from "node:test";

import { conditionOf, withMore, withoutPart, withRow, writtenRow, type Node, type Row } from "../../../../../../control/web/src/screens/builder/condition";
import { offeredValue, seenValues, writtenValue } from "../../../../../../control/web/src/screens/builder/condition_value";

function rowsOf(node: Node | null): Row[] {
  return node === null || node.kind === "text" ? [] : node.kind === "row" ? [node] : node.parts.flatMap(rowsOf);
}

test("conditions are rows of field, operator and value", () => {
  const text = 'l4.dport in {80 8000..8010} and (http.host eq "a and b" or not starts_with(http.request.uri.path, "/api/")) and tcp.flags.syn and http.request.headers["x-key"] ne "1"';
  const node = conditionOf(text);
  assert.equal(node?.kind, "and");
  assert.deepEqual(rowsOf(node).map((row) => [row.isNot, row.field, row.operator, row.value]), [
    [false, "l4.dport", "in", "{80 8000..8010}"],
    [false, "http.host", "eq", '"a and b"'],
    [true, "http.request.uri.path", "starts_with", '"/api/"'],
    [false, "tcp.flags.syn", "", ""],
    [false, 'http.request.headers["x-key"]', "ne", '"1"'],
  ]);
});

test("the signs of operators are theirs, and lists and functions are values and fields", () => {
  const rows: [string, string, string, string][] = [
    ["ip.ttl <= 3", "ip.ttl", "le", "3"],
    ["ip.src in $bad", "ip.src", "in", "$bad"],
    ['lower(http.user_agent) contains "bot"', "lower(http.user_agent)", "contains", '"bot"'],
    ["ip.src eq 2001:db8::/32", "ip.src", "eq", "2001:db8::/32"],
    ['prefix(ip.src, 24|64) == 192.0.2.0/24', "prefix(ip.src, 24|64)", "eq", "192.0.2.0/24"],
  ];
  for (const [text, field, operator, value] of rows) {
    const [row] = rowsOf(conditionOf(text));
    assert.deepEqual([row?.field, row?.operator, row?.value], [field, operator, value], text);
  }
});

test("a row changes its own letters alone", () => {
  const text = 'a eq 1  and (b eq "x" or  not c lt 3) or d';
  for (const row of rowsOf(conditionOf(text)).filter((one) => one.operator !== "")) {
    const next = withRow(text, row, { value: "77" });
    assert.equal(next, text.slice(0, row.valueAt[0]) + "77" + text.slice(row.valueAt[1]));
    const again = rowsOf(conditionOf(next)).map(writtenRow);
    assert.equal(again.length, 4);
    assert.equal(withRow(next, rowsOf(conditionOf(next)).find((one) => one.from === row.from)!, { value: row.value }), text);
  }
  const [, second] = rowsOf(conditionOf(text));
  assert.equal(withRow(text, second!, { isNot: true }), 'a eq 1  and (not b eq "x" or  not c lt 3) or d');
  assert.equal(withRow("(a eq 1) and b", rowsOf(conditionOf("(a eq 1) and b"))[0]!, { field: "z" }), "(z eq 1) and b");
});

test("rows come and go with the word that joins them", () => {
  assert.equal(withMore("", "and", "a eq 1"), "a eq 1");
  assert.equal(withMore("a eq 1", "or", "b eq 2"), "a eq 1 or b eq 2");
  assert.equal(withMore("a eq 1 or b eq 2", "and", "c"), "(a eq 1 or b eq 2) and c");
  const text = "a eq 1 and b eq 2 and c eq 3";
  const rows = rowsOf(conditionOf(text));
  assert.deepEqual(rows.map((row) => withoutPart(text, row)), ["b eq 2 and c eq 3", "a eq 1 and c eq 3", "a eq 1 and b eq 2"]);
  assert.equal(withoutPart("a eq 1", conditionOf("a eq 1")!), "");
});

test("what cannot be shown in rows stays a text, and nothing is too deep", () => {
  for (const text of ["", "a eq", "(a", "a eq 1 b", '"x', "and", "a in {1", "((", "(".repeat(5000), "not ".repeat(5000) + "a", "a eq = 1", "§", "a eq 1 and"]) {
    assert.equal(conditionOf(text), null, text.slice(0, 20));
  }
  const [only] = [conditionOf("not (a eq 1 or b)")];
  assert.equal(only?.kind, "text");
});

test("values are written as conditions have them", () => {
  const rows: [string, string, string][] = [
    ["80", "eq", "80"], ["192.0.2.0/24", "eq", "192.0.2.0/24"], ["2001:db8::1", "eq", "2001:db8::1"], ["udp", "eq", '"udp"'], ['a"b\\', "eq", '"a\\"b\\\\"'],
    ["80 443", "in", "{80 443}"], ["{80 443}", "in", "{80 443}"], ["80..90 443", "in", "{80..90 443}"], ['"a" "b c"', "in", '{"a" "b c"}'], ["$bad", "in", "$bad"], ["12", "contains", '"12"'], ['"done"', "eq", '"done"'],
  ];
  for (const [typed, operator, value] of rows) {
    assert.equal(writtenValue(typed, operator), value);
  }
});

const HOSTILE = [
  '"a" or ip.src ne "b"', "x} or ip.src in {0.0.0.0/0", '{1} or ip.src in {2}', '"', '"a', 'a"', "$bad", "$a or b", "{", "}", "{}", "{80}", "(", "or", "not a", '"done"', '" or ip.src ne "', "a b", "a|b",
  "<script>", "192.0.2.7 or ip.src", "80 or a", "{a eq 1}", ' "a" or b ', "'", "é漢", "a\u202eb", "80,443", "-", "",
];

test("what senders have written is one value of the field that was asked, never more", () => {
  for (const text of HOSTILE.filter((one) => one !== "")) {
    for (const operator of ["eq", "ne", "in", "contains", "starts_with", "matches"]) {
      for (const value of [offeredValue(text, operator), writtenValue(text, operator, [text])]) {
        const written = writtenRow({ isNot: false, field: "http.user_agent", operator, value });
        const node = conditionOf(written);
        assert.equal(node?.kind, "row", written);
        assert.deepEqual([(node as Row).field, (node as Row).operator, (node as Row).value], ["http.user_agent", operator, value], written);
        const [, inside] = /^\{?(".*")\}?$/s.exec(value) ?? [];
        assert.equal(JSON.parse(inside ?? ""), text);
      }
      const typed = conditionOf(writtenRow({ isNot: false, field: "http.user_agent", operator, value: writtenValue(text, operator) }));
      assert.equal(typed?.kind, "row", text);
    }
  }
});

test("values of a key's parts are offered where they can be written letter by letter", () => {
  const keys = ["192.0.2.7|a b", "192.0.2.7|x\\|y", "192.0.2.8|x\\x00", "192.0.2.9|", "|only", "192.0.2.1|a|b", ""];
  const seen = seenValues(["prefix(ip.src, 32|64)", "http.host"], keys);
  assert.deepEqual([...seen], [["prefix(ip.src, 32|64)", ["192.0.2.7", "192.0.2.8", "192.0.2.9"]], ["http.host", ["a b", "only"]]]);
  assert.deepEqual([...seenValues(["ip.src"], ["1.2.3.4", "a\\|b", "1.2.3.4"])], [["ip.src", ["1.2.3.4"]]]);
});
