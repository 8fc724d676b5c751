import { computed, signal } from "@preact/signals";

import { Checker } from "../../editor/check";
import { ask } from "../../parts/ask";
import { listOf, membersOf, textOf } from "../../parts/members";
import { reasonOf } from "../../transport/send";
import { placeOf } from "./draft_place";
import { outdented } from "./rule_trial";
import { isMapAt, keysAt, lengthAt, readRule, textAt, textsAt, withMoreCondition, withRaw, withText, type ReadRule } from "./draft_text";

// The rule that is being written. It is kept in this tab until it is in force or thrown away.
export interface Draft {
  subject: string; // id of the rule in force that it replaces; empty: a new one
  text: string;
  original: string; // as it is in force; empty: a new one
  etag: string | null; // of the set that it was read from; empty: there was none; null: it could not be read
  file: string | null;
}
const NAME = "sluice.draft.";

export const draft = signal<Draft | null>(null);
export const draftTrouble = signal<string | null>(null);
export const isKeptOne = signal(false); // it was begun before this visit
export const rule = computed<ReadRule | string>(() => readRule(draft.value?.text ?? ""));
export const draftId = computed(() => (typeof rule.value === "string" ? "" : (textAt(rule.value, ["id"]) ?? "")));
export const checker = new Checker({
  ask: (path, body, signal) => ask(path, { method: "POST", body, signal }),
  later: (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
});

export { isMapAt, keysAt, lengthAt, textAt, textsAt };

function keep(next: Draft): void {
  draft.value = next;
  const name = NAME + next.subject;
  if (next.text === next.original) {
    sessionStorage.removeItem(name);
  } else {
    sessionStorage.setItem(name, JSON.stringify(next));
  }
}

function check(next: Draft, pause?: number): void {
  const query = placeOf(next);
  checker.ask(`/v1/rules/check${query === "" ? "" : `?${query}`}`, next.text, false, pause);
}

/** Another text of the draft, by the form or by hand. */
export function setText(text: string): void {
  const now = draft.peek();
  if (now !== null && now.text !== text) {
    const next = { ...now, text };
    keep(next);
    check(next);
  }
}

/** A change by the form: nothing happens while the text cannot be read. */
export function edit(change: (rule: ReadRule) => string): void {
  const now = rule.peek();
  if (typeof now !== "string") {
    setText(change(now));
  }
}

function keptDraft(subject: string): Draft | null {
  try {
    const kept = membersOf(JSON.parse(sessionStorage.getItem(NAME + subject) ?? "null"));
    const [text, original] = [textOf(kept["text"]), textOf(kept["original"])];
    return text === null || original === null ? null : { subject, text, original, etag: textOf(kept["etag"]), file: textOf(kept["file"]) };
  } catch {
    return null;
  }
}

function newText(condition: string, limit: string): string {
  const begin = "id: new-rule\nmode: monitor\nkey: [ip.src]\nlimits: [{algorithm: token_bucket, rate: 300/m, burst: 50}]\non_exceed: {action: drop}\n";
  return withWords(begin, condition, limit);
}

/** Words that a link to the builder brings along: a condition that comes beside its own, and a limit in its place. */
function withWords(text: string, condition: string, limit: string): string {
  let next = text;
  const read = readRule(next);
  if (condition !== "" && typeof read !== "string") {
    next = withMoreCondition(read, condition);
  }
  const again = readRule(next);
  if (/^\{.*\}$/s.test(limit) && typeof again !== "string") {
    next = withRaw(again, ["limits"], `[${limit.replace(/\s*\n\s*/g, " ")}]`);
  }
  return next;
}

async function fetched(subject: string): Promise<Draft | string> {
  const reply = await ask(`/v1/rules/${encodeURIComponent(subject)}/full`);
  const body = membersOf(reply.body);
  const source = membersOf(body["source"]);
  const text = textOf(source["text"]);
  if (reply.status !== 200) {
    return reasonOf(reply);
  }
  if (text === null) {
    return "the lines of this rule cannot be told in its file: change the file itself, on the screen Rule sets";
  }
  const plain = outdented(text);
  return { subject, text: plain, original: plain, etag: textOf(body["etag"]), file: textOf(source["file"]) };
}

async function begun(subject: string, condition: string, limit: string): Promise<Draft | string> {
  if (subject === "") {
    const reply = await ask("/v1/rules/files");
    if (reply.status !== 200 && reply.status !== 404) {
      return reasonOf(reply);
    }
    const body = membersOf(reply.body);
    const etag = reply.status === 404 ? "" : textOf(body["etag"]);
    const [file] = listOf(body["files"]).map(membersOf);
    return { subject, text: newText(condition, limit), original: "", etag, file: textOf(file?.["name"]) };
  }
  const found = await fetched(subject);
  return typeof found === "string" ? found : { ...found, text: withWords(found.text, condition, limit) };
}

/** What a link to the builder names and brings along. */
export interface Opening {
  subject: string;
  condition: string;
  limit: string;
  copy: string; // id of the rule that a new one is to be like
}

/** A new rule like one in force: under another id, and refusing nothing yet. */
async function copied(id: string): Promise<Draft | string> {
  if (keptDraft("") !== null) {
    return "another new rule is being written, and is kept: apply it on the screen Builder, or begin it anew there";
  }
  const [like, blank] = await Promise.all([fetched(id), begun("", "", "")]);
  const read = typeof like === "string" ? like : readRule(like.text);
  if (typeof like === "string" || typeof blank === "string" || typeof read === "string") {
    return typeof like === "string" ? like : typeof blank === "string" ? blank : String(read);
  }
  const named = readRule(withText(read, ["id"], `${id}-copy`));
  return typeof named === "string" ? named : { ...blank, text: withText(named, ["mode"], "monitor"), file: like.file };
}

let opened = 0;
/** -> whether what the link brings stands in the draft now, so that it need not be brought again. */
export async function open({ subject, condition, limit, copy }: Opening, isAnew = false): Promise<boolean> {
  opened += 1;
  const mine = opened;
  const brings = condition !== "" || limit !== "";
  const kept = isAnew || copy !== "" ? null : keptDraft(subject);
  isKeptOne.value = kept !== null;
  draftTrouble.value = null;
  if (kept === null) {
    draft.value = null;
  }
  const next = kept === null ? await (copy === "" ? begun(subject, condition, limit) : copied(copy)) : brings ? { ...kept, text: withWords(kept.text, condition, limit) } : kept;
  if (mine !== opened) {
    return false;
  }
  if (typeof next === "string") {
    draftTrouble.value = next;
    return false;
  }
  checker.result.value = null;
  keep(next);
  check(next, 0);
  return brings || copy !== "";
}

/** The rule in force now, whatever is written here. */
async function inForce(subject: string): Promise<{ original: string; etag: string | null } | null> {
  const found = subject === "" ? await begun("", "", "") : await fetched(subject);
  return typeof found === "string" ? null : { original: found.original, etag: found.etag };
}

/** The same draft, to be put in place of what is in force now; -> whether that could be read. */
export async function rebase(): Promise<boolean> {
  const now = draft.peek();
  const base = now === null ? null : await inForce(now.subject);
  const latest = draft.peek();
  if (base === null || latest === null || latest.subject !== now?.subject) {
    return false;
  }
  keep({ ...latest, ...base });
  return base.etag !== null;
}

/** A text of this draft is in force: the next one begins at it. */
export async function adopt(text: string): Promise<void> {
  const now = draft.peek();
  if (now === null) {
    return;
  }
  sessionStorage.removeItem(NAME + now.subject);
  const subject = now.subject === "" ? draftId.peek() : now.subject;
  const base = await inForce(subject);
  const latest = draft.peek() ?? now;
  keep({ ...latest, subject, original: text, etag: base?.etag ?? null });
}

export function throwAway(): void {
  const now = draft.peek();
  if (now !== null) {
    sessionStorage.removeItem(NAME + now.subject);
    void open({ subject: now.subject, condition: "", limit: "", copy: "" }, true);
  }
}
