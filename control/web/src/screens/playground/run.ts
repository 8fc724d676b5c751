import type { Route } from "../../frame/route";

// The load and the course of a run, in the words of `sluicectl simulate`.
export interface Field {
  name: string;
  title: string;
  usual: string;
}
export interface LoadKind {
  name: string;
  title: string;
  fields: readonly Field[];
}
export interface Run {
  load: string;
  words: ReadonlyMap<string, string>; // by the names of the fields
  hits: readonly number[]; // ms since the first one
}

const OFFER: Field = { name: "offer", title: "arrivals", usual: "20/s" };
const DURATION: Field = { name: "duration", title: "for", usual: "5s" };
const COST: Field = { name: "cost", title: "each asks for", usual: "1" };
const STALLS: Field = { name: "stalls", title: "stalls (START:LENGTH, …)", usual: "" };
const START: Field = { name: "start", title: "UTC at 0 s", usual: "" };

export const LOADS: readonly LoadKind[] = [
  { name: "hits", title: "Hit by hand", fields: [COST] },
  { name: "constant", title: "Constant", fields: [OFFER, DURATION, COST, STALLS, START] },
  { name: "poisson", title: "Poisson", fields: [OFFER, { name: "seed", title: "seed", usual: "1" }, DURATION, COST, STALLS] },
  { name: "bursts", title: "Bursts", fields: [{ name: "size", title: "arrivals in each", usual: "15" }, { name: "every", title: "every", usual: "1s" }, DURATION, COST, STALLS] },
  { name: "on-off", title: "On and off", fields: [OFFER, { name: "on", title: "on for", usual: "1s" }, { name: "off", title: "off for", usual: "1s" }, DURATION, COST, STALLS] },
  {
    name: "edge",
    title: "Two bursts around an edge",
    fields: [
      { name: "size", title: "arrivals in each", usual: "10" },
      { name: "edge_at", title: "edge at", usual: "1s" },
      { name: "apart", title: "apart", usual: "20ms" },
      { name: "duration", title: "for", usual: "3s" },
      COST,
    ],
  },
  {
    name: "backlog",
    title: "Backlog",
    fields: [
      { name: "backlog", title: "units waiting at 0 s", usual: "10000" },
      { name: "ask_every", title: "asked for every", usual: "1ms" },
      { ...STALLS, usual: "4s:1s, 6s:1s" },
      COST,
    ],
  },
];
const MOST_WORD = 200; // letters
export const MOST_HITS = 4000; // in 64 KiB of a body
const LEAST_SHOWN_MS = 10_000; // of a run by hand

export function loadOf(name: string): LoadKind {
  const found = LOADS.find((one) => one.name === name) ?? LOADS[0];
  if (found === undefined) {
    throw new Error("there is no load");
  }
  return found;
}

export function newRun(name: string, kept: ReadonlyMap<string, string> = new Map(), hits: readonly number[] = []): Run {
  const kind = loadOf(name);
  return { load: kind.name, words: new Map(kind.fields.map((one) => [one.name, kept.get(one.name) ?? one.usual])), hits };
}

export function withWord(run: Run, name: string, value: string): Run {
  const words = new Map(run.words);
  words.set(name, value.slice(0, MOST_WORD));
  return { ...run, words };
}

function listOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((one) => one !== "");
}

/** `run` of the body of POST /v1/simulate. A field that is empty is left out. */
export function runBody(run: Run): Record<string, string | string[]> {
  const body: Record<string, string | string[]> = { load: run.load };
  for (const field of loadOf(run.load).fields) {
    const value = (run.words.get(field.name) ?? "").trim();
    if (field.name === "stalls") {
      body["stalls"] = listOf(value);
    } else if (value !== "") {
      body[field.name] = value;
    }
  }
  if (run.load === "hits") {
    body["hits"] = run.hits.map((ms) => `${Math.round(ms)}ms`);
    body["duration"] = `${Math.ceil((Math.max(LEAST_SHOWN_MS, (run.hits[run.hits.length - 1] ?? 0) + 1000)) / 1000)}s`;
  }
  return body;
}

/** Another hit, so long after the first one; no more than there may be. */
export function withHit(run: Run, ms: number): Run {
  if (run.hits.length >= MOST_HITS) {
    return run;
  }
  const last = run.hits[run.hits.length - 1] ?? 0;
  return { ...run, hits: [...run.hits, Math.max(last, ms)] };
}

export function runWords(run: Run): Record<string, string> {
  const changed = loadOf(run.load).fields.filter((one) => (run.words.get(one.name) ?? "") !== one.usual);
  return { load: run.load, ...Object.fromEntries(changed.map((one) => [one.name, run.words.get(one.name) || "-"])) };
}

export function runOf(route: Route): Run | null {
  const load = route.words.get("load");
  const kind = LOADS.find((one) => one.name === load);
  if (kind === undefined) {
    return null;
  }
  const given = kind.fields.filter((one) => route.words.has(one.name));
  const kept = given.map((one) => [one.name, (route.words.get(one.name) ?? "").slice(0, MOST_WORD).replace(/^-$/, "")] as const);
  return newRun(kind.name, new Map(kept));
}
