import { signal } from "@preact/signals";

import type { Route } from "../../frame/route";
import type { LiveQuery } from "../../transport/live_poll";

/** The id of the rule that this tab has on trial; empty: it has none. A new one is in no fragment. */
export const idOnTrial = signal("");

/** The row of the rule that is changed, for its rates before and after. */
export function liveBuilder(route: Route): LiveQuery {
  const named = route.words.get("rule") ?? "";
  const id = named === "" ? idOnTrial.value : named;
  return id === "" ? { view: "overview" } : { view: "rules", sort: "id", order: "asc", id: id.slice(0, 128), first: 0, most: 16 };
}
