import { useState } from "preact/hooks";
import { useSignal } from "@preact/signals";

import type { HeatAnswer } from "../../heat/heat_answer";
import { HeatMap } from "../../heat/heat_map";
import { gridOf, type Cell } from "../../heat/heat_grid";
import { samplingWords } from "../../heat/heat_words";
import { go, route, zone } from "../../page";
import { Fresh } from "../../parts/fresh";
import { Empty, Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { visibleText } from "../../text/visible";
import { instantText } from "../../text/time";
import { CellGroups, type ChosenCell } from "./cell_groups";
import { boxNow, heat, heatEvery, series } from "./rule_polls";
import { placeOf, RANGE_WORDS, RANGES, rulePlaceOf, shifted, USUAL, usualWords, type RulePlace } from "./rule_place";
import { ReadingLine } from "./reading";
import { RulePlot } from "./rule_plot";

function turn(change: Partial<RulePlace>): void {
  go(placeOf({ ...rulePlaceOf(route.value), ...change }), true);
}

/** Which limit, and which time. */
function Choice({ answer }: { answer: HeatAnswer }) {
  const place = rulePlaceOf(route.value);
  const end = Date.parse(answer.to);
  return (
    <div class="tools">
      {answer.limits.length > 1 && (
        <label>
          Limit{" "}
          <select value={String(answer.limit)} onChange={(event) => turn({ limit: Number(event.currentTarget.value) })}>
            {answer.limits.map(({ index, text }) => (
              <option value={String(index)}>{visibleText(text).slice(0, 80)}</option>
            ))}
          </select>
        </label>
      )}
      <label>
        Time{" "}
        <select value={place.range} onChange={(event) => turn({ range: event.currentTarget.value })}>
          {Object.keys(RANGES).map((range) => (
            <option value={range}>{range === USUAL && place.range === USUAL ? usualWords(Date.parse(answer.from), end) : RANGE_WORDS[range]}</option>
          ))}
        </select>
      </label>
      <span>
        <button type="button" onClick={() => go(placeOf(shifted(place, end, -1, boxNow())), true)}>
          Earlier
        </button>{" "}
        <button type="button" disabled={place.to === null} onClick={() => go(placeOf(shifted(place, end, 1, boxNow())), true)}>
          Later
        </button>{" "}
        <button type="button" disabled={place.to === null} onClick={() => turn({ to: null })}>
          Now
        </button>
      </span>
      <span>
        {instantText(answer.from, zone.value, Date.now())} to {instantText(answer.to, zone.value, Date.now())}, {answer.stepS} s a column
      </span>
    </div>
  );
}

/** Why a map shows nothing, where it does. */
function whyNothing(answer: HeatAnswer): string | null {
  if (answer.whyEmpty !== null) {
    return answer.whyEmpty;
  }
  const known = answer.columns.filter((column) => column !== null);
  if (known.length > 0 && known.every((column) => column.offered.size === 0 && column.left.size === 0)) {
    return "No group has come in this time: nothing that the rule matches was there, or none of the watched groups.";
  }
  return null;
}

/** No group of a column is in another row. */
function isWholeColumn(answer: HeatAnswer, by: "offered" | "left", column: number, bucket: number): boolean {
  const counts = answer.columns[column]?.[by];
  return counts !== undefined && [...counts].every(([row, groups]) => row === bucket || groups === 0);
}

function useChosen(answer: HeatAnswer) {
  const [chosen, setChosen] = useState<ChosenCell | null>(null);
  const choose = (by: "offered" | "left") => (cell: Cell): void => {
    const grid = gridOf(answer, by);
    const row = grid.rows[cell.row];
    if (row !== undefined) {
      setChosen({ by, at: Date.parse(answer.from) + cell.column * answer.stepS * 1000, cell, row, stepS: answer.stepS, limit: answer.limit, isAll: isWholeColumn(answer, by, cell.column, row.bucket) });
    }
  };
  return { chosen, choose, close: () => setChosen(null) };
}

function Drawn({ answer }: { answer: HeatAnswer }) {
  const cursor = useSignal<number | null>(null);
  const { chosen, choose, close } = useChosen(answer);
  const newest = [...answer.columns].reverse().find((column) => column !== null) ?? null;
  const why = whyNothing(answer);
  const rates = series.shown.value;
  return (
    <div class="maps">
      <ReadingLine reading={answer.reading} />
      {why !== null && <Empty><Text of={why} most={300} /></Empty>}
      {why === null && answer.whyUnwatched !== null && <Empty>The rule is not watched any more: <Text of={answer.whyUnwatched} most={300} />.</Empty>}
      {newest !== null && <p class="sampling"><span class="num">{samplingWords(newest)}</span></p>}
      <HeatMap answer={answer} by="offered" cursor={cursor} chosen={chosen?.by === "offered" ? chosen.cell : null} choose={choose("offered")} />
      <HeatMap answer={answer} by="left" cursor={cursor} chosen={chosen?.by === "left" ? chosen.cell : null} choose={choose("left")} />
      {rates === null ? (
        <Empty>{series.trouble.value === null ? "The rates of the last ten minutes are asked for…" : <>No rates: <Text of={series.trouble.value} most={300} />.</>}</Empty>
      ) : (
        <RulePlot series={rates.answer} from={Date.parse(answer.from) / 1000} to={Date.parse(answer.to) / 1000} cursor={cursor} />
      )}
      {chosen !== null && <CellGroups chosen={chosen} close={close} />}
    </div>
  );
}

export function Maps() {
  const shown = heat.shown.value;
  const trouble = heat.trouble.value;
  const pending = shown !== null && shown.key !== heat.asked.value;
  return (
    <Panel title="Groups over time" note={shown === null ? undefined : <> · <Text of={shown.answer.limits.find(({ index }) => index === shown.answer.limit)?.text ?? ""} /></>}>
      {trouble !== null && (
        <Empty>
          The maps are not read: <Text of={trouble} most={300} />.
        </Empty>
      )}
      {shown === null ? (
        trouble === null && <Empty>The maps are asked for…</Empty>
      ) : (
        <Fresh arrived={shown.arrived} trouble={trouble} every={heatEvery(shown.answer)}>
          <Choice answer={shown.answer} />
          <div class={pending ? "pending" : ""} aria-busy={pending}>
            <Drawn answer={shown.answer} />
          </div>
        </Fresh>
      )}
    </Panel>
  );
}
