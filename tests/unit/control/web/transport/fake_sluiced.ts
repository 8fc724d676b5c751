import type { LiveAnswer } from "../../../../../control/web/src/transport/answers";
import type { Surroundings } from "../../../../../control/web/src/transport/live_poll";
import type { Call, Reply } from "../../../../../control/web/src/transport/send";

// A clock that is turned by hand, and calls that are answered by hand.
export interface Pending {
  path: string;
  call: Call;
  answer(reply: Partial<Reply>): Promise<void>;
}

const EMPTY = { box: {}, problems: [], ports: [], events: [], rules: { rows: [] } };

export function snapshot(number: number, more: Partial<LiveAnswer> = {}): Partial<Reply> {
  return { status: 200, body: { snapshot: number, run: "a", web: "w", ...EMPTY, ...more } };
}

/** Whatever waits for what has happened has had its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await Promise.resolve();
  }
}

export class FakeSluiced implements Surroundings {
  time = 0;
  hidden = false;
  locked: string[] = [];
  calls: Pending[] = [];
  private timers: { at: number; ring(): void }[] = [];

  send = (path: string, call: Call): Promise<Reply> =>
    new Promise((resolve) => {
      this.calls.push({
        path,
        call,
        answer: async (reply) => {
          resolve({ status: 0, body: null, againIn: null, ...reply });
          await settled();
        },
      });
    });
  token = (): string | null => "token";
  now = (): number => this.time;
  timeOfDay = (): number => 1e12 + this.time;
  isHidden = (): boolean => this.hidden;
  onLocked = (why: string): void => void this.locked.push(why);
  pause = (ms: number): { over: Promise<void>; cut(): void } => {
    let ring = (): void => undefined;
    const over = new Promise<void>((resolve) => (ring = resolve));
    this.timers.push({ at: this.time + ms, ring });
    return { over, cut: ring };
  };

  last(): Pending {
    return this.calls[this.calls.length - 1]!;
  }

  async pass(ms: number): Promise<void> {
    this.time += ms;
    for (const timer of this.timers.filter(({ at }) => at <= this.time)) {
      timer.ring();
    }
    this.timers = this.timers.filter(({ at }) => at > this.time);
    await settled();
  }
}
