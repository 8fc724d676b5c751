import { known } from "../../text/known";
import { isNumber } from "../../text/number";

// The cluster as GET /v1/cluster/nodes has it. Whatever a box says of itself has come by etcd: any of its members may be anything.
export interface NodeRow {
  slot?: unknown;
  node?: unknown;
  host?: unknown;
  version?: unknown;
  generation?: unknown;
  set?: unknown;
  runs?: unknown;
  verdict?: { good?: unknown; why?: unknown } | null;
  problem?: unknown;
  store?: { state?: unknown; rtt_us?: unknown; clock_offset_us?: unknown; unsynced?: unknown } | null;
}
export interface SetOfAll {
  generation?: unknown;
  set?: unknown;
  by?: unknown;
  at?: unknown;
}
export interface Rollout extends SetOfAll {
  id?: unknown;
  staged?: unknown;
  everywhere?: unknown;
  nodes?: unknown;
  trial_s?: unknown;
}
export interface Fleet {
  age_s: number | null;
  problem: unknown;
  head: SetOfAll | null;
  rollout: Rollout | null;
  drained: unknown[];
  away: unknown[];
  nodes: NodeRow[];
}
export interface StoreLink {
  state?: unknown;
  why?: unknown;
  down?: unknown;
  [number: string]: unknown;
}
export interface NodesAnswer {
  name: unknown;
  node: unknown;
  size: unknown;
  has_store: unknown;
  store: StoreLink | null;
  fleet: Fleet | null;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFleet(value: unknown): boolean {
  return isMap(value) && Array.isArray(value["drained"]) && Array.isArray(value["away"]) && Array.isArray(value["nodes"]) && value["nodes"].every(isMap) &&
    ["head", "rollout"].every((name) => value[name] === null || isMap(value[name]));
}

/** Of a box that is in no cluster. */
export interface NoCluster {
  cluster: null;
}

export function isNoCluster(body: unknown): body is NoCluster {
  return isMap(body) && body["cluster"] === null;
}

export function isNodesAnswer(body: unknown): body is NodesAnswer {
  return isMap(body) && "has_store" in body && (body["store"] === null || isMap(body["store"])) && (body["fleet"] === null || isFleet(body["fleet"]));
}

const RUNS: Readonly<Record<string, string>> = {
  "in force": "the cluster's",
  trial: "on trial",
  differs: "others than the cluster's",
  detached: "its own (detached)",
  none: "none of the cluster's",
  PANIC: "none: it forwards everything (panic)",
  "no dataplane": "none: no dataplane",
};

/** What a box runs, in words. */
export function runsText(row: NodeRow): string {
  return known(RUNS, row.runs) ?? String(row.runs ?? "");
}

const AMISS: readonly unknown[] = ["differs", "detached", "PANIC", "no dataplane"];

export function isAmiss(row: NodeRow): boolean {
  return AMISS.includes(row.runs) || (typeof row.problem === "string" && row.problem !== "");
}

/** How far a rollout is at this box. */
export function waveText(row: NodeRow, rollout: Rollout): string {
  if (rollout.everywhere === true || (Array.isArray(rollout.nodes) && rollout.nodes.includes(row.node))) {
    return isNumber(row.generation) && row.generation === rollout.generation ? "runs it" : "is to run it";
  }
  if (!isMap(row.verdict)) {
    return "has not looked at it";
  }
  return row.verdict["good"] === true ? "has staged it" : "cannot run it";
}

export function courseText(rollout: Rollout): string {
  if (rollout.staged !== true) {
    return "being staged by all boxes";
  }
  return rollout.everywhere === true ? "on trial on all boxes" : "on trial on some boxes";
}

export function slotsText(fleet: Fleet, size: unknown): string {
  return `${fleet.nodes.length} of ${isNumber(size) ? size : "?"} slots are held`;
}

/** A number of the record, which may be anything. */
export function numberIn(value: unknown): number | null {
  return isNumber(value) ? value : null;
}
