import type { Route } from "../../frame/route";
import { CLUSTER_KINDS } from "../../text/cluster_words";

// Kinds of events, by the word that sluiced has for each.
export const KINDS: Readonly<Record<string, string>> = {
  limit_start: "over its limit from now on",
  limit_end: "within its limit again",
  refill: "bucket full again",
  ban: "bans, begun and over",
  debts_forgiven: "debts forgiven",
  lost: "events lost",
  bridged: "frames past the box",
  checksums_trusted: "checksums trusted",
  ...CLUSTER_KINDS,
};
export interface EventsQuery {
  rule: string;
  kind: string; // "": all
}

export function eventsQueryOf(route: Route): EventsQuery {
  const kind = route.words.get("kind") ?? "";
  return { rule: route.words.get("rule")?.slice(0, 256) ?? "", kind: Object.hasOwn(KINDS, kind) ? kind : "" };
}

/** `newest`: of all that are kept the last so many; 0: from `from` on, or from the oldest. */
export function eventsPath(query: EventsQuery, from: string | null, wait: number, newest: number): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries({ rule: query.rule, kind: query.kind, from: from ?? "" })) {
    if (value !== "") {
      words.set(name, value);
    }
  }
  if (wait > 0) {
    words.set("wait", String(wait));
  }
  if (newest > 0) {
    words.set("newest", String(newest));
  }
  return `/v1/events?${words.toString()}`;
}
