// Numbers for people. null and what is no number are a dash: never 0.
export const NO_NUMBER = "–";
const STEPS = ["", "k", "M", "G", "T", "P"];

function rounded(value: number): string {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Three digits and a power of 1000: 999, 1.23 k, 12.3 M. */
export function scaled(value: number | null | undefined): string {
  if (!isNumber(value)) {
    return NO_NUMBER;
  }
  let rest = Math.abs(value);
  let step = 0;
  while (rest >= 999.5 && step + 1 < STEPS.length) {
    rest /= 1000;
    step += 1;
  }
  const text = `${value < 0 ? "-" : ""}${rounded(rest)}`;
  return step === 0 ? text : `${text} ${STEPS[step]}`;
}

/** With its unit: `1.23 Mpps`, `980 kbit/s`. */
export function withUnit(value: number | null | undefined, unit: string): string {
  const text = scaled(value);
  return text === NO_NUMBER ? text : /[a-zA-Z]$/.test(text) ? `${text}${unit}` : `${text} ${unit}`;
}

/** Whole numbers below a million in full, with thin spaces between thousands. */
export function whole(value: number | null | undefined): string {
  if (!isNumber(value)) {
    return NO_NUMBER;
  }
  return Math.abs(value) >= 1e6 ? scaled(value) : String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/** `1 group is`, `2 groups are`. */
export function countText(count: number, one: string, more: string): string {
  return `${whole(count)} ${count === 1 ? one : more}`;
}

/** `87.5 ns`, `34.2 µs`, `1.2 ms`, of nanoseconds. */
export function shortTimeText(ns: number | null | undefined): string {
  if (!isNumber(ns)) {
    return NO_NUMBER;
  }
  const [size, unit] = ns < 999.5 ? [1, "ns"] : ns < 999_500 ? [1e3, "µs"] : ns < 999_500_000 ? [1e6, "ms"] : [1e9, "s"];
  return `${rounded(ns / size)} ${unit}`;
}

/** A part of 1: `12 %`, `0.4 %`. */
export function share(value: number | null | undefined): string {
  if (!isNumber(value)) {
    return NO_NUMBER;
  }
  const percent = value * 100;
  return `${percent === 0 || percent >= 10 ? percent.toFixed(0) : percent.toFixed(1)} %`;
}

/** Two digits of what is far below one, too: `0.002`. */
export function figure(value: number | null | undefined): string {
  return isNumber(value) && value !== 0 && Math.abs(value) < 0.1 ? String(Number(value.toPrecision(2))) : scaled(value);
}
