import { listOf, membersOf } from "../../parts/members";

// How much groups of a rule did lately, from the columns of its heat map: the measure beside a new limit. Pure.
export interface Lately {
  step: number; // seconds of a column
  edges: number[]; // bucket k holds from edges[k] up to edges[k + 1]
  groups: number[]; // by bucket, over all columns
}

type Pairs = [number, number][];

function pairsOf(list: unknown): Pairs {
  return listOf(list).filter((one): one is [number, number] => Array.isArray(one) && one.length === 2 && one.every((value) => typeof value === "number" && value >= 0));
}

function summed(rows: Pairs[], buckets: number): number[] {
  const groups = new Array<number>(buckets).fill(0);
  for (const [bucket, count] of rows.flat()) {
    if (Number.isInteger(bucket) && bucket < buckets) {
      groups[bucket] = (groups[bucket] ?? 0) + count;
    }
  }
  return groups;
}

function edgesOf(list: unknown): number[] {
  return listOf(list).filter((one): one is number => typeof one === "number");
}

export function latelyOfMap(answer: unknown, most = 60): Lately | null {
  const body = membersOf(answer);
  const columns = listOf(body["columns"]).map(membersOf).filter((column) => Array.isArray(column["offered"]));
  const edges = edgesOf(body["offered_edges"]);
  const step = Number(body["step_s"]);
  if (columns.length === 0 || edges.length < 2 || !(step > 0)) {
    return null;
  }
  const groups = summed(columns.slice(-most).map((column) => pairsOf(column["offered"])), edges.length);
  return groups.some((count) => count > 0) ? { step, edges, groups } : null;
}

/** Why a map tells nothing of what groups did lately. */
export function whyNoLately(answer: unknown): string {
  const map = membersOf(answer)["map"];
  return map === "on" || map === "looked_at"
    ? "Its map has nothing yet: a column is told of when it is over, and shows groups once some come."
    : "There is no map of what its groups did lately: it begins while somebody looks at the rule, or with heatmap: on.";
}

function bounds(lately: Lately, bucket: number): [number, number] {
  const low = lately.edges[bucket] ?? 0;
  return [low, Math.max(low, lately.edges[bucket + 1] ?? low * Math.SQRT2)];
}

/** The share of groups (and columns) that asked for more than `allowed` in a column: about, within one bucket. */
export function refusedShare(lately: Lately, allowed: number): number {
  let all = 0;
  let over = 0;
  lately.groups.forEach((count, bucket) => {
    const [low, high] = bounds(lately, bucket);
    all += count;
    over += count * (allowed < low ? 1 : allowed >= high || high === low ? 0 : (high - allowed) / (high - low));
  });
  return all === 0 ? 0 : over / all;
}

/** What a group in place `share` of all asked for in a column, as the upper edge of its bucket. */
export function quantile(lately: Lately, share: number): number {
  const all = lately.groups.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of lately.groups.entries()) {
    seen += count;
    if (count > 0 && seen >= share * all) {
      return bucket === 0 ? 0 : bounds(lately, bucket)[1];
    }
  }
  return 0;
}
