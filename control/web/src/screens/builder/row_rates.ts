import { listOf, membersOf, numberOf, textOf } from "../../parts/members";
import { reasonOf, type Reply } from "../../transport/send";
import type { Node } from "./condition";

// How much of what passes matches each row of a condition: by a trace of the row beside one of everything, whose packets are
// counted whether they are shown or not. Workers run the condition, so that texts count as far as rules in force read them.
export interface RowRate {
  share: number | null; // of packets, of 1; null: nobody can say
  why: string | null; // nobody can say
}
export interface RowRates {
  rates: ReadonlyMap<string, RowRate>; // by row, as it is written
  packets: number; // that were counted, of all
}
export interface TraceCalls {
  ask(path: string, call: { method?: "POST" | "DELETE"; body?: unknown }): Promise<Reply>;
  pause(ms: number): Promise<void>;
}
const AT_ONCE = 3; // rows beside the trace of everything: a box has room for four traces
const MOST_ROWS = 12;
const WATCHED_MS = 2000;
const READ_EVERY_MS = 400; // before the rings of the workers are full
const UNREAD = "no rule in force reads it";

/** The rows of a condition, each once, as they are written. */
export function rowsIn(text: string, node: Node | null): string[] {
  const found = node === null || node.kind === "text" ? [] : node.kind === "row" ? [text.slice(node.from, node.to)] : node.parts.flatMap((part) => rowsIn(text, part));
  return [...new Set(found)].slice(0, MOST_ROWS);
}

interface Counted {
  row: string | null; // null: everything
  name: string;
  packets: number;
  leftOut: number;
  why: string | null;
}

function firstWhy(reply: Reply): string {
  const [first] = listOf(membersOf(reply.body)["problems"]).map(membersOf);
  return textOf(first?.["message"]) ?? reasonOf(reply);
}

async function begun(calls: TraceCalls, row: string | null): Promise<Counted> {
  const reply = await calls.ask("/v1/traces", { method: "POST", body: { ...(row === null ? {} : { when: row }), snap: 0 } });
  const body = membersOf(reply.body);
  const name = textOf(body["trace"]) ?? "";
  const isUnread = listOf(body["unread_fields"]).length > 0;
  return { row, name: reply.status === 201 ? name : "", packets: 0, leftOut: 0, why: reply.status !== 201 ? firstWhy(reply) : isUnread ? UNREAD : null };
}

async function read(calls: TraceCalls, one: Counted, method?: "DELETE"): Promise<void> {
  if (one.name === "") {
    return;
  }
  const reply = await calls.ask(`/v1/traces/${encodeURIComponent(one.name)}`, method === undefined ? {} : { method });
  const body = membersOf(reply.body);
  if (reply.status === 200) {
    one.packets += listOf(body["packets"]).length;
    one.leftOut = numberOf(body["left_out"]) ?? one.leftOut;
  } else {
    one.why ??= reasonOf(reply);
  }
}

async function counted(calls: TraceCalls, rows: readonly string[]): Promise<Counted[]> {
  const all: Counted[] = [];
  try {
    for (const row of [null, ...rows]) {
      all.push(await begun(calls, row));
    }
    for (let ms = 0; ms < WATCHED_MS; ms += READ_EVERY_MS) {
      await calls.pause(READ_EVERY_MS);
      await Promise.all(all.map((one) => read(calls, one)));
    }
  } finally {
    await Promise.all(all.map((one) => read(calls, one, "DELETE")));
  }
  return all;
}

/** -> the rates, or why there are none */
export async function measured(calls: TraceCalls, rows: readonly string[]): Promise<RowRates | string> {
  const rates = new Map<string, RowRate>();
  let packets = 0;
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const [everything, ...each] = await counted(calls, rows.slice(at, at + AT_ONCE));
    if (everything === undefined || everything.why !== null) {
      return everything?.why ?? "nothing was counted";
    }
    const all = everything.packets + everything.leftOut;
    packets += all;
    for (const one of each) {
      const why = one.why ?? (all === 0 ? "no packet passed" : null);
      rates.set(one.row ?? "", { share: why === null ? Math.min(1, (one.packets + one.leftOut) / all) : null, why });
    }
  }
  return { rates, packets };
}
