import type { BoxEvent } from "../../transport/answers";
import { isNumber } from "../../text/number";

// The newest events that this page has, bounded, the oldest first. Each has a number of its own: those of sluiced begin
// anew with another dataplane.
export const MOST_KEPT = 4000;
export const PAGE = 50;

export interface Arrived {
  number: number;
  event: BoxEvent;
}
export interface EventList {
  rows: readonly Arrived[];
  next: string | null; // where sluiced reads on; null: nothing has been read
  last: number; // number of the newest
  missed: number; // told of as lost between two answers
  gone: number; // had to go here for newer ones
}
export interface EventsAnswer {
  next: string;
  missed: number;
  events: BoxEvent[];
}
export const NO_EVENTS: EventList = { rows: [], next: null, last: 0, missed: 0, gone: 0 };

export function isEventsAnswer(body: unknown): body is EventsAnswer {
  const answer = body as Partial<EventsAnswer> | null;
  return typeof answer === "object" && answer !== null && typeof answer.next === "string" && Array.isArray(answer.events);
}

export function added(list: EventList, answer: EventsAnswer): EventList {
  const fresh = answer.events.map((event, at) => ({ number: list.last + at + 1, event }));
  const all = fresh.length === 0 ? list.rows : [...list.rows, ...fresh];
  const over = Math.max(0, all.length - MOST_KEPT);
  return {
    rows: over > 0 ? all.slice(over) : all,
    next: answer.next,
    last: list.last + fresh.length,
    missed: list.missed + (isNumber(answer.missed) ? answer.missed : 0),
    gone: list.gone + over,
  };
}

export interface EventPage {
  rows: Arrived[]; // the newest first
  newer: number; // rows in front of this page
  older: number; // and behind it
}

/** The page that begins with the newest row of this number or below; null: with the newest of all. */
export function pageOf(list: EventList, from: number | null): EventPage {
  const first = list.rows[0]?.number ?? 1;
  const length = list.rows.length;
  const end = from === null ? length : Math.min(length, Math.max(Math.min(PAGE, length), from - first + 1));
  const start = Math.max(0, end - PAGE);
  return { rows: list.rows.slice(start, end).reverse(), newer: length - end, older: start };
}

/** The number that the page behind or in front of this one begins with; null: that one is the newest. */
export function turned(list: EventList, page: EventPage, to: "older" | "newer"): number | null {
  const top = page.rows[0]?.number ?? list.last;
  if (to === "older") {
    return top - PAGE;
  }
  return page.newer <= PAGE ? null : top + PAGE;
}
