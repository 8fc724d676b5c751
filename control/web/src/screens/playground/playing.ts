import { signal } from "@preact/signals";

import { ask } from "../../parts/ask";
import { fragmentOf, type Place, type Route } from "../../frame/route";
import { go } from "../../page";
import { UNKNOWN_ANSWER } from "../../transport/known_answer";
import { reasonOf, type Reply } from "../../transport/send";
import { isSimulation, type Simulation } from "./answer";
import { limitsOf, limitsText, limitWords, newLimit, type Limit } from "./limits";
import { Newest } from "./newest";
import { newRun, runBody, runOf, runWords, withHit, type Run } from "./run";

// What this screen has: limits, a load, and what sluiced said of them last.
export const limits = signal<readonly Limit[]>([newLimit("token_bucket"), newLimit("fixed_window"), newLimit("sliding_log")]);
export const run = signal<Run>(newRun("edge"));
export const answer = signal<Simulation | null>(null);
export const trouble = signal<string | null>(null);
export const isPending = signal(false);

interface Question {
  limits: string;
  run: Record<string, string | string[]>;
}

function show(reply: Reply): void {
  isPending.value = false;
  if (reply.status === 200 && isSimulation(reply.body)) {
    answer.value = reply.body;
    trouble.value = null;
  } else {
    trouble.value = reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply);
    answer.value = null; // no runs beside a question that is not theirs
  }
}

const newest = new Newest<Question, Reply>(
  (question) => ask("/v1/simulate", { method: "POST", body: question }),
  show,
  (ms) => new Promise((done) => setTimeout(done, ms)),
);

export function askAnew(): void {
  isPending.value = true;
  newest.ask({ limits: limitsText(limits.peek()), run: runBody(run.peek()) });
}

/** Everything but hits stands in the fragment: a link brings it back. */
function placeNow(): Place {
  return { screen: "playground", words: { ...limitWords(limits.peek()), ...runWords(run.peek()) } };
}

function changed(): void {
  go(placeNow(), true);
  askAnew();
}

export function setLimits(next: readonly Limit[]): void {
  limits.value = next;
  changed();
}

export function setRun(next: Run): void {
  run.value = next;
  changed();
}

export function setBoth(nextLimits: readonly Limit[], nextRun: Run): void {
  limits.value = nextLimits;
  run.value = nextRun;
  changed();
}

let firstHit = 0; // ms of the page's clock
export function hit(now: number): void {
  if (run.peek().hits.length === 0) {
    firstHit = now;
  }
  run.value = withHit(run.peek(), now - firstHit);
  askAnew();
}

export function forgetHits(): void {
  run.value = { ...run.peek(), hits: [] };
  askAnew();
}

/** What the fragment says now, where it says anything but what is shown: never what it said before something was typed. */
export function takeFrom(route: Route): void {
  if (fragmentOf({ screen: "playground", words: Object.fromEntries(route.words) }) === fragmentOf(placeNow())) {
    return;
  }
  const given = limitsOf(route);
  const load = runOf(route);
  if (given.length > 0) {
    limits.value = given;
  }
  if (load !== null) {
    run.value = load.load === run.peek().load ? { ...load, hits: run.peek().hits } : load;
  }
}

export function leave(): void {
  newest.forget();
  isPending.value = false;
}
