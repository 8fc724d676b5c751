import { signal } from "@preact/signals";
import { useState } from "preact/hooks";

import { isStale, poll, session, ticks, who, zone } from "../page";
import { Num } from "../parts/num";
import { Text } from "../parts/text";
import { visibleText } from "../text/visible";
import { instantText, spanText } from "../text/time";
import { reasonOf, send } from "../transport/send";
import { refusalOf } from "./verbs";

// The snapshot at which a button was pressed: until a newer one is shown, the other set may be in force already.
const pressedAt = signal<string | null>(null);

function shownNow(): string {
  const answer = poll.shown.value?.answer;
  return answer === undefined ? "" : `${answer.run} ${answer.snapshot}`;
}

interface VerbProps {
  verb: string;
  path: string;
  children: string;
  onRefused(why: string | null): void;
}

/** A button for what a role may do; the reason beside it where it may not. */
function Verb({ verb, path, children, onRefused }: VerbProps) {
  const isUnderWay = pressedAt.value !== null && pressedAt.value === shownNow();
  const refusal = isStale.value ? "what is shown is old" : isUnderWay ? "under way" : refusalOf(who.value, verb);
  const id = `refusal-${verb}`;
  const act = async (): Promise<void> => {
    if (pressedAt.peek() !== null && pressedAt.peek() === shownNow()) {
      return; // pressed twice before the buttons could say so
    }
    onRefused(null);
    pressedAt.value = shownNow();
    const generation = poll.shown.peek()?.answer.box.generation;
    const reply = await send(path, {
      method: "POST",
      token: session.token(),
      ...(typeof generation === "string" ? { ifMatch: generation } : {}),
    });
    if (reply.status === 401) {
      session.lock("The session is over.", true);
    } else if (reply.status >= 300 || reply.status === 0) {
      onRefused(reasonOf(reply));
      if (reply.status === 403) {
        void session.askAgain(); // the role may be another one by now
      }
      pressedAt.value = null;
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
  const [refusal, setRefusal] = useState<{ until: string; why: string } | null>(null);
  if (shown === null || shown.answer.trial === null) {
    return null;
  }
  const { seconds_left, until, goes_back_to } = shown.answer.trial;
  const refused = refusal !== null && refusal.until === until ? refusal.why : null;
  const setRefused = (why: string | null): void => setRefusal(why === null ? null : { until, why });
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
