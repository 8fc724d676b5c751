import { known } from "../text/known";
import { visibleText } from "../text/visible";
import type { Who } from "../transport/answers";

// Verbs that change something. sluiced decides; the page says it beforehand, in words of GET /v1/session.

/** Why this caller may not do it; null: may. */
export function refusalOf(who: Who | null, verb: string): string | null {
  if (who === null) {
    return "this page has no session";
  }
  if (known(who.verbs, verb) === true) {
    return null;
  }
  if (who.role === "tenant") {
    return "this is for the operators of the box";
  }
  const needed = known(who.needs ?? {}, verb) ?? "another one";
  return `your role is ${visibleText(who.role)}; this wants ${visibleText(needed)}`;
}
