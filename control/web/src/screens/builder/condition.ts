// Conditions of rules as rows of field, operator and value, where they can be shown so; each with its place in the text, so
// that another value changes no other letter. What is no row stays as text. Pure.
export interface Token {
  kind: "word" | "text" | "sign";
  text: string;
  from: number;
  to: number;
}
export interface Row {
  kind: "row";
  isNot: boolean;
  field: string;
  operator: string;
  value: string; // as it is written
  valueAt: [number, number];
  from: number;
  to: number;
}
export interface Joined {
  kind: "and" | "or";
  parts: Node[];
  from: number;
  to: number;
}
export interface Other {
  kind: "text"; // a part that no row can show
  text: string;
  from: number;
  to: number;
}
export type Node = Row | Joined | Other;

export const OPERATORS = ["eq", "ne", "lt", "le", "gt", "ge", "in", "contains", "starts_with", "ends_with", "matches"] as const;
const SIGNS: Record<string, string> = { "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge" };
const CALLS = new Set(["starts_with", "ends_with"]);
const TOKEN = /\s+|"(?:[^"\\]|\\.)*"|==|!=|<=|>=|[<>(){}[\],]|[^\s(){}[\],"=<>!]+/gy;
const DEEPEST = 32;

export function tokensOf(text: string): Token[] | null {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  let at = 0;
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text)?.[0];
    if (found === undefined) {
      return null;
    }
    if (found.trim() !== "") {
      const kind = found.startsWith('"') ? "text" : /^[(){}[\],<>=!]/.test(found) ? "sign" : "word";
      tokens.push({ kind, text: found, from: at, to: at + found.length });
    }
    at += found.length;
  }
  return tokens;
}

class Reader {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
  ) {}

  whole(): Node | null {
    const node = this.joined("or", 0);
    return this.at === this.tokens.length ? node : null;
  }

  private peek(ahead = 0): Token | undefined {
    return this.tokens[this.at + ahead];
  }

  private is(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token !== undefined && token.kind !== "text" && token.text === text;
  }

  private joined(kind: "and" | "or", depth: number): Node | null {
    const parts: Node[] = [];
    do {
      const part = kind === "or" ? this.joined("and", depth) : this.one(depth);
      if (part === null) {
        return null;
      }
      parts.push(part);
    } while (this.is(kind) && ++this.at > 0);
    const [first] = parts;
    const last = parts[parts.length - 1];
    return parts.length === 1 || first === undefined || last === undefined ? (first ?? null) : { kind, parts, from: first.from, to: last.to };
  }

  private one(depth: number): Node | null {
    const begin = this.peek();
    if (begin === undefined || depth > DEEPEST) {
      return null;
    }
    if (this.is("(")) {
      this.at += 1;
      const inner = this.joined("or", depth + 1);
      const end = this.peek();
      if (inner === null || !this.is(")") || end === undefined) {
        return null;
      }
      this.at += 1;
      return { ...inner, from: begin.from, to: end.to };
    }
    if (this.is("not")) {
      this.at += 1;
      const inner = this.one(depth + 1);
      if (inner === null) {
        return null;
      }
      const span = { from: begin.from, to: inner.to };
      return inner.kind === "row" && !inner.isNot && this.text[inner.from] !== "("
        ? { ...inner, ...span, isNot: true }
        : { kind: "text", text: this.text.slice(span.from, span.to), ...span };
    }
    return CALLS.has(begin.text) && this.is("(", 1) ? this.call() : this.row();
  }

  /** starts_with(f, "x") */
  private call(): Node | null {
    const begin = this.peek();
    this.at += 2;
    const field = this.field();
    if (begin === undefined || field === null || !this.is(",")) {
      return null;
    }
    this.at += 1;
    const value = this.value();
    const end = this.peek();
    if (value === null || !this.is(")") || end === undefined) {
      return null;
    }
    this.at += 1;
    return { kind: "row", isNot: false, field, operator: begin.text, ...value, from: begin.from, to: end.to };
  }

  private row(): Node | null {
    const begin = this.peek();
    const field = this.field();
    if (begin === undefined || field === null) {
      return null;
    }
    const operator = this.peek();
    const name = operator === undefined || operator.kind === "text" ? undefined : (SIGNS[operator.text] ?? operator.text);
    if (name === undefined || !OPERATORS.some((one) => one === name) || CALLS.has(name)) {
      const to = this.tokens[this.at - 1]?.to ?? begin.to;
      return { kind: "row", isNot: false, field, operator: "", value: "", valueAt: [to, to], from: begin.from, to };
    }
    this.at += 1;
    const value = this.value();
    return value === null ? null : { kind: "row", isNot: false, field, operator: name, ...value, from: begin.from, to: value.valueAt[1] };
  }

  /** A field, with a name in brackets, or a function of one. */
  private field(): string | null {
    const begin = this.peek();
    if (begin === undefined || begin.kind !== "word" || !/^[a-z][\w.-]*$/i.test(begin.text) || begin.text === "and" || begin.text === "or") {
      return null;
    }
    this.at += 1;
    const [open, close] = this.is("[") ? ["[", "]"] : ["(", ")"];
    let depth = 0;
    let to = begin.to;
    while (this.is(open) || depth > 0) {
      const token = this.peek();
      if (token === undefined) {
        return null;
      }
      depth += this.is(open) ? 1 : this.is(close) ? -1 : 0;
      this.at += 1;
      to = token.to;
      if (depth === 0) {
        break;
      }
    }
    return this.text.slice(begin.from, to);
  }

  private value(): { value: string; valueAt: [number, number] } | null {
    const begin = this.peek();
    if (begin === undefined) {
      return null;
    }
    this.at += 1;
    let to = begin.to;
    if (begin.text === "{") {
      while (!this.is("}")) {
        if (this.peek() === undefined) {
          return null;
        }
        this.at += 1;
      }
      to = this.peek()?.to ?? to;
      this.at += 1;
    } else if (begin.kind === "sign") {
      return null;
    }
    return { value: this.text.slice(begin.from, to), valueAt: [begin.from, to] };
  }
}

