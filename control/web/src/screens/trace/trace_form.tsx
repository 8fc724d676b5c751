import { useState } from "preact/hooks";

import { refusalOf } from "../../frame/verbs";
import { route, who } from "../../page";
import { Text } from "../../parts/text";
import { visibleText } from "../../text/visible";
import { splitAt, type Fault } from "./trace_answers";
import { asked, beginTrace, endTrace, faults, state, why, type Asked } from "./tracing";

const MOST_SNAP = 1600; // of sluiced
const WHICH: Record<Asked["which"], string> = {
  dropped: "refused only",
  would_refuse: "would be refused only (monitor)",
  all: "all",
};

/** A fault at its place in the condition. */
function FaultAt({ fault, text }: { fault: Fault; text: string }) {
  const parts = splitAt(text, fault.line, fault.column);
  return (
    <li class={fault.severity === "warning" ? "warning" : "critical"}>
      <strong>{fault.severity === "warning" ? "Warning" : "Error"}</strong> at column {visibleText(String(fault.column))}: <Text of={fault.message} most={300} />
      {parts !== null && (
        <pre class="condition">
          {visibleText(parts[0])}
          <mark>{visibleText(parts[1])}</mark>
          {visibleText(parts[2])}
        </pre>
      )}
    </li>
  );
}

function Faults({ text }: { text: string }) {
  return faults.value.length === 0 ? null : (
    <ul class="problems" role="alert">
      {faults.value.map((fault) => (
        <FaultAt fault={fault} text={text} />
      ))}
    </ul>
  );
}

function first(): Asked {
  const { words } = route.peek();
  return asked.peek() ?? { when: words.get("when")?.slice(0, 4096) ?? "", rule: words.get("rule")?.slice(0, 256) ?? "", which: "dropped", snap: 128 };
}

export function TraceForm() {
  const [given, setGiven] = useState<Asked>(first);
  const [sent, setSent] = useState("");
  const runs = state.value === "runs" || state.value === "beginning";
  const refusal = refusalOf(who.value, "trace");
  const change = (more: Partial<Asked>): void => setGiven({ ...given, ...more });
  const begin = (): void => {
    if (refusal === null && state.peek() !== "beginning") {
      setSent(given.when);
      void beginTrace(given);
    }
  };
  return (
    <form class="trace-form" onSubmit={(event) => { event.preventDefault(); begin(); }}>
      <label class="wide">
        Condition, as `when` of a rule; empty: every packet
        <textarea name="when" rows={2} spellcheck={false} maxLength={4096} value={given.when} onInput={(event) => change({ when: event.currentTarget.value })}
          onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); begin(); } }} />
      </label>
      <label>Rule <input name="rule" maxLength={256} placeholder="any" value={given.rule} onInput={(event) => change({ rule: event.currentTarget.value })} /></label>
      <label>
        Packets{" "}
        <select name="which" value={given.which} onChange={(event) => change({ which: event.currentTarget.value as Asked["which"] })}>
          {Object.entries(WHICH).map(([value, text]) => <option value={value}>{text}</option>)}
        </select>
      </label>
      <label>
        Bytes of each, for the capture{" "}
        <input type="number" name="snap" min={0} max={MOST_SNAP} value={given.snap} onInput={(event) => change({ snap: Math.min(MOST_SNAP, Math.max(0, Math.round(event.currentTarget.valueAsNumber) || 0)) })} />
      </label>
      <span class="verb">
        <button type="submit" aria-disabled={refusal !== null} aria-describedby="trace-refusal">{runs ? "Begin anew" : "Begin"}</button>
        <button type="button" aria-disabled={!runs} onClick={() => void (runs && endTrace())}>End</button>
        <small id="trace-refusal">{refusal !== null && <>Traces show what senders wrote: <Text of={refusal} most={300} /></>}</small>
      </span>
      {state.value === "none" && why.value !== null && <p role="alert">Not begun: <Text of={why.value} most={300} /></p>}
      <Faults text={sent} />
    </form>
  );
}
