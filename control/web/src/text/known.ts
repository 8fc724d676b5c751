/** The row of a word that others sent, never what all objects have (`constructor`). */
export function known<T>(rows: Readonly<Record<string, T>>, word: unknown): T | undefined {
  return typeof word === "string" && Object.prototype.hasOwnProperty.call(rows, word) ? rows[word] : undefined;
}
