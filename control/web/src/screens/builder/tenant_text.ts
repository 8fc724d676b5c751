import { listOf, membersOf, textOf } from "../../parts/members";
import { problemsOf, type TextProblem } from "../../editor/problems";

// Answers about a tenant's own rules, as sluiced gives them. Pure.
export interface TenantRules {
  text: string;
  etag: string;
  networks: string[];
  bounds: string; // of what it may have
  trialLeft: number | null; // seconds; null: nothing is on trial
  problem: string | null; // why its rules are not in force
}

/** GET /v1/tenants/NAME/rules; null: it is none. */
export function tenantRulesOf(body: unknown): TenantRules | null {
  const answer = membersOf(body);
  const [text, etag] = [answer["text"], textOf(answer["etag"])];
  if (typeof text !== "string" || etag === null) {
    return null;
  }
  const left = membersOf(answer["unconfirmed"])["seconds_left"];
  const most = (name: string): string => (typeof answer[name] === "number" ? String(answer[name]) : "?");
  return {
    text,
    etag,
    networks: listOf(answer["networks"]).filter((one) => typeof one === "string"),
    bounds: `at most ${most("most_rules")} rules in ${most("most_bytes")} bytes, ${textOf(answer["table_share"]) ?? "?"} of the tables, ${most("compile_ms")} ms to compile`,
    trialLeft: typeof left === "number" ? left : null,
    problem: textOf(answer["problem"]),
  };
}

/** What a check or a refused change says of the text. All of it stands there: a tenant's rules are one file. */
export function tenantProblemsOf(body: unknown): TextProblem[] {
  const answer = membersOf(body);
  const all = [...problemsOf(answer["problems"]), ...problemsOf(answer["warnings"]).map((one) => ({ ...one, severity: "warning" as const }))];
  return all.map((one) => ({ ...one, file: null }));
}
