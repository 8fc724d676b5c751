import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { inChunk } from "../../frame/chunk";
import { poll, zone } from "../../page";
import { Act } from "../../parts/act";
import { ask, COMPILE_MS } from "../../parts/ask";
import { LineDiff } from "../../parts/line_diff";
import { membersOf, textOf } from "../../parts/members";
import { Num } from "../../parts/num";
import { Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { withUnit } from "../../text/number";
import { instantText } from "../../text/time";
import { visibleText } from "../../text/visible";
import { MEASURES, type LiveAnswer, type Measure, type RuleRow } from "../../transport/answers";
import { reasonOf } from "../../transport/send";
import { handedOver, setFilesOf, withLines } from "../sets/set_files";
import { SetDiff } from "../sets/set_diff";
import { adopt, checker, draft, draftId, rebase, rule, type Draft } from "./draft";

const PreviewPanel = inChunk(() => import("./preview_panel").then((m) => m.PreviewPanel));

// Review and apply: what changes, then the rule in force on trial, what that did, and whether it stays.
export const TRIAL = "60s";
interface Review {
  text: string; // that was looked at
  answer: unknown; // of POST /v1/rules/diff; null: there is none
  why: string | null;
}
interface Applied {
  text: string;
  generation: string;
  before: LiveAnswer | null;
  hadTrial: boolean; // a snapshot has shown it on trial
}
const review = signal<Review | null>(null);
export const applied = signal<Applied | null>(null);
const end = signal<string | null>(null);
const others = signal<string | null>(null); // who has changed the rules meanwhile

async function compared(now: Draft): Promise<{ answer: unknown; why: string | null }> {
  if (now.subject === "") {
    return { answer: null, why: null };
  }
  const [files, full] = await Promise.all([ask("/v1/rules/files"), ask(`/v1/rules/${encodeURIComponent(now.subject)}/full`)]);
  const set = files.status === 200 ? setFilesOf(files.body) : null;
  const source = membersOf(membersOf(full.body)["source"]);
  const [first, last] = [Number(source["line"]), Number(source["last_line"])];
  if (set === null || !(first > 0) || !(last >= first)) {
    return { answer: null, why: set === null ? reasonOf(files) : "its lines cannot be told in the file" };
  }
  const name = textOf(source["file"]);
  const next = set.files.map((file) => (file.name === name || set.files.length === 1 ? { ...file, text: withLines(file.text, first, last, now.text) } : file));
  const { query, call } = handedOver(next);
  const reply = await ask(`/v1/rules/diff?${query}`, { method: "POST", ...call, signal: AbortSignal.timeout(COMPILE_MS) });
  return reply.status === 200 ? { answer: reply.body, why: null } : { answer: null, why: reasonOf(reply) };
}

async function look(): Promise<string | null> {
  const now = draft.peek();
  if (now !== null) {
    const found = await compared(now);
    review.value = { text: now.text, ...found };
    [end.value, others.value] = [null, null];
  }
  return null;
}

/** The draft beside what is in force by now. */
async function compareAgain(): Promise<void> {
  if (await rebase()) {
    [others.value, review.value] = [null, null];
  }
}

/** Who put the set in force that is there instead. */
async function whoChanged(): Promise<string> {
  const reply = await ask("/v1/history");
  const now = membersOf(membersOf(reply.body)["in_force"]);
  const [by, at] = [now["by"], textOf(now["at"])];
  return reply.status !== 200 || at === null
    ? "Somebody has changed the rules since this draft was begun."
    : `${typeof by === "string" ? visibleText(by) : `User ${String(by)}`} has changed the rules at ${instantText(at, zone.peek(), Date.now())}, since this draft was begun.`;
}

async function apply(): Promise<string | null> {
  const now = draft.peek();
  if (now === null) {
    return "there is no draft";
  }
  if (now.etag === null) {
    others.value = "What is in force could not be read, so nobody knows what this draft would replace.";
    return "what is in force could not be read: compare first";
  }
  const before = poll.shown.peek()?.answer ?? null;
  const words = new URLSearchParams({ confirm: TRIAL, ...(now.file === null ? {} : { file: now.file }) });
  const path = now.subject === "" ? "/v1/rules" : `/v1/rules/${encodeURIComponent(now.subject)}`;
  const reply = await ask(`${path}?${words.toString()}`, {
    method: now.subject === "" ? "POST" : "PUT",
    rules: now.text,
    signal: AbortSignal.timeout(COMPILE_MS),
    ...(now.etag === "" ? {} : { ifMatch: now.etag }),
  });
  if (reply.status === 412) {
    others.value = await whoChanged();
    return reasonOf(reply);
  }
  if (reply.status !== 200) {
    return reasonOf(reply);
  }
  applied.value = { text: now.text, generation: textOf(membersOf(reply.body)["generation"]) ?? "", before, hadTrial: false };
  review.value = null;
  poll.start();
  return null;
}

async function finish(path: string): Promise<string | null> {
  const generation = poll.shown.peek()?.answer.box.generation;
  const reply = await ask(path, { method: "POST", ...(typeof generation === "string" ? { ifMatch: generation } : {}) });
  poll.start();
  return reply.status === 200 ? null : reasonOf(reply);
}

/** A trial that has ended, one way or the other. */
function settle(answer: LiveAnswer): void {
  const now = applied.peek();
  if (now === null) {
    return;
  }
  if (answer.trial !== null) {
    applied.value = now.hadTrial ? now : { ...now, hadTrial: true };
  } else if (now.hadTrial) {
    const stays = answer.box.generation === now.generation;
    applied.value = null;
    end.value = stays ? "It is confirmed, and stays in force." : "It went back: what was in force before is so again. The draft is kept.";
    void (stays ? adopt(now.text) : rebase());
  }
}

function rowOf(answer: LiveAnswer | null, id: string): RuleRow | undefined {
  return answer?.rules.rows.find((row) => row.id === id);
}

const MEASURE_NAMES: Record<Measure, string> = { offered: "Offered", passed: "Passed", refused: "Refused", would_refuse: "Would refuse", answered: "Answered" };

function BeforeAndNow({ before, now }: { before: LiveAnswer | null; now: LiveAnswer }) {
  const id = draftId.value;
  const [was, is] = [rowOf(before, id), rowOf(now, id)];
  return (
    <table class="before">
      <thead>
        <tr>
          <td />
          <th scope="col" class="number">
            Before
          </th>
          <th scope="col" class="number">
            Now
          </th>
        </tr>
      </thead>
      <tbody>
        {MEASURES.map((measure) => (
          <tr>
            <th scope="row" class={measure.replace("_", "-")}>
              {MEASURE_NAMES[measure]}
            </th>
            <td class="number">
              <Num text={withUnit(before?.rates?.[measure].pps, "pps")} />
            </td>
            <td class="number">
              <Num text={withUnit(now.rates?.[measure].pps, "pps")} />
            </td>
          </tr>
        ))}
        {is !== undefined && (
          <tr>
            <th scope="row">
              {is.mode === "monitor" ? "Would refuse" : "Refused"} by <Text of={id} />
            </th>
            <td class="number">
              <Num text={withUnit(was?.mode === "monitor" ? was.would_refuse_pps : was?.refused_pps, "pps")} />
            </td>
            <td class="number">
              <Num text={withUnit(is.mode === "monitor" ? is.would_refuse_pps : is.refused_pps, "pps")} />
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function OnTrial() {
  const now = applied.value;
  const answer = poll.shown.value?.answer;
  if (now === null || answer === undefined) {
    return null;
  }
  return (
    <div class="on-trial">
      <p>
        <strong>In force for {TRIAL.replace("s", " s")}.</strong> Nobody confirms: it goes back by itself, also if this page is closed.
      </p>
      <BeforeAndNow before={now.before} now={answer} />
      <p>
        <Act verb="confirm" isAllowed={answer.trial === null ? "not on trial" : null} run={() => finish("/v1/confirm")}>
          Confirm this rule
        </Act>{" "}
        <Act verb="rollback" isAllowed={answer.trial === null ? "not on trial" : null} run={() => finish("/v1/rollback")}>
          Go back now
        </Act>
      </p>
    </div>
  );
}

/** Why the draft cannot be judged or applied; null: it can. */
export function whyNotReadable(): string | null {
  const [now, checked] = [draft.value, checker.result.value];
  if (typeof rule.value === "string") {
    return "its text cannot be read";
  }
  if (checker.isUnderWay.value || checked?.text !== now?.text) {
    return checker.trouble.value === null ? "it is being checked" : null; // sluiced checks again when it is applied
  }
  return checked?.isOk === true ? null : "it has errors";
}

function whyNotYet(): string | null {
  const now = draft.value;
  return now !== null && now.text === now.original ? "nothing is changed" : whyNotReadable();
}

export function ReviewStep() {
  const answer = poll.shown.value?.answer;
  useEffect(() => {
    if (answer !== undefined) {
      settle(answer);
    }
  }, [answer]);
  const now = draft.value;
  const [checked] = checker.result.value?.rules ?? [];
  if (now === null) {
    return null;
  }
  const seen = review.value !== null && review.value.text === now.text ? review.value : null;
  return (
    <Panel title="4. Review and apply">
      {end.value !== null && <p role="status">{end.value}</p>}
      {others.value !== null && (
        <p class="notice" role="alert">
          {others.value} Your draft is kept.{" "}
          <button type="button" onClick={() => void compareAgain()}>
            Compare with what is in force now
          </button>
        </p>
      )}
      {now.text === now.original ? <p class="empty">Nothing is changed.</p> : <LineDiff before={now.original} after={now.text} label="Changes of the text" />}
      {checked?.starts_anew === true && <p class="anew">Its buckets start anew: every group begins with a full one.</p>}
      {checked?.limits.map((limit) =>
        limit.because === null ? null : (
          <p class="anew">
            Limit <Text of={limit.text} most={120} />: <Text of={limit.because} most={200} />
          </p>
        ),
      )}
      {checked?.starts_anew === false && now.subject !== "" && now.text !== now.original && <p>Its buckets stay as they are.</p>}
      <PreviewPanel whyNot={whyNotReadable()} />
      {seen !== null && seen.answer !== null && <SetDiff answer={seen.answer} />}
      {seen !== null && seen.why !== null && (
        <p class="empty">
          The whole set was not compared: <Text of={seen.why} most={300} />
        </p>
      )}
      {applied.value !== null ? (
        <OnTrial />
      ) : seen === null ? (
        <Act verb="diff" isAllowed={whyNotYet()} run={look}>
          Review
        </Act>
      ) : (
        <Act verb="apply" isAllowed={answer?.trial != null ? "other rules are on trial: confirm them, or go back" : whyNotYet()} run={apply}>
          Apply for 60 s
        </Act>
      )}
    </Panel>
  );
}
