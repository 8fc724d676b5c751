import { signal } from "@preact/signals";

import type { LiveAnswer } from "./answers";
import { isLiveAnswer, UNKNOWN_ANSWER } from "./known_answer";
import { reasonOf, type Reply, type Send } from "./send";

// A long poll: the next snapshot is asked for when one has come. One call is under way at a time; what a call of a former
// question, or an older snapshot, brings is thrown away.
export interface LiveQuery {
  view: "overview" | "rules";
  sort?: string;
  order?: "asc" | "desc";
  filter?: string;
  id?: string; // that rule and its candidates alone
  first?: number;
  most?: number;
}
export interface Shown {
  answer: LiveAnswer;
  query: LiveQuery;
  arrived: number; // of this snapshot, on the clock of `now`
  arrivedAt: number; // the same by the time of day
}
export interface Surroundings {
  send: Send;
  token(): string | null;
  now(): number; // ms, never back
  timeOfDay?(): number; // ms since 1970; the machine's, where nobody says another
  pause(ms: number): { over: Promise<void>; cut(): void };
  isHidden(): boolean;
  onLocked(why: string): void;
}

const WAIT_S = 3;
const HIDDEN_MS = 15_000;
const LEAST_MS = 250; // between two calls, whatever is answered
const LONGEST_MS = 5_000; // between two that failed
const LONGEST_ASKED_MS = 30_000; // whatever the other side asks for

export function pathOf(query: LiveQuery, after: number | null): string {
  const words = new URLSearchParams();
  if (after !== null) {
    words.set("after", String(after));
    words.set("wait", String(WAIT_S));
  }
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") {
      words.set(name, String(value));
    }
  }
  return `/v1/live?${words.toString()}`;
}

export class LivePoll {
  readonly shown = signal<Shown | null>(null);
  readonly trouble = signal<string | null>(null); // null: the last call went well
  readonly restarts = signal(0); // how often another sluiced has answered
  readonly outdated = signal(false); // the page is of another version than sluiced
  private query: LiveQuery = { view: "overview" };
  private round = 0;
  private failures = 0;
  private call: AbortController | null = null;
  private resting: { cut(): void } | null = null;

  constructor(private readonly around: Surroundings) {}

  ask(query: LiveQuery): void {
    this.query = query;
    this.start();
  }

  start(): void {
    this.stop();
    void this.run(this.round);
  }

  stop(): void {
    this.round += 1;
    this.call?.abort();
    this.resting?.cut();
  }

  /** The tab has come to the front, or gone. */
  wake(): void {
    if (!this.around.isHidden()) {
      this.resting?.cut();
    }
  }

  private async run(round: number): Promise<void> {
    while (round === this.round) {
      const began = this.around.now();
      const rest = await this.turn(round);
      if (round !== this.round) {
        return;
      }
      const hidden = this.around.isHidden() ? HIDDEN_MS : 0;
      await this.rest(Math.max(rest, hidden, LEAST_MS - (this.around.now() - began)));
    }
  }

  private async rest(ms: number): Promise<void> {
    if (ms > 0) {
      const pause = this.around.pause(ms);
      this.resting = pause;
      await pause.over;
      this.resting = null;
    }
  }

  /** One call; -> ms until the next. */
  private async turn(round: number): Promise<number> {
    const query = this.query;
    const last = this.shown.peek(); // nobody who asks depends on the answers
    const after = last !== null && last.query === query && this.failures === 0 ? last.answer.snapshot : null;
    const call = new AbortController();
    this.call = call;
    const limit = this.around.pause((WAIT_S + 5) * 1000);
    void limit.over.then(() => call.abort());
    const reply = await this.around.send(pathOf(query, after), { token: this.around.token(), signal: call.signal });
    limit.cut();
    if (round !== this.round) {
      return 0;
    }
    return this.settle(reply, query);
  }

  private settle(reply: Reply, query: LiveQuery): number {
    if (reply.status === 200 && isLiveAnswer(reply.body)) {
      this.failures = 0;
      this.trouble.value = null;
      this.take(reply.body, query);
      return 0;
    }
    if (reply.status === 401) {
      this.stop();
      this.around.onLocked("The session is over.");
      return 0;
    }
    this.failures += 1;
    this.trouble.value = reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply);
    const longer = Math.min(this.failures * 1000, LONGEST_MS);
    return reply.againIn !== null ? Math.min(Math.max(reply.againIn * 1000, longer), LONGEST_ASKED_MS) : longer;
  }

  private take(answer: LiveAnswer, query: LiveQuery): void {
    const last = this.shown.peek();
    const sameRun = last !== null && last.answer.run === answer.run;
    if (sameRun && answer.snapshot < last.answer.snapshot) {
      return;
    }
    if (last !== null && last.answer.web !== answer.web) {
      this.outdated.value = true;
    } else if (last !== null && !sameRun) {
      this.restarts.value += 1;
    }
    const isNew = !sameRun || answer.snapshot > last.answer.snapshot;
    const [arrived, arrivedAt] = isNew ? [this.around.now(), this.around.timeOfDay?.() ?? Date.now()] : [last.arrived, last.arrivedAt];
    this.shown.value = { answer, query, arrived, arrivedAt };
  }
}
