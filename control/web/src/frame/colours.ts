import { computed, effect, signal } from "@preact/signals";
import { Kept } from "../transport/kept";

// Light or dark: as the system has it, unless somebody has chosen. Style sheets go by `data-colours` of the root.
export const CHOICES = ["system", "light", "dark"] as const;
export type Colours = (typeof CHOICES)[number];
const NAME = "sluice.colours";

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);
dark.addEventListener("change", () => (systemIsDark.value = dark.matches));

const settings = new Kept(() => localStorage);
const kept = settings.getItem(NAME);
export const colours = signal<Colours>(CHOICES.find((one) => one === kept) ?? "system");
/** The colours in force: canvases are drawn anew with them. */
export const isDark = computed(() => (colours.value === "system" ? systemIsDark.value : colours.value === "dark"));

export function setColours(next: Colours): void {
  colours.value = next;
  settings.setItem(NAME, next);
}

effect(() => {
  document.documentElement.dataset["colours"] = isDark.value ? "dark" : "light";
});
