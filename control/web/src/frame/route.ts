import type { LiveQuery } from "../transport/live_poll";

// The screen, and how its rows are asked for; all of it in the fragment, so that a link or a reload brings it back.
export const SCREENS = ["overview", "rules"] as const;
export type Screen = (typeof SCREENS)[number];
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
export interface Route {
  screen: Screen;
  sort: Column;
  order: "asc" | "desc";
  filter: string;
  first: number;
}
export const PAGE = 64;
export const MOST_FILTER = 128; // bytes

function oneOf<T extends string>(known: readonly T[], word: string | null, otherwise: T): T {
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

export function routeOf(fragment: string): Route {
  const [path = "", words = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  const asked = new URLSearchParams(words);
  const first = Number(asked.get("first") ?? "0");
  return {
    screen: oneOf(SCREENS, path, "overview"),
    sort: oneOf(COLUMNS, asked.get("sort"), "matched_pps"),
    order: oneOf(["asc", "desc"] as const, asked.get("order"), "desc"),
    filter: fittingFilter(asked.get("filter")?.slice(0, MOST_FILTER) ?? ""),
    first: Number.isSafeInteger(first) && first > 0 ? first : 0,
  };
}

export function fragmentOf(route: Route): string {
  if (route.screen === "overview") {
    return "#/overview";
  }
  const words = new URLSearchParams({ sort: route.sort, order: route.order });
  if (route.filter !== "") {
    words.set("filter", route.filter);
  }
  if (route.first > 0) {
    words.set("first", String(route.first));
  }
  return `#/${route.screen}?${words.toString()}`;
}

export function queryOf(route: Route): LiveQuery {
  if (route.screen === "overview") {
    return { view: "overview" };
  }
  const { sort, order, filter, first } = route;
  return { view: "rules", sort, order, filter, first, most: PAGE };
}
