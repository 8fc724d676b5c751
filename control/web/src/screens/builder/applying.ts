import { effect, signal } from "@preact/signals";

import { poll, zone } from "../../page";
import { ask, COMPILE_MS } from "../../parts/ask";
import { membersOf, textOf } from "../../parts/members";
import { nameOf } from "../../text/by";
import { instantText } from "../../text/time";
import { visibleText } from "../../text/visible";
import type { LiveAnswer } from "../../transport/answers";
import { reasonOf, type Reply } from "../../transport/send";
import { handedOver, linesOf, sameTexts, withLines, type SetFile } from "../sets/set_files";
import { filesNow, throughTags } from "../sets/tags";
import { adopt, draft, draftId, rebase, type Draft } from "./draft";
import { idOnTrial } from "./live_builder";
import { bareRule, endOf, isOfOthers, isSameSet, type TrialOfRule } from "./rule_trial";

// A draft compared with what is in force, put on trial, and what became of that.
export const TRIAL = "60s";
interface Review {
  text: string; // that was looked at
  files: SetFile[] | null; // of the set it was compared with; null: they could not be read, or the rule is another one there
  answer: unknown; // of POST /v1/rules/diff; null: there is none
  why: string | null;
}
interface Applied extends TrialOfRule {
  id: string;
  before: LiveAnswer | null;
  hadTrial: boolean; // a snapshot has shown it on trial
  ended: "stays" | "back" | null; // by this tab
}
export const review = signal<Review | null>(null);
export const applied = signal<Applied | null>(null);
effect(() => {
  idOnTrial.value = applied.value?.id ?? "";
});
export const end = signal<string | null>(null);
export const others = signal<string | null>(null); // who has changed the rules meanwhile

async function compared(now: Draft): Promise<Omit<Review, "text">> {
  const set = await filesNow();
  if ("status" in set) {
    return { files: null, answer: null, why: now.subject === "" ? null : reasonOf(set) };
  }
  if (now.subject === "") {
    return { files: set.files, answer: null, why: null };
  }
  const full = await ask(`/v1/rules/${encodeURIComponent(now.subject)}/full`);
  const source = membersOf(membersOf(full.body)["source"]);
  const [first, last, name] = [Number(source["line"]), Number(source["last_line"]), textOf(source["file"])];
  const at = set.files.length === 1 ? 0 : set.files.findIndex((file) => file.name === name);
  const file = set.files[at];
  if (file === undefined || !(first > 0) || !(last >= first)) {
    return { files: null, answer: null, why: full.status === 200 ? "its lines cannot be told in the file" : reasonOf(full) };
  }
  const isBase = bareRule(linesOf(file.text, first, last)) === bareRule(now.original);
  const next = set.files.map((one) => (one === file ? { ...one, text: withLines(one.text, first, last, now.text) } : one));
  const { query, call } = handedOver(next);
  const reply = await ask(`/v1/rules/diff?${query}`, { method: "POST", ...call, signal: AbortSignal.timeout(COMPILE_MS) });
  const files = isBase ? set.files : null;
  return reply.status === 200 ? { files, answer: reply.body, why: null } : { files, answer: null, why: reasonOf(reply) };
}

export async function look(): Promise<string | null> {
  const now = draft.peek();
  if (now !== null) {
    const found = await compared(now);
    review.value = { text: now.text, ...found };
    [end.value, others.value] = [null, null];
  }
  return null;
}

/** The draft beside what is in force by now. */
export async function compareAgain(): Promise<void> {
  if (await rebase()) {
    [others.value, review.value] = [null, null];
  }
}

/** Who put the set in force that is there instead. */
async function whoChanged(): Promise<string> {
  const reply = await ask("/v1/history");
  const now = membersOf(membersOf(reply.body)["in_force"]);
  const [by, at] = [nameOf(now["by"]), textOf(now["at"])];
  if (reply.status !== 200 || at === null) {
    return "The rules were changed since this draft was begun.";
  }
  const when = instantText(at, zone.peek(), Date.now());
  return by === null ? `The rules were changed at ${when}, since this draft was begun.` : `${visibleText(by)} has changed the rules at ${when}, since this draft was begun.`;
}

function put(now: Draft, etag: string): Promise<Reply> {
  const words = new URLSearchParams({ confirm: TRIAL, ...(now.file === null ? {} : { file: now.file }) });
  const path = now.subject === "" ? "/v1/rules" : `/v1/rules/${encodeURIComponent(now.subject)}`;
  return ask(`${path}?${words.toString()}`, {
    method: now.subject === "" ? "POST" : "PUT",
    rules: now.text,
    signal: AbortSignal.timeout(COMPILE_MS),
    ...(etag === "" ? {} : { ifMatch: etag }),
  });
}

