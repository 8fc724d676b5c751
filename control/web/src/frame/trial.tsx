import { useState } from "preact/hooks";

import { isStale, poll, session, ticks, who, zone } from "../page";
import { Num } from "../parts/num";
import { Text } from "../parts/text";
import { visibleText } from "../text/visible";
import { instantText, spanText } from "../text/time";
import { reasonOf, send } from "../transport/send";
import { refusalOf } from "./verbs";

interface VerbProps {
  verb: string;
  path: string;
  children: string;
  onRefused(why: string | null): void;
}

/** A button for what a role may do; the reason beside it where it may not. */
function Verb({ verb, path, children, onRefused }: VerbProps) {
  const refusal = isStale.value ? "what is shown is old" : refusalOf(who.value, verb);
  const id = `refusal-${verb}`;
  const act = async (): Promise<void> => {
    onRefused(null);
    const reply = await send(path, { method: "POST", token: session.token() });
    if (reply.status === 401) {
      session.lock("The session is over.", true);
    } else if (reply.status >= 300 || reply.status === 0) {
      onRefused(reasonOf(reply));
    }
    poll.start();
  };
  return (
    <span class="verb">
      <button type="button" disabled={refusal !== null} aria-describedby={refusal === null ? undefined : id} onClick={() => void act()}>
        {children}
      </button>
      {refusal !== null && <small id={id}>{refusal}</small>}
    </span>
  );
}

/** Rules on trial: how long still, and both ways to end it. */
export function TrialBar() {
  const shown = poll.shown.value;
  const [refused, setRefused] = useState<string | null>(null);
  if (shown === null || shown.answer.trial === null) {
    return null;
  }
  const { seconds_left, until, goes_back_to } = shown.answer.trial;
  const left = seconds_left - (ticks.value - shown.arrived) / 1000;
  return (
    <section class="trial" aria-label="Rules on trial">
      <p>
        <strong>Rules on trial.</strong> They go back{goes_back_to === null ? "" : ` to generation ${visibleText(String(goes_back_to))}`} in{" "}
        <Num text={spanText(left)} /> ({instantText(until, zone.value, Date.now())}), unless somebody confirms them.
      </p>
      <Verb verb="confirm" path="/v1/confirm" onRefused={setRefused}>
        Confirm
      </Verb>
      <Verb verb="rollback" path="/v1/rollback" onRefused={setRefused}>
        Go back
      </Verb>
      {refused !== null && (
        <p role="alert">
          Not done: <Text of={refused} most={300} />
        </p>
      )}
    </section>
  );
}
