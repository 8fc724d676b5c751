import { useState } from "preact/hooks";

import { ask } from "../../parts/ask";
import { tenant } from "../../frame/tenant";
import { jointIdOf } from "../../frame/tenant_words";
import { refusalOf } from "../../frame/verbs";
import { who } from "../../page";
import { Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { whole } from "../../text/number";
import { keysIn, liftCalls, MOST_CHOSEN, type Chosen } from "./chosen";
import { outcomeLines } from "./outcome";

const PATIENCE_MS = 60_000; // one call may be about ten thousand keys

function Outcome({ lines }: { lines: string[] }) {
  return lines.length === 0 ? null : (
    <ul class="outcome" role="status">
      {lines.map((line) => (
        <li>
          <Text of={line} most={300} />
        </li>
      ))}
    </ul>
  );
}

interface LiftProps {
  chosen: Chosen;
  onDone: () => void;
}

/** Lets out all that were chosen: a call for each rule. */
export function LiftForm({ chosen, onDone }: LiftProps) {
  const [reason, setReason] = useState("");
  const [lines, setLines] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const refusal = refusalOf(who.value, "ban") ?? (busy ? "under way" : chosen.size === 0 ? "choose bans in the table" : null);
  const lift = async (): Promise<void> => {
    setBusy(true);
    const said: string[] = [];
    for (const { rule, tier, keys } of liftCalls(chosen)) {
      const reply = await ask(`/v1/rules/${encodeURIComponent(rule)}/unbans`, {
        method: "POST",
        body: { keys, tier, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      said.push(...outcomeLines(rule, keys, reply));
    }
    setLines(said);
    setBusy(false);
    onDone();
  };
  return (
    <form class="tools lift" onSubmit={(event) => { event.preventDefault(); void (refusal === null && lift()); }}>
      <label>
        Reason <input name="lift-reason" maxLength={200} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </label>
      <span class="verb">
        <button type="submit" aria-disabled={refusal !== null} aria-describedby="lift-refusal">
          Lift {chosen.size === 0 ? "bans" : chosen.size === 1 ? "1 ban" : `${whole(chosen.size)} bans`}
        </button>
        <small id="lift-refusal"><Text of={refusal ?? ""} most={300} /></small>
      </span>
      <Outcome lines={lines} />
    </form>
  );
}

/** Bans a list of keys of one rule: all of them, or none. */
export function BanForm({ onDone }: { onDone: () => void }) {
  const [given, setGiven] = useState({ rule: "", keys: "", lasts: "1h", reason: "" });
  const [lines, setLines] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const keys = keysIn(given.keys);
  const missing = given.rule.trim() === "" ? "name a rule" : keys.length === 0 ? "give keys, one a line" : keys.length > MOST_CHOSEN ? `at most ${whole(MOST_CHOSEN)} at once` : null;
  const refusal = refusalOf(who.value, "ban") ?? (busy ? "under way" : missing);
  const change = (more: Partial<typeof given>): void => setGiven({ ...given, ...more });
  const ban = async (): Promise<void> => {
    setBusy(true);
    const [rule, lasts, reason] = [jointIdOf(tenant.peek(), given.rule.trim()), given.lasts.trim(), given.reason.trim()];
    const reply = await ask(`/v1/rules/${encodeURIComponent(rule)}/bans`, {
      method: "POST",
      body: { keys, ...(lasts === "" ? {} : { for: lasts }), ...(reason === "" ? {} : { reason }) },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    setLines(outcomeLines(rule, keys, reply));
    setBusy(false);
    if (reply.status === 200) {
      change({ keys: "" });
      onDone();
    }
  };
  return (
    <Panel title="Ban a list">
      <form class="ban-list" onSubmit={(event) => { event.preventDefault(); void (refusal === null && ban()); }}>
        <label>Rule <input name="ban-rule" maxLength={256} value={given.rule} onInput={(event) => change({ rule: event.currentTarget.value })} /></label>
        <label>For <input name="ban-for" maxLength={32} placeholder="for good" value={given.lasts} onInput={(event) => change({ lasts: event.currentTarget.value })} /></label>
        <label>Reason <input name="ban-reason" maxLength={200} value={given.reason} onInput={(event) => change({ reason: event.currentTarget.value })} /></label>
        <label class="wide">
          Keys, one a line, their parts with | between them; networks of addresses, too
          <textarea name="ban-keys" rows={5} spellcheck={false} value={given.keys} onInput={(event) => change({ keys: event.currentTarget.value })} />
        </label>
        <span class="verb">
          <button type="submit" aria-disabled={refusal !== null} aria-describedby="ban-refusal">
            Ban {keys.length === 1 ? "1 key" : `${whole(keys.length)} keys`}
          </button>
          <small id="ban-refusal"><Text of={refusal ?? ""} most={300} /></small>
        </span>
        <Outcome lines={lines} />
      </form>
    </Panel>
  );
}
