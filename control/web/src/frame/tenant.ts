import { computed } from "@preact/signals";

import { who } from "../page";
import { ownIdOf } from "./tenant_words";

/** The tenant whose people look at this page; null: operators. */
export const tenant = computed<string | null>(() => (who.value?.role === "tenant" ? (who.value.tenant ?? "") : null));

/** A rule's id as whoever looks knows it: without the tenant's name where all rules are the tenant's. */
export function shownId(id: string): string {
  return ownIdOf(tenant.value, id);
}
