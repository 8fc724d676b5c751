import { visibleText } from "./visible";

// RFC 4180. A cell that a spreadsheet would take for a formula begins with an apostrophe; hidden characters are escapes,
// as they are on the page.
const FORMULA = /^[\s\u00a0]*[=+\-@\uff1d\uff0b\uff0d\uff20]/;

export function csvCell(value: unknown): string {
  if (value === null || value === undefined) {
    return "";
  }
  if (typeof value === "number" || typeof value === "boolean") {
    return String(value);
  }
  const text = visibleText(typeof value === "string" ? value : JSON.stringify(value));
  return `"${FORMULA.test(text) ? "'" : ""}${text.replace(/"/g, '""')}"`;
}

export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}
