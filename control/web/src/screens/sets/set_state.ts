import { signal } from "@preact/signals";

import { Checker } from "../../editor/check";
import { ask, COMPILE_MS } from "../../parts/ask";
import { listOf, membersOf, textOf } from "../../parts/members";
import { reasonOf, type Reply } from "../../transport/send";
import { handedOver, sameTexts, setFilesOf, textsOver, type SetFile, type SetFiles } from "./set_files";
import { filesNow, throughTags } from "./tags";

// The files of the set in force, and what is changed in them here; kept in this tab until they are in force or thrown away.
export interface SetDraft {
  base: SetFiles;
  texts: string[]; // by file
}
const NAME = "sluice.set-draft";

export const setDraft = signal<SetDraft | null>(null);
export const setTrouble = signal<string | null>(null);
export const checker = new Checker({
  ask: (path, body, signal) => ask(path, { method: "POST", body, signal }),
  later: (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
});

export function isChanged(draft: SetDraft): boolean {
  return draft.base.files.some((file, at) => file.text !== draft.texts[at]);
}

export function filesOf(draft: SetDraft): SetFile[] {
  return draft.base.files.map((file, at) => ({ ...file, text: draft.texts[at] ?? file.text }));
}

function keep(draft: SetDraft): void {
  setDraft.value = draft;
  if (!isChanged(draft)) {
    sessionStorage.removeItem(NAME);
    return;
  }
  try {
    sessionStorage.setItem(NAME, JSON.stringify(draft));
  } catch {
    sessionStorage.removeItem(NAME); // more than a tab may keep
  }
}

export function check(at: number, pause?: number): void {
  const draft = setDraft.peek();
  const file = draft?.base.files[at];
  if (draft !== null && file !== undefined) {
    checker.ask(`/v1/rules/check?file=${encodeURIComponent(file.name)}`, draft.texts[at] ?? file.text, true, pause);
  }
}

export function setFileText(at: number, text: string): void {
  const draft = setDraft.peek();
  if (draft !== null && draft.texts[at] !== text) {
    keep({ ...draft, texts: draft.texts.map((old, index) => (index === at ? text : old)) });
    check(at);
  }
}

function kept(): SetDraft | null {
  try {
    const draft = membersOf(JSON.parse(sessionStorage.getItem(NAME) ?? "null"));
    const base = setFilesOf(draft["base"]);
    const texts = listOf(draft["texts"]).filter((one): one is string => typeof one === "string");
    return base === null || texts.length !== base.files.length ? null : { base, texts };
  } catch {
    return null;
  }
}

/** `isAnew`: what was changed here is thrown away; `keepTexts`: it is to stand in place of what is in force now. */
export async function loadSet({ isAnew = false, keepTexts = false } = {}): Promise<void> {
  const mine = keepTexts ? setDraft.peek() : isAnew ? null : kept();
  if (mine !== null && !keepTexts) {
    setDraft.value = mine;
    return;
  }
  const reply = await ask("/v1/rules/files");
  const base = reply.status === 200 ? setFilesOf(reply.body) : null;
  if (base === null) {
    setTrouble.value = reply.status === 404 ? "no rules were ever applied: sluicectl apply rules.yaml brings some" : reasonOf(reply);
    return;
  }
  setTrouble.value = null;
  keep({ base, texts: textsOver(base, mine) });
}

/** -> the differences; or why there are none. */
export async function compareSet(draft: SetDraft): Promise<{ answer: unknown } | string> {
  const { query, call } = handedOver(filesOf(draft));
  const reply = await ask(`/v1/rules/diff?${query}`, { method: "POST", ...call, signal: AbortSignal.timeout(COMPILE_MS) });
  return reply.status === 200 ? { answer: reply.body } : reasonOf(reply);
}

export interface SetOnTrial {
  files: SetFile[];
  until: string | null;
  isSeen: boolean; // a snapshot has shown it on trial
}

/** On trial; -> how it ended. */
export async function applySet(draft: SetDraft, confirm: string): Promise<{ status: number; why: string | null; onTrial: SetOnTrial }> {
  const files = filesOf(draft);
  const { query, call } = handedOver(files, { confirm });
  const put = (ifMatch: string): Promise<Reply> => ask(`/v1/rules?${query}`, { method: "PUT", ...call, ifMatch, signal: AbortSignal.timeout(COMPILE_MS) });
  const reply = await throughTags(draft.base.etag, put, (inForce) => sameTexts(draft.base.files, inForce));
  const until = textOf(membersOf(membersOf(reply.body)["unconfirmed"])["until"]);
  return { status: reply.status, why: reply.status === 200 ? null : reasonOf(reply), onTrial: { files, until, isSeen: false } };
}

/** Whether these files are in force now; null: nobody can say. */
export async function areInForce(files: readonly SetFile[]): Promise<boolean | null> {
  const set = await filesNow();
  return "status" in set ? null : sameTexts(files, set.files);
}
