import type { Route } from "../../frame/route";

export const PAGE = 50;
export const SOURCES: Readonly<Record<string, string>> = {
  operator: "operators",
  policy: "override files",
  penalty_box: "penalty boxes",
};
export interface BansQuery {
  rule: string;
  source: string; // "": all
  filter: string; // a part of the key or the reason
  sort: "place" | "end";
}

export function bansQueryOf(route: Route): BansQuery {
  const source = route.words.get("source") ?? "";
  return {
    rule: route.words.get("rule")?.slice(0, 256) ?? "",
    source: Object.hasOwn(SOURCES, source) ? source : "",
    filter: route.words.get("filter")?.slice(0, 128) ?? "",
    sort: route.words.get("sort") === "end" ? "end" : "place",
  };
}

export function bansPath(query: BansQuery, after: string): string {
  const words = new URLSearchParams({ most: String(PAGE) });
  for (const [name, value] of Object.entries({ rule: query.rule, source: query.source, filter: query.filter, after })) {
    if (value !== "") {
      words.set(name, value);
    }
  }
  if (query.sort === "end") {
    words.set("sort", "end");
  }
  return `/v1/bans?${words.toString()}`;
}

export interface Ban {
  rule: string;
  mode: string;
  inactive: unknown;
  key: string | null;
  tier: number;
  applies_to: string;
  source: string;
  left_s: number | null;
  until: string | null;
  reason: string;
  by?: string;
  digest?: string;
}
export interface BansAnswer {
  generation: string;
  bans: Ban[];
  boxes_read: boolean;
  next: string | null;
}

export function isBansAnswer(body: unknown): body is BansAnswer {
  const answer = body as Partial<BansAnswer> | null;
  return typeof answer === "object" && answer !== null && Array.isArray(answer.bans);
}
