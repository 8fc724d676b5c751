import { useEffect, useState } from "preact/hooks";

import { Code } from "../../editor/code";
import { knownWords, loadWords } from "../../editor/known_words";
import { ruleAtLine, type TextProblem } from "../../editor/problems";
import { inChunk } from "../../frame/chunk";
import { tenant } from "../../frame/tenant";
import { go, route } from "../../page";
import { Empty, Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import type { SetFile } from "../sets/set_files";
import { filesNow } from "../sets/tags";
import { checker, draft, draftId, draftTrouble, edit, isKeptOne, open, rule, setText, textAt, textsAt, throwAway } from "./draft";
import { withText } from "./draft_text";
import { Box } from "./field";
import { GroupsStep } from "./groups_step";
import { LimitsStep } from "./limits_step";
import { ReviewStep } from "./review";
import { TrafficStep } from "./traffic_step";

// Fetched when it is shown: the screen keeps to its bytes.
const TenantRulesScreen = inChunk(() => import("./tenant_rules").then((m) => m.TenantRulesScreen));

function Head() {
  const read = rule.value;
  const subject = draft.value?.subject ?? "";
  const isNew = subject === "";
  return (
    <p class="head">
      {isNew ? "A new rule: " : "Rule "}
      {isNew && typeof read !== "string" ? (
        <Box label="Id of the rule" value={textAt(read, ["id"]) ?? ""} size={24} onSet={(id) => edit((now) => withText(now, ["id"], id))} />
      ) : (
        <strong>
          <Text of={subject === "" ? draftId.value : subject} />
        </strong>
      )}{" "}
      {isKeptOne.value && (
        <span>
          This is the draft that you left.{" "}
          <button type="button" onClick={throwAway}>
            Begin anew
          </button>
        </span>
      )}
    </p>
  );
}

/** Files of the set in force, once a problem is told of another rule than this one. */
function useRuleOf(isWanted: boolean): (problem: TextProblem) => string | null {
  const [files, setFiles] = useState<readonly SetFile[]>([]);
  useEffect(() => {
    if (isWanted) {
      void filesNow().then((set) => "files" in set && setFiles(set.files));
    }
  }, [isWanted]);
  return ({ file, line }) => ruleAtLine(files.find(({ name }) => name === file)?.text ?? "", line);
}

function TextSide() {
  const now = draft.value;
  const read = rule.value;
  const checked = checker.result.value;
  const problems = checked?.text === now?.text ? (checked?.problems ?? []) : [];
  const ruleOf = useRuleOf(problems.some(({ file }) => file !== null));
  return (
    <Panel title="Its text" note={checker.isUnderWay.value ? " being checked…" : checked?.isOk === true ? " checked: it compiles" : ""}>
      {typeof read === "string" && <p class="in-text">The form rests: {read}</p>}
      {checker.trouble.value !== null && (
        <p class="empty" role="status">
          Not checked: <Text of={checker.trouble.value} most={300} />
        </p>
      )}
      <Code label="Text of the rule" text={now?.text ?? ""} problems={problems} ruleOf={ruleOf} words={knownWords.value} onChange={setText} />
    </Panel>
  );
}

/** A rule in three steps; of a tenant's people the text of their rules. */
export function Builder() {
  return tenant.value === null ? <RuleBuilder /> : <TenantRulesScreen />;
}

function RuleBuilder() {
  const { words } = route.value;
  const [subject, condition, limit] = [words.get("rule") ?? "", words.get("condition") ?? "", words.get("limit") ?? ""];
  const copy = words.get("copy") ?? "";
  useEffect(() => {
    void loadWords();
    void open({ subject, condition, limit, copy }).then((isTaken) => isTaken && go({ screen: "builder", words: { rule: subject === "" ? null : subject } }, true));
    return () => checker.stop();
  }, [subject, condition, limit, copy]);
  if (draftTrouble.value !== null) {
    return (
      <Empty>
        This rule cannot be shown: <Text of={draftTrouble.value} most={300} />
      </Empty>
    );
  }
  if (draft.value === null) {
    return <Empty>The rule is asked for…</Empty>;
  }
  const read = rule.value;
  return (
    <div class="builder">
      <Head />
      <div class="sides">
        <div class="form">
          <LimitsStep />
          <TrafficStep keys={typeof read === "string" ? null : textsAt(read, ["key"])} />
          <GroupsStep />
          <ReviewStep />
        </div>
        <TextSide />
      </div>
    </div>
  );
}
