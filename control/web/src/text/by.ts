// Who has changed something, as answers have it: a name, or the number of a user of the box. Pure.

/** A name that people know; null: a number, which says nothing of who came by the dashboard. */
export function nameOf(by: unknown): string | null {
  return typeof by === "string" && by !== "" && !/^\d+$/.test(by) ? by : null;
}

export function byText(by: unknown): string {
  const name = nameOf(by);
  return name ?? (typeof by === "number" || typeof by === "string" ? `uid ${by}` : "?");
}
