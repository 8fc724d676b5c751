import { MEASURES, type LiveAnswer, type SeriesAnswer } from "../transport/answers";
import { isNumber } from "../text/number";

// Ten minutes at 1 s: what GET /v1/series has at the start, then a value of each snapshot. null: no data, a gap.
export type Values = (number | null)[];
export interface Series {
  run: string;
  snapshot: number;
  end: number; // s since 1970, of the last value
  step: number; // s
  columns: Record<string, Values>;
}
const MOST = 600;

function cleaned(values: unknown): Values {
  return Array.isArray(values) ? values.slice(-MOST).map((value: unknown) => (isNumber(value) ? value : null)) : [];
}

export function seriesOf(answer: SeriesAnswer): Series {
  const columns: Record<string, Values> = {};
  for (const [name, values] of Object.entries(answer.columns)) {
    columns[name] = cleaned(values);
  }
  return { run: answer.run, snapshot: answer.snapshot, end: Date.parse(answer.to) / 1000, step: answer.step_s, columns };
}

export function emptySeries(answer: LiveAnswer): Series {
  return { run: answer.run, snapshot: answer.snapshot - 1, end: Date.parse(answer.at) / 1000 - 1, step: 1, columns: {} };
}

function valueOf(answer: LiveAnswer, column: string): number | null {
  const measure = MEASURES.find((name) => column === `${name}_pps` || column === `${name}_bps`);
  const rate = measure === undefined ? undefined : answer.rates?.[measure];
  const value = column.endsWith("_pps") ? rate?.pps : rate?.bps;
  return isNumber(value) ? value : null;
}

/** With the values of a snapshot; those between that nobody has seen are gaps. null: of another sluiced, or too far on. */
export function extended(series: Series, answer: LiveAnswer): Series | null {
  const steps = answer.snapshot - series.snapshot;
  if (answer.run !== series.run || steps < 0 || steps > MOST) {
    return null;
  }
  if (steps === 0) {
    return series;
  }
  // Snapshots are counted, seconds are not: sluiced makes none while the dataplane hangs.
  const passed = Math.round((Date.parse(answer.at) / 1000 - series.end) / series.step);
  const places = passed >= steps && passed <= MOST ? passed : steps;
  const gap: Values = Array.from({ length: places - 1 }, () => null);
  const columns: Record<string, Values> = {};
  for (const column of MEASURES.flatMap((name) => [`${name}_pps`, `${name}_bps`])) {
    const before = series.columns[column] ?? [];
    columns[column] = [...before, ...gap, valueOf(answer, column)].slice(-MOST);
  }
  return { ...series, snapshot: answer.snapshot, end: Date.parse(answer.at) / 1000, columns };
}

/** Of the longest column: x, and each of these columns, equally long. */
export function plotted(series: Series, columns: string[]): [number[], ...Values[]] {
  const length = Math.max(0, ...columns.map((name) => series.columns[name]?.length ?? 0));
  const times = Array.from({ length }, (_, at) => series.end - (length - 1 - at) * series.step);
  const filled = columns.map((name) => {
    const values = series.columns[name] ?? [];
    return [...Array.from({ length: length - values.length }, () => null), ...values];
  });
  return [times, ...filled];
}

export interface Summary {
  now: number | null;
  mean: number | null;
  peak: number | null;
}

export function summaryOf(values: Values): Summary {
  const known = values.filter(isNumber);
  const sum = known.reduce((total, value) => total + value, 0);
  return {
    now: values[values.length - 1] ?? null,
    mean: known.length > 0 ? sum / known.length : null,
    peak: known.length > 0 ? Math.max(...known) : null,
  };
}
