import type { Role, Who } from "../transport/answers";

// Verbs that change something, and the least role that has each. sluiced decides; the page says it beforehand.
const NEEDED: Record<string, Role> = { confirm: "operate", rollback: "operate", apply: "admin", panic: "admin" };
const ROLES: Role[] = ["view", "operate", "admin"];

/** Why this caller may not do it; null: may. */
export function refusalOf(who: Who | null, verb: string): string | null {
  if (who === null) {
    return "this page has no session";
  }
  const needed = NEEDED[verb] ?? "admin";
  const may = who.verbs?.[verb] ?? ROLES.indexOf(who.role) >= ROLES.indexOf(needed);
  return may ? null : `your role is ${who.role}; this wants ${needed}`;
}
