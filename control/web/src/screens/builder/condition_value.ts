import { tokensOf } from "./condition";

// Values of conditions, from what people type and from what senders have written. Pure.
const TEXT_OPERATORS: readonly string[] = ["contains", "starts_with", "ends_with", "matches"];
const BARE = /^(?:-?\d+|0x[0-9a-f]+|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,}(?:\/\d+)?|\d+\.\d+\.\d+\.\d+(?:\/\d+)?)$/i;
const RANGE = /^\d+\.\.\d+$/;
const NAMED_LIST = /^\$[\w-]+$/;

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** One value, whatever the text is: a number or an address as it is, all else in quotes. */
function oneValue(text: string, operator: string): string {
  return BARE.test(text) && !TEXT_OPERATORS.includes(operator) ? text : quoted(text);
}

function isList(text: string): boolean {
  const tokens = tokensOf(text) ?? [];
  const inside = tokens.slice(1, -1);
  return tokens.length >= 2 && tokens[0]?.text === "{" && tokens[tokens.length - 1]?.text === "}" && inside.every((one) => one.kind !== "sign" || one.text === ",");
}

/** What is between the braces of a list, if all of it is values as conditions have them. */
function isInside(text: string): boolean {
  const tokens = tokensOf(text) ?? [];
  return tokens.length > 0 && tokens.every((one) => one.kind === "text" || one.text === "," || BARE.test(one.text) || RANGE.test(one.text) || NAMED_LIST.test(one.text));
}

/** A text in quotes, a list, or the name of one: a single value to sluiced too. */
function isWritten(text: string): boolean {
  const tokens = tokensOf(text) ?? [];
  return isList(text) || (tokens.length === 1 && (tokens[0]?.kind === "text" || NAMED_LIST.test(text)));
}

/** A value that a sender has written: never trusted to be in quotes already. */
export function offeredValue(text: string, operator: string): string {
  const value = oneValue(text, operator);
  return operator === "in" ? `{${value}}` : value;
}

/** A value as people type it, as conditions have it: texts in quotes, numbers and addresses without. */
export function writtenValue(typed: string, operator: string, offered: readonly string[] = []): string {
  const text = typed.trim();
  if (offered.includes(typed)) {
    return offeredValue(typed, operator);
  }
  if (operator === "in") {
    return isList(text) || NAMED_LIST.test(text) ? text : isInside(text) ? `{${text}}` : offeredValue(text, operator);
  }
  return isWritten(text) ? text : oneValue(text, operator);
}

/** Parts of keys as /v1/top has them, by field: those that a condition can have letter by letter, so none with an escape. */
export function seenValues(fields: readonly string[], keys: readonly string[]): Map<string, string[]> {
  const rows = keys.map((key) => (key.match(/(?:[^|\\]|\\.?)+|(?<=^|\|)(?=\||$)/g) ?? [])).filter((row) => row.length === fields.length);
  return new Map(fields.map((field, at) => [field, [...new Set(rows.map((row) => row[at] ?? "").filter((one) => one !== "" && !one.includes("\\")))]]));
}

/** Values of both, those of the first before the others; none that a condition cannot have letter by letter. */
export function joinedValues(first: ReadonlyMap<string, readonly string[]>, second: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const fields = [...new Set([...first.keys(), ...second.keys()])];
  return new Map(fields.map((field) => [field, [...new Set([...(first.get(field) ?? []), ...(second.get(field) ?? [])])].filter((one) => /^[^\p{C}\\]+$/u.test(one))]));
}
