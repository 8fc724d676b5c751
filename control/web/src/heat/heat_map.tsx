import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Signal } from "@preact/signals";

import { zone } from "../page";
import type { HeatAnswer } from "./heat_answer";
import { drawMarks } from "./heat_axes";
import { paletteOf } from "./heat_colours";
import { cellAt, gridOf, limitPlace, movedBy, type Cell, type HeatGrid } from "./heat_grid";
import { HeatLegend } from "./heat_legend";
import { paint } from "./heat_pixels";
import { scaleOf, type HeatScale } from "./heat_scale";
import { HeatTable } from "./heat_table";
import { useSurface, type Surface } from "./surface";
import { cellWords, mapWords, TITLES } from "./heat_words";

interface Props {
  answer: HeatAnswer;
  by: "offered" | "left";
  cursor: Signal<number | null>; // s since 1970, of all plots of the screen
  chosen: Cell | null; // the cell whose groups are shown
  choose(cell: Cell): void;
}

function colour(place: HTMLElement, name: string): string {
  return getComputedStyle(place).getPropertyValue(`--${name}`).trim();
}

/** The canvas of the cells alone: its pixels are all of it, so that a test finds a cell by its place. */
function useCells(grid: HeatGrid, scale: HeatScale, { width, ratio, dark }: Surface) {
  const cells = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = cells.current;
    const pen = canvas?.getContext("2d", { willReadFrequently: true }) ?? null;
    if (canvas === null || pen === null || width === 0) {
      return;
    }
    const size = { width: Math.max(1, Math.round(canvas.clientWidth * ratio)), height: Math.max(1, Math.round(canvas.clientHeight * ratio)) };
    canvas.width = size.width;
    canvas.height = size.height;
    pen.putImageData(new ImageData(paint(grid, scale, paletteOf(dark), size), size.width, size.height), 0, 0);
  }, [grid, width, ratio, dark]);
  return cells;
}

/** Marks over the cells and around them, anew for each move of the cursor. */
function useMarks(props: Props, grid: HeatGrid, cell: Cell | null, { width, ratio, dark }: Surface) {
  const marks = useRef<HTMLCanvasElement>(null);
  const at = props.cursor.value;
  useEffect(() => {
    const canvas = marks.current;
    const pen = canvas?.getContext("2d") ?? null;
    if (canvas === null || pen === null || width === 0) {
      return;
    }
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawMarks(pen, props.answer, grid, {
      width: wide, height: high, ink: colour(canvas, "ink"), line: colour(canvas, "paper"),
      limit: limitPlace(props.answer, grid), cell, cursor: at, zone: zone.peek(),
    });
  }, [grid, width, ratio, dark, at, cell?.column, cell?.row, zone.value]);
  return marks;
}

function pointOf(event: MouseEvent): [number, number] {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
}

function middleOf(answer: HeatAnswer, cell: Cell): number {
  return Date.parse(answer.from) / 1000 + (cell.column + 0.5) * answer.stepS;
}

/** A cell keeps its instant while columns pass by. */
function useCell(answer: HeatAnswer, grid: HeatGrid) {
  const [kept, keep] = useState<{ at: number; bucket: number } | null>(null);
  const column = kept === null ? -1 : Math.round((kept.at - Date.parse(answer.from)) / (answer.stepS * 1000));
  const row = grid.rows.findIndex(({ bucket }) => bucket === kept?.bucket);
  const cell = column >= 0 && column < grid.columns && row >= 0 ? { column, row } : null;
  const set = (next: Cell | null): void =>
    keep(next === null ? null : { at: Date.parse(answer.from) + next.column * answer.stepS * 1000, bucket: grid.rows[next.row]?.bucket ?? 0 });
  return { cell, set };
}

/** One of both maps: a canvas that has a sentence, a cell that arrow keys move and a line reads, and a table one key away. */
export function HeatMap(props: Props) {
  const { answer, by, cursor, choose } = props;
  const { grid, scale, sentence } = useGrid(answer, by);
  const { home, surface } = useSurface();
  const { cell, set } = useCell(answer, grid);
  const [asTable, setAsTable] = useState(false);
  const cells = useCells(grid, scale, surface);
  const marks = useMarks(props, grid, cell ?? props.chosen, surface);
  const point = (event: MouseEvent): Cell | null => cellAt(grid, ...pointOf(event));
  const press = (event: KeyboardEvent): void => {
    const next = movedBy(event.key, cell, grid);
    if (next !== null) {
      event.preventDefault();
      set(next);
      cursor.value = middleOf(answer, next);
    } else if ((event.key === "Enter" || event.key === " ") && cell !== null) {
      event.preventDefault();
      choose(cell);
    } else if (event.key === "t") {
      setAsTable(!asTable);
    } else if (event.key === "Escape") {
      set(null);
    }
  };
  const id = `map-${by}`;
  return (
    <figure class="heat">
      <figcaption id={id}>
        {TITLES[by]}
        <button type="button" aria-expanded={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? "Without the table" : "As a table"}
        </button>
      </figcaption>
      <div class={`area ${by}`} ref={home}>
        <canvas class="cells" ref={cells} role="img" tabIndex={0} aria-label={sentence} aria-describedby={`${id}-keys`}
          onKeyDown={press}
          onMouseMove={(event) => {
            const found = point(event);
            set(found);
            cursor.value = found === null ? null : middleOf(answer, found);
          }}
          onMouseLeave={() => {
            set(null);
            cursor.value = null;
          }}
          onClick={(event) => {
            const found = point(event);
            if (found !== null) {
              set(found);
              choose(found);
            }
          }} />
        <canvas class="marks" ref={marks} aria-hidden="true" />
      </div>
      <p class="reads" aria-live="polite">
        {cell !== null && <span class="num">{cellWords(answer, grid, cell, zone.value)}</span>}
      </p>
      <HeatLegend scale={scale} palette={paletteOf(surface.dark)} by={by} hasLimit={limitPlace(answer, grid) !== null} />
      <p class="unseen" id={`${id}-keys`}>
        Arrow keys move a cell, Enter shows its groups, t shows the table.
      </p>
      {asTable && <HeatTable answer={answer} grid={grid} />}
    </figure>
  );
}

/** Worked out once for each answer, not for each move of the cursor. */
function useGrid(answer: HeatAnswer, by: "offered" | "left") {
  return useMemo(() => {
    const grid = gridOf(answer, by);
    return { grid, scale: scaleOf(grid.counts), sentence: mapWords(answer, grid) };
  }, [answer, by]);
}
