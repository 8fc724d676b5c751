import type { Route } from "../../frame/route";

// Limits as the form has them: the parameters of rules, by their names there.
export interface Parameter {
  name: string;
  title: string;
  usual: string; // what a new limit begins with; empty: left out
  words?: readonly string[]; // it is one of these
  variant?: string; // only there with this `variant`
}
export interface Algorithm {
  name: string;
  title: string;
  parameters: readonly Parameter[];
}
export interface Limit {
  algorithm: string;
  values: ReadonlyMap<string, string>;
}

const PER: Parameter = { name: "per", title: "counts", usual: "", words: ["packet", "byte", "connection", "request", "query", "handshake"] };
const COUNT: Parameter = { name: "count", title: "count", usual: "10" };
const WINDOW: Parameter = { name: "window", title: "window", usual: "1s" };
const COLOR: Parameter = { name: "color", title: "color", usual: "", words: ["blind", "aware"] };

export const ALGORITHMS: readonly Algorithm[] = [
  { name: "token_bucket", title: "Token bucket", parameters: [{ name: "rate", title: "rate", usual: "10/s" }, { name: "burst", title: "burst", usual: "10" }, PER] },
  { name: "leaky_bucket", title: "Leaky bucket", parameters: [{ name: "rate", title: "rate", usual: "10/s" }, { name: "queue", title: "queue", usual: "10" }, PER] },
  {
    name: "fixed_window",
    title: "Fixed window",
    parameters: [
      COUNT,
      WINDOW,
      { name: "phase", title: "phase", usual: "", words: ["clock", "first", "per_key"] },
      { name: "utc_offset", title: "offset from UTC", usual: "" },
      { name: "zone", title: "time zone (windows of days)", usual: "" },
      PER,
    ],
  },
  { name: "sliding_window", title: "Sliding window", parameters: [COUNT, WINDOW, PER] },
  {
    name: "sliding_counters",
    title: "Sliding counters",
    parameters: [COUNT, WINDOW, { name: "buckets", title: "buckets", usual: "" }, { name: "edge", title: "edge", usual: "", words: ["strict", "lenient"] }, PER],
  },
  { name: "sliding_log", title: "Sliding log", parameters: [COUNT, WINDOW, PER] },
  {
    name: "srtcm",
    title: "Single rate, three colours",
    parameters: [{ name: "cir", title: "cir", usual: "10/s" }, { name: "cbs", title: "cbs", usual: "5" }, { name: "ebs", title: "ebs", usual: "5" }, COLOR, PER],
  },
  {
    name: "trtcm",
    title: "Two rates, three colours",
    parameters: [
      { name: "variant", title: "variant", usual: "rfc2698", words: ["rfc2698", "rfc4115"] },
      { name: "cir", title: "cir", usual: "5/s" },
      { name: "cbs", title: "cbs", usual: "5" },
      { name: "pir", title: "pir", usual: "10/s", variant: "rfc2698" },
      { name: "pbs", title: "pbs", usual: "10", variant: "rfc2698" },
      { name: "eir", title: "eir", usual: "5/s", variant: "rfc4115" },
      { name: "ebs", title: "ebs", usual: "5", variant: "rfc4115" },
      COLOR,
      PER,
    ],
  },
];
export const MOST_LIMITS = 4;
const MOST_VALUE = 64; // letters

export function algorithmOf(name: string): Algorithm {
  const found = ALGORITHMS.find((one) => one.name === name) ?? ALGORITHMS[0];
  if (found === undefined) {
    throw new Error("there is no algorithm");
  }
  return found;
}

export function newLimit(name: string): Limit {
  const { parameters } = algorithmOf(name);
  return { algorithm: algorithmOf(name).name, values: new Map(parameters.filter((one) => one.usual !== "").map((one) => [one.name, one.usual])) };
}

/** The parameters that this limit may have, those of its variant alone. */
export function parametersOf(limit: Limit): readonly Parameter[] {
  const variant = limit.values.get("variant");
  return algorithmOf(limit.algorithm).parameters.filter((one) => one.variant === undefined || one.variant === variant);
}

export function withValue(limit: Limit, name: string, value: string): Limit {
  const values = new Map(limit.values);
  values.set(name, value.slice(0, MOST_VALUE));
  return { algorithm: limit.algorithm, values };
}

/** Another algorithm, with the values that both have. */
export function withAlgorithm(limit: Limit, name: string): Limit {
  const next = newLimit(name);
  const kept = parametersOf(next).map((one) => [one.name, limit.values.get(one.name) || next.values.get(one.name) || ""] as const);
  return { algorithm: next.algorithm, values: new Map(kept) };
}

function yamlValue(value: string): string {
  return /^[A-Za-z0-9_.\/-]+$/.test(value) ? value : JSON.stringify(value);
}

/** The limit on one line, as an item of `limits` has it. */
export function limitYaml(limit: Limit): string {
  const pairs = parametersOf(limit)
    .map((one) => [one.name, (limit.values.get(one.name) ?? "").trim()] as const)
    .filter(([, value]) => value !== "");
  return `{${[["algorithm", limit.algorithm] as const, ...pairs].map(([name, value]) => `${name}: ${yamlValue(value)}`).join(", ")}}`;
}

/** All of them as text: limit n stands on line n. */
export function limitsText(limits: readonly Limit[]): string {
  return limits.map((limit) => `- ${limitYaml(limit)}\n`).join("");
}

// In the fragment: l1=token_bucket;rate=10/s;burst=5
function limitWord(limit: Limit): string {
  const pairs = parametersOf(limit).map((one) => [one.name, (limit.values.get(one.name) ?? "").replace(/;/g, "").trim()] as const);
  return [limit.algorithm, ...pairs.filter(([, value]) => value !== "").map(([name, value]) => `${name}=${value}`)].join(";");
}

function limitOfWord(word: string): Limit | null {
  const [name = "", ...pairs] = word.split(";");
  const algorithm = ALGORITHMS.find((one) => one.name === name);
  if (algorithm === undefined) {
    return null;
  }
  const given = new Map(pairs.map((pair) => [pair.split("=", 1)[0] ?? "", pair.slice(pair.indexOf("=") + 1)] as const));
  const known = algorithm.parameters.filter((one) => given.has(one.name));
  return { algorithm: name, values: new Map(known.map((one) => [one.name, (given.get(one.name) ?? "").slice(0, MOST_VALUE)])) };
}

const NAMES = ["l1", "l2", "l3", "l4"] as const;

export function limitWords(limits: readonly Limit[]): Record<string, string> {
  return Object.fromEntries(limits.slice(0, MOST_LIMITS).map((limit, at) => [NAMES[at] ?? "", limitWord(limit)]));
}

export function limitsOf(route: Route): Limit[] {
  return NAMES.map((name) => limitOfWord(route.words.get(name) ?? "")).filter((limit): limit is Limit => limit !== null);
}
