import { computed, effect, signal, untracked } from "@preact/signals";

import { fragmentOf, routeOf, type Place, type Route } from "./frame/route";
import { emptySeries, extended, seriesOf, type Series } from "./plot/series";
import type { LiveAnswer, Who } from "./transport/answers";
import { isSeriesAnswer, UNKNOWN_ANSWER } from "./transport/known_answer";
import { Kept } from "./transport/kept";
import { LivePoll, type LiveQuery } from "./transport/live_poll";
import { reasonOf, send } from "./transport/send";
import { boxZoneOf, Session, secretIn } from "./transport/session";
import { visibleText } from "./text/visible";
import type { Zone } from "./text/time";

// The state of this tab. Components read the signals; all of it changes here.
export const STALE_MS = 3000;
const TICK_MS = 250;
const SERIES_EVERY = 15; // snapshots between two calls for what is missing
const ZONE = "sluice.zone";

const settings = new Kept(() => localStorage);
export const session = new Session(send, new Kept(() => sessionStorage));
export const poll = new LivePoll({
  send,
  token: () => session.token(),
  now: () => performance.now(),
  timeOfDay: () => Date.now(),
  pause,
  isHidden: () => document.hidden,
  onLocked: (why) => session.lock(why, true),
});
export const route = signal<Route>(routeOf(secretIn(location.hash) === null ? location.hash : ""));
const ZONES = ["utc", "box", "local"] as const;
export type ZoneChoice = (typeof ZONES)[number];
export const zoneChoice = signal<ZoneChoice>(ZONES.find((one) => one === settings.getItem(ZONE)) ?? "utc");
export const ticks = signal(performance.now());
// The clock of the page may stand still while a machine sleeps, and the time of day may be set: the larger age holds.
export const ageMs = computed(() => {
  const shown = poll.shown.value;
  if (shown === null) {
    return null;
  }
  return Math.max(0, ticks.value - shown.arrived, Date.now() - shown.arrivedAt);
});
export const isStale = computed(() => ageMs.value === null || ageMs.value > STALE_MS);
export const series = signal<Series | null>(null);
export const seriesTrouble = signal<string | null>(null);
export const who = computed(() => (session.state.value.kind === "open" ? session.state.value.who : null));
/** The last one who was known here: screens are theirs, also while a session is asked for again. Null: nobody yet. */
export const lastWho = signal<Who | null>(null);
effect(() => {
  lastWho.value = who.value ?? lastWho.peek();
});
/** UTC, too, of a box that does not say where it is. */
export const zone = computed<Zone>(() => (zoneChoice.value === "box" ? boxZoneOf(who.value) : zoneChoice.value));

export function pause(ms: number): { over: Promise<void>; cut(): void } {
  let cut = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    cut = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  return { over, cut: () => cut() };
}

export function go(place: Place, replace = false): void {
  const fragment = fragmentOf(place);
  if (fragment === location.hash) {
    return;
  }
  if (replace) {
    history.replaceState(null, "", fragment);
    route.value = routeOf(fragment);
  } else {
    location.hash = fragment;
  }
}

export function setZone(next: ZoneChoice): void {
  zoneChoice.value = next;
  settings.setItem(ZONE, next);
}

// The secret leaves the address bar before anything else happens.
function takeSecret(): string | null {
  const secret = secretIn(location.hash);
  if (secret !== null) {
    const { screen, subject, words } = route.peek();
    history.replaceState(null, "", `${location.pathname}${fragmentOf({ screen, subject, words: Object.fromEntries(words) })}`);
  }
  return secret;
}

let asking = false;
let lastAsked = 0; // the snapshot at which the series was asked for
let hasHoles = false; // seconds that sluiced has and this page has not
async function fetchSeries(answer: LiveAnswer): Promise<void> {
  if (asking) {
    return;
  }
  asking = true;
  lastAsked = answer.snapshot;
  const reply = await send("/v1/series?seconds=600", { token: session.token() });
  asking = false;
  if (reply.status === 200 && isSeriesAnswer(reply.body)) {
    const fresh = seriesOf(reply.body);
    const newest = poll.shown.peek()?.answer ?? answer; // one may have come meanwhile
    series.value = extended(fresh, newest) ?? fresh;
    seriesTrouble.value = null;
    hasHoles = false;
  } else {
    seriesTrouble.value = reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply);
    series.value ??= emptySeries(answer);
  }
}

function keepSeries(answer: LiveAnswer): void {
  if (answer.box.name === null) {
    return; // the box's own rates are not for who may not know it
  }
  const last = series.peek();
  const next = last === null ? null : extended(last, answer);
  if (last !== null && next !== null) {
    series.value = next;
    hasHoles ||= answer.snapshot - last.snapshot > 1;
    const isMissing = hasHoles || seriesTrouble.peek() !== null;
    if (isMissing && !document.hidden && Math.abs(answer.snapshot - lastAsked) >= SERIES_EVERY) {
      void fetchSeries(answer);
    }
    return;
  }
  if (last !== null && last.run !== answer.run) {
    series.value = null;
  }
  void fetchSeries(answer);
}

/** `queryOf` says what a place of the page asks sluiced each second. */
export function begin(queryOf: (shown: Route) => LiveQuery): void {
  const secret = takeSecret();
  addEventListener("hashchange", () => {
    const another = takeSecret();
    if (another !== null) {
      void session.takeLink(another);
    } else {
      route.value = routeOf(location.hash);
    }
  });
  document.addEventListener("visibilitychange", () => poll.wake());
  setInterval(() => (ticks.value = performance.now()), TICK_MS);
  const isOpen = computed(() => session.state.value.kind === "open");
  const query = computed(() => JSON.stringify(queryOf(route.value)));
  effect(() => {
    const [open, asked] = [isOpen.value, query.value];
    untracked(() => (open ? poll.ask(JSON.parse(asked)) : poll.stop()));
  });
  effect(() => {
    const shown = poll.shown.value;
    if (shown !== null) {
      ticks.value = Math.max(ticks.peek(), shown.arrived);
      keepSeries(shown.answer);
    }
  });
  effect(() => {
    const name = poll.shown.value?.answer.box.name ?? "";
    document.title = `${isStale.value && name !== "" ? "Old: " : ""}${visibleText(name).slice(0, 40)} Sluice`.trim();
  });
  effect(() => {
    if (poll.outdated.value) {
      setTimeout(() => location.reload(), 1500);
    }
  });
  void session.begin(secret);
}
