import { signal } from "@preact/signals";

import { UNKNOWN_ANSWER } from "./known_answer";
import type { Surroundings } from "./live_poll";
import { reasonOf, type Reply } from "./send";

// One question, asked again and again. Answers of a path that is not asked for any more, or that came behind a newer call, are
// thrown away; a hidden tab asks nothing.
export interface Answered<T> {
  path: string;
  answer: T;
  arrived: number;
}
const LOOK_AGAIN_MS = 1000; // while the tab is hidden
const LONGEST_MS = 30_000; // between two that failed, and whatever the other side asks for
const CALL_MS = 10_000;

export class AnswerPoll<T> {
  readonly shown = signal<Answered<T> | null>(null);
  readonly trouble = signal<string | null>(null); // null: the last call went well
  private key: string | null = null;
  private path: () => string = () => "";
  private round = 0;
  private failures = 0;
  private call: AbortController | null = null;
  private resting: { cut(): void } | null = null;

  constructor(
    private readonly around: Surroundings,
    private readonly read: (body: unknown) => T | null, // null: no answer of this page's version
    private readonly everyMs: (answer: T | null) => number, // Infinity: once
  ) {}

  /** One question, whose path may be another at each call (`from` moves on); null: nothing is asked. */
  ask(key: string | null, path: () => string = () => key ?? ""): void {
    this.path = path;
    if (key !== this.key) {
      this.key = key;
      this.shown.value = null; // of another question
      this.begin();
    }
  }

  /** At once, though it was asked not long ago. */
  again(): void {
    this.begin();
  }

  private begin(): void {
    this.round += 1;
    this.call?.abort();
    this.resting?.cut();
    this.failures = 0;
    this.trouble.value = null;
    void this.run(this.round);
  }

  private async run(round: number): Promise<void> {
    while (round === this.round && this.key !== null) {
      if (this.around.isHidden()) {
        await this.rest(LOOK_AGAIN_MS);
        continue;
      }
      const rest = await this.turn(this.path(), round);
      if (round !== this.round || rest === Infinity) {
        return;
      }
      await this.rest(rest);
    }
  }

  private async rest(ms: number): Promise<void> {
    const pause = this.around.pause(ms);
    this.resting = pause;
    await pause.over;
  }

  /** One call; -> ms until the next. */
  private async turn(path: string, round: number): Promise<number> {
    const call = new AbortController();
    this.call = call;
    const limit = this.around.pause(CALL_MS);
    void limit.over.then(() => call.abort());
    const reply = await this.around.send(path, { token: this.around.token(), signal: call.signal });
    limit.cut();
    return round === this.round ? this.settle(reply, path) : 0;
  }

  private settle(reply: Reply, path: string): number {
    const answer = reply.status === 200 ? this.read(reply.body) : null;
    if (answer !== null) {
      this.failures = 0;
      this.trouble.value = null;
      this.shown.value = { path, answer, arrived: this.around.now() };
      return this.everyMs(answer);
    }
    if (reply.status === 401) {
      this.around.onLocked("The session is over.");
      return LONGEST_MS;
    }
    this.failures += 1;
    this.trouble.value = reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply);
    const again = Math.max((reply.againIn ?? 0) * 1000, Math.min(this.everyMs(null), 1000 * 2 ** Math.min(this.failures, 5)));
    return Math.min(LONGEST_MS, again);
  }
}
