import { isMap, isPair, isScalar, isSeq, Scalar, type Pair, type YAMLMap, type YAMLSeq } from "yaml";

import { isEmpty, nodeAt, pairOf, rangeOfNode, type Path, type ReadRule } from "./rule_text";

// Changes of single values of a rule. A change touches the bytes of its value alone: comments, order, keys that no form shows
// and ways to write stay. Pure.
const FIRST_LETTERS = /^[-?:,[\]{}#&*!|>'"%@`\s]/;

function isPlainSafe(value: string, inFlow: boolean): boolean {
  const isStart = !FIRST_LETTERS.test(value) || /^-\d/.test(value);
  return (
    value !== "" && isStart && !/[\s:]$/.test(value) && !/: | #|[\n\r\t]/.test(value) && !/[^\x20-\x7e]/.test(value) && !(inFlow && /[,[\]{}]/.test(value))
  );
}

export function written(value: string, inFlow: boolean, quoting: string | null = null): string {
  if (quoting === Scalar.QUOTE_DOUBLE || /[^\x20-\x7e]/.test(value)) {
    return JSON.stringify(value);
  }
  if (quoting !== Scalar.QUOTE_SINGLE && isPlainSafe(value, inFlow)) {
    return value;
  }
  return `'${value.replace(/'/g, "''")}'`;
}

function spliced(text: string, from: number, to: number, insert: string): string {
  return text.slice(0, from) + insert + text.slice(to);
}

function isFlow(node: YAMLMap | YAMLSeq): boolean {
  return node.flow === true;
}

/** The last letter of a node, without blank lines and comments behind it. */
function contentEnd(rule: ReadRule, node: unknown, otherwise: number): number {
  if ((isMap(node) || isSeq(node)) && !isFlow(node) && node.items.length > 0) {
    const last = node.items[node.items.length - 1];
    return isPair(last) ? pairEnd(rule, last) : contentEnd(rule, last, otherwise);
  }
  let end = rangeOfNode(node)?.[1] ?? otherwise;
  while (end > 0 && /\s/.test(rule.text[end - 1] ?? "")) {
    end -= 1;
  }
  return Math.max(end, otherwise);
}

function pairEnd(rule: ReadRule, pair: Pair): number {
  const keyEnd = rangeOfNode(pair.key)?.[1] ?? 0;
  const colon = rule.text.indexOf(":", keyEnd);
  return contentEnd(rule, pair.value, colon === -1 ? keyEnd : colon + 1);
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function columnOf(text: string, at: number): number {
  return at - (text.lastIndexOf("\n", at - 1) + 1);
}

function startOf(node: unknown): number {
  return rangeOfNode(node)?.[0] ?? 0;
}

// Keys in the order in which people read a rule.
const ORDER = ["id", "description", "mode", "active", "when", "on_match", "key", "tiers", "per", "missing_key", "cost", "limits", "candidates",
  "on_exceed", "on_color", "ban", "events", "ttl"];

function placeFor(map: YAMLMap, key: string): number {
  const rank = ORDER.indexOf(key);
  if (rank === -1) {
    return map.items.length - 1;
  }
  let after = 0;
  map.items.forEach((pair, index) => {
    const known = isScalar(pair.key) ? ORDER.indexOf(String(pair.key.value)) : -1;
    if (known !== -1 && known < rank) {
      after = index;
    }
  });
  return after;
}

/** `raw`: as it is to stand behind the colon. */
function withPair(rule: ReadRule, map: YAMLMap, key: string, raw: string): string {
  const { text } = rule;
  const after = map.items[placeFor(map, key)];
  if (after === undefined) {
    const [from] = rangeOfNode(map) ?? [0];
    return spliced(text, from + 1, from + 1, `${key}: ${raw}`); // {}
  }
  const end = pairEnd(rule, after);
  if (isFlow(map)) {
    return spliced(text, end, end, `, ${key}: ${raw}`);
  }
  const indent = " ".repeat(columnOf(text, startOf(map.items[0]?.key)));
  const line = lineEnd(text, end);
  return spliced(text, line, line, `\n${indent}${key}: ${raw}`);
}

function replaced(rule: ReadRule, node: Scalar, value: string, inFlow: boolean): string {
  const [from, to] = rangeOfNode(node) ?? [0, 0];
  if (isEmpty(node)) {
    const line = rule.text.slice(from, lineEnd(rule.text, from));
    return spliced(rule.text, from, from, `${/^\s*$/.test(line) && rule.text[from - 1] !== " " ? " " : ""}${written(value, inFlow)}`);
  }
  const isBlock = node.type === Scalar.BLOCK_FOLDED || node.type === Scalar.BLOCK_LITERAL;
  const quoting = isBlock ? null : (node.type ?? null);
  const kept = keptWriting(rule.text.slice(from, to), String(node.value ?? ""), value, node.type ?? null, inFlow);
  return spliced(rule.text, from, to, kept ?? `${written(value, inFlow, quoting)}${isBlock ? "\n" : ""}`);
}

const SPACE = /\s/;

/** The same lines and quotes, where only a part of a long value changes; null: it has to be written anew. */
function keptWriting(source: string, was: string, wanted: string, type: string | null, inFlow: boolean): string | null {
  const isBlock = type === Scalar.BLOCK_FOLDED || type === Scalar.BLOCK_LITERAL;
  const [old, next] = isBlock ? [was.replace(/\n+$/, ""), wanted.replace(/\n+$/, "")] : [was, wanted];
  const isOther = type === Scalar.QUOTE_DOUBLE || (type === Scalar.QUOTE_SINGLE && /'/.test(old + next)) || (type === Scalar.PLAIN && !isPlainSafe(next, inFlow));
  if (isOther || next.trim() !== next || next === "") {
    return null;
  }
  const header = isBlock ? lineEnd(source, 0) : type === Scalar.QUOTE_SINGLE ? 1 : 0;
  let same = 0;
  while (same < old.length && same < next.length && old[same] === next[same]) {
    same += 1;
  }
  let tail = 0;
  while (tail < old.length - same && tail < next.length - same && old[old.length - 1 - tail] === next[next.length - 1 - tail]) {
    tail += 1;
  }
  const from = placeIn(source, header, old, same);
  const to = placeIn(source, header, old, old.length - tail);
  const insert = next.slice(same, next.length - tail);
  return from === null || to === null || to < from || /[\n\r\t]|[^\x20-\x7e]/.test(insert) ? null : spliced(source, from, to, insert);
}

/** Where the letter `at` of a value stands in its source: blanks are written in other ways, letters are not. */
function placeIn(source: string, header: number, value: string, at: number): number | null {
  let place = header;
  while (!SPACE.test(value[0] ?? " ") && SPACE.test(source[place] ?? "")) {
    place += 1;
  }
  for (let index = 0; index < at; index += 1) {
    const letter = value[index] ?? "";
    if (SPACE.test(letter)) {
      if (!SPACE.test(source[place] ?? "")) {
        return null;
      }
      const next = value[index + 1];
      place += 1;
      while (next !== undefined && !SPACE.test(next) && SPACE.test(source[place] ?? "")) {
        place += 1;
      }
    } else if (source[place] === letter) {
      place += 1;
    } else {
      return null;
    }
  }
  return place;
}

function parentOf(rule: ReadRule, path: Path): unknown {
  return nodeAt(rule, path.slice(0, -1));
}

/** The text with another value at a path, whose way to be written is kept; what is missing on the way is added. */
export function withText(rule: ReadRule, path: Path, value: string): string {
  const node = nodeAt(rule, path);
  const parent = parentOf(rule, path);
  const inFlow = isInFlow(rule, path);
  if (isScalar(node)) {
    return replaced(rule, node, value, inFlow);
  }
  const last = path[path.length - 1];
  if (node !== null || typeof last !== "string") {
    return rule.text; // no text: the form leaves it alone
  }
  if (isMap(parent)) {
    return withPair(rule, parent, last, written(value, inFlow));
  }
  const [first] = path;
  if (path.length === 2 && typeof first === "string" && isScalarless(rule, first)) {
    return withRaw(rule, [first], `{${last}: ${written(value, true)}}`);
  }
  return path.length === 3 && first === "limits" && isScalarless(rule, "limits") ? withRaw(rule, ["limits"], `[{${last}: ${written(value, true)}}]`) : rule.text;
}

function isScalarless(rule: ReadRule, key: string): boolean {
  const node = nodeAt(rule, [key]);
  return node === null || (isScalar(node) && isEmpty(node)) || (isSeq(node) && node.items.length === 0);
}

/** The whole value at a path, as YAML in one line. */
export function withRaw(rule: ReadRule, path: Path, raw: string): string {
  const node = nodeAt(rule, path);
  const parent = parentOf(rule, path);
  const last = path[path.length - 1];
  const range = rangeOfNode(node);
  if (range === null || typeof last !== "string" || !isMap(parent)) {
    return isMap(parent) && typeof last === "string" ? withPair(rule, parent, last, raw) : rule.text;
  }
  const pair = pairOf(parent, last);
  const keyEnd = rangeOfNode(pair?.key)?.[1] ?? range[0];
  const colon = rule.text.indexOf(":", keyEnd) + 1;
  return spliced(rule.text, colon, pair === null ? range[1] : pairEnd(rule, pair), ` ${raw}`);
}

function isInFlow(rule: ReadRule, path: Path): boolean {
  for (let length = 0; length < path.length; length += 1) {
    const node = nodeAt(rule, path.slice(0, length));
    if ((isMap(node) || isSeq(node)) && isFlow(node)) {
      return true;
    }
  }
  return false;
}

/** The text without a key, or without an item of a list. */
export function without(rule: ReadRule, path: Path): string {
  const parent = parentOf(rule, path);
  const last = path[path.length - 1];
  if (!(isMap(parent) || isSeq(parent))) {
    return rule.text;
  }
  const at = isMap(parent) ? parent.items.findIndex((pair) => isScalar(pair.key) && String(pair.key.value) === last) : Number(last);
  const item = parent.items[at];
  if (item === undefined) {
    return rule.text;
  }
  const [start, end] = extentOf(rule, item);
  const [before, after] = [parent.items[at - 1], parent.items[at + 1]];
  if (isFlow(parent)) {
    return before !== undefined
      ? spliced(rule.text, extentOf(rule, before)[1], end, "")
      : spliced(rule.text, start, after === undefined ? end : extentOf(rule, after)[0], "");
  }
  if (parent.items.length === 1) {
    return isSeq(parent) ? withRaw(rule, path.slice(0, -1), "[]") : rule.text; // a map without a key is none
  }
  const lineStart = rule.text.lastIndexOf("\n", start - 1) + 1;
  if (isMap(parent) && before === undefined && after !== undefined && rule.text.slice(lineStart, start).includes("-")) {
    return spliced(rule.text, start, extentOf(rule, after)[0], "");
  }
  return spliced(rule.text, lineStart, Math.min(rule.text.length, lineEnd(rule.text, end) + 1), "");
}

function extentOf(rule: ReadRule, item: unknown): [number, number] {
  return isPair(item) ? [startOf(item.key), pairEnd(rule, item)] : [startOf(item), contentEnd(rule, item, startOf(item))];
}

/** The text with one more item at the end of a list of texts. */
export function withItem(rule: ReadRule, path: Path, value: string): string {
  const node = nodeAt(rule, path);
  if (!isSeq(node)) {
    return isScalarless(rule, String(path[0])) && path.length === 1 ? withRaw(rule, path, `[${written(value, true)}]`) : rule.text;
  }
  const raw = written(value, isFlow(node));
  const last = node.items[node.items.length - 1];
  if (last === undefined) {
    const from = startOf(node) + 1;
    return spliced(rule.text, from, from, raw);
  }
  const [start, end] = extentOf(rule, last);
  if (isFlow(node)) {
    return spliced(rule.text, end, end, `, ${raw}`);
  }
  const line = rule.text.lastIndexOf("\n", start - 1) + 1;
  const lead = rule.text.slice(line, start).replace(/[^\s-]/g, " ");
  const at = lineEnd(rule.text, end);
  return spliced(rule.text, at, at, `\n${lead}${raw}`);
}
