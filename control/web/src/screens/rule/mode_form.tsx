import { useEffect, useState } from "preact/hooks";

import { ask } from "../../parts/ask";
import { tenant } from "../../frame/tenant";
import { refusalOf } from "../../frame/verbs";
import { isStale, poll, who } from "../../page";
import { Text } from "../../parts/text";
import { known } from "../../text/known";
import { visibleText } from "../../text/visible";
import { reasonOf } from "../../transport/send";
import type { Who } from "../../transport/answers";
import { changes } from "./rule_polls";
import { pathOfRule } from "./rule_place";

const MODES = ["enforce", "monitor", "off"] as const;
type Mode = (typeof MODES)[number];
const TITLES: Record<Mode, string> = { enforce: "Enforce", monitor: "Only monitor", off: "Turn off" };
const SAYS: Record<Mode, string> = { enforce: "", monitor: "It refuses nothing from then on, and counts what it would refuse.", off: "It neither refuses nor counts anything from then on." };

/** From enforce down to monitor is a verb of its own; any other change wants more. */
function refusalOfMode(caller: Who | null, mode: string, next: string): string | null {
  return mode === "enforce" && next === "monitor" ? refusalOf(caller, "monitor") : refusalOf(caller, "mode");
}

/** Who can put a rule back into force. */
function wayBack(caller: Who | null): string {
  if (tenant.value !== null) {
    return "It is in force again once your rules are applied anew, whether their text has changed or not.";
  }
  const needed = visibleText(known(caller?.needs ?? {}, "mode") ?? "another role");
  return refusalOf(caller, "mode") === null ? "You can put it back into force here." : `You cannot put it back into force: that wants ${needed}.`;
}

/** What taking a rule out of force means, before it is done. */
function Sure({ next, yes, no }: { next: Mode; yes(): void; no(): void }) {
  return (
    <p class="notice" role="alert">
      {SAYS[next]} {wayBack(who.value)}{" "}
      <button type="button" onClick={yes}>
        {TITLES[next]}, now
      </button>{" "}
      <button type="button" onClick={no}>
        Leave it in force
      </button>
    </p>
  );
}

/** The mode of a rule, and buttons for the others. */
export function ModeForm({ rule, mode }: { rule: string; mode: string }) {
  const [why, setWhy] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [meant, setMeant] = useState<Mode | null>(null);
  useEffect(() => setMeant(null), [rule, mode]);
  const change = async (next: Mode): Promise<void> => {
    setMeant(null);
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
  const press = (next: Mode): void => (mode === "enforce" ? setMeant(next) : void change(next));
  return (
    <div class="modes">
      {MODES.filter((next) => next !== mode).map((next) => {
        const refusal = isStale.value ? "what is shown is old" : busy ? "under way" : refusalOfMode(who.value, mode, next);
        return (
          <span class="verb">
            <button type="button" disabled={refusal !== null} onClick={() => press(next)}>
              {TITLES[next]}
            </button>
            {refusal !== null && <small>{refusal}</small>}
          </span>
        );
      })}
      {meant !== null && <Sure next={meant} yes={() => void change(meant)} no={() => setMeant(null)} />}
      {why !== null && <p role="alert">Not done: <Text of={why} most={300} /></p>}
    </div>
  );
}
