/** The place of a draft, as a query of /v1/rules/check has it. */
export function placeOf(draft: { file: string | null; subject: string }): string {
  const words = new URLSearchParams();
  if (draft.file !== null) {
    words.set("file", draft.file);
  }
  if (draft.subject !== "") {
    words.set("rule", draft.subject);
  }
  return words.toString();
}
