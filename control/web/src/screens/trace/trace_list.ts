import type { Packet, Packets } from "./trace_answers";

// The newest packets of a trace that this page has, bounded, the oldest first.
export const MOST_KEPT = 5000;
export const PAGE = 100;

export interface Seen {
  number: number; // of the trace's packets, from 1 on
  packet: Packet;
}
export interface TraceList {
  rows: readonly Seen[];
  shown: number; // packets that have come, those that had to go again among them
  leftOut: number; // that sluiced had no room for
  judges: boolean;
  hasRule: boolean;
}
export const NO_PACKETS: TraceList = { rows: [], shown: 0, leftOut: 0, judges: true, hasRule: true };

export function withPackets(list: TraceList, answer: Packets): TraceList {
  const fresh = answer.packets.map((packet, at) => ({ number: list.shown + at + 1, packet }));
  return {
    rows: [...list.rows, ...fresh].slice(-MOST_KEPT),
    shown: list.shown + fresh.length,
    leftOut: typeof answer.left_out === "number" ? answer.left_out : list.leftOut,
    judges: answer.judges !== false,
    hasRule: answer.has_rule !== false,
  };
}
