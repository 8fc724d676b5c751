import { signal } from "@preact/signals";

import { listOf, membersOf } from "../parts/members";
import { reasonOf, type Reply } from "../transport/send";
import { problemsOf, type TextProblem } from "./problems";

export interface CheckedLimit {
  text: string;
  promise: string | null;
  most: number | null;
  window_s: number | null;
  because: string | null; // it starts anew
}
export interface CheckedRule {
  id: string;
  limits: CheckedLimit[];
  placement: string | null;
  bytes_per_key: number | null;
  memory: number | null; // bytes of the compiled rule
  starts_anew: boolean | null;
  answers: { protocol: string; does: string }[];
}
export interface Checked {
  text: string; // that was checked
  isOk: boolean;
  problems: TextProblem[];
  rules: CheckedRule[];
}
export interface CheckSurroundings {
  ask(path: string, body: unknown, signal: AbortSignal): Promise<Reply>;
  later(run: () => void, ms: number): () => void; // -> ends it
}
const PAUSE_MS = 300; // after the last key

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === "string" ? value : otherwise;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function ruleOf(value: unknown): CheckedRule {
  const row = membersOf(value);
  return {
    id: textOr(row["id"], ""),
    limits: listOf(row["limits"]).map(membersOf).map((limit) => ({
      text: textOr(limit["text"], ""),
      promise: textOr(limit["promise"], null),
      most: numberOrNull(limit["most"]),
      window_s: numberOrNull(limit["window_s"]),
      because: textOr(limit["because"], null),
    })),
    placement: textOr(row["placement"], null),
    bytes_per_key: numberOrNull(row["bytes_per_key"]),
    memory: numberOrNull(row["memory"]),
    starts_anew: typeof row["starts_anew"] === "boolean" ? row["starts_anew"] : null,
    answers: listOf(row["answers"]).map(membersOf).map((one) => ({ protocol: textOr(one["protocol"], "?"), does: textOr(one["does"], "?") })),
  };
}

export function checkedOf(text: string, body: unknown): Checked {
  const answer = membersOf(body);
  const problems = problemsOf(answer["problems"]);
  return {
    text,
    isOk: answer["ok"] === true && !problems.some((one) => one.severity === "error"),
    problems,
    rules: listOf(answer["rules"]).map(ruleOf),
  };
}

/** Texts to sluiced as they are typed: a little after the last key, one at a time, and only the newest one's answer counts. */
export class Checker {
  readonly result = signal<Checked | null>(null);
  readonly trouble = signal<string | null>(null);
  readonly isUnderWay = signal(false);
  private round = 0;
  private stopTimer: () => void = () => undefined;
  private call: AbortController | null = null;

  constructor(private readonly around: CheckSurroundings) {}

  ask(path: string, text: string, isWhole: boolean, pause = PAUSE_MS): void {
    this.stop();
    this.isUnderWay.value = true;
    const round = this.round;
    this.stopTimer = this.around.later(() => void this.run(round, path, text, isWhole), pause);
  }

  /** Nothing that is under way counts any more. */
  stop(): void {
    this.round += 1;
    this.stopTimer();
    this.call?.abort();
    this.isUnderWay.value = false;
  }

  private async run(round: number, path: string, text: string, isWhole: boolean): Promise<void> {
    const call = new AbortController();
    this.call = call;
    const reply = await this.around.ask(path, { text, whole: isWhole }, call.signal);
    if (round !== this.round) {
      return;
    }
    this.isUnderWay.value = false;
    if (reply.status === 200) {
      this.trouble.value = null;
      this.result.value = checkedOf(text, reply.body);
    } else {
      this.trouble.value = reasonOf(reply);
    }
  }
}
