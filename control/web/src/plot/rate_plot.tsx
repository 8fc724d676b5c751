import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { isDark } from "../frame/colours";
import { zone } from "../page";
import { Num } from "../parts/num";
import { scaled, withUnit } from "../text/number";
import { clockText, zoneName } from "../text/time";
import { MEASURES, type Measure } from "../transport/answers";
import { plotted, summaryOf, type Series } from "./series";

// Lines over ten minutes, and a table of the same for whoever cannot see them. Labels are ours alone.
export const LABELS: Record<Measure, string> = {
  offered: "Offered",
  passed: "Passed",
  refused: "Refused",
  would_refuse: "Would refuse",
  answered: "Answered",
};
const DASHES: Partial<Record<Measure, number[]>> = { would_refuse: [6, 4], answered: [2, 3] };
const HEIGHT = 190;
const NARROW = 480;

interface Props {
  title: string;
  unit: "pps" | "bit/s";
  series: Series;
}

function columnsOf(unit: Props["unit"]): string[] {
  return MEASURES.map((measure) => `${measure}_${unit === "pps" ? "pps" : "bps"}`);
}

function colour(place: HTMLElement, name: string): string {
  return getComputedStyle(place).getPropertyValue(`--${name}`).trim();
}

function options(place: HTMLElement, unit: string): uPlot.Options {
  const axis = { stroke: colour(place, "ink"), grid: { stroke: colour(place, "line"), width: 1 }, ticks: { stroke: colour(place, "line"), width: 1 } };
  return {
    width: Math.max(200, place.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, space: place.clientWidth < NARROW ? 90 : 70, values: (_plot, splits) => splits.map((at) => clockText(at * 1000, zone.peek())) },
      { ...axis, size: 62, values: (_plot, splits) => splits.map((value) => scaled(value)) },
    ],
    series: [
      {},
      ...MEASURES.map((measure) => ({
        label: `${LABELS[measure]} ${unit}`,
        stroke: colour(place, measure.replace("_", "-")),
        width: 1.5,
        points: { show: false },
        ...(DASHES[measure] === undefined ? {} : { dash: DASHES[measure] }),
      })),
    ],
  };
}

/** Draws anew where the width, the colours or the zone are others. */
function useLines(series: Series, unit: Props["unit"]) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const home = place.current;
    if (home === null) {
      return undefined;
    }
    const made = new uPlot(options(home, unit), plotted(series, columnsOf(unit)) as uPlot.AlignedData, home);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: Math.max(200, home.clientWidth), height: HEIGHT }));
    watch.observe(home);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [isDark.value, zone.value]);
  useEffect(() => plot.current?.setData(plotted(series, columnsOf(unit)) as uPlot.AlignedData), [series]);
  return place;
}

function Summaries({ series, unit, title }: Props) {
  const [, ...columns] = plotted(series, columnsOf(unit));
  return (
    <table class="key">
      <caption class="unseen">{title}: numbers</caption>
      <thead>
        <tr>
          <th scope="col">{unit === "pps" ? "Packets" : "Bits"}</th>
          <th scope="col">Now</th>
          <th scope="col">Mean</th>
          <th scope="col">Peak</th>
        </tr>
      </thead>
      <tbody>
        {MEASURES.map((measure, at) => {
          const { now, mean, peak } = summaryOf(columns[at] ?? []);
          return (
            <tr>
              <th scope="row">
                <span class={`swatch ${measure.replace("_", "-")}`} aria-hidden="true" />
                {LABELS[measure]}
              </th>
              {[now, mean, peak].map((value) => (
                <td>
                  <Num text={withUnit(value, unit)} />
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export function RatePlot({ title, unit, series }: Props) {
  const place = useLines(series, unit);
  return (
    <figure class="plot">
      <figcaption>
        {title} <small>10 minutes, {zoneName(zone.value, new Date(series.end * 1000))}</small>
      </figcaption>
      <div class="lines" role="img" aria-label={`${title} over ten minutes; the table has the numbers`} ref={place} />
      <Summaries title={title} unit={unit} series={series} />
    </figure>
  );
}
