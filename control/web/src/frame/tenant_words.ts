// Names of rules as tenants know them. Pure.

/** In the set in force a tenant's rule is `TENANT:ID`; the tenant's people wrote `ID`. */
export function ownIdOf(tenant: string | null, id: string): string {
  const prefix = `${tenant ?? ""}:`;
  return tenant !== null && tenant !== "" && id.startsWith(prefix) ? id.slice(prefix.length) : id;
}

/** The id in the set in force of what somebody of a tenant typed. */
export function jointIdOf(tenant: string | null, id: string): string {
  return tenant === null || tenant === "" || id === "" || id.startsWith(`${tenant}:`) ? id : `${tenant}:${id}`;
}
