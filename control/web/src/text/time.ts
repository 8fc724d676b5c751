import { NO_NUMBER } from "./number";

// Instants in UTC, or in the browser's time; the zone stands beside each.
export type Zone = "utc" | "local";

function two(value: number): string {
  return String(value).padStart(2, "0");
}

function offsetText(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `UTC${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

export function zoneName(zone: Zone, at: Date): string {
  return zone === "utc" ? "UTC" : offsetText(at);
}

function clockOf(at: Date, zone: Zone): string {
  return zone === "utc"
    ? at.toISOString().slice(11, 19)
    : `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

function dayOf(at: Date, zone: Zone): string {
  return zone === "utc" ? at.toISOString().slice(0, 10) : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function dateOf(iso: string | number | null | undefined): Date | null {
  const at = iso === null || iso === undefined ? null : new Date(iso);
  return at === null || Number.isNaN(at.getTime()) ? null : at;
}

/** `07:00:01`, as axes have it. */
export function clockText(at: number, zone: Zone): string {
  const date = dateOf(at);
  return date === null ? NO_NUMBER : clockOf(date, zone);
}

/** `07:00:01 UTC`; with the day where it is another one than that of `today`. */
export function instantText(iso: string | number | null | undefined, zone: Zone, today: number): string {
  const at = dateOf(iso);
  if (at === null) {
    return NO_NUMBER;
  }
  const day = dayOf(at, zone);
  const text = `${clockOf(at, zone)} ${zoneName(zone, at)}`;
  return day === dayOf(new Date(today), zone) ? text : `${day} ${text}`;
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
