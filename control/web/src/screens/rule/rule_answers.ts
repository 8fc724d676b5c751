import { isNumber } from "../../text/number";
import type { BoxEvent } from "../../transport/answers";

// Answers of sluiced about one rule, as far as it is well-formed.
type Members = Record<string, unknown>;
export interface RuleLimit {
  name: string;
  key: string;
  text: string;
  scope: string;
  bound: string;
}
export interface OwnNumbers {
  key: string;
  says: string;
  until: unknown;
  reason: string;
}
export interface FullRule {
  id: string;
  description: string;
  mode: string;
  fileMode: string;
  ends: string | null;
  when: string;
  key: string;
  action: string;
  ban: string; // how keys come to be banned; empty: they do not
  overrides: string; // file of them; empty: none
  limits: RuleLimit[];
  ownNumbers: OwnNumbers[];
  ownCount: number;
  source: { file: string; line: number; text: string } | null;
}
export interface TopKey {
  key: string;
  hits: number | null;
  denied: number | null;
  bits: number | null;
  remaining: number | null;
  isExempt: boolean;
  isBanned: boolean;
}
export interface LiveKey {
  key: string | null;
  digest: string;
  limit: string;
  tier: number | null;
  remaining: number | null;
  most: number | null;
  leftS: number | null;
  banned: string | null;
}
export interface CellAnswer {
  groups: number | null;
  oneIn: number;
  keys: { key: string; offered: number | null; refused: number | null; left: number | null }[];
  shared: { field: string; value: string; here: number | null; rest: number | null }[];
  namesMissing: number;
}
const MOST_OWN = 100;

export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

function rowsOf(value: unknown, most: number): Members[] {
  return Array.isArray(value) ? value.slice(0, most).map(membersOf) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function number(value: unknown): number | null {
  return isNumber(value) ? value : null;
}

function sourceOf(value: unknown): FullRule["source"] {
  const row = membersOf(value);
  return typeof row["text"] === "string" ? { file: text(row["file"]), line: number(row["line"]) ?? 1, text: row["text"] } : null;
}

export function fullRuleOf(body: unknown): FullRule | null {
  const rule = membersOf(body);
  if (typeof rule["id"] !== "string" || typeof rule["mode"] !== "string" || !Array.isArray(rule["limits"])) {
    return null;
  }
  const own = Array.isArray(rule["keys_set"]) ? rule["keys_set"] : [];
  return {
    id: rule["id"],
    description: text(rule["description"]),
    mode: rule["mode"],
    fileMode: text(rule["file_mode"]),
    ends: textOrNull(rule["ends"]),
    when: text(rule["when"]),
    key: text(rule["key"]),
    action: text(rule["action"]),
    ban: text(rule["ban"]),
    overrides: text(membersOf(rule["settings"])["overrides"]),
    limits: rowsOf(rule["limits"], 64).map((row) => ({
      name: text(row["name"]), key: text(row["key"]), text: text(row["text"]), scope: text(row["scope"]), bound: text(row["bound"]),
    })),
    ownNumbers: rowsOf(own, MOST_OWN).map((row) => ({
      key: text(row["key"]), says: text(row["set"]), until: row["until"], reason: text(row["reason"]),
    })),
    ownCount: own.length,
    source: sourceOf(rule["source"]),
  };
}

export function topKeysOf(body: unknown): TopKey[] | null {
  const keys = membersOf(body)["keys"];
  return !Array.isArray(keys)
    ? null
    : rowsOf(keys, 100).map((row) => ({
        key: text(row["key"]),
        hits: number(row["hits_per_s"]),
        denied: number(row["denied_per_s"]),
        bits: number(row["bits_per_s"]),
        remaining: number(row["remaining"]),
        isExempt: row["exempt"] === true,
        isBanned: row["banned"] === true,
      }));
}

export interface LiveKeys {
  live: number | null;
  keys: LiveKey[];
  next: string | null;
}

export function liveKeysOf(body: unknown): LiveKeys | null {
  const page = membersOf(body);
  return !Array.isArray(page["keys"])
    ? null
    : {
        live: number(page["live"]),
        keys: rowsOf(page["keys"], 1000).map((row) => ({
          key: textOrNull(row["key"]),
          digest: text(row["digest"]),
          limit: text(row["limit"]),
          tier: number(row["tier"]),
          remaining: number(row["remaining"]),
          most: number(row["most"]),
          leftS: number(row["left_s"]),
          banned: textOrNull(row["banned"]),
        })),
        next: textOrNull(page["next"]),
      };
}

export interface RuleEvents {
  events: BoxEvent[];
  missed: number;
}

/** The newest first. */
export function eventsOf(body: unknown): RuleEvents | null {
  const answer = membersOf(body);
  if (!Array.isArray(answer["events"])) {
    return null;
  }
  const events = answer["events"].slice(-50).map(membersOf).filter((row) => typeof row["event"] === "string");
  return { events: (events as unknown as BoxEvent[]).reverse(), missed: number(answer["missed"]) ?? 0 };
}

export function cellAnswerOf(body: unknown): CellAnswer | null {
  const answer = membersOf(body);
  if (!Array.isArray(answer["keys"]) || !Array.isArray(answer["shared"])) {
    return null;
  }
  return {
    groups: number(answer["groups"]),
    oneIn: Math.max(1, number(answer["one_in"]) ?? 1),
    keys: rowsOf(answer["keys"], 200).map((row) => ({
      key: text(row["key"]), offered: number(row["offered"]), refused: number(row["refused"]), left: number(row["left"]),
    })),
    shared: rowsOf(answer["shared"], 50).map((row) => ({
      field: text(row["field"]), value: text(row["value"]), here: number(row["here"]), rest: number(row["rest"]),
    })),
    namesMissing: number(answer["names_missing"]) ?? 0,
  };
}

export interface RuleSeries {
  end: number; // s since 1970, of the last value
  step: number;
  columns: Record<string, (number | null)[]>;
}

export function ruleSeriesOf(body: unknown): RuleSeries | null {
  const answer = membersOf(body);
  const end = Date.parse(text(answer["to"])) / 1000;
  const step = number(answer["step_s"]);
  if (!Number.isFinite(end) || step === null || step <= 0) {
    return null;
  }
  const columns: RuleSeries["columns"] = {};
  for (const [name, values] of Object.entries(membersOf(answer["columns"]))) {
    columns[name] = Array.isArray(values) ? values.slice(-600).map(number) : [];
  }
  return { end, step, columns };
}
