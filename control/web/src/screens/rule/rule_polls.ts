import { computed, effect, signal, untracked } from "@preact/signals";

import { heatAnswerOf, type HeatAnswer } from "../../heat/heat_answer";
import { pause, poll, route, session, ticks } from "../../page";
import { AnswerPoll, type Around } from "../../transport/answer_poll";
import { send } from "../../transport/send";
import { cellAnswerOf, eventsOf, fullRuleOf, liveKeysOf, ruleSeriesOf, topKeysOf } from "./rule_answers";
import { heatPath, pathOfRule, rulePlaceOf } from "./rule_place";

// What the screen asks for beside the snapshots; nothing while another screen is shown.
const AROUND: Around = {
  send,
  pause,
  token: () => session.token(),
  now: () => (ticks.value = Math.max(ticks.peek(), performance.now())),
  isHidden: () => document.hidden,
  onLocked: (why) => session.lock(why, true),
};
const MOST_STEP_MS = 30_000; // sluiced takes a rule for looked at for 60 s
export const EVERY_MS = 5000;

/** ms from one answer about maps to the next: a column. */
export function heatEvery({ stepS }: HeatAnswer): number {
  return Math.min(MOST_STEP_MS, Math.max(1000, stepS * 1000));
}

export const heat = new AnswerPoll(AROUND, heatAnswerOf, heatEvery);
export const full = new AnswerPoll(AROUND, fullRuleOf, () => null);
export const series = new AnswerPoll(AROUND, ruleSeriesOf, () => EVERY_MS);
export const top = new AnswerPoll(AROUND, topKeysOf, () => EVERY_MS);
export const events = new AnswerPoll(AROUND, eventsOf, () => EVERY_MS);
export const liveKeys = new AnswerPoll(AROUND, liveKeysOf, () => null);
export const cell = new AnswerPoll(AROUND, cellAnswerOf, () => null);
const ALL = [heat, full, series, top, events, liveKeys, cell];
export const topBy = signal<"hits" | "denied" | "bits">("hits");
export const changes = signal(0); // what this page has changed: bans, the mode

/** The box's own clock, ms. */
export function boxNow(): number {
  const shown = poll.shown.peek();
  return shown === null ? Date.now() : Date.parse(shown.answer.at) + performance.now() - shown.arrived;
}

/** Asks about one rule until it is ended. */
export function watchRule(rule: string): () => void {
  const generation = computed(() => poll.shown.value?.answer.box.generation ?? "");
  const place = computed(() => JSON.stringify(rulePlaceOf(route.value)));
  const name = encodeURIComponent(rule);
  series.ask(`/v1/series?seconds=600&rule=${name}`);
  events.ask(`/v1/events?rule=${name}&newest=50`);
  const ends = [
    effect(() => {
      const [set, count] = [generation.value, changes.value];
      untracked(() => full.ask(`${set} ${count}`, () => pathOfRule(rule, "full")));
    }),
    effect(() => {
      const [shown, set] = [place.value, generation.value];
      untracked(() => heat.ask(`${shown} ${set}`, () => heatPath({ ...rulePlaceOf(route.peek()), rule }, boxNow())));
    }),
    effect(() => {
      const by = topBy.value;
      untracked(() => top.ask(`/v1/top?rule=${name}&count=20&by=${by}`));
    }),
  ];
  const seen = (): void => (document.hidden ? undefined : ALL.forEach((one) => one.wake()));
  document.addEventListener("visibilitychange", seen);
  return () => {
    document.removeEventListener("visibilitychange", seen);
    ends.forEach((end) => end());
    ALL.forEach((one) => one.ask(null));
  };
}
