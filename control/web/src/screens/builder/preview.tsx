import { signal } from "@preact/signals";

import type { Lately } from "./lately";

export const previewed = signal<Lately | null>(null);
