import { conditionOf, withMore } from "./condition";
import { withText } from "./rule_edit";
import { readRule, textAt, type ReadRule } from "./rule_text";
import { groupsOf, limitsOf } from "./tiers";

export { withItem, without, withRaw, withText } from "./rule_edit";
export { isMapAt, keysAt, lengthAt, readRule, textAt, textsAt, type ReadRule } from "./rule_text";

/** The rule with a further condition, which is to hold too. */
export function withMoreCondition(rule: ReadRule, more: string): string {
  const now = textAt(rule, ["when"]) ?? "";
  const inner = conditionOf(more);
  const part = inner === null || inner.kind === "or" ? `(${more})` : more;
  return withText(rule, ["when"], now.trim() === "" ? more : withMore(now, "and", part));
}

/** True of a text whose packets and groups are the rule's: the same condition, key and unit, whatever its limits. */
export function hasSameGroups(text: string, rule: ReadRule): boolean {
  const other = readRule(text);
  const facts = (of: ReadRule): string => JSON.stringify([textAt(of, ["when"]), groupsOf(of), textAt(of, ["per"]), ...limitsOf(of).map(([first]) => textAt(of, [...(first?.path ?? []), "per"]))]);
  return typeof other !== "string" && facts(other) === facts(rule);
}
