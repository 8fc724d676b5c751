import type { Trial } from "../../transport/answers";
import { sameTexts, type SetFile } from "../sets/set_files";

// A rule that this tab has put on trial, and what is said of it since. Pure.
export interface TrialOfRule {
  text: string; // of the rule
  original: string; // that it stands in place of; empty: none
  generation: string; // of the set with it
  until: string | null; // when the trial ends
  files: SetFile[] | null; // of the set with it; null: another one was in force before they could be read
}

/** A rule's text without the indentation of the list it stands in. */
export function outdented(text: string): string {
  const lead = /^ */.exec(text)?.[0].length ?? 0;
  return text
    .split("\n")
    .map((line) => line.slice(Math.min(lead, line.search(/[^ ]|$/))))
    .join("\n");
}

/** The same of a rule as an item and as a map, whatever blanks and comments are around it: sluiced tells the lines of the rule alone. */
export function bareRule(text: string): string {
  const lines = text.replace(/\r/g, "").split("\n");
  const isOwn = (line: string): boolean => /^\s*[^\s#]/.test(line);
  const [first, last] = [lines.findIndex(isOwn), lines.length - [...lines].reverse().findIndex(isOwn)];
  const plain = first === -1 ? "" : outdented(lines.slice(first, last).join("\n")).trimEnd();
  const mark = /^- +/.exec(plain)?.[0] ?? "";
  return outdented(" ".repeat(mark.length) + plain.slice(mark.length));
}

/** What is in force of a trial that is over; `now`: the rule's text, null: there is no such rule; `generation`: of the set. */
export function endOf(trial: TrialOfRule, now: string | null, generation: string | null): "stays" | "back" | "other" {
  const text = now === null ? "" : bareRule(now);
  return text === bareRule(trial.text) || generation === trial.generation ? "stays" : text === bareRule(trial.original) ? "back" : "other";
}

/** The set on trial is one that others have put in place of this tab's. Before that one was `seen`, an older one may be shown. */
export function isOfOthers(trial: { until: string | null }, shown: Trial, seen: boolean): boolean {
  return trial.until !== null && shown.until !== trial.until && (seen || Date.parse(shown.until) > Date.parse(trial.until));
}

/** True where nothing but modes, bans and numbers of keys differs from the set that this tab has put on trial. */
export function isSameSet(trial: TrialOfRule, files: readonly SetFile[]): boolean {
  return trial.files !== null && sameTexts(trial.files, files);
}
