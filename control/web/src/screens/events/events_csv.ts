import type { BoxEvent } from "../../transport/answers";
import { csvLine } from "../../text/csv";

const COLUMNS = ["seq", "time", "event", "edge", "rule", "limit", "key", "wait_s", "for_s", "lcore", "lost", "pair", "packets", "service", "side", "debts", "node", "why", "count", "generation", "offset_s"] as const;

export const EVENTS_HEAD = csvLine(COLUMNS);

export function eventLine(event: BoxEvent): string {
  return csvLine(COLUMNS.map((name) => event[name]));
}
