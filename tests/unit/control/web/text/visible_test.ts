import assert from "node:assert/strict";
import test from "node:test";

import { shortened, visible, visibleText } from "../../../../../control/web/src/text/visible";

test("controls, directions and letters without a width are escapes", () => {
  const rows: [string, string][] = [
    ["plain <b>", "plain <b>"],
    ["\u0000\u001b[31m\u007f\u0085", "\\u0000\\u001b[31m\\u007f\\u0085"],
    ["a\r\n\tb", "a\\r\\n\\tb"],
    ["\u202e\u2066\u200e\u061c", "\\u202e\\u2066\\u200e\\u061c"],
    ["\u200b\u200d\u2060\ufeff\u00ad\u3164\u2800", "\\u200b\\u200d\\u2060\\ufeff\\u00ad\\u3164\\u2800"],
    ["\u2028\u2029", "\\u2028\\u2029"],
    ["\u{e0041}", "\\u{e0041}"],
    ["\ud800x", "\\ud800x"],
    ["é漢🙂שלום", "é漢🙂שלום"],
  ];
  for (const [text, shown] of rows) {
    assert.equal(visibleText(text), shown);
  }
});

test("an escape is apart from letters that look like one", () => {
  assert.deepEqual(visible("\\u202e\u202e"), [
    { text: "\\u202e", escaped: false },
    { text: "\\u202e", escaped: true },
  ]);
});

test("what fits is not cut; what does not loses its middle", () => {
  const words = (text: string, most: number): string | undefined => shortened(text, most)?.map((piece) => piece.text).join("");
  assert.equal(shortened("x".repeat(80)), null);
  assert.equal(words("a".repeat(41) + "b".repeat(40), 80), "a".repeat(40) + "…" + "b".repeat(39));
  assert.equal(words("0123456789", 5), "01…89");
});

test("no escape is cut in two, and each counts as long as it is shown", () => {
  const cut = shortened("\u202e".repeat(20), 21);
  assert.deepEqual(cut?.map((piece) => piece.text), ["\\u202e", "…", "\\u202e"]);
  assert.equal(shortened("\u202e".repeat(3), 18), null);
});
