import { signal } from "@preact/signals";

import { Follow, type Pauses } from "./follow";
import { UNKNOWN_ANSWER } from "./known_answer";
import { reasonOf, type Reply, type Send } from "./send";

// One question, asked again and again. Answers to a question that is not asked any more are thrown away; a hidden tab rests until
// it is seen.
export interface Answered<T> {
  key: string; // the question
  path: string;
  answer: T;
  arrived: number;
}
export interface Around extends Pauses {
  send: Send;
  token(): string | null;
  now(): number; // ms, never back
  onLocked(why: string): void;
}
const PACE = { longest: 10_000, hidden: 86_400_000 };
const LONGEST_MS = 30_000; // between two that failed, and whatever the other side asks for

export class AnswerPoll<T> {
  readonly shown = signal<Answered<T> | null>(null);
  readonly trouble = signal<string | null>(null); // null: the last call went well
  readonly asked = signal<string | null>(null); // the question
  private failures = 0;
  private follow: Follow | null = null;

  constructor(
    private readonly around: Around,
    private readonly read: (body: unknown) => T | null, // null: no answer of this page's version
    private readonly everyMs: (answer: T) => number | null, // null: once
  ) {}

  /** One question, whose path may be another at each call (`from` moves on). What was answered to the one before stays until this
      one is; null: nothing is asked, and nothing stays. */
  ask(key: string | null, path: () => string = () => key ?? ""): void {
    if (key === this.asked.peek()) {
      return;
    }
    this.asked.value = key;
    this.follow?.end();
    this.failures = 0;
    this.trouble.value = null;
    if (key === null) {
      this.shown.value = null;
    }
    this.follow = key === null ? null : new Follow((call) => this.turn(path(), key, call), this.around, PACE).begin();
  }

  /** The tab has come to the front, or an answer is wanted now. */
  wake(): void {
    this.follow?.wake();
  }

  private async turn(path: string, key: string, call: AbortSignal): Promise<number | null> {
    const reply = await this.around.send(path, { token: this.around.token(), signal: call });
    return key === this.asked.peek() ? this.settle(reply, { key, path }) : null;
  }

  private settle(reply: Reply, question: { key: string; path: string }): number | null {
    const answer = reply.status === 200 ? this.read(reply.body) : null;
    if (answer !== null) {
      this.failures = 0;
      this.trouble.value = null;
      this.shown.value = { ...question, answer, arrived: this.around.now() };
      return this.everyMs(answer);
    }
    if (reply.status === 401) {
      this.around.onLocked("The session is over.");
      return LONGEST_MS;
    }
    this.failures += 1;
    this.trouble.value = reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply);
    return Math.min(LONGEST_MS, Math.max((reply.againIn ?? 0) * 1000, 1000 * 2 ** Math.min(this.failures, 5)));
  }
}
