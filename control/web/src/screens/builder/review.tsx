import { useEffect } from "preact/hooks";

import { inChunk } from "../../frame/chunk";
import { poll } from "../../page";
import { Act } from "../../parts/act";
import { LineDiff } from "../../parts/line_diff";
import { Num } from "../../parts/num";
import { Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { withUnit } from "../../text/number";
import { MEASURES, type LiveAnswer, type Measure, type RuleRow } from "../../transport/answers";
import { SetDiff } from "../sets/set_diff";
import { applied, apply, compareAgain, end, finish, look, others, review, settle, TRIAL } from "./applying";
import { checker, draft, draftId, rule } from "./draft";
import { whyUnadded } from "./unadded";

const PreviewPanel = inChunk(() => import("./preview_panel").then((m) => m.PreviewPanel));

// Review and apply: what changes, then the rule in force on trial, what that did, and whether it stays.
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
        <strong>In force for {TRIAL.replace("s", " s")}.</strong> Unless somebody confirms it, it goes back by itself, also if this page is closed.
      </p>
      <BeforeAndNow before={now.before} now={answer} />
      <p>
        <Act verb="confirm" isAllowed={answer.trial === null ? "not on trial" : null} run={() => finish("confirm")}>
          Confirm this rule
        </Act>{" "}
        <Act verb="rollback" isAllowed={answer.trial === null ? "not on trial" : null} run={() => finish("rollback")}>
          Go back now
        </Act>
      </p>
    </div>
  );
}

/** Why the draft cannot be judged or applied; null: it can. */
export function whyNotReadable(): string | null {
  const left = whyUnadded();
  if (left !== null) {
    return left;
  }
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
  return now !== null && now.text === now.original && whyUnadded() === null ? "nothing is changed" : whyNotReadable();
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
