import { useId, useState } from "preact/hooks";

import { refusalOf } from "../frame/verbs";
import { isStale, who } from "../page";
import { Text } from "./text";

interface ActProps {
  verb: string;
  children: string;
  isAllowed?: string | null; // why it may not be done now; null: it may
  run(): Promise<string | null>; // -> why it was not done
}

/** A button of a verb: greyed with the reason where the role lacks it or what is shown is old; says why it was not done. */
export function Act({ verb, children, isAllowed = null, run }: ActProps) {
  const id = useId();
  const [state, setState] = useState<{ isUnderWay: boolean; refusal: string | null }>({ isUnderWay: false, refusal: null });
  const refusal = refusalOf(who.value, verb) ?? (isStale.value ? "what is shown is old" : (isAllowed ?? (state.isUnderWay ? "under way" : null)));
  const act = async (): Promise<void> => {
    setState({ isUnderWay: true, refusal: null });
    setState({ isUnderWay: false, refusal: await run() });
  };
  return (
    <span class="verb">
      <button type="button" disabled={refusal !== null} aria-describedby={refusal === null ? undefined : id} onClick={() => void act()}>
        {children}
      </button>
      {refusal !== null && <small id={id}>{refusal}</small>}
      {state.refusal !== null && (
        <span class="not-done" role="alert">
          Not done: <Text of={state.refusal} most={400} />
        </span>
      )}
    </span>
  );
}
