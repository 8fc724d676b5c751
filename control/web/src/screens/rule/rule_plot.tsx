import { useEffect, useRef } from "preact/hooks";
import { type Signal, useSignalEffect } from "@preact/signals";
import uPlot from "uplot";

import { FRAME } from "../../heat/heat_axes";
import { useSurface } from "../../heat/surface";
import { zone } from "../../page";
import { Num } from "../../parts/num";
import { scaled, withUnit } from "../../text/number";
import { clockText } from "../../text/time";
import type { RuleSeries } from "./rule_answers";

// Rates of the rule over the time of its maps; sluiced has those of ten minutes.
const LINES = [
  { column: "matched_pps", label: "Matched", colour: "offered", dash: [] },
  { column: "refused_pps", label: "Refused", colour: "refused", dash: [] },
  { column: "would_refuse_pps", label: "Would refuse", colour: "would-refuse", dash: [6, 4] },
] as const;
const HEIGHT = 190;

interface Props {
  series: RuleSeries;
  from: number; // s since 1970
  to: number;
  cursor: Signal<number | null>;
}

type Row = (number | null)[];

function rowsOf({ series, from, to }: Props): [number[], ...Row[]] {
  const columns = LINES.map(({ column }) => series.columns[column] ?? []);
  const length = Math.max(0, ...columns.map((values) => values.length));
  const times = Array.from({ length }, (_, at) => series.end - (length - 1 - at) * series.step);
  const shown = times.map((at) => at >= from && at <= to);
  const kept = columns.map((values) => [...Array.from({ length: length - values.length }, () => null), ...values].filter((_, at) => shown[at]));
  return [times.filter((_, at) => shown[at]), ...kept];
}

function optionsOf(place: HTMLElement, range: () => [number, number], cursor: Signal<number | null>): uPlot.Options {
  const colour = (name: string): string => getComputedStyle(place).getPropertyValue(`--${name}`).trim();
  const axis = { stroke: colour("ink"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 } };
  return {
    width: Math.max(200, place.clientWidth),
    height: HEIGHT,
    padding: [FRAME.top, FRAME.right, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false },
    scales: { x: { time: true, range: () => range() }, y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, space: 84, values: (_plot, splits) => splits.map((at) => clockText(at * 1000, zone.peek())) },
      { ...axis, size: FRAME.left, values: (_plot, splits) => splits.map((value) => scaled(value)) },
    ],
    series: [{}, ...LINES.map(({ label, colour: name, dash }) => ({ label, stroke: colour(name), width: 1.5, points: { show: false }, dash: [...dash] }))],
    hooks: {
      setCursor: [
        (plot) => {
          const { left } = plot.cursor;
          if (plot.root.matches(":hover")) {
            cursor.value = left === undefined || left < 0 ? null : plot.posToVal(left, "x");
          }
        },
      ],
    },
  };
}

function useLines(props: Props) {
  const { home, surface } = useSurface();
  const plot = useRef<uPlot | null>(null);
  const range = useRef<[number, number]>([0, 1]);
  range.current = [props.from, props.to];
  const { width, dark, ratio } = surface;
  useEffect(() => {
    const place = home.current;
    if (place === null || width === 0) {
      return undefined;
    }
    const made = new uPlot(optionsOf(place, () => range.current, props.cursor), rowsOf(props) as uPlot.AlignedData, place);
    plot.current = made;
    return () => {
      plot.current = null;
      made.destroy();
    };
  }, [width, dark, ratio, zone.value]);
  useEffect(() => plot.current?.setData(rowsOf(props) as uPlot.AlignedData), [props.series, props.from, props.to]);
  useSignalEffect(() => {
    const at = props.cursor.value;
    const made = plot.current;
    if (made !== null && !made.root.matches(":hover")) {
      const left = at === null ? -10 : made.valToPos(at, "x");
      made.setCursor({ left, top: left < 0 ? -10 : 0 }, false);
    }
  });
  return home;
}

/** The value nearest to an instant. */
function valueAt(row: Row, times: number[], at: number | null): number | null {
  const found = at === null ? times.length - 1 : times.findIndex((time) => Math.abs(time - at) <= 1);
  return row[found] ?? null;
}

export function RulePlot(props: Props) {
  const home = useLines(props);
  const [times, ...rows] = rowsOf(props);
  const at = props.cursor.value;
  return (
    <figure class="plot">
      <figcaption>Packets a second</figcaption>
      <div class="lines" role="img" aria-label="Packets a second over the time of the maps; the list below has the numbers" ref={home} />
      <ul class="legend rates" aria-label={at === null ? "Packets a second, now" : "Packets a second, at the cursor"}>
        {LINES.map(({ label, colour }, line) => (
          <li>
            <span class={`swatch ${colour}`} aria-hidden="true" />
            {label} <Num text={withUnit(valueAt(rows[line] ?? [], times, at), "pps")} />
          </li>
        ))}
        <li>{at === null ? "now" : `at ${clockText(at * 1000, zone.value)}`}</li>
      </ul>
    </figure>
  );
}
