import { poll } from "../../page";
import { Num } from "../../parts/num";
import { Text } from "../../parts/text";
import { scaled, whole, withUnit } from "../../text/number";
import { checker, draft, rule } from "./draft";
import { hasSameGroups } from "./draft_text";
import { memoryOf } from "./judged_answer";
import { shown } from "./judging";

interface Groups {
  count: number;
  of: string;
}

/** How many groups that makes: those of the last preview or capture, or of the rule in force while nothing of them is changed. */
function groupsNow(): Groups | null {
  const [read, now, last] = [rule.value, draft.value, shown.value];
  if (typeof read === "string" || now === null) {
    return null;
  }
  if (last !== null && last.judged.groups !== null && hasSameGroups(last.text, read)) {
    return { count: last.judged.groups, of: `in ${last.of}` };
  }
  const row = poll.shown.value?.answer.rules.rows.find((one) => one.id === now.subject);
  const live = row?.live_keys ?? null;
  return now.subject !== "" && live !== null && hasSameGroups(now.original, read) ? { count: live, of: "live now, of the rule in force" } : null;
}

/** How many groups, how much memory, and where the rule is judged: what a group takes is as the last check has it. */
export function Cost() {
  const [checked] = checker.result.value?.rules ?? [];
  const groups = groupsNow();
  if (checked === undefined) {
    return null;
  }
  const memory = memoryOf(groups?.count ?? null, checked.bytes_per_key);
  return (
    <dl class="cost">
      <dt>Groups</dt>
      <dd>
        {groups === null ? (
          "not known yet: a preview, or a capture, counts them"
        ) : (
          <>
            about <Num text={scaled(groups.count)} /> <Text of={groups.of} most={80} />
          </>
        )}
      </dd>
      <dt>A group takes</dt>
      <dd>
        <Num text={checked.bytes_per_key === null ? "–" : `${checked.bytes_per_key} B`} />
        {memory !== null && (
          <>
            , all of them about <Num text={withUnit(memory, "B")} />
          </>
        )}
      </dd>
      <dt>The rule itself</dt>
      <dd>
        <Num text={checked.memory === null ? "–" : `${whole(checked.memory)} B`} />
      </dd>
      <dt>Over workers</dt>
      <dd>
        <Text of={(checked.placement ?? "not known").replace("_", " ")} />
      </dd>
    </dl>
  );
}
