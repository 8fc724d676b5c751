import { useState } from "preact/hooks";

import { Act } from "../../parts/act";
import { ask } from "../../parts/ask";
import { listOf, membersOf, textOf } from "../../parts/members";
import { Panel } from "../../parts/panel";
import { reasonOf } from "../../transport/send";

// Actions of an operator upon one key: POST /v1/rules/RULE/key.
export const ACTIONS = ["grant", "set", "exempt", "ban", "unban", "reset", "unset"] as const;
type Action = (typeof ACTIONS)[number];
const SAYS: Record<Action, string> = {
  grant: "Grant: some units more, once",
  set: "Set: other numbers",
  exempt: "Exempt: no limit at all",
  ban: "Ban: nothing passes",
  unban: "Unban: ends the ban, lets it out of the penalty box",
  reset: "Reset: its buckets are full again",
  unset: "Unset: ends what operators have set",
};
export interface ActionWords {
  action: Action;
  units: string;
  rate: string;
  burst: string;
  count: string;
  for: string;
  reason: string;
}
export const NO_ACTION: ActionWords = { action: "grant", units: "", rate: "", burst: "", count: "", for: "1h", reason: "" };

/** The body of the call; or what is missing in it. */
export function bodyOf(words: ActionWords, key: string, limit: string, tier: string): Record<string, unknown> | string {
  const base: Record<string, unknown> = { key, action: words.action === "exempt" ? "set" : words.action };
  if (tier !== "" && Number.isInteger(Number(tier))) {
    base["tier"] = Number(tier);
  }
  if (limit !== "" && ["grant", "set", "reset", "unset"].includes(words.action)) {
    base["limit"] = limit;
  }
  if (words.action === "grant") {
    return words.units.trim() === "" ? "how many units" : { ...base, units: words.units.trim() };
  }
  if (words.action === "exempt" || words.action === "ban" || words.action === "set") {
    const numbers = Object.fromEntries((["rate", "burst", "count"] as const).filter((name) => words.action === "set" && words[name].trim() !== "").map((name) => [name, words[name].trim()]));
    if (words.action === "set" && Object.keys(numbers).length === 0) {
      return "a rate, a burst or a count";
    }
    if (words.reason.trim() === "") {
      return "a reason, for whoever comes after";
    }
    return { ...base, ...numbers, ...(words.action === "exempt" ? { exempt: true } : {}), ...(words.for.trim() === "" ? {} : { for: words.for.trim() }), reason: words.reason.trim() };
  }
  return base;
}

interface KeyActionsProps {
  rule: string;
  keyText: string;
  limit: string;
  tier: string;
  onDone(): void;
}

export function KeyActions({ rule, keyText, limit, tier, onDone }: KeyActionsProps) {
  const [words, setWords] = useState(NO_ACTION);
  const [done, setDone] = useState<string | null>(null);
  const body = bodyOf(words, keyText, limit, tier);
  const box = (name: Exclude<keyof ActionWords, "action">, label: string, hint = "") => (
    <label class="line">
      {label} <input type="text" name={name} value={words[name]} placeholder={hint} maxLength={name === "reason" ? 200 : 40} autocomplete="off"
        onInput={(event) => setWords({ ...words, [name]: event.currentTarget.value })} />
    </label>
  );
  const run = async (): Promise<string | null> => {
    if (typeof body === "string") {
      return body;
    }
    setDone(null);
    const reply = await ask(`/v1/rules/${encodeURIComponent(rule)}/key`, { method: "POST", body });
    onDone();
    if (reply.status !== 200) {
      return reasonOf(reply);
    }
    const left = listOf(membersOf(reply.body)["unanswered"]).length;
    const warning = textOf(membersOf(reply.body)["warning"]);
    setDone(`Done: ${SAYS[words.action].split(":")[0] ?? ""}.${left > 0 ? ` ${left} workers have not answered.` : ""}${warning === null ? "" : ` ${warning}`}`);
    return null;
  };
  const hasTerms = ["set", "exempt", "ban"].includes(words.action);
  return (
    <Panel title="Do something to this key">
      <form class="packet" onSubmit={(event) => event.preventDefault()}>
        <label class="line">
          Do{" "}
          <select name="action" value={words.action} onChange={(event) => setWords({ ...words, action: ACTIONS.find((one) => one === event.currentTarget.value) ?? "grant" })}>
            {ACTIONS.map((one) => (
              <option value={one} selected={one === words.action}>
                {SAYS[one]}
              </option>
            ))}
          </select>
        </label>
        {words.action === "grant" && box("units", "units", "200")}
        {words.action === "set" && (
          <>
            {box("rate", "rate", "10/s")}
            {box("burst", "burst", "20")}
            {box("count", "count")}
          </>
        )}
        {hasTerms && (
          <>
            {box("for", "for", "without an end")}
            {box("reason", "reason")}
          </>
        )}
      </form>
      <Act verb="key" isAllowed={typeof body === "string" ? `it wants ${body}` : null} run={run}>
        {SAYS[words.action].split(":")[0] ?? "Do"}
      </Act>
      {done !== null && <p role="status">{done}</p>}
    </Panel>
  );
}