/** Told before anything else is waited for: the next snapshot may be the only one that shows the trial. */
async function putOnTrial(now: Draft, body: unknown, before: LiveAnswer | null): Promise<void> {
  const answer = membersOf(body);
  const generation = textOf(answer["generation"]) ?? "";
  applied.value = {
    text: now.text,
    original: now.original,
    id: now.subject === "" ? draftId.peek() : now.subject,
    generation,
    until: textOf(membersOf(answer["unconfirmed"])["until"]),
    files: null,
    before,
    hadTrial: false,
    ended: null,
  };
  review.value = null;
  poll.start();
  const set = await filesNow();
  const shown = applied.peek();
  if ("files" in set && set.generation === generation && shown?.generation === generation) {
    applied.value = { ...shown, files: set.files };
  }
}

export async function apply(): Promise<string | null> {
  const [now, seen] = [draft.peek(), review.peek()];
  if (now === null) {
    return "there is no draft";
  }
  if (now.etag === null) {
    others.value = "What is in force could not be read, so nobody knows what this draft would replace.";
    return "what is in force could not be read: compare first";
  }
  const before = poll.shown.peek()?.answer ?? null;
  const files = seen?.text === now.text ? seen.files : null;
  const reply = await throughTags(now.etag, (tag) => put(now, tag), (inForce) => files !== null && sameTexts(files, inForce));
  if (reply.status === 412) {
    others.value = await whoChanged();
  }
  if (reply.status !== 200) {
    return reasonOf(reply);
  }
  await putOnTrial(now, reply.body, before);
  return null;
}

/** The end of this tab's own trial: never of the set that is shown, which may be another one by now. */
export async function finish(word: "confirm" | "rollback"): Promise<string | null> {
  const now = applied.peek();
  if (now === null) {
    return "this tab has nothing on trial";
  }
  const call = (tag: string): Promise<Reply> => ask(`/v1/${word}`, { method: "POST", ifMatch: tag });
  const reply = await throughTags(now.generation, call, (inForce) => isSameSet(now, inForce));
  if (reply.status === 200) {
    applied.value = { ...(applied.peek() ?? now), ended: word === "confirm" ? "stays" : "back" };
  }
  poll.start();
  return reply.status === 412
    ? "what is on trial is not, or not only, what this tab has applied: look at it on the screen Rule sets, and decide by the bar above"
    : reply.status === 200
      ? null
      : reasonOf(reply);
}

const ENDS = {
  stays: "It is confirmed, and stays in force.",
  back: "It went back: what was in force before is so again. The draft is kept.",
  other: "The trial is over, and neither this draft nor what it replaced is in force: others have changed the rule. The draft is kept.",
  unknown: "The trial is over. Whether it was confirmed could not be read: look at the rule before you go on. The draft is kept.",
};

/** By the text of the rule that is in force: the generation is another one after each ban. */
async function endInForce(now: Applied): Promise<keyof typeof ENDS> {
  const reply = await ask(`/v1/rules/${encodeURIComponent(now.id)}/full`);
  const body = membersOf(reply.body);
  const text = textOf(membersOf(body["source"])["text"]);
  return reply.status === 404 ? endOf(now, null, null) : reply.status !== 200 || text === null ? "unknown" : endOf(now, text, textOf(body["generation"]));
}

async function tellEnd(now: Applied): Promise<void> {
  const how = now.ended ?? (await endInForce(now));
  end.value = ENDS[how];
  await (how === "stays" ? adopt(now.text) : rebase());
}

/** A trial that has ended, one way or the other, or has become another one. */
export function settle(answer: LiveAnswer): void {
  const now = applied.peek();
  if (now === null) {
    return;
  }
  const isOthers = answer.trial !== null && isOfOthers(now, answer.trial, now.hadTrial);
  if (now.ended !== null ? answer.trial === null || isOthers : answer.trial === null && now.hadTrial) {
    applied.value = null;
    void tellEnd(now);
  } else if (isOthers) {
    applied.value = null;
    end.value = "Somebody has put other rules on trial in place of these: confirming above confirms theirs. Your draft is kept.";
    void rebase();
  } else if (answer.trial !== null) {
    applied.value = now.hadTrial ? now : { ...now, hadTrial: true };
  }
}
