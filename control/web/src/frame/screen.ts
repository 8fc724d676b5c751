import type { FunctionComponent } from "preact";

import type { LiveQuery } from "../transport/live_poll";
import type { Route } from "./route";

/** One screen: a row of `screens/screens.ts`. */
export interface Screen {
  name: string; // in the fragment
  title: string;
  key: string | null; // behind `g`; null: no key of its own
  isListed: boolean; // in the navigation; false: it is about something that another screen links to
  isForTenants: boolean; // false: for operators alone
  live: (route: Route) => LiveQuery; // what the page asks each second while it is open
  View: FunctionComponent;
}

/** Those that a tenant's people have; `isTenant` false: all, for operators. */
export function screensFor(screens: readonly Screen[], isTenant: boolean): readonly Screen[] {
  return isTenant ? screens.filter((one) => one.isForTenants) : screens;
}

/** Screens that show no rows of the live answer. */
export const liveOverview = (): LiveQuery => ({ view: "overview" });

export function screenOf(screens: readonly Screen[], route: Route): Screen {
  const found = screens.find((screen) => screen.name === route.screen) ?? screens[0];
  if (found === undefined) {
    throw new Error("a page without screens");
  }
  return found;
}
