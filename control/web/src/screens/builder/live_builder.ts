import type { Route } from "../../frame/route";
import type { LiveQuery } from "../../transport/live_poll";

/** The row of the rule that is changed, for its rates before and after. */
export function liveBuilder(route: Route): LiveQuery {
  const id = route.words.get("rule") ?? "";
  return id === "" ? { view: "overview" } : { view: "rules", sort: "id", order: "asc", filter: id.slice(0, 64), first: 0, most: 16 };
}
