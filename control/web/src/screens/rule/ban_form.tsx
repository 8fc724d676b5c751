import { useState } from "preact/hooks";

import { ask } from "../../parts/ask";
import { refusalOf } from "../../frame/verbs";
import { isStale, route, who } from "../../page";
import { Text } from "../../parts/text";
import { reasonOf } from "../../transport/send";
import { changes } from "./rule_polls";
import { pathOfRule, rulePlaceOf } from "./rule_place";

const ENDS: readonly (readonly [string, string])[] = [
  ["10m", "10 minutes"], ["1h", "1 hour"], ["24h", "1 day"], ["7d", "7 days"], ["", "no end: until somebody lifts it"],
];
const MOST_REASON = 200; // bytes that sluiced takes

type Outcome = { done: true } | { done: false; why: string } | null;

async function ban(rule: string, key: string, terms: { end: string; reason: string }): Promise<Outcome> {
  const body = { keys: [key], ...(terms.end === "" ? {} : { for: terms.end }), ...(terms.reason === "" ? {} : { reason: terms.reason }) };
  const reply = await ask(pathOfRule(rule, "bans"), { method: "POST", body });
  return reply.status >= 200 && reply.status < 300 ? { done: true } : { done: false, why: reasonOf(reply) };
}

function Form({ name, close }: { name: string; close(): void }) {
  const { rule } = rulePlaceOf(route.value);
  const [end, setEnd] = useState("1h");
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>(null);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const told = await ban(rule, name, { end, reason: reason.trim() });
    setBusy(false);
    setOutcome(told);
    if (told !== null && told.done) {
      changes.value += 1;
    }
  };
  if (outcome !== null && outcome.done) {
    return <span role="status">Banned. <button type="button" onClick={close}>Close</button></span>;
  }
  return (
    <form class="ban" onSubmit={(event) => void submit(event)} aria-label="Ban this group">
      <label>
        For{" "}
        <select value={end} onChange={(event) => setEnd(event.currentTarget.value)}>
          {ENDS.map(([value, words]) => <option value={value}>{words}</option>)}
        </select>
      </label>{" "}
      <label>
        Reason <input value={reason} maxLength={MOST_REASON} required onInput={(event) => setReason(event.currentTarget.value)} />
      </label>{" "}
      <button type="submit" disabled={busy}>{busy ? "Under way" : "Ban"}</button>{" "}
      <button type="button" onClick={close}>Cancel</button>
      {outcome !== null && !outcome.done && <p role="alert">Not banned: <Text of={outcome.why} most={300} /></p>}
    </form>
  );
}

/** A ban, with an end and a reason; greyed with the reason where the role lacks it. */
export function BanButton({ name }: { name: string }) {
  const [open, setOpen] = useState(false);
  const refusal = isStale.value ? "what is shown is old" : refusalOf(who.value, "ban");
  if (open && refusal === null) {
    return <Form name={name} close={() => setOpen(false)} />;
  }
  return (
    <span class="verb">
      <button type="button" disabled={refusal !== null} onClick={() => setOpen(true)}>Ban…</button>
      {refusal !== null && <small>{refusal}</small>}
    </span>
  );
}
