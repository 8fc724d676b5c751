import { known } from "../text/known";
import { figure, share, whole } from "../text/number";
import type { Reading } from "./heat_answer";

// What a reading of the maps is called, and its numbers in words: those by which it went.
const KINDS: Readonly<Record<string, string>> = {
  typical: "Typical", false_positives: "False positives", too_loose: "Too loose", bots: "Bots", unclear: "Unclear",
};

type Row = readonly [label: string, text: (value: number) => string];
const times = (value: number): string => `${figure(value)} ×`;
const NUMBERS: Readonly<Record<string, Row>> = {
  columns: ["columns read", whole],
  seconds: ["seconds", whole],
  watched: ["groups watched", whole],
  groups: ["groups, about", whole],
  z: ["with nothing left", share],
  median_q_refused: ["half of those asked for less than, of what is admitted", times],
  p99_q: ["99 in 100 groups for at most", times],
  p999_q: ["999 in 1,000 for at most", times],
  most_offered: ["most of one group in a column, up to", whole],
  octave_share: ["units from the fullest octave", share],
  octave_from: ["which begins at", whole],
  octave_variation: ["and varies by", share],
};

export function readingKind(reading: Reading): string | null {
  return known(KINDS, reading.kind) ?? null;
}

/** The sentence without its kind, which stands before it. */
export function readingSays(reading: Reading): string {
  const kind = readingKind(reading);
  const before = kind === null ? "" : `${kind.toLowerCase()}: `;
  const says = before !== "" && reading.says.startsWith(before) ? reading.says.slice(before.length) : reading.says;
  return says.slice(0, 1).toUpperCase() + says.slice(1);
}

export interface ReadingNumber {
  label: string;
  text: string | null; // null: it is none
  raw: unknown;
}

/** The numbers in words; where there is no data they say nothing. */
export function readingNumbers(reading: Reading): ReadingNumber[] {
  if (reading.kind === "none") {
    return [];
  }
  return reading.numbers.map(([name, raw]) => {
    const row = known(NUMBERS, name);
    return { label: row?.[0] ?? name, text: typeof raw === "number" ? (row?.[1] ?? figure)(raw) : null, raw };
  });
}
