import { isNumber } from "../../text/number";

// Workers as GET /v1/workers has them, and what they did between two answers.
export const STAGES = ["receive", "parse", "match", "key", "locate", "meter", "send", "other"] as const;
export type Stage = (typeof STAGES)[number];
const IDLE = "idle";

export interface Worker {
  lcore: number;
  stalled_ms?: number;
  stalls?: number;
  packets?: number;
  handed_over?: number;
  table_slots?: number;
  table_entries?: number;
  table_evictions?: number;
  table_full?: number;
  verdicts?: Record<string, number>;
  table?: Record<string, number>;
  ledger?: Record<string, number>;
  asks?: Record<string, unknown>;
  ask_events?: Record<string, number>;
  shaping?: { held_packets?: number; held_room?: number };
  cycles?: { of_turns?: number; turns?: number; packets?: number; per_second?: number; stages?: Record<string, number> };
  lanes?: unknown[];
}
export interface WorkersAnswer {
  workers: Worker[];
}

export function isWorkersAnswer(body: unknown): body is WorkersAnswer {
  const workers = (body as Partial<WorkersAnswer> | null)?.workers;
  return Array.isArray(workers) && workers.every((one) => typeof one === "object" && one !== null);
}

/** What a counter has grown by; null: nobody can say, or it began anew. */
export function grown(now: unknown, before: unknown): number | null {
  return isNumber(now) && isNumber(before) && now >= before ? now - before : null;
}

export function rateOf(now: unknown, before: unknown, seconds: number): number | null {
  const more = grown(now, before);
  return more === null || !(seconds > 0) ? null : more / seconds;
}

export interface Cycles {
  stages: Record<Stage, number | null>; // of a packet
  all: number | null; // of a packet, idle ones left out
  idle: number | null; // share of the time
  packets: number | null;
  nanoseconds: number | null; // of a packet
}

/** Cycles of a packet by stage since the answer before; since the start where there is none. */
export function cyclesOf(now: Worker, before: Worker | null): Cycles {
  const last = before !== null && grown(now.cycles?.turns, before.cycles?.turns) !== null ? before.cycles : undefined;
  const more = (name: string): number | null => grown(now.cycles?.stages?.[name], last === undefined ? 0 : last.stages?.[name]);
  const packets = grown(now.cycles?.packets, last === undefined ? 0 : last.packets);
  const each = (cycles: number | null): number | null => (cycles === null || packets === null || packets === 0 ? null : cycles / packets);
  const spent = STAGES.map((name) => more(name));
  const busy = spent.some((value) => value === null) ? null : spent.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const idle = more(IDLE);
  const perSecond = now.cycles?.per_second;
  const all = each(busy);
  return {
    stages: Object.fromEntries(STAGES.map((name, at) => [name, each(spent[at] ?? null)])) as Record<Stage, number | null>,
    all,
    idle: busy === null || idle === null || busy + idle === 0 ? null : idle / (busy + idle),
    packets,
    nanoseconds: all === null || !isNumber(perSecond) || perSecond === 0 ? null : (all / perSecond) * 1e9,
  };
}

/** What part of all packets each worker had; null: nobody can say. */
export function spreadOf(now: readonly Worker[], before: readonly Worker[] | null): (number | null)[] {
  const more = now.map((worker) => grown(worker.packets, before === null ? 0 : workerLike(worker, before)?.packets));
  const total = more.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  return more.map((value) => (value === null || total === 0 ? null : value / total));
}

export function workerLike(worker: Worker, among: readonly Worker[] | null): Worker | null {
  return among?.find(({ lcore }) => lcore === worker.lcore) ?? null;
}
