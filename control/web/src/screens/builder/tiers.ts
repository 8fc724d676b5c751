import { isMap, isNode, isScalar, isSeq, Scalar } from "yaml";

import { without, withRaw, written } from "./rule_edit";
import { keysAt, lengthAt, nodeAt, rangeOfNode, readRule, textsAt, type Path, type ReadRule } from "./rule_text";

// The tiers of a rule: groups of several sizes, each with limits of its own, judged together. A rule without `tiers:` is one. Pure.

/** Where keys and limits of each tier stand. */
export function tiersOf(rule: ReadRule): Path[] {
  return isTiered(rule) ? Array.from({ length: lengthAt(rule, ["tiers"]) }, (_, at) => ["tiers", at]) : [[]];
}

export function isTiered(rule: ReadRule): boolean {
  return keysAt(rule, []).includes("tiers");
}

/** A limit of the rule: where it stands, and its number among all limits of the rule, from 0. */
export interface LimitPlace {
  path: Path;
  at: number;
}

/** The limits of each tier. */
export function limitsOf(rule: ReadRule): LimitPlace[][] {
  let number = 0;
  return tiersOf(rule).map((tier) =>
    Array.from({ length: lengthAt(rule, [...tier, "limits"]) }, (_, at) => {
      number += 1;
      return { path: [...tier, "limits", at], at: number - 1 };
    }),
  );
}

/** Key parts of all tiers: what the rule's groups are. */
export function groupsOf(rule: ReadRule): (string[] | null)[] {
  return tiersOf(rule).map((tier) => textsAt(rule, [...tier, "key"]));
}

/** A value in one line; null: it has comments, or is written in a way that one line cannot say. */
function inOneLine(rule: ReadRule, path: Path): string | null {
  const node = nodeAt(rule, path);
  const [from, to] = rangeOfNode(node) ?? [0, 0];
  const [rest = ""] = rule.text.slice(to).split("\n", 1);
  return to === 0 || /(^|\s)#/.test(rule.text.slice(from, to) + rest) ? null : flowText(node);
}

/** Whether the value of `tiers` has a comment, also one before its first item. */
function hasComments(rule: ReadRule): boolean {
  const map = nodeAt(rule, []);
  const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === "tiers") : undefined;
  const [from, to] = [rangeOfNode(pair?.key)?.[1] ?? 0, rangeOfNode(pair?.value)?.[1] ?? 0];
  return /(^|\s)#/.test(rule.text.slice(from, to));
}

function flowText(node: unknown): string | null {
  if (isNode(node) && "anchor" in node && node.anchor !== undefined) {
    return null; // others may refer to it
  }
  if (isScalar(node)) {
    const { type, value } = node;
    return written(String(value ?? ""), true, type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE ? type : null);
  }
  if (isSeq(node)) {
    const items = node.items.map(flowText);
    return items.includes(null) ? null : `[${items.join(", ")}]`;
  }
  if (isMap(node)) {
    const pairs = node.items.map((pair) => [flowText(pair.key), flowText(pair.value)]);
    return pairs.flat().includes(null) ? null : `{${pairs.map(([key, value]) => `${key}: ${value}`).join(", ")}}`;
  }
  return null; // an alias
}

function after(rule: ReadRule, change: (now: ReadRule) => string): ReadRule | null {
  const read = readRule(change(rule));
  return typeof read === "string" ? null : read;
}

const COARSER_LIMIT = "{algorithm: token_bucket, rate: 3000/m, burst: 500}";

const ADDRESS_KEY = /^(?:prefix\((ip\.src|ip\.dst|client\.ip), *(\d+)\|\d+\)|(ip\.src|ip\.dst|client\.ip))$/;

/** A coarser key beside one: the network of an address, a larger network of a network; else one group for all. */
export function coarserKey(keys: readonly string[] | null): string {
  const found = keys?.length === 1 ? ADDRESS_KEY.exec(keys[0] ?? "") : null;
  const [, network, length, address] = found ?? [];
  const wider = address !== undefined || Number(length) > 24 ? "24|64" : Number(length) > 16 ? "16|48" : null;
  return wider === null ? "[]" : `['prefix(${network ?? address ?? ""}, ${wider})']`;
}

/** The text with one tier more; null: the rule's key or limits are written so that they cannot be moved. */
export function withTier(rule: ReadRule): string | null {
  const tiers = tiersOf(rule);
  const last = tiers[tiers.length - 1] ?? [];
  const more = `{key: ${coarserKey(textsAt(rule, [...last, "key"]))}, limits: [${COARSER_LIMIT}]}`;
  const moved = tiers.map((tier) => (isTiered(rule) ? inOneLine(rule, tier) : ownTier(rule)));
  if (moved.includes(null) || (isTiered(rule) && hasComments(rule))) {
    return null;
  }
  const raw = `[${[...moved, more].join(", ")}]`;
  if (isTiered(rule)) {
    return withRaw(rule, ["tiers"], raw);
  }
  const tiered = after(rule, (now) => withRaw(now, ["tiers"], raw));
  const keyless = tiered === null ? null : after(tiered, (now) => without(now, ["key"]));
  return keyless === null ? null : without(keyless, ["limits"]);
}

function ownTier(rule: ReadRule): string | null {
  const [key, limits] = [inOneLine(rule, ["key"]), inOneLine(rule, ["limits"])];
  return key === null || limits === null ? null : `{key: ${key}, limits: ${limits}}`;
}

/** The text with one tier less. The last one that is left becomes the rule's own key and limits, where it can be moved. */
export function withoutTier(rule: ReadRule, at: number): string {
  const left = after(rule, (now) => without(now, ["tiers", at]));
  if (left === null || lengthAt(left, ["tiers"]) !== 1 || keysAt(left, ["tiers", 0]).some((name) => name !== "key" && name !== "limits")) {
    return left?.text ?? rule.text;
  }
  const [key, limits] = [inOneLine(left, ["tiers", 0, "key"]), inOneLine(left, ["tiers", 0, "limits"])];
  if (key === null || limits === null || hasComments(left)) {
    return left.text;
  }
  const keyed = after(left, (now) => withRaw(now, ["key"], key));
  const limited = keyed === null ? null : after(keyed, (now) => withRaw(now, ["limits"], limits));
  return limited === null ? left.text : without(limited, ["tiers"]);
}
