import { isAlias, isMap, isScalar, isSeq, parseDocument, type Pair, type Scalar, type YAMLMap } from "yaml";

// One rule as text, and the values in it. Pure.
export type Path = readonly (string | number)[];
export interface ReadRule {
  map: YAMLMap;
  text: string;
}

/** The rule in a text: a map, or a list of one; or why it cannot be read. */
export function readRule(text: string): ReadRule | string {
  const document = parseDocument(text, { keepSourceTokens: true, uniqueKeys: false, schema: "failsafe", logLevel: "silent" });
  const [error] = document.errors;
  if (error !== undefined) {
    return `this is no YAML yet: ${error.message.split("\n")[0] ?? ""}`;
  }
  const root = document.contents;
  const rule = isSeq(root) && root.items.length === 1 ? root.items[0] : root;
  if (!isMap(rule) || rule.range === undefined) {
    return "a rule is a map, or a list of one";
  }
  return { map: rule, text };
}

type Ranged = { range?: [number, number, number] | null };

export function rangeOfNode(node: unknown): [number, number] | null {
  const range = (node as Ranged | null)?.range;
  return range === undefined || range === null ? null : [range[0], range[1]];
}

export function pairOf(map: YAMLMap, key: string): Pair | null {
  return map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key) ?? null;
}

/** The node at a path; null: there is none. */
export function nodeAt(rule: ReadRule, path: Path): unknown {
  let at: unknown = rule.map;
  for (const step of path) {
    if (isMap(at) && typeof step === "string") {
      at = pairOf(at, step)?.value ?? null;
    } else if (isSeq(at) && typeof step === "number") {
      at = at.items[step] ?? null;
    } else {
      return null;
    }
  }
  return at;
}

/** A value that is one text; null: there is none, or it is a list or a map, or an alias. */
export function textAt(rule: ReadRule, path: Path): string | null {
  const node = nodeAt(rule, path);
  return isScalar(node) && !isAlias(node) && !(node.value === "" && isEmpty(node)) ? String(node.value ?? "") : null;
}

export function isEmpty(node: Scalar): boolean {
  const range = rangeOfNode(node);
  return range === null || range[0] === range[1];
}

/** Texts of a list; null: it is none, or has other things than texts in it. */
export function textsAt(rule: ReadRule, path: Path): string[] | null {
  const node = nodeAt(rule, path);
  if (!isSeq(node) || !node.items.every((item) => isScalar(item))) {
    return null;
  }
  return node.items.map((item) => String((item as Scalar).value ?? ""));
}

export function keysAt(rule: ReadRule, path: Path): string[] {
  const node = nodeAt(rule, path);
  return isMap(node) ? node.items.map((pair) => (isScalar(pair.key) ? String(pair.key.value) : "?")) : [];
}

export function lengthAt(rule: ReadRule, path: Path): number {
  const node = nodeAt(rule, path);
  return isSeq(node) ? node.items.length : 0;
}

export function isMapAt(rule: ReadRule, path: Path): boolean {
  return isMap(nodeAt(rule, path));
}
