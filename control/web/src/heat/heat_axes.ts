import { clockText, type Zone } from "../text/time";
import type { HeatAnswer } from "./heat_answer";
import { edgeOf, type Cell, type HeatGrid } from "./heat_grid";
import { tickWords } from "./heat_words";

// Around the cells, and over them: axes, the limit, the cell that is chosen, the cursor of all plots. Labels are ours alone.
export const FRAME = { left: 62, right: 10, top: 8, bottom: 22 } as const; // CSS pixels around the cells, as the rate plot has them
const TICK_PX = 17; // of height, at least, for a label
const CLOCK_PX = 84;

export interface Marks {
  width: number; // of all of it, CSS pixels
  height: number;
  ink: string;
  line: string;
  limit: number | null; // rows from the bottom
  cell: Cell | null;
  cursor: number | null; // s since 1970
  zone: Zone;
}

function inner(marks: Marks): { width: number; height: number } {
  return { width: marks.width - FRAME.left - FRAME.right, height: marks.height - FRAME.top - FRAME.bottom };
}

/** Every how many-th of so many rows has room for a label. */
export function everyNth(rows: number, height: number, least = TICK_PX): number {
  return Math.max(1, Math.ceil((least * rows) / Math.max(1, height)));
}

/** Rows that have a label: of map 2 both ends and quarters, of map 1 as many as have room. */
export function labelledRows(grid: HeatGrid, height: number): number[] {
  const rows = grid.rows.map((_, row) => row);
  if (grid.by === "left") {
    return rows.filter((row) => row === 0 || row === rows.length - 1 || (row % 4 === 0 && row < rows.length - 2));
  }
  const nth = everyNth(rows.length, height);
  return rows.filter((row) => row % nth === 0);
}

/** Instants at full steps: of them as many as have room; ms. */
export function clockTicks(from: number, to: number, width: number, each = CLOCK_PX): number[] {
  const steps = [1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200].map((s) => s * 1000);
  const least = ((to - from) * each) / Math.max(1, width);
  const step = steps.find((one) => one >= least) ?? 86_400_000;
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to && ticks.length < 64; at += step) {
    ticks.push(at);
  }
  return ticks;
}

function drawAxes(pen: CanvasRenderingContext2D, answer: HeatAnswer, grid: HeatGrid, marks: Marks): void {
  const { width, height } = inner(marks);
  pen.fillStyle = marks.ink;
  pen.strokeStyle = marks.line;
  pen.lineWidth = 1;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  const rows = grid.rows.length;
  for (const row of labelledRows(grid, height)) {
    const middle = FRAME.top + (edgeOf(rows - 1 - row, rows, height) + edgeOf(rows - row, rows, height)) / 2;
    pen.fillText(tickWords(grid, row), FRAME.left - 6, middle);
  }
  pen.textAlign = "center";
  pen.textBaseline = "top";
  const [from, to] = [Date.parse(answer.from), Date.parse(answer.to)];
  for (const at of clockTicks(from, to, width)) {
    const x = FRAME.left + ((at - from) / Math.max(1, to - from)) * width;
    pen.beginPath();
    pen.moveTo(x, FRAME.top + height);
    pen.lineTo(x, FRAME.top + height + 4);
    pen.stroke();
    const half = pen.measureText("00:00:00").width / 2;
    pen.fillText(clockText(at, marks.zone), Math.min(Math.max(x, half), marks.width - half), FRAME.top + height + 6);
  }
  pen.strokeRect(FRAME.left - 0.5, FRAME.top - 0.5, width + 1, height + 1);
}

function drawLimit(pen: CanvasRenderingContext2D, grid: HeatGrid, marks: Marks): void {
  if (marks.limit === null) {
    return;
  }
  const { width, height } = inner(marks);
  const y = FRAME.top + height - (marks.limit / grid.rows.length) * height;
  const across = (): void => {
    pen.beginPath();
    pen.moveTo(FRAME.left, y);
    pen.lineTo(FRAME.left + width, y);
    pen.stroke();
  };
  pen.lineWidth = 4; // a border, so that it is seen over dark cells and light ones
  pen.strokeStyle = marks.line;
  across();
  pen.lineWidth = 2;
  pen.strokeStyle = marks.ink;
  pen.setLineDash([8, 4]);
  across();
  pen.setLineDash([]);
}

function drawCell(pen: CanvasRenderingContext2D, grid: HeatGrid, marks: Marks): void {
  if (marks.cell === null) {
    return;
  }
  const { width, height } = inner(marks);
  const { column, row } = marks.cell;
  const rows = grid.rows.length;
  const [left, right] = [edgeOf(column, grid.columns, width), edgeOf(column + 1, grid.columns, width)];
  const [top, bottom] = [edgeOf(rows - 1 - row, rows, height), edgeOf(rows - row, rows, height)];
  for (const [space, colour] of [[1, marks.ink], [2.5, marks.line]] as const) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.5;
    pen.strokeRect(FRAME.left + left - space, FRAME.top + top - space, Math.max(3, right - left) + 2 * space, bottom - top + 2 * space);
  }
}

/** The instant of the cursor, as a part of the width; null: beside the map. */
export function cursorPart(answer: HeatAnswer, cursor: number | null): number | null {
  const [from, to] = [Date.parse(answer.from), Date.parse(answer.to)];
  const part = cursor === null ? -1 : (cursor * 1000 - from) / Math.max(1, to - from);
  return part >= 0 && part <= 1 ? part : null;
}

export function drawMarks(pen: CanvasRenderingContext2D, answer: HeatAnswer, grid: HeatGrid, marks: Marks): void {
  pen.clearRect(0, 0, marks.width, marks.height);
  pen.font = "12px system-ui, 'Liberation Sans', sans-serif";
  drawAxes(pen, answer, grid, marks);
  drawLimit(pen, grid, marks);
  drawCell(pen, grid, marks);
  const part = cursorPart(answer, marks.cursor);
  if (part !== null) {
    const { width, height } = inner(marks);
    pen.strokeStyle = marks.ink;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(FRAME.left + part * width, FRAME.top);
    pen.lineTo(FRAME.left + part * width, FRAME.top + height);
    pen.stroke();
  }
}
