import { heatAnswerOf, type HeatAnswer } from "../../heat/heat_answer";
import { listOf, membersOf, numberOf, textOf } from "../../parts/members";

// What a draft made of packets: of those of a preview, or of a capture. What is not well-formed of it becomes nothing. Pure.
export interface JudgedGroup {
  key: string;
  offered: number | null; // in the unit
  refused: number | null;
}
export interface JudgedRule {
  id: string;
  mode: string;
  matched: number | null;
  refused: number | null;
  wouldRefuse: number | null;
}
export interface Judged {
  says: string;
  unit: string;
  matched: number | null;
  refused: number | null;
  share: number | null; // refused, of 1
  groups: number | null;
  refusedGroups: number | null;
  oneIn: number; // one group of so many was judged
  error: number | null;
  isExact: boolean;
  packets: number | null; // that were judged
  names: JudgedGroup[];
  limits: { text: string; refused: number | null; unit: string }[];
  maps: HeatAnswer[];
  rawMaps: unknown[]; // as they came
  unknown: string[]; // what cannot be known, in sentences
  rules: JudgedRule[]; // of a capture: the whole set
  values: ReadonlyMap<string, readonly string[]>; // by field, that packets had
}
const MOST_NAMES = 20;
const MOST_RULES = 1000;
const MOST_VALUES = 64;

function groupsOf(list: unknown): JudgedGroup[] {
  return listOf(list)
    .slice(0, MOST_NAMES)
    .map(membersOf)
    .flatMap((row) => {
      const key = textOf(row["key"]);
      return key === null ? [] : [{ key, offered: numberOf(row["offered"]), refused: numberOf(row["refused"]) }];
    });
}

function rulesOf(list: unknown): JudgedRule[] {
  return listOf(list)
    .slice(0, MOST_RULES)
    .map(membersOf)
    .map((row) => ({
      id: textOf(row["id"]) ?? "?",
      mode: textOf(row["mode"]) ?? "?",
      matched: numberOf(row["matched"]),
      refused: numberOf(row["refused"]),
      wouldRefuse: numberOf(row["would_refuse"]),
    }));
}

/** `{field, values}` of a capture, `{field, value}` of a preview. */
export function valuesOf(list: unknown): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const row of listOf(list).map(membersOf)) {
    const field = textOf(row["field"]);
    const values = [...listOf(row["values"]), row["value"]].map(textOf).filter((one) => one !== null && one !== "") as string[];
    if (field !== null && values.length > 0) {
      found.set(field, [...new Set([...(found.get(field) ?? []), ...values])].slice(0, MOST_VALUES));
    }
  }
  return found;
}

/** null: no result of this page's version. */
export function judgedOf(body: unknown): Judged | null {
  const row = membersOf(body);
  const says = textOf(row["says"]);
  if (says === null) {
    return null;
  }
  const maps = listOf(row["heatmaps"]).map((map) => heatAnswerOf(map));
  return {
    says,
    unit: textOf(row["unit"]) ?? "packets",
    matched: numberOf(row["matched"]),
    refused: numberOf(row["refused"]),
    share: numberOf(row["refused_share"]),
    groups: numberOf(row["groups"]),
    refusedGroups: numberOf(row["refused_groups"]),
    oneIn: Math.max(1, numberOf(row["one_in"]) ?? 1),
    error: numberOf(row["error"]),
    isExact: row["is_exact"] === true,
    packets: numberOf(row["judged_packets"]),
    names: groupsOf(row["names"]),
    limits: listOf(row["limits"]).map(membersOf).map((limit) => ({ text: textOf(limit["text"]) ?? "", refused: numberOf(limit["refused"]), unit: textOf(limit["unit"]) ?? "" })),
    maps: maps.filter((map) => map !== null),
    rawMaps: listOf(row["heatmaps"]),
    unknown: listOf(row["unknown"]).map((one) => textOf(membersOf(one)["text"]) ?? textOf(one)).filter((text) => text !== null),
    rules: rulesOf(row["rules"]),
    values: valuesOf(row["values"]),
  };
}

/** Where a preview is. null: no answer of this page's version. */
export interface Progress {
  state: "watching" | "judging" | "done";
  seconds: number;
  done: number; // seconds
  matched: number | null;
  unit: string;
  result: Judged | null;
}

export function progressOf(body: unknown): Progress | null {
  const row = membersOf(body);
  const state = (["watching", "judging", "done"] as const).find((one) => one === row["state"]);
  const result = judgedOf(row["result"]);
  if (state === undefined || (state === "done" && result === null)) {
    return null;
  }
  return {
    state,
    seconds: numberOf(row["seconds"]) ?? 0,
    done: numberOf(row["seconds_done"]) ?? 0,
    matched: numberOf(row["matched"]),
    unit: textOf(row["unit"]) ?? "packets",
    result,
  };
}

/** Bytes that so many groups take: about, and in the table of one worker. null: nobody can say. */
export function memoryOf(groups: number | null, bytesPerKey: number | null): number | null {
  return groups === null || bytesPerKey === null ? null : groups * bytesPerKey;
}
