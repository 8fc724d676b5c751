// Groups of a cell as a step of the ramp: the logarithm of their number, as far as the 99th percentile of cells that
// have any. Cells above that are as dark as it.
export const LEVELS = 48; // steps of the ramp; 0 is none
export interface HeatScale {
  clamp: number;
  level(groups: number): number; // 0: no group; 1 to LEVELS
}

/** The value that so many of the values are not above; 0 of none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))] ?? 0;
}

export function scaleOf(counts: readonly number[]): HeatScale {
  const clamp = Math.max(1, percentile(counts, 0.99));
  const whole = Math.log1p(clamp);
  const level = (groups: number): number =>
    groups > 0 ? Math.max(1, Math.ceil((Math.log1p(Math.min(groups, clamp)) / whole) * LEVELS)) : 0;
  return { clamp, level };
}

/** Numbers for the legend, ascending: 1, powers of ten, and the clamp. */
export function legendOf(scale: HeatScale): number[] {
  const steps: number[] = [];
  for (let at = 1; at < scale.clamp * 0.7; at *= 10) {
    steps.push(at);
  }
  const thin = steps.length > 4 ? steps.filter((_, at) => at % 2 === 0) : steps;
  return [...thin, scale.clamp];
}
