import { signal } from "@preact/signals";

import { ask } from "../../parts/ask";
import { pause, ticks } from "../../page";
import { Follow } from "../../transport/follow";
import { reasonOf } from "../../transport/send";
import { UNKNOWN_ANSWER } from "../../transport/known_answer";
import { faultsOf, isBegun, isPackets, type Begun, type Fault } from "./trace_answers";
import { NO_PACKETS, withPackets, type TraceList } from "./trace_list";

// One trace of this page. It ends with the screen, with the tab, and when nobody has read it for ten seconds.
export interface Asked {
  when: string;
  rule: string;
  which: "all" | "dropped" | "would_refuse";
  snap: number;
}
export type State = "none" | "beginning" | "runs" | "ended";

const PATIENCE_MS = 30_000; // a condition is compiled
const WAIT_S = 2;
const PACE = { longest: 8000, hidden: 4000 }; // unread for ten seconds it would end

export const state = signal<State>("none");
export const why = signal<string | null>(null); // it was refused, or has ended
export const faults = signal<Fault[]>([]);
export const asked = signal<Asked | null>(null); // of the packets shown
export const begun = signal<Begun | null>(null);
export const packets = signal<TraceList>(NO_PACKETS);
export const arrived = signal<number | null>(null);
let following: Follow | null = null;

function bodyOf({ when, rule, which, snap }: Asked): Record<string, unknown> {
  return {
    ...(when.trim() === "" ? {} : { when }),
    ...(rule.trim() === "" ? {} : { rule: rule.trim() }),
    dropped: which !== "all" && which === "dropped",
    ...(which === "would_refuse" ? { would_refuse: true } : {}),
    snap,
  };
}

function finish(reason: string | null): void {
  following?.end();
  following = null;
  state.value = "ended";
  why.value = reason;
}

async function turn(name: string, aborts: AbortSignal): Promise<number | null> {
  const reply = await ask(`/v1/traces/${encodeURIComponent(name)}?wait=${WAIT_S}`, { signal: aborts });
  if (begun.peek()?.trace !== name || state.peek() !== "runs") {
    return null;
  }
  if (reply.status === 200 && isPackets(reply.body)) {
    packets.value = withPackets(packets.peek(), reply.body);
    arrived.value = performance.now();
    ticks.value = Math.max(ticks.peek(), arrived.value);
    why.value = null;
    return reply.body.packets.length > 0 ? 500 : 0;
  }
  if (reply.status === 410 || reply.status === 404 || reply.status === 403 || reply.status === 401) {
    finish(reasonOf(reply));
    return null;
  }
  why.value = reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply);
  return 1000;
}

export async function beginTrace(wanted: Asked): Promise<void> {
  await endTrace();
  [state.value, why.value, faults.value] = ["beginning", null, []];
  const reply = await ask("/v1/traces", { method: "POST", body: bodyOf(wanted), signal: AbortSignal.timeout(PATIENCE_MS) });
  if (reply.status !== 201 || !isBegun(reply.body)) {
    state.value = "none";
    why.value = reply.status === 201 ? UNKNOWN_ANSWER : reasonOf(reply);
    faults.value = faultsOf((reply.body as { problems?: unknown } | null)?.problems);
    return;
  }
  const { trace } = reply.body;
  if (state.peek() !== "beginning") {
    void ask(`/v1/traces/${encodeURIComponent(trace)}`, { method: "DELETE" }); // the screen has gone meanwhile
    return;
  }
  [begun.value, asked.value, packets.value, arrived.value, state.value] = [reply.body, wanted, NO_PACKETS, performance.now(), "runs"];
  faults.value = faultsOf(reply.body.warnings);
  following = new Follow((aborts) => turn(trace, aborts), { pause, isHidden: () => document.hidden }, PACE).begin();
}

/** The last packets come with the end. */
export async function endTrace(): Promise<void> {
  const name = begun.peek()?.trace;
  const ran = state.peek() === "runs";
  if (state.peek() !== "none") {
    finish(null);
  }
  if (!ran || name === undefined) {
    return;
  }
  const reply = await ask(`/v1/traces/${encodeURIComponent(name)}`, { method: "DELETE" });
  if (reply.status === 200 && isPackets(reply.body) && begun.peek()?.trace === name) {
    packets.value = withPackets(packets.peek(), reply.body);
  }
}

// A tab that goes sends what it still can; without it the trace ends ten seconds later.
addEventListener("pagehide", () => {
  const name = begun.peek()?.trace;
  if (state.peek() === "runs" && name !== undefined) {
    void ask(`/v1/traces/${encodeURIComponent(name)}`, { method: "DELETE", keepalive: true });
    finish("the page was left");
  }
});
