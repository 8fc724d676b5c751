import { useState } from "preact/hooks";

import { ask } from "../../parts/ask";
import { refusalOf } from "../../frame/verbs";
import { isStale, poll, who } from "../../page";
import { Text } from "../../parts/text";
import { reasonOf } from "../../transport/send";
import type { Who } from "../../transport/answers";
import { changes } from "./rule_polls";
import { pathOfRule } from "./rule_place";

const MODES = ["enforce", "monitor", "off"] as const;

/** From enforce down to monitor is a verb of its own; any other change wants more. */
function refusalOfMode(caller: Who | null, mode: string, next: string): string | null {
  return mode === "enforce" && next === "monitor" ? refusalOf(caller, "monitor") : refusalOf(caller, "mode");
}

/** The mode of a rule, and buttons for the others. */
export function ModeForm({ rule, mode }: { rule: string; mode: string }) {
  const [why, setWhy] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const change = async (next: string): Promise<void> => {
    setBusy(true);
    setWhy(null);
    const reply = await ask(pathOfRule(rule, "mode"), { method: "PUT", body: { mode: next } });
    setBusy(false);
    if (reply.status !== 200) {
      setWhy(reasonOf(reply));
    } else {
      changes.value += 1;
      poll.start();
    }
  };
  return (
    <div class="modes">
      {MODES.filter((next) => next !== mode).map((next) => {
        const refusal = isStale.value ? "what is shown is old" : busy ? "under way" : refusalOfMode(who.value, mode, next);
        return (
          <span class="verb">
            <button type="button" disabled={refusal !== null} onClick={() => void change(next)}>
              {next === "off" ? "Turn off" : next === "monitor" ? "Only monitor" : "Enforce"}
            </button>
            {refusal !== null && <small>{refusal}</small>}
          </span>
        );
      })}
      {why !== null && <p role="alert">Not done: <Text of={why} most={300} /></p>}
    </div>
  );
}
