import { NO_NUMBER } from "./number";

// Instants in UTC, in the browser's time or in the box's; the zone stands beside each.
export interface BoxZone {
  name: string | null; // as the time zone database has it
  offset_s: number; // now, where there is no name or nobody here knows it
}
export type Zone = "utc" | "local" | BoxZone;

const MINUTE_MS = 60_000;
const clocks = new Map<string, Intl.DateTimeFormat | null>();

function clockOfZone(name: string): Intl.DateTimeFormat | null {
  let clock = clocks.get(name);
  if (clock === undefined) {
    try {
      clock = new Intl.DateTimeFormat("en-US", {
        timeZone: name, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
      });
    } catch {
      clock = null;
    }
    clocks.set(name, clock);
  }
  return clock;
}

function offsetOfBox(at: Date, zone: BoxZone): number {
  const clock = zone.name === null ? null : clockOfZone(zone.name);
  if (clock === null) {
    return Math.round(zone.offset_s / 60);
  }
  const parts = new Map<string, number>(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const [year, month, day, hour, minute, second] = ["year", "month", "day", "hour", "minute", "second"].map((part) => parts.get(part) ?? 0);
  const there = Date.UTC(year!, month! - 1, day!, hour!, minute!, second!);
  return Math.round((there - Math.floor(at.getTime() / 1000) * 1000) / MINUTE_MS);
}

/** Minutes that clocks there are before UTC's at this instant. */
function offsetOf(at: Date, zone: Zone): number {
  return zone === "utc" ? 0 : zone === "local" ? -at.getTimezoneOffset() : offsetOfBox(at, zone);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

export function zoneName(zone: Zone, at: Date): string {
  if (zone === "utc") {
    return "UTC";
  }
  const minutes = offsetOf(at, zone);
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function thereOf(at: Date, zone: Zone): string {
  return new Date(at.getTime() + offsetOf(at, zone) * MINUTE_MS).toISOString();
}

const LAST = 8.64e15 - 24 * 60 * MINUTE_MS; // ms: behind it there is no date in every zone
function dateOf(iso: string | number | null | undefined): Date | null {
  const at = iso === null || iso === undefined ? null : new Date(iso);
  return at === null || !(Math.abs(at.getTime()) < LAST) ? null : at;
}

/** `07:00:01`, as axes have it. */
export function clockText(at: number, zone: Zone): string {
  const date = dateOf(at);
  return date === null ? NO_NUMBER : thereOf(date, zone).slice(-13, -5);
}

/** `07:00:01 UTC`; with the day where it is another one than that of `today`. */
export function instantText(iso: string | number | null | undefined, zone: Zone, today: number): string {
  const at = dateOf(iso);
  if (at === null) {
    return NO_NUMBER;
  }
  const there = thereOf(at, zone);
  const text = `${there.slice(-13, -5)} ${zoneName(zone, at)}`;
  const day = there.slice(0, -14);
  return day === thereOf(new Date(today), zone).slice(0, -14) ? text : `${day} ${text}`;
}

/** `07:00:01.123456 UTC`: with all that is said of a second, down to microseconds. */
export function preciseText(iso: string | null | undefined, zone: Zone, today: number): string {
  const text = instantText(iso, zone, today);
  const parts = /\.(\d{1,9})/.exec(iso ?? "")?.[1]?.slice(0, 6);
  return parts === undefined ? text : text.replace(/(\d\d:\d\d:\d\d)/, `$1.${parts}`);
}

/** `41 s`, `2 min 5 s`, `3 h 10 min`, `4 d 2 h`. */
export function spanText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const units: [string, number][] = [["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]];
  const at = units.findIndex(([, size]) => whole >= size);
  if (at === -1 || at === 3) {
    return `${whole} s`;
  }
  const [[name, size], next] = [units[at]!, units[at + 1]!];
  const rest = Math.floor((whole % size) / next[1]);
  return `${Math.floor(whole / size)} ${name}${rest > 0 ? ` ${rest} ${next[0]}` : ""}`;
}

/** A span that may be far below a second: `333 ms`, `2.4 s`, `3 min 5 s`. */
export function shortSpanText(seconds: number): string {
  const ms = Math.round(Math.max(0, seconds) * 1000);
  if (ms < 1000) {
    return `${ms} ms`;
  }
  return ms < 10_000 ? `${Number((ms / 1000).toFixed(1))} s` : spanText(seconds);
}
