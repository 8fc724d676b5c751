import { isNumber } from "../text/number";

// GET /v1/rules/ID/heatmap, as far as it is well-formed: what is not becomes nothing, never a cell. null: nobody can say.
export type By = "offered" | "left";
export interface HeatColumn {
  at: string;
  oneIn: number; // one group of so many is watched
  groups: number;
  error: number | null; // a standard deviation of `groups`, of 1
  leftOut: number;
  offered: Map<number, number>; // bucket: groups, scaled
  left: Map<number, number>;
}
export interface HeatLimit {
  index: number;
  text: string;
  unit: string;
  most: number | null; // units, in `windowS`
  windowS: number | null;
  tier: number | null;
}
export interface Reading {
  kind: string;
  says: string;
  numbers: [string, unknown][];
}
export interface HeatAnswer {
  rule: string;
  generation: string;
  map: string; // on, looked_at, off
  limits: HeatLimit[];
  limit: number;
  stepS: number;
  from: string;
  to: string;
  steps: number[];
  offeredEdges: number[];
  leftEdges: number[];
  limitBucket: number | null;
  columns: (HeatColumn | null)[];
  reading: Reading | null;
  whyEmpty: string | null;
  whyUnwatched: string | null; // of a rule that could be: others look at as many as may be
}
const MOST_COLUMNS = 720;
const MOST_EDGES = 128;
const MOST_LIMITS = 64;

type Members = Record<string, unknown>;

function membersOf(value: unknown): Members | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : null;
}

function listOf(value: unknown, most: number): unknown[] {
  return Array.isArray(value) ? value.slice(0, most) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number | null {
  return isNumber(value) ? value : null;
}

function cellsOf(value: unknown, buckets: number): Map<number, number> {
  const cells = new Map<number, number>();
  for (const pair of listOf(value, buckets)) {
    const [bucket, groups] = listOf(pair, 2);
    if (isNumber(bucket) && Number.isInteger(bucket) && bucket >= 0 && bucket < buckets && isNumber(groups) && groups > 0) {
      cells.set(bucket, groups);
    }
  }
  return cells;
}

function columnOf(value: unknown, edges: { offered: number; left: number }): HeatColumn | null {
  const row = membersOf(value);
  if (row === null || Number.isNaN(Date.parse(textOf(row["at"])))) {
    return null;
  }
  return {
    at: textOf(row["at"]),
    oneIn: Math.max(1, numberOf(row["one_in"]) ?? 1),
    groups: Math.max(0, numberOf(row["groups"]) ?? 0),
    error: numberOf(row["error"]),
    leftOut: Math.max(0, numberOf(row["left_out"]) ?? 0),
    offered: cellsOf(row["offered"], edges.offered),
    left: cellsOf(row["left"], edges.left),
  };
}

function limitOf(value: unknown, at: number): HeatLimit {
  const row = membersOf(value) ?? {};
  return {
    index: numberOf(row["index"]) ?? at,
    text: textOf(row["text"]),
    unit: textOf(row["unit"]),
    most: numberOf(row["most"]),
    windowS: numberOf(row["window_s"]),
    tier: numberOf(row["tier"]),
  };
}

function readingOf(value: unknown): Reading | null {
  const row = membersOf(value);
  return row === null || textOf(row["says"]) === ""
    ? null
    : { kind: textOf(row["kind"]), says: textOf(row["says"]), numbers: Object.entries(membersOf(row["numbers"]) ?? {}).slice(0, 16) };
}

function edgesOf(value: unknown): number[] {
  return listOf(value, MOST_EDGES).filter(isNumber);
}

/** null: no answer of this page's version. */
export function heatAnswerOf(body: unknown): HeatAnswer | null {
  const answer = membersOf(body);
  const step = numberOf(answer?.["step_s"]);
  if (answer === null || step === null || step <= 0 || typeof answer["rule"] !== "string" || !Array.isArray(answer["columns"])) {
    return null;
  }
  const offeredEdges = edgesOf(answer["offered_edges"]);
  const leftEdges = edgesOf(answer["left_edges"]);
  const edges = { offered: offeredEdges.length, left: leftEdges.length };
  const [from, to] = [textOf(answer["from"]), textOf(answer["to"])];
  if (edges.offered === 0 || edges.left === 0 || !(Date.parse(from) <= Date.parse(to))) {
    return null;
  }
  return {
    rule: answer["rule"],
    generation: textOf(answer["generation"]),
    map: textOf(answer["map"]),
    limits: listOf(answer["limits"], MOST_LIMITS).map(limitOf),
    limit: numberOf(answer["limit"]) ?? 0,
    stepS: step,
    from,
    to,
    steps: listOf(answer["steps"], 8).filter(isNumber),
    offeredEdges,
    leftEdges,
    limitBucket: numberOf(answer["limit_bucket"]),
    columns: listOf(answer["columns"], MOST_COLUMNS).map((column) => columnOf(column, edges)),
    reading: readingOf(answer["reading"]),
    whyEmpty: typeof answer["why_empty"] === "string" ? answer["why_empty"] : null,
    whyUnwatched: typeof answer["why_unwatched"] === "string" ? answer["why_unwatched"] : null,
  };
}
