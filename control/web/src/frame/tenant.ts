import { computed } from "@preact/signals";

import { lastWho } from "../page";
import { ownIdOf } from "./tenant_words";

/** The tenant whose people look at this page; null: operators. */
export const tenant = computed<string | null>(() => (lastWho.value?.role === "tenant" ? (lastWho.value.tenant ?? "") : null));

/** What an empty list of the rules in force says. */
export function noRulesText(): string {
  return tenant.value === null
    ? "No rules are in force: sluicectl apply rules.yaml brings some."
    : "You have no rules in force: the builder brings some, or says why they stand aside.";
}

/** A rule's id as whoever looks knows it: without the tenant's name where all rules are the tenant's. */
export function shownId(id: string): string {
  return ownIdOf(tenant.value, id);
}
