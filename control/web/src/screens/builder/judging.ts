import { effect, signal } from "@preact/signals";

import { pause } from "../../page";
import { ask, COMPILE_MS } from "../../parts/ask";
import { membersOf, textOf } from "../../parts/members";
import { Follow } from "../../transport/follow";
import { UNKNOWN_ANSWER } from "../../transport/known_answer";
import { reasonOf, type Reply } from "../../transport/send";
import { capturedText } from "./capture_file";
import { draft, draftId, type Draft } from "./draft";
import { placeOf } from "./draft_place";
import { judgedOf, progressOf, type Judged, type Progress } from "./judged_answer";

// The draft over packets: the next ones that pass (a preview), or those of a capture. One at a time, and the last result stays.
export interface Shown {
  text: string; // of the draft that was judged
  rule: string; // its id
  of: string; // `the next 20 s`, `capture NAME`
  judged: Judged;
}
export type Work = { kind: "preview"; seconds: number; name: string | null; progress: Progress | null } | { kind: "capture"; name: string };
const WAIT_S = 1;
const PACE = { longest: 8000, hidden: 3000 }; // unread for ten seconds a preview ends

export const shown = signal<Shown | null>(null);
export const work = signal<Work | null>(null);
export const judgingTrouble = signal<string | null>(null);
let following: Follow | null = null;
let call: AbortController | null = null;
let round = 0;

function queryOf(now: Draft): string {
  const query = placeOf(now);
  return query === "" ? "" : `?${query}`;
}

/** Why sluiced refused, with the first error of a draft that does not compile. */
function whyNot(reply: Reply): string {
  const { problems } = membersOf(reply.body);
  const first = Array.isArray(problems) ? problems.map(membersOf).find((one) => one["severity"] === "error") : undefined;
  const text = textOf(first?.["text"]) ?? textOf(first?.["message"]);
  return text === null ? reasonOf(reply) : `${reasonOf(reply)}: line ${String(first?.["line"])}: ${text}`;
}

function over(trouble: string | null): void {
  following?.end();
  [following, call, work.value, judgingTrouble.value] = [null, null, null, trouble];
}

function forget(name: string, keepalive = false): void {
  void ask(`/v1/previews/${encodeURIComponent(name)}`, { method: "DELETE", keepalive });
}

/** Whatever is under way ends, and says why. */
export function cancel(why: string | null = null, keepalive = false): void {
  const now = work.peek();
  round += 1;
  call?.abort();
  if (now?.kind === "preview" && now.name !== null) {
    forget(now.name, keepalive);
  }
  if (now !== null) {
    over(why);
  }
}

async function turn(mine: number, name: string, of: Draft, aborts: AbortSignal): Promise<number | null> {
  const reply = await ask(`/v1/previews/${encodeURIComponent(name)}?wait=${WAIT_S}`, { signal: aborts });
  const now = work.peek();
  if (mine !== round || now?.kind !== "preview") {
    return null;
  }
  const progress = reply.status === 200 ? progressOf(reply.body) : null;
  if (progress?.result != null && progress.state === "done") {
    shown.value = { text: of.text, rule: draftId.peek(), of: `the ${now.seconds} s that were watched`, judged: progress.result };
    over(null);
    return null;
  }
  if (progress !== null) {
    work.value = { ...now, progress };
    judgingTrouble.value = null;
    return 0;
  }
  if (reply.status === 200 || (reply.status >= 400 && reply.status < 500)) {
    over(`No preview: ${reply.status === 200 ? UNKNOWN_ANSWER : reasonOf(reply)}`);
    return null;
  }
  judgingTrouble.value = reasonOf(reply); // once more: it may be back
  return 1000;
}

export async function preview(seconds: number): Promise<void> {
  const now = draft.peek();
  if (now === null) {
    return;
  }
  cancel();
  const mine = round;
  [work.value, judgingTrouble.value, call] = [{ kind: "preview", seconds, name: null, progress: null }, null, new AbortController()];
  const limit = AbortSignal.any === undefined ? call.signal : AbortSignal.any([call.signal, AbortSignal.timeout(COMPILE_MS)]);
  const reply = await ask(`/v1/previews${queryOf(now)}`, { method: "POST", body: { text: now.text, seconds }, signal: limit });
  const name = textOf(membersOf(reply.body)["preview"]);
  if (mine !== round) {
    if (reply.status === 201 && name !== null) {
      forget(name); // it was given up meanwhile
    }
    return;
  }
  if (reply.status !== 201 || name === null) {
    over(`No preview: ${reply.status === 201 ? UNKNOWN_ANSWER : whyNot(reply)}`);
    return;
  }
  work.value = { kind: "preview", seconds, name, progress: null };
  following = new Follow((aborts) => turn(mine, name, now, aborts), { pause, isHidden: () => document.hidden }, PACE).begin();
}

export async function replay(file: File, inside: readonly string[]): Promise<void> {
  const now = draft.peek();
  if (now === null) {
    return;
  }
  cancel();
  const mine = round;
  [work.value, judgingTrouble.value, call] = [{ kind: "capture", name: file.name }, null, new AbortController()];
  const read = await capturedText(file);
  if (mine !== round) {
    return;
  }
  if ("why" in read) {
    over(`Not replayed: ${read.why}`);
    return;
  }
  const body = { text: now.text, capture: read.text, ...(inside.length === 0 ? {} : { inside }) };
  const limit = AbortSignal.any === undefined ? call.signal : AbortSignal.any([call.signal, AbortSignal.timeout(COMPILE_MS)]);
  const reply = await ask(`/v1/replay${queryOf(now)}`, { method: "POST", body, signal: limit });
  if (mine !== round) {
    return;
  }
  const judged = reply.status === 200 ? judgedOf(membersOf(reply.body)["result"]) : null;
  if (judged === null) {
    over(`Not replayed: ${reply.status === 200 ? UNKNOWN_ANSWER : whyNot(reply)}`);
    return;
  }
  over(null);
  shown.value = { text: now.text, rule: draftId.peek(), of: `capture ${file.name}`, judged };
}

// A draft that is written on is another one: what is under way would be of nobody's draft.
let begunWith: string | null = null;
effect(() => {
  const text = draft.value?.text ?? null;
  if (work.peek() !== null && begunWith !== null && text !== begunWith) {
    cancel("the draft was changed meanwhile");
  }
  begunWith = text;
});
let subject: string | null = null;
effect(() => {
  const now = draft.value?.subject ?? null;
  if (now !== null && subject !== null && now !== subject && shown.peek()?.text !== draft.peek()?.text) {
    [shown.value, judgingTrouble.value] = [null, null]; // another rule
  }
  subject = now ?? subject;
});
addEventListener("pagehide", () => cancel(null, true));
