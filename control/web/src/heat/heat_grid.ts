import type { By, HeatAnswer } from "./heat_answer";

// The cells of one map: columns are instants, rows are buckets, the lowest first.
export interface HeatRow {
  bucket: number;
  low: number; // its least value
  high: number | null; // what is above it; null: nothing is
}
export interface HeatGrid {
  by: By;
  rows: HeatRow[];
  columns: number;
  groups(column: number, row: number): number | null; // null: no data
  counts: number[]; // of cells that have groups
}
export interface Cell {
  column: number;
  row: number;
}
const LEAST_ROWS = 8;

/** The bucket can have a whole number in it. */
function hasWhole(low: number, high: number | null): boolean {
  return high === null || Math.ceil(low) < high;
}

function rowsOf(edges: readonly number[]): HeatRow[] {
  return edges.map((low, bucket) => ({ bucket, low, high: edges[bucket + 1] ?? null }));
}

function usedBuckets(answer: HeatAnswer): Set<number> {
  const used = new Set<number>();
  for (const column of answer.columns) {
    column?.offered.forEach((_, bucket) => used.add(bucket));
  }
  return used;
}

/** Rows of map 1: all that have a group, and where the limit lies, with one more at each side. */
function offeredRows(answer: HeatAnswer): HeatRow[] {
  const used = usedBuckets(answer);
  const marked = [...used, ...(answer.limitBucket === null ? [] : [answer.limitBucket])].filter((bucket) => bucket > 0);
  const last = answer.offeredEdges.length - 1;
  const lowest = Math.max(1, Math.min(...(marked.length > 0 ? marked : [1])) - 1);
  const highest = Math.min(last, Math.max(lowest + LEAST_ROWS, ...marked.map((bucket) => bucket + 1)));
  return rowsOf(answer.offeredEdges).filter(
    ({ bucket, low, high }) =>
      used.has(bucket) || (bucket >= lowest && bucket <= highest && hasWhole(low, high)),
  );
}

export function gridOf(answer: HeatAnswer, by: By): HeatGrid {
  const rows = by === "offered" ? offeredRows(answer) : rowsOf(answer.leftEdges);
  const cells = answer.columns.map((column) => (column === null ? null : column[by]));
  return {
    by,
    rows,
    columns: cells.length,
    groups: (column, row) => {
      const found = cells[column] ?? null;
      return found === null ? null : (found.get(rows[row]?.bucket ?? -1) ?? 0);
    },
    counts: cells.flatMap((column) => (column === null ? [] : [...column.values()])),
  };
}

/** The limit's height over the rows of map 1, in rows from the bottom; null: it is on none of them. */
export function limitPlace(answer: HeatAnswer, grid: HeatGrid): number | null {
  const row = grid.rows.findIndex(({ bucket }) => bucket === answer.limitBucket);
  const found = grid.rows[row];
  if (grid.by !== "offered" || found === undefined) {
    return null;
  }
  const most = answer.limits.find(({ index }) => index === answer.limit)?.most ?? null;
  const isWithin = most !== null && found.high !== null && found.low > 0 && most >= found.low && most < found.high;
  return row + (isWithin ? Math.log(most / found.low) / Math.log(found.high! / found.low) : 0.5);
}

/** The edge of part `at` of `parts` on a length of pixels: parts differ by one pixel at most and leave none between. */
export function edgeOf(at: number, parts: number, length: number): number {
  return Math.round((at * length) / Math.max(1, parts));
}

/** The cell under a point, as parts of the width and of the height from above; null: there is none. */
export function cellAt(grid: HeatGrid, x: number, y: number): Cell | null {
  if (!(x >= 0 && x < 1 && y >= 0 && y < 1) || grid.columns === 0 || grid.rows.length === 0) {
    return null;
  }
  return { column: Math.floor(x * grid.columns), row: grid.rows.length - 1 - Math.floor(y * grid.rows.length) };
}

const MOVES: Readonly<Record<string, [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  PageUp: [0, 5],
  PageDown: [0, -5],
};

/** Where a key leads from a cell; null: nowhere, the key is another one. */
export function movedBy(key: string, cell: Cell | null, grid: HeatGrid): Cell | null {
  const last = { column: grid.columns - 1, row: grid.rows.length - 1 };
  const from = cell ?? { column: last.column, row: 0 };
  if (key === "Home" || key === "End") {
    return { ...from, column: key === "Home" ? 0 : last.column };
  }
  const move = Object.prototype.hasOwnProperty.call(MOVES, key) ? MOVES[key] : undefined;
  if (move === undefined) {
    return null;
  }
  if (cell === null) {
    return from;
  }
  const within = (value: number, most: number): number => Math.max(0, Math.min(most, value));
  return { column: within(from.column + move[0], last.column), row: within(from.row + move[1], last.row) };
}
