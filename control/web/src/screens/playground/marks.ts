import type { Dots, SimulatedRun, State } from "./answer";

// Where things of a run stand in a drawing: pure, in CSS pixels.
export interface Fate {
  letter: string;
  title: string;
  colour: string; // a variable of colours.css
  shape: "disc" | "diamond" | "triangle" | "cross" | "square";
}
export const FATES: readonly Fate[] = [
  { letter: "a", title: "admitted", colour: "--passed", shape: "disc" },
  { letter: "y", title: "admitted, yellow", colour: "--would-refuse", shape: "diamond" },
  { letter: "d", title: "delayed", colour: "--answered", shape: "triangle" },
  { letter: "r", title: "refused", colour: "--refused", shape: "cross" },
  { letter: "w", title: "never asked", colour: "--quiet", shape: "square" },
];
export interface Mark {
  fate: Fate;
  x: number;
  y: number;
  size: number; // half its width
  until: number | null; // x of where it passes
}
export const LANE = 22; // px
const LEAST = 2.5;
const LARGEST = 9;

/** The fates that any run has, in one order, so that drawings below each other have the same lanes. */
export function lanesOf(runs: readonly SimulatedRun[]): Fate[] {
  return FATES.filter((fate) => runs.some((run) => run.dots.fates.includes(fate.letter)));
}

export function endOf(runs: readonly SimulatedRun[]): number {
  return Math.max(1, ...runs.map((run) => run.end_ns));
}

export function marksOf(dots: Dots, lanes: readonly Fate[], width: number, end: number): Mark[] {
  const most = Math.max(1, ...dots.units);
  const marks: Mark[] = [];
  dots.at_ns.forEach((at, index) => {
    const lane = lanes.findIndex((fate) => fate.letter === dots.fates[index]);
    const fate = lanes[lane];
    if (fate === undefined) {
      return;
    }
    const passes = dots.passes_ns[index];
    const size = most === 1 ? 3.5 : LEAST + (LARGEST - LEAST) * Math.sqrt((dots.units[index] ?? 0) / most);
    marks.push({ fate, size, x: (at / end) * width, y: LANE * (lane + 0.5), until: typeof passes === "number" ? (passes / end) * width : null });
  });
  return marks;
}

/** The lines of what is left: as columns begin, and the least in each. */
export function stateLines(state: State, width: number, height: number, end: number): { left: [number, number][]; least: [number, number][] } {
  const most = Math.max(1, state.most, ...state.left);
  const point = (units: number, at: number): [number, number] => [Math.min(width, ((at * state.step_ns) / end) * width), height - (units / most) * height];
  return { left: state.left.map(point), least: state.least.map(point) };
}

const SECOND = 1e9;
const STEPS_S = [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200];
const DAY_S = 86_400;

export function spanWords(ns: number): string {
  const seconds = ns / SECOND;
  const cut = (value: number): string => String(Number(value.toPrecision(6)));
  if (seconds >= 2 * DAY_S) {
    return `${cut(seconds / DAY_S)} d`;
  }
  if (seconds >= 7200) {
    return `${cut(seconds / 3600)} h`;
  }
  if (seconds >= 180) {
    return `${cut(seconds / 60)} min`;
  }
  return seconds === 0 || seconds >= 1 ? `${cut(seconds)} s` : seconds >= 1e-3 ? `${cut(seconds * 1e3)} ms` : `${cut(seconds * 1e6)} µs`;
}

/** Round instants with their words, so many px apart at least. */
export function ticksOf(end: number, width: number, apart = 70): { x: number; text: string }[] {
  const room = (end / SECOND) * (apart / Math.max(1, width));
  const found = STEPS_S.find((step) => step >= room);
  const step = (found ?? DAY_S * 2 ** Math.ceil(Math.log2(Math.max(1, room / DAY_S)))) * SECOND;
  const ticks: { x: number; text: string }[] = [];
  for (let at = 0; at <= end * (1 + 1e-9); at += step) {
    ticks.push({ x: (at / end) * width, text: spanWords(at) });
  }
  return ticks;
}
