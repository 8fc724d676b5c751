// A poll beside the live one, as long as the screen that wants it is open: one call is under way at a time, what hangs is
// given up, and tabs that nobody sees ask seldom.
export interface Pauses {
  pause(ms: number): { over: Promise<void>; cut(): void };
  isHidden(): boolean;
}
export interface Pace {
  longest: number; // ms that a call may take
  hidden: number; // ms between two calls of a hidden tab
}
/** One call; -> ms until the next, null: that was the last. */
export type Turn = (signal: AbortSignal) => Promise<number | null>;

export const USUAL_PACE: Pace = { longest: 10_000, hidden: 15_000 };
const LEAST_MS = 200; // between two calls, whatever is answered

export class Follow {
  private hasEnded = false;
  private call: AbortController | null = null;
  private resting: { cut(): void } | null = null;

  constructor(
    private readonly turn: Turn,
    private readonly around: Pauses,
    private readonly pace: Pace = USUAL_PACE,
  ) {}

  begin(): this {
    void this.run();
    return this;
  }

  end(): void {
    this.hasEnded = true;
    this.call?.abort();
    this.resting?.cut();
  }

  /** The next call is made now, or when the tab is seen. */
  wake(): void {
    this.resting?.cut();
  }

  private async run(): Promise<void> {
    while (!this.hasEnded) {
      const rest = await this.once();
      if (rest === null || this.hasEnded) {
        return;
      }
      const pause = this.around.pause(Math.max(rest, LEAST_MS, this.around.isHidden() ? this.pace.hidden : 0));
      this.resting = pause;
      await pause.over;
      this.resting = null;
    }
  }

  private async once(): Promise<number | null> {
    const call = new AbortController();
    this.call = call;
    const limit = this.around.pause(this.pace.longest);
    void limit.over.then(() => call.abort());
    const rest = await this.turn(call.signal);
    limit.cut();
    return rest;
  }
}
