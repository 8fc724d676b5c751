import type { Place, Route } from "../../frame/route";
import type { LiveQuery } from "../../transport/live_poll";

export const COLUMNS = [
  "id",
  "mode",
  "matched_pps",
  "matched_bps",
  "refused_pps",
  "would_refuse_pps",
  "live_keys",
  "limited_now",
  "table_share",
  "placement",
] as const;
export type Column = (typeof COLUMNS)[number];
export const PAGE = 64; // rules
export const MOST_FILTER = 128; // bytes

/** How the table of rules is sorted, filtered and turned. */
export interface RulesQuery {
  sort: Column;
  order: "asc" | "desc";
  filter: string;
  first: number;
}

function oneOf<T extends string>(known: readonly T[], word: string | undefined, otherwise: T): T {
  return known.find((one) => one === word) ?? otherwise;
}

/** As much of a text as sluiced takes. */
function fittingFilter(text: string): string {
  const letters = Array.from(text);
  while (new TextEncoder().encode(letters.join("")).length > MOST_FILTER) {
    letters.pop();
  }
  return letters.join("");
}

export function rulesQueryOf(route: Route): RulesQuery {
  const first = Number(route.words.get("first") ?? "0");
  return {
    sort: oneOf(COLUMNS, route.words.get("sort"), "matched_pps"),
    order: oneOf(["asc", "desc"] as const, route.words.get("order"), "desc"),
    filter: fittingFilter(route.words.get("filter")?.slice(0, MOST_FILTER) ?? ""),
    first: Number.isSafeInteger(first) && first > 0 ? first : 0,
  };
}

export function rulesPlace(query: RulesQuery): Place {
  return { screen: "rules", words: { ...query, first: query.first > 0 ? query.first : null } };
}

export function liveRules(route: Route): LiveQuery {
  const { sort, order, filter, first } = rulesQueryOf(route);
  return { view: "rules", sort, order, filter, first, most: PAGE };
}
