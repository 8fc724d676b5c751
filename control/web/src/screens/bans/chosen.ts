import type { Ban } from "./bans_query";

// Bans that were chosen to be lifted, over pages; sluiced takes the keys of one rule and tier in a call.
export const MOST_CHOSEN = 10_000;
export type Chosen = ReadonlyMap<string, Ban>;

export function idOf(ban: Ban): string {
  return JSON.stringify([ban.rule, ban.tier, ban.source, ban.key]);
}

/** Why a ban cannot be lifted by its key; null: it can. */
export function whyNot(ban: Ban): string | null {
  if (ban.source === "policy") {
    return "a file bans it: its line there ends that";
  }
  return ban.key === null ? "nobody has told its key yet" : null;
}

export function toggled(chosen: Chosen, bans: readonly Ban[], on: boolean): Chosen {
  const next = new Map(chosen);
  for (const ban of bans) {
    if (!on) {
      next.delete(idOf(ban));
    } else if (whyNot(ban) === null && next.size < MOST_CHOSEN) {
      next.set(idOf(ban), ban);
    }
  }
  return next;
}

export interface LiftCall {
  rule: string;
  tier: number;
  keys: string[];
}

export function liftCalls(chosen: Chosen): LiftCall[] {
  const calls = new Map<string, LiftCall>();
  for (const { rule, tier, key } of chosen.values()) {
    const name = JSON.stringify([rule, tier]);
    const call = calls.get(name) ?? { rule, tier, keys: [] };
    if (key !== null && !call.keys.includes(key)) {
      call.keys.push(key);
    }
    calls.set(name, call);
  }
  return [...calls.values()];
}

/** Keys of a text, one a line, as they stand; empty lines and those that begin with # are none. */
export function keysIn(text: string): string[] {
  return text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
