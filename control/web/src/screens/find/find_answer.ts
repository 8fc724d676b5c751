// Answers of GET /v1/find, as far as this page shows them.
export interface Finding {
  what: string; // condition, key, ban, override, counts
  rule: string;
  kind?: string;
  mode?: string;
  [member: string]: unknown;
}
export interface EarlyEntry {
  network: string;
  at: string[];
  rule: string;
  by: string;
  applies_to?: string;
  until: string | null;
  rule_packets: number;
}
export interface EarlyDrop {
  state: string;
  entries: EarlyEntry[];
  more: boolean;
}
export interface FindAnswer {
  of: string;
  is: string;
  inside: string | null;
  boxes_read: boolean;
  lists_read: boolean;
  findings: Finding[];
  everybody?: string[];
  /** Rules whose conditions read lists that were not looked into. */
  unread?: string[];
  early_drop?: EarlyDrop | null;
  cut?: boolean;
  next: string | null;
}

export function isFindAnswer(body: unknown): body is FindAnswer {
  const members = body as Record<string, unknown> | null;
  return typeof members === "object" && members !== null && typeof members["of"] === "string" && Array.isArray(members["findings"]);
}

/** A page behind others of the same question. */
export function joined(before: FindAnswer | null, next: FindAnswer): FindAnswer {
  return before === null
    ? next
    : {
        ...before,
        findings: [...before.findings, ...next.findings],
        boxes_read: before.boxes_read && next.boxes_read,
        lists_read: before.lists_read && next.lists_read,
        cut: before.cut === true || next.cut === true,
        next: next.next,
      };
}
