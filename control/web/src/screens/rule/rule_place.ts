import type { Place, Route } from "../../frame/route";
import { spanText } from "../../text/time";
import type { LiveQuery } from "../../transport/live_poll";

// The place of a rule's screen in the fragment: which rule, which of its limits, how much time.
// The usual one has as many of the finest columns as there may be at once, up to 30 minutes of them: sluiced says how long that is.
export const USUAL = "usual";
export const RANGES: Readonly<Record<string, number>> = { [USUAL]: 1800, "10m": 600, "30m": 1800, "2h": 7200, "12h": 43_200 };
export const RANGE_WORDS: Readonly<Record<string, string>> = { [USUAL]: "finest columns", "10m": "10 minutes", "30m": "30 minutes", "2h": "2 hours", "12h": "12 hours" };
const LONG_S = 7200; // from here on columns are those that are kept for long
const MOST_COLUMNS = 720; // of one answer of sluiced
const UNDER_WAY_MS = 3000; // the newest column may still be counted

export interface RulePlace {
  rule: string;
  limit: number;
  range: string;
  to: string | null; // null: now
}

export function rulePlaceOf(route: Route): RulePlace {
  const limit = Number(route.words.get("limit") ?? "0");
  const range = route.words.get("range") ?? "";
  const to = route.words.get("to") ?? "";
  return {
    rule: route.subject,
    limit: Number.isSafeInteger(limit) && limit >= 0 && limit < 64 ? limit : 0,
    range: Object.prototype.hasOwnProperty.call(RANGES, range) ? range : USUAL,
    to: Number.isNaN(Date.parse(to)) ? null : to,
  };
}

export function placeOf({ rule, limit, range, to }: RulePlace): Place {
  return { screen: "rule", subject: rule, words: { limit: limit > 0 ? limit : null, range: range === USUAL ? null : range, to } };
}

export function pathOfRule(rule: string, rest: string): string {
  return `/v1/rules/${encodeURIComponent(rule)}/${rest}`;
}

/** The usual range, by what came of it. */
export function usualWords(from: number, to: number): string {
  return `finest columns: ${spanText((to - from) / 1000)}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

/** The call for both maps; `now` is the box's, ms. Without words it is sluiced that says what is usual. */
export function heatPath(place: RulePlace, now: number): string {
  const words = new URLSearchParams({ limit: String(place.limit) });
  const seconds = RANGES[place.range] ?? 1800;
  const hasEnds = place.to !== null || place.range !== USUAL;
  if (hasEnds) {
    const to = Math.min(place.to === null ? now : Date.parse(place.to), now - UNDER_WAY_MS);
    words.set("from", iso(to - seconds * 1000));
    words.set("to", iso(to));
  }
  if (seconds > LONG_S) {
    words.set("step", "60");
  } else if (hasEnds && seconds > MOST_COLUMNS) {
    words.set("step", "10"); // its own may be 1 s
  }
  return pathOfRule(place.rule, `heatmap?${words.toString()}`);
}

/** The same range so many times earlier, or later; null as `to`: it ends now. */
export function shifted(place: RulePlace, end: number, times: number, now: number): RulePlace {
  const to = end + times * (RANGES[place.range] ?? 1800) * 1000;
  return { ...place, range: place.range === USUAL ? "30m" : place.range, to: to >= now ? null : iso(to) };
}

/** The rule and its candidates, whose ids begin with its own. */
export function liveRule(route: Route): LiveQuery {
  return { view: "rules", sort: "id", order: "asc", id: route.subject.slice(0, 128), most: 256 };
}
