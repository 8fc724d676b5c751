// Faults that sluiced finds in a text, and their places in it. Pure.
export interface TextProblem {
  severity: "error" | "warning";
  line: number; // from 1 on
  column: number; // of bytes, from 1 on
  length: number | null;
  text: string;
  hint: string | null;
  file: string | null; // of the set, where it is not in the text that was written; null: it is in that
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : otherwise;
}

/** Of an answer, whatever stands in it. */
export function problemsOf(list: unknown): TextProblem[] {
  return (Array.isArray(list) ? list : []).filter(isMap).map((one) => ({
    severity: one["severity"] === "warning" ? "warning" : "error",
    line: numberOr(one["line"], 1),
    column: numberOr(one["column"], 1),
    length: typeof one["length"] === "number" ? numberOr(one["length"], 1) : null,
    text: String(one["text"] ?? one["message"] ?? "nothing is said of it"),
    hint: typeof one["hint"] === "string" ? one["hint"] : null,
    file: typeof one["file"] === "string" ? one["file"] : null,
  }));
}

/** The rule that a line of a rule file belongs to, by the nearest `id` above it; null: none. */
export function ruleAtLine(text: string, line: number): string | null {
  const lines = text.split("\n");
  for (let at = Math.min(line, lines.length) - 1; at >= 0; at -= 1) {
    const found = /^\s*(?:-\s+)?(?:\{\s*)?id:\s*(?:"([^"]+)"|'([^']+)'|([^\s,#}]+))/.exec(lines[at] ?? "");
    if (found !== null) {
      return found[1] ?? found[2] ?? found[3] ?? null;
    }
    if (/^[a-z_]+:/.test(lines[at] ?? "")) {
      return null; // another part of the file begins here
    }
  }
  return null;
}

function lettersOfBytes(line: string, bytes: number): number {
  let used = 0;
  let at = 0;
  for (const letter of line) {
    used += new TextEncoder().encode(letter).length;
    if (used > bytes) {
      break;
    }
    at += letter.length;
  }
  return at;
}

/** The place of a problem in a text, in letters as strings count them; never outside of it. */
export function rangeOf(text: string, problem: TextProblem): { from: number; to: number } {
  let begin = 0;
  for (let line = 1; line < problem.line; line += 1) {
    const end = text.indexOf("\n", begin);
    if (end === -1) {
      return { from: text.length, to: text.length };
    }
    begin = end + 1;
  }
  const end = text.indexOf("\n", begin);
  const line = text.slice(begin, end === -1 ? text.length : end);
  const from = lettersOfBytes(line, problem.column - 1);
  const word = /^[^\s:,\]}]+/.exec(line.slice(from))?.[0].length ?? 1;
  const to = problem.length === null ? from + word : lettersOfBytes(line, problem.column - 1 + problem.length);
  return { from: begin + from, to: begin + Math.min(line.length, Math.max(to, from)) };
}
