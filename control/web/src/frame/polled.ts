import { useEffect } from "preact/hooks";
import { useSignal, type Signal } from "@preact/signals";

import { pause, ticks } from "../page";
import { ask } from "../parts/ask";
import { isNumber } from "../text/number";
import { UNKNOWN_ANSWER } from "../transport/known_answer";
import { Follow, USUAL_PACE, type Pace, type Turn } from "../transport/follow";
import { reasonOf } from "../transport/send";

const AROUND = { pause, isHidden: () => document.hidden };

/** A poll as long as the component is there and `about` stays the same. */
export function useFollow(turn: Turn, about: string, pace: Pace = USUAL_PACE): void {
  useEffect(() => {
    const following = new Follow(turn, AROUND, pace).begin();
    const seen = (): void => (document.hidden ? undefined : following.wake());
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      following.end();
    };
  }, [about]);
}

/** Answers of one path, and the one before for what has changed since. */
export interface Polled<T> {
  path: string;
  now: T | null;
  at: number; // ticks of `now`
  before: T | null;
  seconds: number; // between the two
  trouble: string | null;
}

function next<T>(last: Polled<T>, body: T): Polled<T> {
  const at = performance.now();
  ticks.value = Math.max(ticks.peek(), at);
  return { path: last.path, now: body, at, before: last.now, seconds: (at - last.at) / 1000, trouble: null };
}

export function usePolled<T>(path: string, isAnswer: (body: unknown) => body is T, every: number): Signal<Polled<T>> {
  const polled = useSignal<Polled<T>>({ path, now: null, at: 0, before: null, seconds: 0, trouble: null });
  useFollow(async (signal) => {
    const reply = await ask(path, { signal });
    const last = polled.peek();
    if (reply.status === 200 && isAnswer(reply.body)) {
      polled.value = next(last, reply.body);
      return every;
    }
    polled.value = { ...last, trouble: reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply) };
    return Math.max(every, 2000, isNumber(reply.againIn) ? reply.againIn * 1000 : 0);
  }, path);
  return polled;
}
