import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { Code } from "../../editor/code";
import { knownWords, loadWords } from "../../editor/known_words";
import { poll, route } from "../../page";
import { Act } from "../../parts/act";
import { LineDiff } from "../../parts/line_diff";
import { Empty, Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import type { Trial } from "../../transport/answers";
import { isOfOthers } from "../builder/rule_trial";
import { placeOfLimit, type SetFile } from "./set_files";
import { applySet, areInForce, check, checker, compareSet, isChanged, loadSet, setDraft, setFileText, setTrouble, type SetDraft, type SetOnTrial } from "./set_state";
import { SetDiff } from "./set_diff";
import { SetHistory } from "./set_history";

const TRIAL = "60s";
const seen = signal<{ draft: SetDraft; answer: unknown } | null>(null);
const news = signal<string | null>(null);
const onTrial = signal<SetOnTrial | null>(null); // that this page has applied

async function look(): Promise<string | null> {
  const draft = setDraft.peek();
  const found = draft === null ? "there is no draft" : await compareSet(draft);
  if (draft === null || typeof found === "string") {
    return String(found);
  }
  seen.value = { draft, answer: found.answer };
  return null;
}

async function apply(): Promise<string | null> {
  const draft = setDraft.peek();
  if (draft === null) {
    return "there is no draft";
  }
  const { status, why, onTrial: begun } = await applySet(draft, TRIAL);
  poll.start();
  if (status === 200) {
    [seen.value, onTrial.value] = [null, begun];
    news.value = "In force for 60 s: confirm it above, or it goes back by itself.";
  } else if (status === 412) {
    news.value = "Others have changed the rules since this text was read. What you wrote is kept.";
  }
  return why;
}

/** By the texts in force: the generation is another one after each ban. */
async function tellEnd(files: readonly SetFile[]): Promise<void> {
  const stays = await areInForce(files);
  news.value =
    stays === null
      ? "The trial is over; whether it was confirmed could not be read. What you wrote is kept."
      : stays
        ? "It is confirmed, and stays in force."
        : "It went back. What you wrote is kept.";
  await loadSet({ isAnew: stays === true, keepTexts: stays !== true });
}

/** A trial that this page began has ended, or others have put another one in its place. */
function settle(trial: Trial | null): void {
  const now = onTrial.peek();
  if (now === null || setDraft.peek() === null) {
    return;
  }
  if (trial === null && now.isSeen) {
    onTrial.value = null;
    void tellEnd(now.files);
  } else if (trial !== null && isOfOthers(now, trial, now.isSeen)) {
    onTrial.value = null;
    news.value = "Somebody has put other rules on trial in place of these: confirming above confirms theirs. What you wrote is kept.";
    void loadSet({ keepTexts: true });
  } else if (trial !== null && !now.isSeen) {
    onTrial.value = { ...now, isSeen: true };
  }
}

function Review({ draft }: { draft: SetDraft }) {
  const trial = poll.shown.value?.answer.trial ?? null;
  const isSeen = seen.value?.draft === draft;
  const hasErrors = checker.result.value?.isOk === false && draft.texts.includes(checker.result.value.text);
  const why = !isChanged(draft) ? "nothing is changed" : hasErrors ? "it has errors" : null;
  return (
    <Panel title="Review and apply">
      {draft.base.files.map((file, at) =>
        file.text === draft.texts[at] ? null : <LineDiff label={`Changes of file ${at + 1}`} before={file.text} after={draft.texts[at] ?? ""} />,
      )}
      {isSeen && <SetDiff answer={seen.value?.answer} />}
      <p>
        {isSeen ? (
          <Act verb="apply" isAllowed={trial === null ? why : "rules are on trial: confirm them, or go back"} run={apply}>
            Apply for 60 s
          </Act>
        ) : (
          <Act verb="diff" isAllowed={why} run={look}>
            Review
          </Act>
        )}{" "}
        {isChanged(draft) && (
          <>
            <button type="button" onClick={() => void loadSet({ isAnew: true })}>
              Throw my changes away
            </button>{" "}
            <button type="button" onClick={() => void loadSet({ keepTexts: true }).then(() => (news.value = null))}>
              Compare with what is in force now
            </button>
          </>
        )}
      </p>
    </Panel>
  );
}

export function Sets() {
  const [at, setAt] = useState(0);
  const answer = poll.shown.value?.answer;
  useEffect(() => {
    void loadWords();
    void loadSet().then(() => check(0, 0));
    return () => checker.stop();
  }, []);
  useEffect(() => {
    if (answer !== undefined) {
      settle(answer.trial);
    }
  }, [answer]);
  const draft = setDraft.value;
  const sought = route.value.words.get("limit") ?? "";
  const place = draft === null || sought === "" ? null : placeOfLimit(draft.texts.map((text) => ({ text })), sought);
  useEffect(() => {
    if (place !== null) {
      setAt(place.at);
    }
  }, [sought, draft === null]);
  if (draft === null) {
    return (
      <>
        <Empty>{setTrouble.value === null ? "The rules are asked for…" : <>They cannot be shown: <Text of={setTrouble.value} most={300} /></>}</Empty>
        <SetHistory />
      </>
    );
  }
  const file = draft.base.files[at] ?? draft.base.files[0]!;
  const text = draft.texts[at] ?? file.text;
  const checked = checker.result.value;
  return (
    <div class="builder sets">
      {news.value !== null && <p role="status">{news.value}</p>}
      {sought !== "" && (
        <p class="empty">
          {place === null ? <>No file has a limit <Text of={sought} most={80} /> under <code>limits:</code>.</> : <>The limit <Text of={sought} most={80} /> stands in line {place.line}.</>}
        </p>
      )}
      <Panel title="Rule files" note={checker.isUnderWay.value ? " being checked…" : checked?.text === text && checked.isOk ? " checked: it compiles" : ""}>
        {draft.base.files.length > 1 && (
          <ul class="files">
            {draft.base.files.map((one, index) => (
              <li>
                <button type="button" aria-current={index === at ? "true" : undefined} onClick={() => { setAt(index); check(index, 0); }}>
                  <Text of={one.name} most={80} />
                  {one.text === draft.texts[index] ? "" : " (changed)"}
                </button>
              </li>
            ))}
          </ul>
        )}
        <p class="head">
          <Text of={file.name} most={120} /> <small><Text of={file.directory} most={120} /></small>
        </p>
        {checker.trouble.value !== null && (
          <p class="empty" role="status">
            Not checked: <Text of={checker.trouble.value} most={300} />
          </p>
        )}
        <Code label={`Text of file ${at + 1}`} text={text} problems={checked?.text === text ? checked.problems : []} words={knownWords.value} line={place !== null && place.at === at ? place.line : null}
          onChange={(next) => setFileText(at, next)} />
      </Panel>
      <Review draft={draft} />
      <SetHistory />
    </div>
  );
}
