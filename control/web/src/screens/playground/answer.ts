import { isNumber } from "../../text/number";

// Answers of POST /v1/simulate. Instants are ns of the run.
export interface Counts {
  offered: number;
  admitted: number;
  yellow: number;
  delayed: number;
  refused: number;
  waiting: number;
  last_admitted_ns: number | null;
  cut: boolean;
}
export interface Dots {
  step_ns: number;
  at_ns: number[];
  fates: string; // a letter each: admitted, yellow, delayed, refused, waiting
  units: number[];
  passes_ns: (number | null)[];
}
export interface State {
  step_ns: number;
  most: number;
  left: number[];
  least: number[];
}
export interface DayRow {
  from_ns: number;
  to_ns: number;
  hours: number;
  offered: number;
  admitted: number;
}
export interface SimulatedRun {
  algorithm: string;
  text: string;
  unit: string;
  yaml: string;
  line: string;
  end_ns: number;
  counts: Counts;
  window_ns: number;
  most_in_window: number;
  promised: number;
  promise: string;
  dots: Dots;
  state: State;
  days: { list: DayRow[]; left_out: number } | null;
}
export interface SimulationProblem {
  severity: "error" | "warning";
  of: string; // "limits" or "run"
  line: number | null;
  column: number | null;
  text: string;
}
export interface Simulation {
  ok: boolean;
  problems: SimulationProblem[];
  start_ns?: number;
  runs: SimulatedRun[];
}

type Members = Record<string, unknown>;

function isMap(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function areNumbers(list: unknown): list is number[] {
  return Array.isArray(list) && list.every(isNumber);
}

function isRun(run: unknown): run is SimulatedRun {
  if (!isMap(run) || !isMap(run["dots"]) || !isMap(run["state"]) || !isMap(run["counts"])) {
    return false;
  }
  const { dots, state } = run as { dots: Members; state: Members };
  return (
    isNumber(run["end_ns"]) &&
    areNumbers(dots["at_ns"]) &&
    areNumbers(dots["units"]) &&
    typeof dots["fates"] === "string" &&
    Array.isArray(dots["passes_ns"]) &&
    isNumber(state["step_ns"]) &&
    isNumber(state["most"]) &&
    areNumbers(state["left"]) &&
    areNumbers(state["least"])
  );
}

export function isSimulation(body: unknown): body is Simulation {
  return isMap(body) && typeof body["ok"] === "boolean" && Array.isArray(body["problems"]) && body["problems"].every(isMap) && Array.isArray(body["runs"]) && body["runs"].every(isRun);
}
