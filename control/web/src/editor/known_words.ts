import { signal } from "@preact/signals";

import { ask } from "../parts/ask";
import { fieldsOf, keysOf, NO_WORDS, type Words } from "./words";

// Fields and keys that sluiced knows, asked for once.
export const knownWords = signal<Words>(NO_WORDS);
let isAsked = false;

export async function loadWords(): Promise<void> {
  if (isAsked) {
    return;
  }
  isAsked = true;
  const [fields, schema] = await Promise.all([ask("/v1/fields"), ask("/v1/schema")]);
  isAsked = fields.status === 200 && schema.status === 200;
  knownWords.value = {
    fields: fields.status === 200 ? fieldsOf(fields.body) : [],
    ...(schema.status === 200 ? keysOf(schema.body) : { keys: [], values: new Map() }),
  };
}
