// Answers of sluiced, as GET /v1/live, /v1/series and /v1/session have it. null: nobody can say.
export interface Rate {
  pps: number | null;
  bps: number | null;
}
export const MEASURES = ["offered", "passed", "refused", "would_refuse", "answered"] as const;
export type Measure = (typeof MEASURES)[number];
export type Rates = Record<Measure, Rate>;

export type BoxState = "judging" | "panic" | "no_rules" | "no_dataplane" | "bridged";
export interface BoxInfo {
  name: string | null; // of the box; null: it is not told, to somebody of a tenant
  state: BoxState;
  since: string | null;
  why: string | null;
  generation: string | null;
  workers: number | null;
}
export interface Trial {
  seconds_left: number;
  until: string;
  goes_back_to: string | null;
}
export interface Problem {
  name: string;
  severity: "critical" | "warning";
  text: string;
  do: string;
}
export interface Port {
  name: string;
  link: "up" | "down" | "held";
  rx_pps: number | null;
  rx_bps: number | null;
  tx_pps: number | null;
  tx_bps: number | null;
  dropped_pps: number | null;
}
// Events have members of their kind; all have these.
export interface BoxEvent {
  seq: number;
  time: string;
  event: string;
  [member: string]: unknown;
}
export interface RuleRow {
  id: string;
  mode: "enforce" | "monitor" | "off";
  state: "active" | "inactive" | "ended";
  matched_pps: number | null;
  matched_bps: number | null;
  refused_pps: number | null;
  would_refuse_pps: number | null;
  live_keys: number | null;
  limited_now: number | null;
  table_share: number | null;
  placement: "local" | "merged" | "shared" | "handed_over" | null;
  spark: (number | null)[];
}
export interface RulePage {
  total: number;
  matching: number;
  first: number;
  rows: RuleRow[];
}
export interface LiveAnswer {
  snapshot: number;
  run: string;
  at: string;
  version: string;
  web: string | null;
  every_s: number;
  box: BoxInfo;
  trial: Trial | null;
  rates: Rates | null;
  problems: Problem[];
  ports: Port[];
  events: BoxEvent[];
  rules: RulePage;
}

export interface SeriesAnswer {
  run: string;
  to: string;
  step_s: number;
  snapshot: number;
  columns: Record<string, (number | null)[]>;
}

export type Role = "tenant" | "view" | "operate" | "admin";
export interface Who {
  user: string;
  role: Role;
  tenant?: string | null; // that the caller belongs to, of the role tenant alone
  via: string;
  box: string | null; // likewise null of a tenant
  verbs: Record<string, boolean>;
  needs?: Record<string, Role>; // the least role of each verb
  zone?: { name: string | null; offset_s: number }; // of the box's clocks
}
