import { useState } from "preact/hooks";

import { fragmentOf } from "../../frame/route";
import { Empty, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { whole } from "../../text/number";
import { visibleText } from "../../text/visible";
import { Chart } from "./chart";
import type { SimulatedRun } from "./answer";
import { endOf, FATES, lanesOf, spanWords, type Fate } from "./marks";
import { answer, isPending, trouble } from "./playing";

const MOST_ROWS = 200;

function countsSaid({ counts }: SimulatedRun): string {
  const delayed = counts.delayed > 0 ? `, ${whole(counts.delayed)} of them delayed` : "";
  const yellow = counts.yellow > 0 ? `, ${whole(counts.yellow)} of them yellow` : "";
  const waiting = counts.waiting > 0 ? `, ${whole(counts.waiting)} still waiting` : "";
  return `${whole(counts.admitted)} of ${whole(counts.offered)} admitted${delayed}${yellow}, ${whole(counts.refused)} refused${waiting}`;
}

function Key({ lanes }: { lanes: readonly Fate[] }) {
  return (
    <p class="run-key" aria-label="Marks">
      {lanes.map((fate) => (
        <span class={`mark ${fate.shape}`}>
          <span class="sign" aria-hidden="true" /> {fate.title}
        </span>
      ))}
      <span class="mark state-line">
        <span class="sign" aria-hidden="true" /> what is left
      </span>
    </p>
  );
}

/** The drawing in words: who came when, and what became of it. */
function DotTable({ run }: { run: SimulatedRun }) {
  const { dots } = run;
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        <Scroll label={`Arrivals under ${visibleText(run.text)}`}>
          <table class="dots">
            <thead>
              <tr>
                <th scope="col">At</th>
                <th scope="col">Became</th>
                <th scope="col" class="number">Units</th>
                <th scope="col" class="number">Passes at</th>
              </tr>
            </thead>
            <tbody>
              {dots.at_ns.slice(0, MOST_ROWS).map((at, index) => (
                <tr>
                  <td>{spanWords(at)}</td>
                  <td>{FATES.find((fate) => fate.letter === dots.fates[index])?.title ?? "unknown"}</td>
                  <td class="number">{whole(dots.units[index])}</td>
                  <td class="number">{typeof dots.passes_ns[index] === "number" ? spanWords(dots.passes_ns[index] ?? 0) : ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {dots.at_ns.length > MOST_ROWS && <p>{whole(dots.at_ns.length - MOST_ROWS)} later rows are not shown.</p>}
          {dots.step_ns > 1 && <p>Arrivals of {spanWords(dots.step_ns)} are one row.</p>}
        </Scroll>
      )}
    </details>
  );
}

function Days({ run }: { run: SimulatedRun }) {
  const start = answer.value?.start_ns ?? 0;
  if (run.days === null || run.days === undefined) {
    return null;
  }
  const instant = (ns: number): string => new Date((start + ns) / 1e6).toISOString().slice(0, 16).replace("T", " ");
  return (
    <Scroll label="Days of the zone">
      <table class="days">
        <thead>
          <tr>
            <th scope="col">Window begins (UTC)</th>
            <th scope="col" class="number">Hours</th>
            <th scope="col" class="number">Offered</th>
            <th scope="col" class="number">Admitted</th>
          </tr>
        </thead>
        <tbody>
          {run.days.list.map((day) => (
            <tr>
              <td>{instant(day.from_ns)}</td>
              <td class="number">{day.hours}</td>
              <td class="number">{whole(day.offered)}</td>
              <td class="number">{whole(day.admitted)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {run.days.left_out > 0 && <p>{whole(run.days.left_out)} later windows are not shown.</p>}
    </Scroll>
  );
}

function Line({ line }: { line: string }) {
  const [copied, setCopied] = useState(false);
  const text = visibleText(line);
  return (
    <div class="run-line">
      <code>{text}</code>
      {navigator.clipboard !== undefined && (
        <button type="button" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true), () => setCopied(false))}>
          {copied ? "Copied" : "Copy"}
        </button>
      )}
    </div>
  );
}

function Result({ run, lanes, end }: { run: SimulatedRun; lanes: readonly Fate[]; end: number }) {
  const said = countsSaid(run);
  const window = spanWords(run.window_ns);
  return (
    <article class="run">
      <h3>
        <Text of={run.text} /> <small>counts <Text of={run.unit} /></small>
      </h3>
      <p class="run-counts">{said}{run.counts.cut ? "; the run was cut short" : ""}.</p>
      <Chart run={run} lanes={lanes} end={end} says={`${visibleText(run.text)}: ${said}`} />
      <dl class="run-most">
        <dt>Most in any {window}, measured</dt>
        <dd>{whole(run.most_in_window)}</dd>
        <dt>promised</dt>
        <dd>{whole(run.promised)} <small><Text of={run.promise} /></small></dd>
      </dl>
      <Days run={run} />
      <DotTable run={run} />
      <p>
        <a href={fragmentOf({ screen: "builder", words: { limit: run.yaml } })}>Use this limit</a>
      </p>
      <Line line={run.line} />
    </article>
  );
}

export function Results() {
  const shown = answer.value;
  const runs = shown?.runs ?? [];
  const lanes = lanesOf(runs);
  return (
    <div class={isPending.value ? "runs pending" : "runs"} aria-busy={isPending.value}>
      {trouble.value !== null && (
        <p class="notice" role="alert">
          Not simulated: <Text of={trouble.value} most={300} />
        </p>
      )}
      {shown === null && trouble.value === null && <Empty>The limits are being simulated…</Empty>}
      {shown !== null && !shown.ok && <Empty>There is an error in what is asked for: it stands beside its field.</Empty>}
      {runs.length > 0 && <Key lanes={lanes} />}
      {runs.map((run, at) => <Result key={at} run={run} lanes={lanes} end={endOf(runs)} />)}
    </div>
  );
}
