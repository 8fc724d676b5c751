import { useEffect } from "preact/hooks";

import { route } from "../../page";
import { Panel } from "../../parts/panel";
import { LimitsForm } from "./limits_form";
import { LoadForm } from "./load_form";
import { askAnew, leave, takeFrom } from "./playing";
import { Results } from "./results";

/** Limits beside each other under one load, by the meters that enforce them; the box is not touched. */
export function Playground() {
  const shown = route.value;
  useEffect(() => {
    takeFrom(route.peek()); // `shown` is older than what was typed since it was drawn
    askAnew();
  }, [shown]);
  useEffect(() => leave, []);
  return (
    <div class="playground">
      <Panel title="Limits and load" note=" simulated by the code that enforces; nothing of the box is touched">
        <LoadForm />
        <LimitsForm />
      </Panel>
      <Panel title="What they do">
        <Results />
      </Panel>
    </div>
  );
}
