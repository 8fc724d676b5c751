import { inChunk } from "../frame/chunk";
import type { Screen } from "../frame/screen";
import { liveOverview } from "../frame/screen";
import { liveBuilder } from "./builder/live_builder";
import { Overview } from "./overview/overview";
import { liveRule } from "./rule/rule_place";
import { Rules } from "./rules/rules";
import { liveRules } from "./rules/rules_query";

/** In the order of the navigation; the first one is shown where a fragment names none. */
export const SCREENS: readonly Screen[] = [
  { name: "overview", title: "Overview", key: "o", isListed: true, isForTenants: true, live: liveOverview, View: Overview },
  { name: "rules", title: "Rules", key: "r", isListed: true, isForTenants: true, live: liveRules, View: Rules },
  { name: "rule", title: "Rule", key: null, isListed: false, isForTenants: true, live: liveRule, View: inChunk(() => import("./rule/rule").then((m) => m.Rule)) },
  { name: "builder", title: "Builder", key: "b", isListed: true, isForTenants: true, live: liveBuilder, View: inChunk(() => import("./builder/builder").then((m) => m.Builder)) },
  { name: "sets", title: "Rule sets", key: "s", isListed: true, isForTenants: false, live: liveOverview, View: inChunk(() => import("./sets/sets").then((m) => m.Sets)) },
  { name: "key", title: "Key", key: "k", isListed: true, isForTenants: false, live: liveOverview, View: inChunk(() => import("./key/key").then((m) => m.Key)) },
  { name: "events", title: "Events", key: "e", isListed: true, isForTenants: true, live: liveOverview, View: inChunk(() => import("./events/events").then((m) => m.Events)) },
  { name: "bans", title: "Bans", key: "n", isListed: true, isForTenants: true, live: liveOverview, View: inChunk(() => import("./bans/bans").then((m) => m.Bans)) },
  { name: "trace", title: "Trace", key: "t", isListed: true, isForTenants: false, live: liveOverview, View: inChunk(() => import("./trace/trace").then((m) => m.Trace)) },
  { name: "playground", title: "Playground", key: "y", isListed: true, isForTenants: true, live: liveOverview, View: inChunk(() => import("./playground/playground").then((m) => m.Playground)) },
  { name: "workers", title: "Workers", key: "w", isListed: true, isForTenants: false, live: liveOverview, View: inChunk(() => import("./workers/workers").then((m) => m.Workers)) },
  { name: "ports", title: "Ports", key: "p", isListed: true, isForTenants: false, live: liveOverview, View: inChunk(() => import("./ports/ports").then((m) => m.PortScreen)) },
  { name: "nodes", title: "Nodes", key: "d", isListed: true, isForTenants: false, live: liveOverview, View: inChunk(() => import("./nodes/nodes").then((m) => m.Nodes)) },
  { name: "find", title: "Find", key: null, isListed: false, isForTenants: false, live: liveOverview, View: inChunk(() => import("./find/find").then((m) => m.Find)) },
];
