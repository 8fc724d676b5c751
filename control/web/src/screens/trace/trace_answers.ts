// Answers to the calls of a trace.
export interface Begun {
  trace: string;
  most_per_second: number;
  unread_after_s: number;
  unread_fields: string[];
  warnings: Fault[];
}
export interface Fault {
  line: number;
  column: number;
  severity: string;
  message: string;
}
export interface Packet {
  time: string;
  port: string;
  dir: string;
  src?: string;
  dst?: string;
  proto?: number;
  sport?: number;
  dport?: number;
  bytes: number;
  verdict: string;
  reason: string;
  rule: string | null;
  key: string | null;
  limit: string | null;
  service: string | null;
  would_refuse: string | null;
  wait_s: number | null;
  matched: string[];
  matched_count: number;
  lcore: number;
  frame?: string;
}
export interface Packets {
  judges: boolean;
  has_rule: boolean;
  left_out: number;
  packets: Packet[];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

export function isBegun(body: unknown): body is Begun {
  return isMap(body) && typeof body["trace"] === "string" && Array.isArray(body["unread_fields"]) && Array.isArray(body["warnings"]);
}

export function isPackets(body: unknown): body is Packets {
  return isMap(body) && Array.isArray(body["packets"]) && body["packets"].every(isMap);
}

/** Faults of a condition, as a refusal or an answer lists them. */
export function faultsOf(list: unknown): Fault[] {
  return (Array.isArray(list) ? list : []).filter((one): one is Fault => isMap(one) && typeof one["message"] === "string");
}

/** A text in three parts: before a place, the letter there, behind it. Columns count letters, from 1 on. */
export function splitAt(text: string, line: number, column: number): [string, string, string] | null {
  const lines = text.split("\n");
  const found = lines[line - 1];
  if (found === undefined || !(column >= 1)) {
    return null;
  }
  const letters = Array.from(found);
  const head = [...lines.slice(0, line - 1), letters.slice(0, column - 1).join("")].join("\n");
  const tail = [letters.slice(column).join(""), ...lines.slice(line)].join("\n");
  return [head, letters[column - 1] ?? " ", tail];
}
