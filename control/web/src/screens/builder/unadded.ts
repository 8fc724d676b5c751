import { signal } from "@preact/signals";

// What is typed into the form and not in the text yet, each with its reason, by its place: nobody may go on without it unawares.
export const unadded = signal<Readonly<Record<string, string>>>({});

/** `why`: what is to be done first; null: nothing is left there. */
export function leaveOpen(place: string, why: string | null): void {
  const { [place]: before, ...rest } = unadded.peek();
  if ((before ?? null) !== why) {
    unadded.value = why === null ? rest : { ...rest, [place]: why };
  }
}

export function whyUnadded(): string | null {
  return Object.values(unadded.value)[0] ?? null;
}

/** The reason of a row for a new part; null: it is empty. */
export function whyNotAdded(typed: string, step: string): string | null {
  return typed.trim() === "" ? null : `“${typed.trim().slice(0, 60)}” is typed in ${step} and not added: add it, or empty its box`;
}
