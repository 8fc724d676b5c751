// Lines that two texts have in common. Pure.
export interface DiffLine {
  kind: "same" | "out" | "in";
  text: string;
}
const MOST_CELLS = 4_000_000; // beyond, the middle is all out and all in

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** For each pair of places, how many lines are common from there on. */
function commonFrom(old: string[], next: string[]): Uint16Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(next.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    const [row, below] = [table[i]!, table[i + 1]!];
    for (let j = next.length - 1; j >= 0; j -= 1) {
      row[j] = old[i] === next[j] ? below[j + 1]! + 1 : Math.max(below[j]!, row[j + 1]!);
    }
  }
  return table;
}

function middle(old: string[], next: string[]): DiffLine[] {
  const isLarge = old.length * next.length > MOST_CELLS;
  const table = isLarge ? [] : commonFrom(old, next);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) {
      lines.push({ kind: "same", text: old[i]! });
      i += 1;
      j += 1;
    } else if (i < old.length && (j === next.length || isLarge || (table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0))) {
      lines.push({ kind: "out", text: old[i]! });
      i += 1;
    } else {
      lines.push({ kind: "in", text: next[j]! });
      j += 1;
    }
  }
  return lines;
}

export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, next] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < next.length && old[head] === next[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < old.length - head && tail < next.length - head && old[old.length - 1 - tail] === next[next.length - 1 - tail]) {
    tail += 1;
  }
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ kind: "same", text }));
  return [
    ...same(old.slice(0, head)),
    ...middle(old.slice(head, old.length - tail), next.slice(head, next.length - tail)),
    ...same(old.slice(old.length - tail)),
  ];
}

/** With `around` lines before and behind each change; null stands for those that are left out. */
export function hunks(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const shown = lines.map((_, at) => lines.slice(Math.max(0, at - around), at + around + 1).some((one) => one.kind !== "same"));
  const rows: (DiffLine | null)[] = [];
  lines.forEach((line, at) => {
    if (shown[at]) {
      rows.push(line);
    } else if (rows[rows.length - 1] !== null) {
      rows.push(null);
    }
  });
  return rows;
}
