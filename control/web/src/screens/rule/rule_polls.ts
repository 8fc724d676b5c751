import { computed, effect, signal, untracked } from "@preact/signals";

import { heatAnswerOf, type HeatAnswer } from "../../heat/heat_answer";
import { poll, route, session } from "../../page";
import { send } from "../../transport/send";
import { AnswerPoll } from "../../transport/answer_poll";
import type { Surroundings } from "../../transport/live_poll";
import { cellAnswerOf, eventsOf, fullRuleOf, liveKeysOf, ruleSeriesOf, topKeysOf } from "./rule_answers";
import { heatPath, pathOfRule, rulePlaceOf } from "./rule_place";

// What the screen asks for beside the snapshots; nothing while another screen is shown.
const AROUND: Surroundings = {
  send,
  token: () => session.token(),
  now: () => performance.now(),
  pause: (ms) => {
    let end = (): void => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    const timer = setTimeout(() => end(), ms);
    return { over, cut: () => { clearTimeout(timer); end(); } };
  },
  isHidden: () => document.hidden,
  onLocked: (why) => session.lock(why, true),
};
const MOST_STEP_MS = 30_000; // sluiced takes a rule for looked at for 60 s

function heatEvery(answer: HeatAnswer | null): number {
  return answer === null ? 5000 : Math.min(MOST_STEP_MS, Math.max(1000, answer.stepS * 1000));
}

export const heat = new AnswerPoll(AROUND, heatAnswerOf, heatEvery);
export const full = new AnswerPoll(AROUND, fullRuleOf, () => Infinity);
export const series = new AnswerPoll(AROUND, ruleSeriesOf, () => 5000);
export const top = new AnswerPoll(AROUND, topKeysOf, () => 5000);
export const events = new AnswerPoll(AROUND, eventsOf, () => 5000);
export const liveKeys = new AnswerPoll(AROUND, liveKeysOf, () => Infinity);
export const cell = new AnswerPoll(AROUND, cellAnswerOf, () => Infinity);
export const topBy = signal<"hits" | "denied" | "bits">("hits");
export const changes = signal(0); // what this page has changed: bans, the mode

/** The box's own clock, ms. */
export function boxNow(): number {
  const shown = poll.shown.peek();
  return shown === null ? Date.now() : Date.parse(shown.answer.at) + performance.now() - shown.arrived;
}

function begin(): void {
  const place = rulePlaceOf(route.value);
  const generation = poll.shown.value?.answer.box.generation ?? "";
  const rule = encodeURIComponent(place.rule);
  untracked(() => {
    full.ask(`${place.rule} ${generation} ${changes.value}`, () => pathOfRule(place.rule, "full"));
    heat.ask(JSON.stringify(place), () => heatPath(place, boxNow()));
    series.ask(`/v1/series?seconds=600&rule=${rule}`);
    events.ask(`/v1/events?rule=${rule}`);
  });
}

/** From when the screen is shown until it is left; -> what ends it. */
export function watchRule(): () => void {
  const generation = computed(() => poll.shown.value?.answer.box.generation ?? "");
  const ends = [
    effect(() => {
      void [route.value, generation.value, changes.value];
      untracked(begin);
    }),
    effect(() => {
      const { rule } = rulePlaceOf(route.value);
      top.ask(`/v1/top?rule=${encodeURIComponent(rule)}&count=20&by=${topBy.value}`);
    }),
  ];
  return () => {
    ends.forEach((end) => end());
    for (const one of [heat, full, series, top, events, liveKeys, cell]) {
      one.ask(null);
    }
  };
}
