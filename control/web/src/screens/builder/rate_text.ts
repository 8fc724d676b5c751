// Rates and spans as rules write them, as a number and a word of the sentence: "300 requests per minute". Pure.
export const SPANS = ["s", "m", "h", "d"] as const;
export type Span = (typeof SPANS)[number];
export const SPAN_SECONDS: Record<Span, number> = { s: 1, m: 60, h: 3600, d: 86_400 };
export const SPAN_NAMES: Record<Span, string> = { s: "second", m: "minute", h: "hour", d: "day" };
export const PER = ["packet", "byte", "connection", "request", "query", "handshake"] as const;
export const UNIT_WORDS: [string, string][] = PER.map((one) => [one, one === "query" ? "queries" : `${one}s`]);
const SIZES: Record<string, number> = { "": 1, K: 1e3, M: 1e6, G: 1e9, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 };

export interface RateWords {
  amount: string; // as written, with its unit: `300`, `20Mbit`
  span: Span;
}

export function rateWords(text: string): RateWords | null {
  const found = /^\s*([\d.]+\s*[A-Za-z]*)\s*\/\s*([smhd])\s*$/.exec(text);
  const [amount, span] = [found?.[1]?.trim(), SPANS.find((one) => one === found?.[2])];
  return amount === undefined || span === undefined ? null : { amount, span };
}

export function rateText(words: RateWords): string {
  return `${words.amount.trim()}/${words.span}`;
}

/** Units in an amount: of bytes where it has a unit of them. null: nobody can say. */
export function amountOf(text: string): number | null {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(Ki|Mi|Gi|K|M|G)?(bit|B)?\s*$/.exec(text);
  if (found === null) {
    return null;
  }
  const value = Number(found[1]) * (SIZES[found[2] ?? ""] ?? 1);
  return found[3] === "bit" ? value / 8 : value;
}

/** Seconds of `90s`, `15m`. */
export function secondsOf(text: string): number | null {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d)\s*$/.exec(text);
  if (found === null) {
    return null;
  }
  const unit = found[2] ?? "s";
  const size = unit === "us" ? 1e-6 : unit === "ms" ? 1e-3 : (SPAN_SECONDS[unit as Span] ?? 1);
  return Number(found[1]) * size;
}

/** What a limit lets through in `seconds` at most, starting full: burst + rate. null: its words are not of that kind. */
export function mostIn(seconds: number, limit: { rate: string | null; burst: string | null; count: string | null; window: string | null }): number | null {
  if (limit.rate !== null) {
    const words = rateWords(limit.rate);
    const amount = words === null ? null : amountOf(words.amount);
    const burst = limit.burst === null ? 0 : amountOf(limit.burst);
    return words === null || amount === null || burst === null ? null : burst + (amount / SPAN_SECONDS[words.span]) * seconds;
  }
  const [count, window] = [limit.count === null ? null : amountOf(limit.count), limit.window === null ? null : secondsOf(limit.window)];
  return count === null || window === null || window === 0 ? null : count * Math.max(1, seconds / window);
}
