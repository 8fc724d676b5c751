import { conditionOf, withMore } from "./condition";
import { withText } from "./rule_edit";
import { textAt, type ReadRule } from "./rule_text";

export { withItem, without, withRaw, withText } from "./rule_edit";
export { isMapAt, keysAt, lengthAt, readRule, textAt, textsAt, type ReadRule } from "./rule_text";

/** The rule with a further condition, which is to hold too. */
export function withMoreCondition(rule: ReadRule, more: string): string {
  const now = textAt(rule, ["when"]) ?? "";
  const inner = conditionOf(more);
  const part = inner === null || inner.kind === "or" ? `(${more})` : more;
  return withText(rule, ["when"], now.trim() === "" ? more : withMore(now, "and", part));
}