/** null: it cannot be shown in rows; it stays a text. */
export function conditionOf(text: string): Node | null {
  const tokens = tokensOf(text);
  return tokens === null || tokens.length === 0 ? null : new Reader(text, tokens).whole();
}

export function writtenRow(row: { isNot: boolean; field: string; operator: string; value: string }): string {
  const body =
    row.operator === ""
      ? row.field
      : CALLS.has(row.operator)
        ? `${row.operator}(${row.field}, ${row.value})`
        : `${row.field} ${row.operator} ${row.value}`;
  return row.isNot ? `not ${body}` : body;
}

/** The condition with one row changed; only the value's letters, where nothing else changes. */
export function withRow(text: string, row: Row, change: Partial<Pick<Row, "isNot" | "field" | "operator" | "value">>): string {
  const isValueAlone = change.value !== undefined && Object.keys(change).length === 1 && row.operator !== "";
  const [from, to] = isValueAlone ? row.valueAt : [row.from, row.to];
  const next = isValueAlone ? (change.value ?? "") : writtenRow({ ...row, ...change });
  const isParted = !isValueAlone && text[row.from] === "(";
  return text.slice(0, from) + (isParted ? `(${next})` : next) + text.slice(to);
}

/** The condition with another row behind all others. */
export function withMore(text: string, joiner: "and" | "or", row: string): string {
  const node = conditionOf(text);
  if (text.trim() === "") {
    return row;
  }
  const isMixed = node === null || (node.kind !== "row" && node.kind !== joiner && !(text[node.from] === "(" && node.to === text.trimEnd().length));
  return isMixed ? `(${text}) ${joiner} ${row}` : `${text} ${joiner} ${row}`;
}

function partsAround(node: Node, at: Node): Node[] | null {
  if (node.kind !== "and" && node.kind !== "or") {
    return null;
  }
  for (const part of node.parts) {
    if (part.from === at.from && part.to === at.to && part.kind === at.kind) {
      return node.parts;
    }
    const inside = partsAround(part, at);
    if (inside !== null) {
      return inside;
    }
  }
  return null;
}

/** The condition without a part, and without the word that joined it; empty: nothing is left. */
export function withoutPart(text: string, part: Node): string {
  const whole = conditionOf(text);
  const parts = whole === null ? null : partsAround(whole, part);
  if (parts === null) {
    return "";
  }
  const at = parts.findIndex((one) => one.from === part.from);
  const [before, after] = [parts[at - 1], parts[at + 1]];
  const [from, to] = before !== undefined ? [before.to, part.to] : [part.from, after?.from ?? part.to];
  return text.slice(0, from) + text.slice(to);
}
