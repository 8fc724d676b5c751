// What may be written where the cursor stands: keys of a rule file at the begin of a line, fields in conditions and keys. Pure.
export interface Offer {
  label: string;
  says: string;
  kind: "field" | "key" | "value";
}
export interface Offers {
  from: number; // in the text
  offers: Offer[];
}
export interface Words {
  fields: Offer[];
  keys: Offer[];
  values: ReadonlyMap<string, readonly string[]>; // of keys that take one of few words
}
export const NO_WORDS: Words = { fields: [], keys: [], values: new Map() };
const FIELD_KEYS = new Set(["when", "key"]);

type Members = Record<string, unknown>;
function isMap(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** GET /v1/fields. */
export function fieldsOf(answer: unknown): Offer[] {
  const list = isMap(answer) ? answer["fields"] : answer;
  return (Array.isArray(list) ? list : [])
    .filter(isMap)
    .filter((one) => typeof one["name"] === "string")
    .map((one) => ({ label: String(one["name"]), says: typeof one["says"] === "string" ? one["says"] : String(one["kind"] ?? ""), kind: "field" }));
}

function enumOf(schema: Members): string[] {
  const list = Array.isArray(schema["enum"]) ? schema["enum"] : [];
  return list.filter((one): one is string => typeof one === "string");
}

/** GET /v1/schema: all keys that a rule file has anywhere, and words of those that take few. */
export function keysOf(schema: unknown): { keys: Offer[]; values: Map<string, string[]> } {
  const values = new Map<string, Set<string>>();
  const walk = (at: unknown, depth: number): void => {
    if (depth > 24) {
      return;
    }
    if (Array.isArray(at)) {
      at.forEach((one) => walk(one, depth + 1));
    } else if (isMap(at)) {
      for (const [name, value] of Object.entries(at)) {
        if (name === "properties" && isMap(value)) {
          for (const [key, inner] of Object.entries(value)) {
            const known = values.get(key) ?? new Set<string>();
            const variants = isMap(inner) && Array.isArray(inner["anyOf"]) ? inner["anyOf"] : [inner];
            variants.filter(isMap).forEach((one) => enumOf(one).forEach((word) => known.add(word)));
            values.set(key, known);
          }
        }
        walk(value, depth + 1);
      }
    }
  };
  walk(schema, 0);
  const keys = [...values.keys()].sort().map((label): Offer => ({ label, says: "", kind: "key" }));
  return { keys, values: new Map([...values].filter(([, words]) => words.size > 0).map(([key, words]) => [key, [...words]])) };
}

/** The key whose value the cursor is in, by indentation: that of this line, or of the nearest line further out. */
function keyAround(before: string): string {
  const lines = before.split("\n");
  const last = lines[lines.length - 1] ?? "";
  const own = /^\s*(?:-\s+)?(?:\{\s*)?([\w-]+):\s/.exec(`${last} `)?.[1];
  if (own !== undefined) {
    return /(?:^|[{,\s])([\w-]+):\s[^:{},]*$/.exec(last)?.[1] ?? own;
  }
  const depth = last.search(/\S|$/);
  for (let at = lines.length - 2; at >= 0; at -= 1) {
    const line = lines[at] ?? "";
    const found = /^(\s*)(?:-\s+)?([\w-]+):/.exec(line);
    if (found !== null && (found[1] ?? "").length < depth + (last.trim() === "" ? 0 : 1)) {
      return found[2] ?? "";
    }
  }
  return "";
}

export function offersAt(text: string, at: number, words: Words): Offers | null {
  const before = text.slice(0, at);
  const word = /[\w.]*$/.exec(before)?.[0] ?? "";
  const from = at - word.length;
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (line.includes("#")) {
    return null;
  }
  if (/^\s*(?:-\s+)?[\w]*$/.test(line) || /[{,]\s*\w*$/.test(line)) {
    const isList = keyAround(before.slice(0, from)) === "key";
    return { from, offers: isList ? words.fields : words.keys.map((one) => ({ ...one, label: one.label })) };
  }
  const key = keyAround(before);
  if (FIELD_KEYS.has(key)) {
    return { from, offers: words.fields };
  }
  const few = words.values.get(key);
  return few === undefined ? null : { from, offers: few.map((label) => ({ label, says: "", kind: "value" })) };
}
