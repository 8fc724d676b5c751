import { scaled, share, whole } from "../text/number";
import { clockText, instantText, type Zone } from "../text/time";
import type { HeatAnswer, HeatColumn } from "./heat_answer";
import type { Cell, HeatGrid, HeatRow } from "./heat_grid";

// Cells, rows and columns in words; all of them ours, but for the unit, which is the rule's.
export const TITLES = { offered: "Groups by what they asked for", left: "Groups by the least that was left to them" } as const;

/** `3`, `4 to 5`, `11 k to 16 k`: the whole numbers of a bucket of map 1. */
export function offeredWords(row: HeatRow): string {
  const low = Math.ceil(row.low);
  if (row.high === null) {
    return `${scaled(low)} or more`;
  }
  const high = Math.max(low, Math.ceil(row.high) - 1);
  return scaled(low) === scaled(high) ? scaled(low) : `${scaled(low)} to ${scaled(high)}`;
}

/** `refused now`, `6 to 12 % left`, `full`: a bucket of map 2, of the most that the limit holds. */
export function leftWords(row: HeatRow): string {
  if (row.bucket === 0) {
    return "refused now";
  }
  return row.high === null ? "full" : `${Math.round(row.low * 100)} to ${Math.round(row.high * 100)} % left`;
}

export function rowWords(grid: HeatGrid, row: number): string {
  const found = grid.rows[row];
  return found === undefined ? "" : grid.by === "offered" ? offeredWords(found) : leftWords(found);
}

/** Labels of an axis, short: the lowest number of the row. */
export function tickWords(grid: HeatGrid, row: number): string {
  const found = grid.rows[row];
  if (found === undefined) {
    return "";
  }
  if (grid.by === "offered") {
    return scaled(Math.ceil(found.low));
  }
  return found.bucket === 0 ? "refused" : found.high === null ? "full" : `${Math.round(found.high * 100)} %`;
}

/** `about 1 200 groups`; `no group`; `no data`. */
export function groupsWords(groups: number | null, column: HeatColumn | null): string {
  if (groups === null || column === null) {
    return "no data";
  }
  if (groups === 0) {
    return column.oneIn > 1 ? "no watched group" : "no group";
  }
  return `${column.oneIn > 1 ? "about " : ""}${whole(groups)} group${groups === 1 ? "" : "s"}`;
}

/** The span of a column: `07:00:10 to 07:00:20 UTC`. */
export function columnWords(answer: HeatAnswer, column: number, zone: Zone): string {
  const from = Date.parse(answer.from) + column * answer.stepS * 1000;
  return `${clockText(from, zone)} to ${instantText(from + answer.stepS * 1000, zone, Date.parse(answer.to))}`;
}

/** A cell as the live line reads it. */
export function cellWords(answer: HeatAnswer, grid: HeatGrid, cell: Cell, zone: Zone): string {
  const groups = groupsWords(grid.groups(cell.column, cell.row), answer.columns[cell.column] ?? null);
  return `${columnWords(answer, cell.column, zone)}, ${rowWords(grid, cell.row)}: ${groups}`;
}

/** A sentence for the whole map, for whoever sees none of it. */
export function mapWords(answer: HeatAnswer, grid: HeatGrid): string {
  const known = answer.columns.filter((column) => column !== null).length;
  const most = Math.max(0, ...grid.counts);
  const newest = [...answer.columns].reverse().find((column) => column !== null) ?? null;
  const span = `${grid.columns} columns of ${answer.stepS} s, ${known} of them with data`;
  return newest === null
    ? `${TITLES[grid.by]}: ${span}.`
    : `${TITLES[grid.by]}: ${span}; the darkest cell has about ${whole(most)} groups, and there are about ${whole(newest.groups)} in the newest column.`;
}

/** How far the numbers can be believed. */
export function samplingWords(column: HeatColumn): string {
  if (column.oneIn <= 1) {
    return "Every group is watched.";
  }
  const error = column.error === null ? "" : `, give or take ${share(column.error)}`;
  const out = column.leftOut > 0 ? ` ${whole(column.leftOut)} packets of watched groups found no place and are left out.` : "";
  return `All numbers are about: one group in ${whole(column.oneIn)} is watched${error}.${out}`;
}
